//! Ctrl-C and other signals in the middle of the work.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{str, thread};

use crate::folder::folder;
use crate::skipped::external;
use crate::write::{Entry, npy, safetensors};

/// Long after this a run has begun its work, and is far from its end.
const BEGUN: Duration = Duration::from_millis(400);
/// Slower than any machine that tests are run on, and much faster than the work.
const PROMPT: Duration = Duration::from_secs(20);

/// Long after this a run has noticed a signal. A run that cannot go on ends later.
const NOTICED: Duration = Duration::from_millis(300);

/// A .npy file of 256 GiB, of which the disk has the header only: minutes of work.
pub(crate) fn huge(folder: &Path) -> PathBuf {
    let path = folder.join("huge.npy");
    let header = npy("<f4", &[64 << 30], false, &[]);
    let mut file = File::create(&path).unwrap();
    file.write_all(&header).unwrap();
    file.set_len(header.len() as u64 + (256 << 30)).expect("a file with holes");
    path
}

/// The command, for which signals are what they are by default: tests may be run by something that
/// ignores them.
fn command(arguments: &[&OsStr]) -> Command {
    command_of("--default-signal=INT,TERM,HUP", arguments)
}

/// The command, run by `env` with an option.
fn command_of(option: &str, arguments: &[&OsStr]) -> Command {
    let mut command = Command::new("env");
    command.arg(option).arg(env!("CARGO_BIN_EXE_nonfinite")).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(arguments: &[&OsStr]) -> Child {
    command(arguments).spawn().unwrap()
}

/// Sends a signal, such as `TERM`.
fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Presses Ctrl-C and waits; returns the exit status, standard output and standard error.
fn interrupt(mut child: Child) -> (Option<i32>, String, String) {
    thread::sleep(BEGUN);
    assert!(child.try_wait().unwrap().is_none(), "it ended before");
    send(&child, "INT");
    end(child)
}

/// Waits; returns the exit status, standard output and standard error.
fn end(mut child: Child) -> (Option<i32>, String, String) {
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
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut out).unwrap();
    }
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut err).unwrap();
    }
    (status.code(), out, err)
}

/// Nothing is said of what comes behind the interruption: other files and arguments.
#[test]
fn a_check_with_more_to_do() {
    let folder = folder("interrupted-more");
    fs::write(folder.join("data"), [0xFF; 16]).unwrap();
    fs::write(folder.join("z.onnx"), external(1, 2, 0)).unwrap();
    huge(&folder);
    for form in ["--format=jsonl", "--json", "--format=lines"] {
        let mut run = command(&["check".as_ref(), form.as_ref(), ".".as_ref(), "no*".as_ref()]);
        let run = run.current_dir(&folder).spawn().unwrap();
        let ended = (Some(130), String::new(), "nonfinite: interrupted\n".to_owned());
        assert_eq!(interrupt(run), ended, "{form}");
    }
}

/// The list of the files of a model comes from a server that does not answer.
#[cfg(feature = "remote")]
#[test]
fn a_list_of_files() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", server.local_addr().unwrap());
    let mut run = command(&["check".as_ref(), "hf://owner/model".as_ref(), "no*".as_ref()]);
    let run = run.env("HF_ENDPOINT", endpoint).spawn().unwrap();
    // The request has come.
    let connection = server.accept().unwrap();
    assert_eq!(interrupt(run), (Some(130), String::new(), "nonfinite: interrupted\n".to_owned()));
    drop(connection);
}

/// A file with this many tensors, each with a NaN.
fn bad(folder: &Path, tensors: usize) -> PathBuf {
    let path = folder.join("bad.safetensors");
    let names: Vec<_> = (0..tensors).map(|index| index.to_string()).collect();
    let entry = |name| Entry { name, kind: "F16", shape: &[1], data: &[0, 0x7E] };
    let entries: Vec<_> = names.iter().map(|name| entry(name)).collect();
    fs::write(&path, safetensors(&entries)).unwrap();
    path
}

/// More tensors than a pipe holds lines.
const MANY: usize = 5000;

/// Nobody reads the output.
#[test]
fn output_that_nobody_reads() {
    let folder = folder("interrupted-unread");
    let path = bad(&folder, MANY);
    for form in ["--format=lines", "--format=jsonl", "--json"] {
        let mut run = start(&["check".as_ref(), form.as_ref(), path.as_os_str()]);
        let stdout = run.stdout.take();
        let ended = (Some(130), String::new(), "nonfinite: interrupted\n".to_owned());
        assert_eq!(interrupt(run), ended, "{form}");
        drop(stdout);
    }
}

/// Ctrl-C while the results are written, which are read in the end.
#[test]
fn while_results_are_written() {
    let folder = folder("interrupted-writing");
    let path = bad(&folder, MANY);
    let path = path.as_os_str();
    for arguments in [
        &["check".as_ref(), "--json".as_ref(), path][..],
        &["check".as_ref(), "--format=lines".as_ref(), path],
    ] {
        let mut run = start(arguments);
        thread::sleep(BEGUN);
        assert!(run.try_wait().unwrap().is_none(), "it ended before");
        send(&run, "INT");
        thread::sleep(NOTICED);
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{arguments:?}");
        assert_eq!(str::from_utf8(&output.stderr), Ok("nonfinite: interrupted\n"));
    }
}

/// A page is written as a whole, or the page of an earlier run stays.
#[test]
fn the_page() {
    let folder = folder("interrupted-page");
    let (path, page) = (bad(&folder, 1), folder.join("page.html"));
    let argument = |option: &str, path: &Path| format!("{option}{}", path.display());
    let html = argument("--html=", &page);
    let run = start(&["check".as_ref(), html.as_ref(), path.as_ref()]);
    assert_eq!(end(run).0, Some(1));
    let before = fs::read(&page).unwrap();
    let run = start(&["check".as_ref(), html.as_ref(), huge(&folder).as_ref()]);
    assert_eq!(interrupt(run), (Some(130), String::new(), "nonfinite: interrupted\n".to_owned()));
    assert!(fs::read(&page).unwrap() == before);

    // The page goes to a pipe, which nobody reads at first.
    let pipe = folder.join("pipe.html");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let html = argument("--html=", &pipe);
    for is_read in [false, true] {
        let run = start(&["check".as_ref(), "--quiet".as_ref(), html.as_ref(), path.as_ref()]);
        thread::sleep(BEGUN);
        send(&run, "INT");
        thread::sleep(NOTICED);
        // The run may have ended before the pipe is opened for reading.
        let pipe = is_read.then(|| File::options().read(true).write(true).open(&pipe).unwrap());
        let results = end(run);
        drop(pipe);
        assert_eq!(results, (Some(130), String::new(), "nonfinite: interrupted\n".to_owned()));
    }
}

/// One that waits for input that does not come.
#[test]
fn a_stream() {
    let mut run = start(&["check".as_ref(), "-".as_ref()]);
    let stdin = run.stdin.take().unwrap();
    assert_eq!(interrupt(run), (Some(130), String::new(), "nonfinite: interrupted\n".to_owned()));
    drop(stdin);
}

/// Waits until a check has read this many more bytes.
#[track_caller]
fn has_read(child: &mut Child, more: u64) {
    let path = format!("/proc/{}/io", child.id());
    let count = |text: String| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix("rchar: "));
        line.expect("a count of bytes").parse().unwrap()
    };
    let until = count(fs::read_to_string(&path).unwrap()) + more;
    while count(fs::read_to_string(&path).unwrap()) < until {
        assert!(child.try_wait().unwrap().is_none(), "it ended before");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Bytes by which a check is in the middle of its work.
const SOME: u64 = 4 << 20;

/// A check that `nohup` started goes on when its terminal goes away.
#[test]
fn a_check_that_ignores() {
    let folder = folder("ignored-check");
    let input = huge(&folder);
    let arguments: [&OsStr; 2] = ["check".as_ref(), input.as_ref()];
    let mut run = command_of("--ignore-signal=HUP,INT", &arguments).spawn().unwrap();
    has_read(&mut run, SOME);
    send(&run, "HUP");
    send(&run, "INT");
    // Longer than a check goes on that heeds a signal.
    thread::sleep(Duration::from_secs(2));
    has_read(&mut run, SOME);
    run.kill().unwrap();
    run.wait().unwrap();
}
