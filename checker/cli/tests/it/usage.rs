//! Arguments, environment and output.

use std::io::Read;
use std::process::Stdio;

use crate::write::{Entry, safetensors};
use crate::{Run, array, command, file, run};

const NONE: [&str; 0] = [];

#[test]
fn help_and_version() {
    for arguments in [&["--help"][..], &["-h"], &["check", "--help"], &["backends", "-h"]] {
        let run = run(arguments);
        assert_eq!((run.status, run.err.as_str()), (0, ""));
        assert!(run.out.contains("Usage: nonfinite ") && run.out.contains("--help"), "{}", run.out);
    }
    let help = |arguments: &[&str]| run(arguments).out;
    assert!(help(&["--help"]).contains("NONFINITE_BACKEND"));
    let check = help(&["check", "--help"]);
    for word in ["<FILE>...", "Exit status: 0", "--allow <PATTERN:KINDS>", "jsonl", "--max-bytes"] {
        assert!(check.contains(word), "{word}");
    }
    for argument in ["--version", "-V"] {
        let run = run([argument]);
        assert_eq!((run.status, run.err.as_str()), (0, ""));
        assert_eq!(run.out, concat!("nonfinite ", env!("CARGO_PKG_VERSION"), "\n"));
    }
}

/// The help of a check fits a screen of 40 lines, and has at most 15 options.
#[test]
fn short_help() {
    let help = run(["check", "--help"]).out;
    let lines: Vec<_> = help.lines().collect();
    assert!(lines.len() < 40 && lines.iter().all(|line| line.len() <= 100), "{help}");
    let options = lines.iter().filter(|line| line.trim_start().starts_with('-'));
    assert!((10..=15).contains(&options.count()), "{help}");
}

#[test]
fn wrong_usage() {
    let cases: [(&[&str], &str); 15] = [
        (&["a.npy"], "\"a.npy\" is a file and no command: nonfinite check \"a.npy\" checks it"),
        (&["src/"], "is a file and no command: nonfinite check \"src/\" checks it"),
        (&NONE, "Usage: nonfinite <COMMAND>"),
        (&["check"], "required arguments were not provided:\n  <FILE>..."),
        (&["chek", "a.npy"], "a similar subcommand exists: 'check'"),
        (&["check", "--fast", "a.npy"], "'--fast'"),
        (&["backends", "a.npy"], "a.npy"),
        (&["\x1b[2J"], "unrecognized subcommand"),
        (&["check", "--\x1b[2J"], "unexpected argument"),
        (&["check", "--allow", "x", "a.npy"], "no colon, as in '*.mask:-inf'"),
        (&["check", "--allow", "x:+nan", "a.npy"], "is none of nan, inf, +inf, -inf and all"),
        (&["check", "--fail-on", "zero", "a.npy"], "is none of nan, inf, +inf, -inf and all"),
        (&["check", "--json", "--quiet", "a.npy"], "cannot be used with"),
        (&["check", "--threads", "0", "a.npy"], "'--threads <N>'"),
        (&["check", "--max-bytes", "-1", "a.npy"], "'-1'"),
    ];
    for (arguments, message) in cases {
        let run = run(arguments);
        assert_eq!(run.status, 2, "{arguments:?}");
        assert_eq!(run.out, "", "{arguments:?}");
        assert!(run.err.contains(message), "{arguments:?}: {}", run.err);
        assert!(!run.err.replace('\n', "").contains(char::is_control), "{:?}", run.err);
    }
}

#[test]
fn backends() {
    let run = run(["backends"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    let lines: Vec<Vec<&str>> =
        run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines.len(), nonfinite::Backend::all().len());
    for (line, (name, backend)) in lines.iter().zip(nonfinite::Backend::all()) {
        let available = if backend.is_some() { "available" } else { "unavailable" };
        assert_eq!(line[..2], [name, available]);
    }
    let active: Vec<_> = lines.iter().filter(|line| line.get(2) == Some(&"active")).collect();
    assert_eq!(active.len(), 1);
    assert_eq!(active[0][1], "available");
}

#[test]
fn backend_of_the_environment() {
    let good = file("environment.npy", &array(&[0.0]));
    for name in ["warp", "AVX512 ", "\x1b[2J"] {
        for arguments in [&["backends".as_ref()][..], &["check".as_ref(), good.as_os_str()]] {
            let run = Run::of(command().args(arguments).env("NONFINITE_BACKEND", name));
            assert_eq!((run.status, run.out.as_str()), (2, ""));
            assert!(
                run.err.contains(&format!("NONFINITE_BACKEND: no backend {name:?} here")),
                "{}",
                run.err
            );
            assert_eq!(run.err.lines().count(), 1);
        }
    }
    for (name, active) in
        [("scalar", "scalar"), ("", nonfinite::Backend::available().next().unwrap().name())]
    {
        let run = Run::of(command().arg("backends").env("NONFINITE_BACKEND", name));
        assert_eq!((run.status, run.err.as_str()), (0, ""));
        assert!(run.out.contains(&format!("{active:<8} available active\n")), "{}", run.out);
    }
}

/// A reader that goes away ends the output, not in a panic. The status is that of the table in the
/// README.
#[test]
fn broken_pipe() {
    let names: Vec<_> = (0..20_000).map(|index| format!("tensor {index}")).collect();
    let entry = |name| Entry { name, kind: "F8_E5M2", shape: &[1], data: &[0x7C] };
    let entries: Vec<_> = names.iter().map(|name| entry(name)).collect();
    let many = file("many.safetensors", &safetensors(&entries));
    let clean = file("clean.npy", &array(&[0.0; 10]));
    for (arguments, path, status) in [
        (&["check"][..], &many, 1),
        (&["check", "--json"], &many, 1),
        (&["lint", "--json"], &many, 1),
        // Nothing says whether the reader has seen all.
        (&["check"], &clean, 2),
        (&["lint"], &clean, 2),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        // A short output would be in the pipe before a reader could go away, so there is none.
        let reader = (status == 1).then_some(reader);
        let mut run = command();
        let run = run.args(arguments).arg(path).stdout(writer).stderr(Stdio::piped());
        let child = run.spawn().unwrap();
        if let Some(mut reader) = reader {
            reader.read_exact(&mut [0; 10]).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    }
}

/// Results that could not be written are no success.
#[cfg(target_os = "linux")]
#[test]
fn full_disk() {
    let full = || std::fs::File::create("/dev/full").unwrap();
    let good = file("full.npy", &array(&[0.0]));
    let output = command().arg("check").arg(&good).stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("nonfinite: standard output: "));
}
