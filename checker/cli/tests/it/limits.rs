//! Files that are larger than the memory, and files that claim to be.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use crate::write::{Entry, gguf, npy, safetensors, safetensors_text};
use crate::{Run, TestFile, file};

const GIB: u64 = 1 << 30;

/// A file of which the disk has the header only; the rest are zeros.
fn sparse(name: &str, header: &[u8], data: u64) -> TestFile {
    let path = file(name, header);
    let file = File::options().write(true).open(&*path).expect("it was written");
    file.set_len(header.len() as u64 + data).expect("a file with holes");
    path
}

/// Runs a command on a file in a process that has this many KiB of addresses. glibc would reserve
/// 64 MiB of them for the second thread, if they are free at that moment.
fn limited(kib: usize, arguments: &str, path: &Path) -> Run {
    let script = format!(r#"ulimit -v {kib} && exec "$0" {arguments} --threads 2 "$1""#);
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_nonfinite")]).arg(path);
    Run::of(command.env("MALLOC_ARENA_MAX", "1"))
}

/// A number of a protocol buffer, in five bytes.
fn varint(number: u64) -> [u8; 5] {
    [0, 7, 14, 21, 28].map(|shift| (number >> shift) as u8 & 0x7F | u8::from(shift < 28) << 7)
}

/// What the command takes for itself, in KiB of addresses.
const ITSELF: usize = 65_536;

/// A tensor takes 1 KiB at most, in its reader, its report and the rules of lint: here without
/// elements, so that the file is no longer than its description, and each with a finding.
#[test]
fn memory_of_many_tensors() {
    const COUNT: usize = 60_000;
    let names: Vec<_> = (0..COUNT).map(|index| format!("layers.{index}.mlp.weight")).collect();
    let names = names.iter().map(String::as_str);
    let of = names.clone().map(|name| Entry { name, kind: "F32", shape: &[0], data: &[] });
    let of_gguf = names.clone().map(|name| Entry { name, kind: 0, shape: &[0], data: &[] });
    let of_onnx = names.flat_map(|name| {
        let tensor =
            [&b"\x08\0\x10\x01\x4A\0\x42"[..], &[name.len() as u8], name.as_bytes()].concat();
        [&[0x2A, tensor.len() as u8], &tensor[..]].concat()
    });
    let graph: Vec<u8> = of_onnx.collect();
    for path in [
        file("x.safetensors", &safetensors(&of.collect::<Vec<_>>())),
        file("x.gguf", &gguf(&of_gguf.collect::<Vec<_>>(), false, &[])),
        file("x.onnx", &[b"\x08\x08\x3A", &varint(graph.len() as u64)[..], &graph].concat()),
    ] {
        for (command, status) in [("check", 0), ("lint", 1)] {
            let run = limited(ITSELF + COUNT, command, &path);
            assert_eq!((run.status, &*run.err), (status, ""), "{command} {}", path.display());
        }
    }
}

/// Files of a GiB are checked by a process that has 300 MB of addresses, so of memory as well.
#[test]
fn less_memory_than_the_file() {
    let header =
        format!(r#"{{"x":{{"dtype":"BF16","shape":[{}],"data_offsets":[0,{GIB}]}}}}"#, GIB / 2);
    let shape = [GIB as usize / 4];
    let of_gguf = Entry { name: "x", kind: 0, shape: &shape, data: &[] };
    // The lengths of the graph, of the tensor, of its only axis and of its data.
    let [graph, tensor, axis, data] = [GIB + 20, GIB + 14, GIB / 4, GIB].map(varint);
    let of_onnx = [&[8, 8, 0x3A][..], &graph, &[0x2A], &tensor, &[8], &axis, &[16, 1, 0x4A], &data];
    let files = [
        sparse("limit.onnx", &of_onnx.concat(), GIB),
        sparse("limit.npy", &npy("<f4", &shape, false, &[]), GIB),
        sparse("limit.safetensors", &safetensors_text(&header, &[]), GIB),
        sparse("limit.gguf", &gguf(&[of_gguf], false, &[]), GIB),
    ];
    for path in files {
        for option in ["--stats", "--json"] {
            let run = limited(300_000, &format!("check {option}"), &path);
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
        let run = limited(ITSELF, "check --stats", &claim);
        assert_eq!((run.status, run.err.lines().count()), (2, 1), "{}", run.err);
    }
}
