//! Damaged and malicious files: a message of one line and exit status 2, and names that cannot
//! drive the terminal. What is no file, and files beside files in error. `checker/check` tests what
//! its readers refuse.

use std::path::Path;

use crate::folder::folder;
use crate::write::{Entry, gguf, npy, safetensors, safetensors_text};
use crate::zip::zip;
use crate::{Run, TestFile, array, check, command, file, refused, run};

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

/// What a server sends in place of a file is told as what it is, with its beginning, whatever
/// format the name promises. Control characters cannot drive the terminal.
#[test]
fn pages_of_servers() {
    let page = "\u{FEFF}\n<!DOCTYPE html>\n<html><title>Sign in \x1b[2J</title>";
    let kinds = [
        (page, r#"an HTML page, as a server sends for a login or an error, which begins "<!DOCT"#),
        ("<HTML><body>403", r#"an HTML page, as a server sends for a login or an error, which"#),
        (r#"{"error":"Repository not found"}"#, r#"JSON, as a server sends for an error, which"#),
        // The byte where the header of safetensors begins.
        (
            r#"{"data":{"message":"no"}}"#,
            r#"JSON, as a server sends for an error, which begins "{"#,
        ),
        ("<?xml version=\"1.0\"?><Error/>", "XML, as a server sends for an error, which begins"),
        (
            "Access to \x07 this model is restricted",
            r#"text which begins "Access to \u{7} this mo"#,
        ),
    ];
    for (text, what) in kinds {
        for ending in [".safetensors", ".gguf", ".onnx", ".pt", ".npy", ".npz", ".ckpt"] {
            let name = format!("page{ending}");
            refused(&name, text.as_bytes(), &format!(" file: this is {what}"));
            let json =
                Run::of(command().args(["lint", "--json"]).arg(file(&name, text.as_bytes())));
            let document: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
            let error = document["files"][0]["error"].as_str().expect("an error");
            assert!(json.status == 2 && error.contains(what), "{name}: {error}");
        }
    }
    refused("x.safetensors.index.json", br#"{"error":1}"#, "missing field `weight_map`");
    refused("x.safetensors.index.json", page.as_bytes(), "this is an HTML page");
}

/// A file whose end is missing is called truncated, with the number of missing bytes where the rest
/// tells the number.
#[test]
fn truncated_files() {
    let data = [0; 400];
    let entry = |kind| Entry { name: "w", kind, shape: &[100], data: &data };
    let of_gguf = || gguf(&[Entry { name: "w", kind: 0, shape: &[100], data: &data }], false, &[]);
    let npz = zip(&[("w.npy", &array(&[0.0; 100])[..])]);
    for (name, whole, cut, message) in [
        (
            "w.safetensors",
            safetensors(&[entry("F32")]),
            30,
            "truncated: 30 of 400 bytes are missing",
        ),
        ("w.safetensors", safetensors(&[entry("F32")]), 420, "truncated: 20 of "),
        ("w.safetensors", vec![1; 7], 0, "truncated: too short"),
        ("w.gguf", of_gguf(), 30, "truncated: 30 of "),
        ("w.gguf", of_gguf(), 440, "truncated: the file ends before its list"),
        ("w.npy", array(&[0.0; 100]), 30, "truncated: 30 of 400 bytes are missing"),
        ("w.npy", array(&[0.0; 100]), 450, "truncated: "),
        ("w.npz", npz.clone(), 1, "truncated: 1 of "),
        ("w.npz", npz.clone(), 60, "truncated: the file has "),
        ("w.npz", npz.clone(), npz.len() - 300, "truncated: "),
        ("w.onnx", b"\x08\x08\x3a\x64123".to_vec(), 0, "truncated: 97 of 104 bytes are missing"),
    ] {
        refused(name, &whole[..whole.len() - cut], message);
    }
}

/// Standard input has no folder with a configuration.
#[test]
fn lint_of_standard_input() {
    let run = Run::of(command().args(["lint", "-"]));
    let why = "nonfinite: -: lint does not read standard input, since a model is a folder";
    assert!(run.status == 2 && run.err.starts_with(why), "{}", run.err);
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere() {
    let folder = folder("dangling");
    std::os::unix::fs::symlink("../blobs/gone", folder.join("x.safetensors")).expect("a link");
    let why =
        r#"x.safetensors: a symbolic link to "../blobs/gone", which cannot be opened: No such"#;
    for command in ["check", "lint"] {
        for path in [folder.join("x.safetensors"), folder.to_path_buf()] {
            let run = run([command.as_ref(), path.as_os_str()]);
            assert!(run.status == 2 && run.err.contains(why), "{command}: {}", run.err);
        }
    }
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
