//! What is no file, and files beside files in error.

use crate::{array, check, file, refused};

#[test]
fn what_is_no_file() {
    refused("empty.npy", b"", "is empty");
    refused("empty", b"", "is empty");
    let missing = check(std::path::Path::new("no/such/file.npy"));
    assert_eq!(missing.status, 2);
    assert!(missing.err.starts_with("nonfinite: no/such/file.npy: "), "{}", missing.err);
    assert_eq!(missing.err.lines().count(), 1);
}

#[cfg(unix)]
#[test]
fn devices_are_refused() {
    let device = check(std::path::Path::new("/dev/zero"));
    assert_eq!(device.status, 2);
    assert_eq!(device.err, "nonfinite: /dev/zero: is not a regular file\n");
}

/// A bad file does not keep the others from being checked, and its status wins.
#[test]
fn the_other_files_are_checked() {
    let good = file("others-good.npy", &array(&[0.0]));
    let bad = file("others-bad.npy", &array(&[f32::NAN]));
    let broken = file("others-broken.npy", b"\x93NUMPY");
    let run = |files: &[&crate::TestFile]| {
        crate::run(
            std::iter::once(std::ffi::OsStr::new("check"))
                .chain(files.iter().map(|file| file.as_os_str())),
        )
    };
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
