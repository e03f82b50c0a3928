//! Files that are larger than the memory, and files that claim to be.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::write::{Entry, gguf, npy, safetensors_text};
use crate::{Run, TestFile, file};

const GIB: u64 = 1 << 30;

/// A file of which the disk has the header only; the rest are zeros.
fn sparse(name: &str, header: &[u8], data: u64) -> TestFile {
    let path = file(name, header);
    let file = File::options().write(true).open(&*path).expect("it was written");
    file.set_len(header.len() as u64 + data).expect("a file with holes");
    path
}

/// Checks a file in a process that has this many KiB of addresses.
fn limited(kib: u32, option: &str, path: &Path) -> Run {
    let script = format!(r#"ulimit -v {kib} && exec "$0" check --threads 2 "$1" "$2""#);
    let program = env!("CARGO_BIN_EXE_nonfinite");
    let command = Command::new("sh").args(["-c", &script, program, option]).arg(path).output();
    command.expect("a shell starts").into()
}

/// Files of a GiB are checked by a process that has 300 MB of addresses, so of memory as well.
#[test]
fn less_memory_than_the_file() {
    let header =
        format!(r#"{{"x":{{"dtype":"BF16","shape":[{}],"data_offsets":[0,{GIB}]}}}}"#, GIB / 2);
    let shape = [GIB as usize / 4];
    let of_gguf = Entry { name: "x", kind: 0, shape: &shape, data: &[] };
    let files = [
        sparse("limit.npy", &npy("<f4", &shape, false, &[]), GIB),
        sparse("limit.safetensors", &safetensors_text(&header, &[]), GIB),
        sparse("limit.gguf", &gguf(&[of_gguf], false, &[]), GIB),
    ];
    for path in files {
        for option in ["--stats", "--json"] {
            let run = limited(300_000, option, &path);
            assert_eq!((run.status, run.err.as_str()), (0, ""), "{option} {}", path.display());
        }
    }
}

/// A header may claim gigabytes: memory follows what is there. 64 MiB of addresses are less than
/// each claim, and enough for the command.
#[test]
fn less_memory_than_the_claim() {
    let header = r#"{"x":{"dtype":"F64","shape":[1000000000],"data_offsets":[0,8000000000]}}"#;
    for claim in [
        file("claim.npy", b"\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{'descr'"),
        file("claim.safetensors", &safetensors_text(header, &[0; 8])),
    ] {
        let run = limited(65_536, "--stats", &claim);
        assert_eq!((run.status, run.err.lines().count()), (2, 1), "{}", run.err);
    }
}
