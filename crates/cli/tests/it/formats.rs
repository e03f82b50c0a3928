//! How the format of a file is detected.

use crate::{assert_found, check, file, npy, refused, safetensors};

#[test]
fn content_decides_before_the_name() {
    let array = npy("'<f4'", false, "(1,)", &[0; 4]);
    assert_found("array.safetensors", &array, &[]);
    assert_found("array", &array, &[]);
    let header = r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    assert_found("model.npy", &safetensors(header, &[0; 4]), &[]);
    assert_found("model.bin", &safetensors(header, &[0; 4]), &[]);
}

#[test]
fn the_name_chooses_the_message() {
    refused("text.txt", b"hello, world", "not a file of a known format: this is text");
    refused("text.npy", b"hello, world", "not a .npy file");
    refused("text.NPY", b"hello, world", "not a .npy file");
    refused("text.safetensors", b"hello, world", ".safetensors header");
}

/// A name that the bytes do not fit says less than the bytes.
#[test]
fn the_bytes_choose_the_message() {
    refused("pickle.pt", b"\x80\x02}.", "not looked at: a pickle of Python");
    let mut tar = vec![0; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    refused("model.pth.tar", &tar, "not looked at: a tar archive");
    let pointer = b"version https://git-lfs.github.com/spec/v1\n";
    refused("pytorch_model.bin", pointer, "a pointer of Git LFS, and not the file");
    refused("damaged.pt", b"PK\x03\x04", "bad zip archive");
}

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
    let good = file("others-good.npy", &npy("'<f4'", false, "(1,)", &[0; 4]));
    let bad = file("others-bad.npy", &npy("'<f4'", false, "(1,)", &f32::NAN.to_le_bytes()));
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

#[cfg(unix)]
#[test]
fn file_names_cannot_drive_the_terminal() {
    let run =
        check(&file("name\x1b[2J\n.npy", &npy("'<f4'", false, "()", &f32::NAN.to_le_bytes())));
    assert_eq!(run.status, 1);
    assert!(run.out.contains(r"name\u{1b}[2J\n.npy: <f4 []: 1 NaN"), "{:?}", run.out);
}
