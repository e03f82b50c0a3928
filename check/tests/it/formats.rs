//! Which format a file has, what its reader returns, and the causes of errors.

use std::fs;

use nonfinite_check::fix::{FixError, FixOptions, fix_file};
use nonfinite_check::formats::{gguf, npz, shards};
use nonfinite_check::model::{Input, Tensor};
use nonfinite_check::{Error, FileFormat, Options, check_bytes, check_file};

use crate::folder::folder;
use crate::report;
use crate::write::{Entry, Member, gguf as gguf_file, npy, safetensors, zip};

fn nan() -> [u8; 4] {
    f32::NAN.to_le_bytes()
}

fn archive(name: &str, data: &[u8]) -> Vec<u8> {
    zip(&[Member { name, data, deflate: false }])
}

fn model() -> Vec<u8> {
    gguf_file(&[Entry { name: "x", kind: 0, shape: &[1], data: &nan() }], false, &[])
}

/// The functions of the readers return the tensors of the file.
#[test]
fn tensors_of_readers() {
    let model = model();
    let archive = archive("a.npy", &npy("<f4", &[1], false, &nan()));
    let input = |bytes| Input { bytes, path: None };
    let names = |tensors: Vec<Tensor>| -> Vec<_> {
        tensors.into_iter().filter_map(|tensor| tensor.name).collect()
    };
    assert_eq!(names(gguf::tensors(input(&model)).expect("a good file")), ["x"]);
    assert_eq!(names(npz::tensors(input(&archive)).expect("a good file")), ["a"]);
}

/// A model that is a member of an archive.
#[test]
fn models_in_archives() {
    let report = report(&archive("m.gguf", &model()), FileFormat::NPZ);
    let [tensor] = &report.tensors[..] else { panic!("{report:?}") };
    assert_eq!((tensor.name.as_deref(), tensor.found.nan.count), (Some("m.gguf/x"), 1));
    assert!(!tensor.looked_at.is_missing());
}

/// The error of a file with this name and these bytes.
fn error(name: &str, bytes: &[u8]) -> Error {
    let folder = folder("formats");
    let path = folder.join(name);
    fs::write(&path, bytes).expect("the build folder can be written to");
    check_file(&path, &Options::default()).expect_err(name)
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

/// Numbers are replaced in files of three formats only.
#[test]
fn formats_that_cannot_be_fixed() {
    let folder = folder("formats-fix");
    for (name, bytes, format) in [
        ("x.gguf", model(), FileFormat::GGUF),
        ("x.npz", archive("a.npy", &npy("<f4", &[1], false, &nan())), FileFormat::NPZ),
    ] {
        let path = folder.join(name);
        fs::write(&path, bytes).expect("the build folder can be written to");
        let fixed = fix_file(&path, &folder.join("fixed"), &FixOptions::default());
        assert!(matches!(fixed, Err(FixError::Format(other)) if other == format), "{fixed:?}");
    }
}

/// An error holds the one that caused it, which holds the next.
#[test]
fn causes() {
    let array = npy("<f4", &[2], false, &nan());
    let header = |text: &[u8]| [&(text.len() as u64).to_le_bytes(), text].concat();
    // A deflated pickle of more than 1 MiB is not read.
    let zeros = vec![0; 2 << 20];
    let long_pickle = Member { name: "m/data.pkl", data: &zeros, deflate: true };
    let gap = br#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
    let gap = [header(gap), vec![0; 8]].concat();
    for (bytes, format, depth) in [
        (b"PK\x03\x04".to_vec(), FileFormat::NPZ, 3),
        (archive("a.npy", &array), FileFormat::NPZ, 2),
        (b"PK\x03\x04".to_vec(), FileFormat::PYTORCH, 3),
        (archive("m/data.pkl", b"\x80\x02"), FileFormat::PYTORCH, 1),
        (zip(&[long_pickle]), FileFormat::PYTORCH, 2),
        (header(b"\xFF"), FileFormat::SAFETENSORS, 2),
        (header(b"{"), FileFormat::SAFETENSORS, 2),
        (gap, FileFormat::SAFETENSORS, 2),
        (header(b"{}")[..9].to_vec(), FileFormat::SAFETENSORS, 1),
        (array, FileFormat::NPY, 1),
        (b"{".to_vec(), FileFormat::SAFETENSORS_INDEX, 2),
    ] {
        let error = check_bytes(&bytes, format, &Options::default()).expect_err("damaged");
        let (mut last, mut causes): (&dyn std::error::Error, _) = (&error, 0);
        while let Some(cause) = last.source() {
            (last, causes) = (cause, causes + 1);
        }
        assert_eq!(causes, depth, "{}: {error:?}", format.name());
    }
}

/// The files that an index names.
#[test]
fn shards_of_an_index() {
    let folder = folder("formats-shards");
    let index = folder.join("model.safetensors.index.json");
    fs::write(&index, r#"{"weight_map":{"x":"a.safetensors","y":"b.safetensors"}}"#).unwrap();
    let names = ["a", "b"].map(|name| folder.join(format!("{name}.safetensors")));
    assert_eq!(shards(&index), names);
    let entry = Entry { name: "x", kind: "F32", shape: &[1], data: &nan() };
    fs::write(&names[0], safetensors(&[entry])).unwrap();
    assert!(shards(&names[0]).is_empty());
}
