//! Damaged and malicious files: a message of one line and exit status 2, and names that cannot
//! drive the terminal. What is no file, and files beside files in error. `checker/check` tests what
//! its readers refuse.

use std::path::Path;

use crate::folder::folder;
use crate::write::{Entry, gguf, safetensors, safetensors_text};
use crate::zip::zip;
use crate::{Run, TestFile, array, bytes, check, command, file, refused, run};

/// What a server sends in place of a file is told with its kind and its beginning, whatever format
/// the name promises.
#[test]
fn pages_of_servers() {
    let page = "\u{FEFF}\n<!DOCTYPE html>\n<html>Sign in \x1b[2J";
    for (text, kind, begins) in [
        (page, "an HTML page", r#"begins "<!DOCTYPE html>\n<html>Sign in \u{1b}[2J""#),
        (r#"{"data":{"message":"no"}}"#, "JSON", r#"begins "{\"data\":{\"#),
        ("<?xml version='1.0'?><Error/>", "XML", r#"begins "<?xml version"#),
        ("Access to \x07 this model is restricted", "text", r#"begins "Access to \u{7} this"#),
    ] {
        for ending in [".safetensors", ".gguf", ".onnx", ".pt", ".npy", ".npz", ".ckpt"] {
            let name = format!("page{ending}");
            refused(&name, text.as_bytes(), &format!(" file: this is {kind}"));
            refused(&name, text.as_bytes(), begins);
        }
    }
    let json =
        run(["lint".as_ref(), "--json".as_ref(), file("x.npy", page.as_bytes()).as_os_str()]);
    assert!(json.out.contains(r#"no npy file: this is an HTML page"#), "{}", json.out);
    refused("x.safetensors.index.json", br#"{"error":1}"#, "missing field `weight_map`");
    refused("x.safetensors.index.json", page.as_bytes(), "this is an HTML page");
}

/// A message says how many bytes are missing, where the rest of the file tells the number.
#[test]
fn truncated_files() {
    let data = bytes(&[0.0; 100]);
    let of_gguf = gguf(&[Entry { name: "w", kind: 0, shape: &[100], data: &data }], false, &[]);
    let of = safetensors(&[Entry { name: "w", kind: "F32", shape: &[100], data: &data }]);
    let array = array(&[0.0; 100]);
    let npz = zip(&[("w.npy", &array)]);
    let onnx = b"\x08\x08\x3a\x64123";
    for (name, whole, cut, message) in [
        ("w.safetensors", &of[..], 30, "30 of 400 bytes are missing"),
        ("w.safetensors", &of, 420, "20 of "),
        ("w.safetensors", &of, of.len() - 7, "too short"),
        ("w.gguf", &of_gguf, 30, "30 of "),
        ("w.gguf", &of_gguf, 440, "the file ends before its list"),
        ("w.npy", &array, 30, "30 of 400 bytes are missing"),
        ("w.npy", &array, 450, ""),
        ("w.npz", &npz, 1, "1 of "),
        ("w.npz", &npz, 60, "the file has "),
        ("w.npz", &npz, npz.len() - 300, ""),
        ("w.onnx", &onnx[..], 0, "97 of 104 bytes are missing"),
    ] {
        refused(name, &whole[..whole.len() - cut], &format!("truncated: {message}"));
    }
}

/// Standard input has no folder with a configuration, and a link may lead nowhere.
#[cfg(unix)]
#[test]
fn paths_without_a_file() {
    let folder = folder("dangling");
    let link = folder.join("x.safetensors");
    std::os::unix::fs::symlink("../blobs/gone", &link).expect("a link");
    let why = r#"x.safetensors: a symbolic link to "../blobs/gone", which cannot be opened: No"#;
    let input = "nonfinite: -: lint does not read standard input, since a model is a folder";
    for (command, path, why) in [
        ("check", &*link, why),
        ("check", &folder, why),
        ("lint", &link, why),
        ("lint", Path::new("-"), input),
    ] {
        let run = run([command.as_ref(), path.as_os_str()]);
        assert!(run.status == 2 && run.err.contains(why), "{command}: {}", run.err);
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
    refused("empty", b"", "is empty");
    let missing = check(Path::new("no/such/file.npy"));
    assert_eq!(missing.status, 2);
    assert!(missing.err.starts_with("nonfinite: no/such/file.npy: "), "{}", missing.err);
    assert_eq!(missing.err.lines().count(), 1);
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
    assert!(all.out.contains("\n1 of 2 tensors "), "{}", all.out);
    assert!(all.out.ends_with("; files in error: 1\n"), "{}", all.out);
    assert_eq!(run(&[&good, &bad]).status, 1);
    assert_eq!(run(&[&good, &good]).status, 0);
}
