//! Which format a file has, what its reader returns, and the causes of errors.

use std::fs;

use nonfinite_check::{Error, FileFormat, Options, check_bytes, check_file};

use crate::folder::folder;
use crate::write::{Entry, gguf as gguf_file, npy, safetensors};
use crate::zip::zip_with;

/// A tensor of ONNX in a file of its own. Only the name of the file tells what it could be.
#[test]
fn tensors_in_files() {
    let nan = [0, 0, 0xC0, 0x7F];
    let tensor = [&b"\x08\x01\x10\x01\x42\x01x\x4A\x04"[..], &nan].concat();
    let what = "a .pb file (a tensor of ONNX, or a graph of TensorFlow)";
    for name in ["input_0.pb", "GRAPH.PB"] {
        let named = error(name, &tensor);
        assert!(matches!(named, Error::NotRead(why) if why == what), "{named:?}");
    }
    assert!(matches!(error("x", &tensor), Error::Unknown { .. }));
    assert!(matches!(error("x.pb", b"node { name: 1 }"), Error::Text { .. }));
}

/// The error of a file with this name and these bytes.
fn error(name: &str, bytes: &[u8]) -> Error {
    let folder = folder("formats");
    let path = folder.join(name);
    fs::write(&path, bytes).expect("the build folder can be written to");
    check_file(&path, &Options::default()).expect_err(name)
}

/// The bytes tell the format before the name does.
#[test]
fn content_before_the_name() {
    let folder = folder("formats-content");
    let array = npy("<f4", &[1], false, &[0; 4]);
    let model = safetensors(&[Entry { name: "x", kind: "F32", shape: &[1], data: &[0; 4] }]);
    for (names, bytes, format) in [
        (["a.safetensors", "array"], array, FileFormat::NPY),
        (["model.npy", "model.bin"], model, FileFormat::SAFETENSORS),
    ] {
        for name in names {
            fs::write(folder.join(name), &bytes).unwrap();
            let report = check_file(&folder.join(name), &Options::default()).expect("a good file");
            assert_eq!(report.format, format, "{name}");
        }
    }
}

/// The error names the format of the name only if the bytes tell nothing.
#[test]
fn messages() {
    let mut tar = vec![0; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    let pointer = b"version https://git-lfs.github.com/spec/v1\n";
    for (name, bytes, message) in [
        ("text.npy", &b"hello, world"[..], r#"no npy file: this is text, which begins "hello"#),
        ("text.NPY", b"hello, world", "no npy file: this is text"),
        ("text.safetensors", b"hello, world", "no safetensors file: this is text"),
        ("pickle.pt", b"\x80\x02}.", "not looked at: a pickle of Python"),
        ("model.pth.tar", &tar, "not looked at: a tar archive"),
        ("pytorch_model.bin", pointer, "a pointer of Git LFS, and not the file"),
        ("damaged.pt", b"PK\x03\x04", "bad zip archive"),
        ("empty.npy", b"", "is empty"),
        ("empty", b"", "is empty"),
    ] {
        let error = error(name, bytes).to_string();
        assert!(error.contains(message), "{name}: {error}");
    }
}

/// What is in a file says more than its name, except that a zip archive may be a damaged file of
/// the format that the name tells.
#[test]
fn files_of_no_format() {
    let hdf = error("x.npy", b"\x89HDF\r\n\x1A\nsome data");
    assert!(matches!(hdf, Error::NotRead("an HDF5 file (Keras, NetCDF)")), "{hdf:?}");
    let damaged = error("x.npz", b"PK\x05\x06 and no end");
    assert!(matches!(damaged, Error::Refused { format: FileFormat::NPZ, .. }), "{damaged:?}");
    let other = error("x.zip", b"PK\x05\x06 and no end");
    assert!(matches!(other, Error::NotRead("a zip archive")), "{other:?}");
    let picture = error("x", b"\x89PNG\r\n\x1A\n\0\xFF\0IEND\xAE\x42\x60\x82");
    assert!(matches!(picture, Error::Picture("a picture (PNG)")), "{picture:?}");
    assert!(matches!(error("x", b"some text"), Error::Text { .. }));
    assert!(matches!(error("x", b"\x01\x02\xFF\xFE\x00\x07"), Error::Unknown { .. }));
}

/// Every beginning of a good file is refused, and every byte of it can be anything: the bytes are
/// read or refused, without a panic.
#[test]
fn damaged_anywhere() {
    let array = npy("<f4", &[3], false, &[0; 12]);
    let member = |deflate| zip_with(&[("x.npy", &array, deflate)]);
    let entry = Entry { name: "x", kind: "F32", shape: &[3], data: &[0; 12] };
    let tensors = [
        Entry { name: "x", kind: 0, shape: &[2], data: &[0; 8] },
        Entry { name: "y", kind: 2, shape: &[32], data: &[0; 18] },
    ];
    for (good, format) in [
        (array.clone(), FileFormat::NPY),
        (member(false), FileFormat::NPZ),
        (member(true), FileFormat::NPZ),
        (safetensors(&[entry]), FileFormat::SAFETENSORS),
        (gguf_file(&tensors, false, &[]), FileFormat::GGUF),
    ] {
        let check = |bytes: &[u8]| check_bytes(bytes, format, &Options::default());
        check(&good).expect("a good file");
        for length in 0..good.len() {
            assert!(check(&good[..length]).is_err(), "{format} cut at {length}");
        }
        for place in 0..good.len() {
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut bytes = good.clone();
                bytes[place] = value;
                let _ = check(&bytes);
            }
        }
    }
}

/// Models of other tools that begin as ONNX models do: a version, and then field 2.
#[test]
fn models_of_other_tools() {
    // A SavedModel has one graph in field 2, a Core ML model its type in a field from 200 on.
    let saved = b"\x08\x01\x12\x04\x0A\x02\x0A\0";
    let core = b"\x08\x04\x12\x02\x0A\0\xA2\x1F\0";
    let onnx = b"\x08\x09\x12\x01a";
    for (name, bytes, what) in [
        ("saved_model.pb", &saved[..], "a SavedModel of TensorFlow, no ONNX model"),
        ("m.mlmodel", core, "a Core ML model, no ONNX model"),
        ("m.onnx", onnx, "it has no graph"),
    ] {
        let error = error(name, bytes).to_string();
        assert!(error.contains(what) && error.lines().count() == 1, "{error}");
    }
}
