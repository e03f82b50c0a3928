//! Errors of `fix_file`. `cli/tests` has the tests of what it writes.

use std::error::Error;
use std::fs;

use nonfinite_check::fix::{FixError, FixOptions, fix_file};

use crate::work::file;
use crate::write::npy;

/// An error that another error caused has it as its source.
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
