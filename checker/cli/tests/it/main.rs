//! The command as a user runs it.

#[path = "../../../check/tests/common/containers.rs"]
mod containers;
#[path = "../../../check/tests/common/folder.rs"]
mod folder;
mod github;
mod hidden;
mod hostile;
mod inputs;
#[cfg(target_os = "linux")]
mod interrupt;
#[cfg(target_os = "linux")]
mod limits;
mod lint;
mod measures;
#[path = "../../../check/tests/common/names.rs"]
mod names;
mod output;
mod page;
mod places;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
#[path = "../../../check/tests/common/server.rs"]
mod server;
mod skipped;
#[cfg(target_os = "linux")]
mod terminal;
mod usage;
mod wording;
#[path = "../../../check/tests/common/write.rs"]
mod write;
#[path = "../../../check/tests/common/zip.rs"]
mod zip;

use std::ffi::OsStr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, str};

use crate::folder::{Folder, folder};
use crate::write::{Entry, npy, safetensors};

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nonfinite"));
    command.env_remove("NONFINITE_BACKEND");
    command
}

/// The result of a run.
struct Run {
    status: i32,
    out: String,
    err: String,
}

impl Run {
    fn of(command: &mut Command) -> Self {
        command.output().expect("the command starts").into()
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| str::from_utf8(bytes).expect("output is UTF-8").to_owned();
        let status = output.status.code().expect("no signal ended the command");
        Self { status, out: text(&output.stdout), err: text(&output.stderr) }
    }
}

fn run(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
    Run::of(command().args(arguments))
}

fn check(path: &Path) -> Run {
    run([OsStr::new("check"), path.as_os_str()])
}

fn check_in(folder: &Path, arguments: &[&str]) -> Run {
    Run::of(command().arg("check").args(arguments).current_dir(folder))
}

/// A file in a folder of its own, which is removed with it.
struct TestFile {
    path: PathBuf,
    _folder: Folder,
}

impl Deref for TestFile {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl<T: ?Sized> AsRef<T> for TestFile
where
    Path: AsRef<T>,
{
    fn as_ref(&self) -> &T {
        self.path.as_path().as_ref()
    }
}

fn file(name: &str, content: &[u8]) -> TestFile {
    let folder = folder("file");
    let path = folder.join(name);
    fs::write(&path, content).expect("the build folder can be written to");
    TestFile { path, _folder: folder }
}

/// A .npy file of these numbers.
fn array(numbers: &[f32]) -> Vec<u8> {
    npy("<f4", &[numbers.len()], false, &bytes(numbers))
}

/// A .safetensors file of one number.
fn tensor(name: &str, number: f32) -> Vec<u8> {
    safetensors(&[Entry { name, kind: "F32", shape: &[1], data: &number.to_le_bytes() }])
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The file is refused: one line on standard error that says so, no result, exit status 2.
#[track_caller]
fn refused(name: &str, content: &[u8], message: &str) {
    let run = check(&file(name, content));
    assert_eq!(run.status, 2, "{name}: {}{}", run.out, run.err);
    assert!(run.err.starts_with("nonfinite: ") && run.err.ends_with('\n'), "{name}: {}", run.err);
    assert_eq!(run.err.lines().count(), 1, "{name}: {}", run.err);
    assert!(run.err.contains(&format!("{name}: ")), "{name}: {}", run.err);
    assert!(run.err.contains(message), "{name}: {message:?} is not in {}", run.err);
    assert!(!run.err.trim_end().contains(char::is_control), "{name}: {:?}", run.err);
    assert!(run.out.starts_with("Nothing was looked at; 1 file "), "{name}: {}", run.out);
    assert_eq!(run.out.lines().count(), 1, "{name}: {}", run.out);
}

/// Cuts time, speed and backend out of the summary.
fn without_speed(line: &str) -> String {
    let cut = line.split_once(". Checked ").and_then(|(answer, rest)| {
        let (checked, rest) = rest.split_once(" in ")?;
        let (speed, end) = rest.split_once("; ")?;
        assert!(speed.contains(" s, ") && speed.contains(" GB/s, backend "), "{speed}");
        Some(format!("{answer}. Checked {checked}; {end}"))
    });
    cut.unwrap_or_else(|| line.to_owned())
}
