//! Ctrl-C in the middle of the work.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::npy_text;

/// Long after this a run has begun its work, and is far from its end.
const BEGUN: Duration = Duration::from_millis(400);
/// Slower than any machine that tests are run on, and much faster than the work.
const PROMPT: Duration = Duration::from_secs(20);

/// A folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("the build folder can be written to");
    folder
}

/// A .npy file of 256 GiB, of which the disk has the header only: minutes of work.
pub(crate) fn huge(folder: &Path) -> PathBuf {
    let path = folder.join("huge.npy");
    let header =
        npy_text("{'descr': '<f4', 'fortran_order': False, 'shape': (68719476736,), }\n", &[]);
    let mut file = File::create(&path).unwrap();
    file.write_all(&header).unwrap();
    file.set_len(header.len() as u64 + (256 << 30)).expect("a file with holes");
    path
}

/// The command, for which Ctrl-C is what it is by default: tests may be run by something that
/// ignores it.
fn start(arguments: &[&OsStr]) -> Child {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(env!("CARGO_BIN_EXE_nonfinite")).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Presses Ctrl-C and waits; returns the exit status, standard output and standard error.
fn interrupt(mut child: Child) -> (Option<i32>, String, String) {
    thread::sleep(BEGUN);
    assert!(child.try_wait().unwrap().is_none(), "it ended before");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > PROMPT {
            child.kill().unwrap();
            panic!("it goes on");
        }
        thread::sleep(Duration::from_millis(10));
    };
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    (status.code(), out, err)
}

#[test]
fn a_check() {
    let folder = folder("interrupted-check");
    let run = start(&["check".as_ref(), "--jsonl".as_ref(), huge(&folder).as_ref()]);
    assert_eq!(interrupt(run), (Some(130), String::new(), "nonfinite: interrupted\n".to_owned()));
    fs::remove_dir_all(folder).unwrap();
}

/// One that waits for input that does not come.
#[test]
fn a_stream() {
    let mut run = start(&["check".as_ref(), "-".as_ref()]);
    let stdin = run.stdin.take().unwrap();
    assert_eq!(interrupt(run), (Some(130), String::new(), "nonfinite: interrupted\n".to_owned()));
    drop(stdin);
}

/// No output, and nothing else in its folder.
#[test]
fn a_fix() {
    let folder = folder("interrupted-fix");
    let (input, output) = (huge(&folder), folder.join("out.npy"));
    let run = start(&["fix".as_ref(), input.as_ref(), "-o".as_ref(), output.as_ref()]);
    assert_eq!(interrupt(run), (Some(130), String::new(), "nonfinite: interrupted\n".to_owned()));
    let left: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["huge.npy"]);
    fs::remove_dir_all(folder).unwrap();
}
