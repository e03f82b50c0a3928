//! A file with a NaN, in every usual container and under many names. No check may find it clean.

use std::fs;

use nonfinite_check::{Options, check_file};

use crate::containers::wrapped;
use crate::folder::folder;
use crate::names::NAMES;

/// Asserts that a file with a NaN is bad, and is not clean in any container under any name. `kind`
/// names the file in messages.
#[track_caller]
pub(crate) fn never_clean(kind: &str, file: &[u8]) {
    let folder = folder(&format!("hidden-{kind}"));
    for (container, bytes) in wrapped(file) {
        for name in NAMES {
            let path = folder.join(name);
            fs::write(&path, &bytes).unwrap();
            let result = check_file(&path, &Options::default());
            let clean =
                result.as_ref().is_ok_and(|report| report.is_complete() && !report.is_bad());
            assert!(!clean, "{kind}, {container}, {name}: {result:?}");
            if (container, name) == ("alone", "x") {
                assert!(result.is_ok_and(|report| report.is_bad()), "{kind} alone");
            }
        }
    }
}
