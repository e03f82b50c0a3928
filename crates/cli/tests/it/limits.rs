//! Files that are larger than the memory, and files that change during the check.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::{Run, TestFile, file, npy, safetensors};

const GIB: u64 = 1 << 30;

/// A file of which the disk has the header only; the rest are zeros.
fn sparse(name: &str, header: &[u8], data: u64) -> TestFile {
    let path = file(name, header);
    let file = File::options().write(true).open(&*path).expect("it was written");
    file.set_len(header.len() as u64 + data).expect("a file with holes");
    path
}

fn sparse_npy(name: &str, data: u64) -> TestFile {
    sparse(name, &npy("'<f4'", false, &format!("({},)", data / 4), &[]), data)
}

/// A GGUF file with one tensor of f32, of this many bytes.
fn gguf_header(data: u64) -> Vec<u8> {
    let name = b"x";
    let mut header = b"GGUF\x03\0\0\0".to_vec();
    for field in [1, 0, name.len() as u64] {
        header.extend(field.to_le_bytes());
    }
    header.extend(name);
    header.extend(1u32.to_le_bytes());
    header.extend((data / 4).to_le_bytes());
    // The type, f32, and the place of the data.
    header.extend([0; 4 + 8]);
    header.resize(header.len().next_multiple_of(32), 0);
    header
}

/// Files of a GiB are checked by a process that has 300 MB of addresses, so of memory as well.
#[test]
fn less_memory_than_the_file() {
    let header =
        format!(r#"{{"x":{{"dtype":"BF16","shape":[{}],"data_offsets":[0,{GIB}]}}}}"#, GIB / 2);
    let files = [
        sparse_npy("limit.npy", GIB),
        sparse("limit.safetensors", &safetensors(header, &[]), GIB),
        sparse("limit.gguf", &gguf_header(GIB), GIB),
    ];
    for path in files {
        for option in ["--stats", "--json"] {
            let mut command = Command::new("sh");
            command.args(["-c", r#"ulimit -v 300000 && exec "$0" check --threads 2 "$1" "$2""#]);
            command.args([env!("CARGO_BIN_EXE_nonfinite"), option]).arg(&path);
            let run = Run::from(command.output().expect("a shell starts"));
            assert_eq!((run.status, run.err.as_str()), (0, ""), "{option} {}", path.display());
        }
    }
}

/// The most memory that a process had so far, in KiB.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("it has memory");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number of KiB")
}

/// A file that another process cuts ends its check with a message and status 2.
#[test]
fn cut_during_the_check() {
    let path = sparse_npy("cut.npy", 64 * GIB);
    let mut command = crate::command();
    command.arg("check").arg(&path).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the command starts");
    // If the check has not begun by then, the file is too short for its header: status 2, too.
    thread::sleep(Duration::from_millis(300));
    assert!(peak(child.id()) < 100 << 10, "the file is in memory");
    File::options().write(true).open(&path).unwrap().set_len(GIB).expect("the file can be cut");
    let run = Run::from(child.wait_with_output().expect("it ends"));
    assert_eq!((run.status, run.out.lines().count()), (2, 1), "{}", run.err);
    assert!(run.err.starts_with("nonfinite: ") && run.err.contains("cut.npy: "), "{}", run.err);
}
