//! Errors of `fix_file`. `crates/cli/tests` has the tests of what it writes.

use std::error::Error;
use std::fs;

use nonfinite_check::Asks;
use nonfinite_check::fix::{FixError, FixOptions, fix_file, fix_to};

use crate::Counter;
use crate::work::file;
use crate::write::{Entry, npy, safetensors};

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
            format!("{raw} Options::taken_as, such as V1=f8e4m3fn"),
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

/// A tensor without a name is not called one with an empty name.
#[test]
fn values_that_do_not_fit() {
    let nan = 0x7E00u16.to_le_bytes();
    let entry = Entry { name: "w", kind: "F16", shape: &[1], data: &nan };
    for (name, bytes, tensor) in [
        ("x.npy", npy("<f2", &[1], false, &nan), ""),
        ("x.safetensors", safetensors(&[entry]), "tensor \"w\": "),
    ] {
        let (_folder, path) = file(name, &bytes);
        let mut options = FixOptions::default();
        options.values.nan = "1e6".parse().unwrap();
        let error = fix_to(path.as_ref(), std::io::sink(), &options).unwrap_err();
        let why = "1000000 does not fit into f16; max and min stand for what does";
        assert_eq!(error.to_string(), format!("{tensor}{why}"));
        assert_eq!(error.source().expect("an error about the value").to_string(), why);
    }
}

/// The observer hears of all bytes, and may stop the fix. There is no output then.
#[test]
fn observers() {
    let bytes = npy("<f4", &[300_000], false, &[0; 1_200_000]);
    let (folder, path) = file("x.npy", &bytes);
    let output = folder.path().join("y.npy");
    let length = bytes.len() as u64;
    for (most, stops) in [(length, false), (length - 1, true), (0, true)] {
        let observer = Counter::new(most);
        let options = FixOptions { observer: Some(observer.clone()), ..FixOptions::default() };
        let result = fix_file(path.as_ref(), &output, &options);
        assert_eq!(observer.seen()[0], length);
        match result {
            Err(error) => assert!(stops && matches!(error, FixError::Stopped), "{error:?}"),
            Ok(_) => assert!(!stops),
        }
        assert_eq!(output.exists(), !stops);
        let _ = fs::remove_file(&output);
    }
}

/// A name that is taken is refused before a byte is copied, also that of a link to nowhere.
#[cfg(unix)]
#[test]
fn links_to_nowhere() {
    let (folder, path) = file("x.npy", &npy("<f4", &[1], false, &[0; 4]));
    let output = folder.path().join("y.npy");
    std::os::unix::fs::symlink("nowhere", &output).unwrap();
    let observer = Counter::new(u64::MAX);
    let options = FixOptions { observer: Some(observer.clone()), ..FixOptions::default() };
    let error = fix_file(path.as_ref(), &output, &options).unwrap_err();
    assert!(matches!(error, FixError::Exists), "{error:?}");
    assert_eq!(observer.seen()[0], 0);
    fix_file(path.as_ref(), &output, &FixOptions { force: true, ..options }).unwrap();
    assert!(fs::symlink_metadata(&output).unwrap().is_file());
    assert!(!folder.path().join("nowhere").exists());
}
