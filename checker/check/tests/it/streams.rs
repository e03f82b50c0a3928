//! Streams, which go to a temporary file.

use nonfinite_check::{Error, FileFormat, Options, check_bytes, check_stream};

use crate::write::{Entry, gguf, npy, safetensors};
use crate::zip::{deflated, zip};

/// A NaN in a file of each format that this build always reads.
fn files() -> Vec<(FileFormat, Vec<u8>)> {
    let nan = f32::NAN.to_le_bytes();
    let array = npy("<f4", &[1], false, &nan);
    // ModelProto: the IR version, and a graph with an initializer of one float.
    let tensor = [b"\x08\x01\x10\x01\x4A\x04", &nan[..]].concat();
    let onnx = [b"\x08\x09\x3A\x0C\x2A\x0A", &tensor[..]].concat();
    vec![
        (FileFormat::NPY, array.clone()),
        (FileFormat::NPZ, zip(&[("x.npy", &array)])),
        (FileFormat::NPZ, deflated(&[("x.npy", &array)])),
        (
            FileFormat::SAFETENSORS,
            safetensors(&[Entry { name: "x", kind: "F32", shape: &[1], data: &nan }]),
        ),
        (
            FileFormat::GGUF,
            gguf(&[Entry { name: "x", kind: 0, shape: &[1], data: &nan }], false, &[]),
        ),
        (FileFormat::ONNX, onnx),
    ]
}

/// A stream of each format is checked as a file is, and one that is cut is an error.
#[test]
fn streams_of_every_format() {
    for (format, bytes) in files() {
        let options = Options { places: true, ..Options::default() };
        let report = check_stream(&bytes[..], &options).expect("a whole stream");
        assert_eq!(report, check_bytes(&bytes, format, &options).expect("a file"), "{format}");
        assert!(report.is_bad() && report.is_complete(), "{format}");
        assert!(report.tensors[0].places.is_some(), "{format}");
        let cut = &bytes[..bytes.len() - 1];
        assert!(check_stream(cut, &Options::default()).is_err(), "{format}");
    }
    assert!(matches!(check_stream(&b""[..], &Options::default()), Err(Error::Empty)));
}

/// A stream may have as many bytes as an option says. One of no known format is not read to its
/// end.
#[test]
fn streams_that_do_not_end() {
    let (_, bytes) = files().remove(0);
    let of = |most: usize| {
        let max_bytes = Some(most as u64);
        check_stream(&bytes[..], &Options { max_bytes, ..Options::default() })
    };
    assert!(of(bytes.len()).is_ok());
    let most = bytes.len() as u64 - 1;
    assert!(matches!(of(bytes.len() - 1), Err(Error::StreamTooLong { most: of }) if of == most));
    for byte in [0, b' ', b'a', b'i', 0xFF] {
        let error = check_stream(std::io::repeat(byte), &Options::default()).expect_err("no end");
        assert!(error.is_no_format(), "{byte}: {error}");
    }
}
