//! Damaged and malicious files: a message of one line and exit status 2, and names that cannot
//! drive the terminal. What is no file, and files beside files in error. `checker/check` tests what
//! its readers refuse.

use std::path::Path;

use crate::write::{Entry, npy, safetensors, safetensors_text};
use crate::{Run, TestFile, array, check, command, file, refused};

#[test]
fn damaged_files() {
    let short = npy("<f4", &[4], false, &[0; 12]);
    refused("short.npy", &short, "say 16 bytes of data, the file has 12");
    refused("escape.npy", &npy("\x1b[2J", &[3], false, &[0; 12]), "plain characters");
    refused("object.npy", &npy("|O", &[1], false, &[0; 8]), "pickled Python objects");
    refused("long.npy", b"\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{", "4294967295 bytes are too many");
    refused("damaged.pt", b"PK\x03\x04", "bad zip archive");
    refused("text.txt", b"hello, world", "not a file of a known format: this is text");
}

#[test]
fn names_cannot_drive_the_terminal() {
    let file_of = |name: &str, kind: &str, data: &[u8]| {
        safetensors(&[Entry { name, kind, shape: &[1], data }])
    };
    let name = r#"\u001b[2J\u202e\n\"x"#;
    let run = check(&file("escape.safetensors", &file_of(name, "F8_E5M2", &[0x7C])));
    let line = r#""\u{1b}[2J\u{202e}\n\"x" F8_E5M2 [1]: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at [0]"#;
    assert!(run.status == 1 && run.out.contains(line), "{:?}", run.out);
    let why = r#"dtype "\u{1b}[2J\n" is not known"#;
    refused("dtype.safetensors", &file_of("x", r"\u001b[2J\n", &[0]), why);
    refused("dtype.safetensors", &file_of("x", &"F".repeat(100_000), &[0]), "FFF...");
    let gap = format!(r#"{{"{name}":{{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}}}"#);
    refused("name.safetensors", &safetensors_text(&gap, &[0; 2]), r"\u{1b}[2J");
    #[cfg(unix)]
    {
        let run = check(&file("name\x1b[2J\n.npy", &array(&[f32::NAN])));
        let line = r"name\u{1b}[2J\n.npy: <f4 [1]: 1 NaN";
        assert!(run.status == 1 && run.out.contains(line), "{:?}", run.out);
    }
}

#[test]
fn what_is_no_file() {
    refused("empty.npy", b"", "is empty");
    refused("empty", b"", "is empty");
    let missing = check(Path::new("no/such/file.npy"));
    assert_eq!(missing.status, 2);
    assert!(missing.err.starts_with("nonfinite: no/such/file.npy: "), "{}", missing.err);
    assert_eq!(missing.err.lines().count(), 1);
}

#[cfg(unix)]
#[test]
fn devices_are_refused() {
    let device = check(Path::new("/dev/zero"));
    assert_eq!(device.status, 2);
    assert_eq!(device.err, "nonfinite: /dev/zero: is not a regular file\n");
}

/// A bad file does not keep the others from being checked, and its status wins.
#[test]
fn the_other_files_are_checked() {
    let good = file("others-good.npy", &array(&[0.0]));
    let bad = file("others-bad.npy", &array(&[f32::NAN]));
    let broken = file("others-broken.npy", b"\x93NUMPY");
    let run = |files: &[&TestFile]| Run::of(command().arg("check").args(files));
    let all = run(&[&broken, &good, &bad]);
    assert_eq!(all.status, 2);
    assert_eq!(all.err.lines().count(), 1);
    assert_eq!(all.out.lines().count(), 2);
    assert!(
        all.out.contains("others-bad.npy: <f4 [1]: 1 NaN, 0 +Inf, 0 -Inf, first NaN at [0]\n"),
        "{}",
        all.out
    );
    assert!(all.out.starts_with(&format!("{}: ", bad.display())), "{}", all.out);
    assert!(all.out.contains("checked 2 tensors, 2 elements, 8 bytes in "), "{}", all.out);
    assert!(all.out.ends_with("; files in error: 1\n"), "{}", all.out);
    assert_eq!(run(&[&good, &bad]).status, 1);
    assert_eq!(run(&[&good, &good]).status, 0);
}
