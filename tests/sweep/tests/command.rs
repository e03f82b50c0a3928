//! The command: verdicts, exit codes, and going on where it stopped.

use std::path::PathBuf;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> (i32, String) {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_nonfinite-sweep"))
        .args(arguments)
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code().expect("an exit code"), text.into_owned())
}

/// A file of this process that is not there yet.
fn fresh(name: &str) -> PathBuf {
    let name = format!("{}-{name}", std::process::id());
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn a_part_is_swept_once() {
    let state = fresh("swept.state");
    let arguments = ["--part", "3/8192", "--random", "13", "--state", state.to_str().unwrap()];
    let (code, text) = run(&arguments);
    assert!(code == 0 && text.contains("verdict: every answer is right"), "{text}");
    // 64 of the 2^19 blocks of f32, one of the 106 of structured f64, and not the only one of
    // random f64, which is number 0.
    assert!(text.contains("532480 patterns"), "{text}");
    assert_eq!(std::fs::read_to_string(&state).unwrap().lines().count(), 4);
    let (code, text) = run(&arguments);
    assert!(code == 0 && text.contains("\n0 patterns"), "{text}");
    let (code, text) = run(&["--part", "4/8192", "--state", state.to_str().unwrap()]);
    assert!(code == 2 && text.contains("state of another sweep"), "{text}");
    std::fs::remove_file(state).unwrap();
}

/// What was wrong before stays in the verdict.
#[test]
fn a_state_with_wrong_answers_is_no_success() {
    let state = fresh("wrong.state");
    std::fs::write(&state, "scalar 0/8192\nf32 64 1\n").unwrap();
    let (code, text) = run(&[
        "--part",
        "0/8192",
        "--backends",
        "scalar",
        "--state",
        state.to_str().unwrap(),
        "f32",
    ]);
    assert!(code == 1 && text.contains("WRONG in 1 blocks"), "{text}");
    std::fs::remove_file(state).unwrap();
}

#[test]
fn it_stops_in_time_and_says_so() {
    let (code, text) = run(&["--backends", "scalar", "--seconds", "0", "f32"]);
    assert!(code == 3 && text.contains("no verdict"), "{text}");
}

#[test]
fn bad_usage() {
    for arguments in [
        &["f16"][..],
        &["--part", "2/2"],
        &["--part", "x"],
        &["--random", "2"],
        &["--backends", "z80"],
    ] {
        let (code, text) = run(arguments);
        assert!(code == 2 && text.contains("Usage"), "{arguments:?}: {text}");
    }
    assert_eq!(run(&["--help"]).0, 0);
}
