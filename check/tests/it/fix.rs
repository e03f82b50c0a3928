//! Errors of `fix_file`. `cli/tests` has the tests of what it writes.

use std::error::Error;
use std::fs;

use nonfinite_check::Asks;
use nonfinite_check::fix::{FixError, FixOptions, fix_file};

use crate::work::file;
use crate::write::npy;

/// An error that another error caused has it as its source.
/// A tensor without a name is not called one with an empty name.
#[test]
fn tensors_that_cannot_be_looked_at() {
    let raw = "dtype '|V1' is raw bytes, as bf16 and fp8 are saved: say what they are by";
    let header = r#"{"w":{"dtype":"F7","shape":[1],"data_offsets":[0,1]}}"#;
    let unknown = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &[0]].concat();
    let unknown_text = "tensor \"w\": dtype \"F7\" is not known to this version";
    for (name, bytes, message, worded) in [
        (
            "x.npy",
            npy("|V1", &[1], false, &[0]),
            format!("{raw} Options::raw, such as V1=f8e4m3fn"),
            format!("{raw} -r V1=f8e4m3fn"),
        ),
        ("x.safetensors", unknown, unknown_text.to_owned(), unknown_text.to_owned()),
    ] {
        let (folder, path) = file(name, &bytes);
        let error = fix_file(path.as_ref(), &folder.path().join("y"), &FixOptions::default());
        let error = error.expect_err("not looked at");
        assert!(matches!(error, FixError::Unreadable { .. }), "{error:?}");
        assert_eq!(error.to_string(), message);
        let option = |asks: &Asks| format!("-r {}", asks.example().unwrap());
        assert_eq!(error.worded(option), worded);
    }
}

#[test]
fn errors_and_their_sources() {
    let (folder, path) = file("x.npy", &npy("<f4", &[1], false, &[0; 4]));
    let output = folder.path().join("y.npy");
    let error = |input: &str, output: &std::path::Path| {
        fix_file(input.as_ref(), output, &FixOptions::default()).expect_err("bad paths")
    };
    let missing = error("/nowhere/x.npy", &output);
    assert!(matches!(missing, FixError::Input(_)) && missing.source().is_some(), "{missing:?}");
    let unwritable = error(&path, "/nowhere/y.npy".as_ref());
    assert!(matches!(unwritable, FixError::Output(_)), "{unwritable:?}");
    assert!(unwritable.source().is_some());
    for name in ["x.npy", "./x.npy"] {
        let same = error(&path, &folder.path().join(name));
        assert!(matches!(same, FixError::SameFile) && same.source().is_none(), "{same:?}");
    }
    fs::write(&output, "old").unwrap();
    assert!(matches!(error(&path, &output), FixError::Exists));
    assert_eq!(fs::read(&output).unwrap(), b"old");
}
