//! Other contents of archives than arrays and tensors: files, and bytes outside of members.

use std::path::Path;

use nonfinite_check::json::{self, Listed};
use nonfinite_check::{FileFormat, LookedAt, Options, check_bytes};

use super::pytorch::{archive, state_dict, storage, tensor};
use super::{error, pickles};
use crate::hidden::never_clean;
use crate::write::npy;
use crate::zip::{deflated, zip};
use crate::{check, names, unread};

/// A .pt file with a NaN.
fn torch() -> Vec<u8> {
    let pickle = state_dict(&[("w", tensor(&storage("FloatStorage", "0", 1), 0, &[1], &[1]))]);
    archive(&pickle, &[&f32::NAN.to_le_bytes()])
}

/// A .npy file of a zero.
fn one_zero() -> Vec<u8> {
    npy("<f4", &[1], false, &[0; 4])
}

#[test]
fn no_file_is_clean() {
    never_clean("torch", &torch());
    never_clean("old-torch", &pickles::legacy());
}

/// The reason for a file of this format in a file.
fn inner(format: FileFormat) -> String {
    format!("a file of the format {format}: files in files are not read")
}

#[test]
fn files_in_archives() {
    let torch = torch();
    let archives = [
        (zip(&[("a/model.pt", &torch), ("note.txt", b"hello")]), "a/model.pt", FileFormat::PYTORCH),
        (deflated(&[("model.pt", &torch)]), "model.pt", FileFormat::PYTORCH),
        (zip(&[("in.npz", &zip(&[("model.pt", &torch)]))]), "in.npz", FileFormat::NPZ),
        // Damaged, so that it is no archive of PyTorch.
        (zip(&[("model.pt", &torch[..60])]), "model.pt", FileFormat::NPZ),
    ];
    for (archive, name, format) in archives {
        let report = check(&archive, FileFormat::NPZ);
        assert_eq!(unread(&report), [(name, &*inner(format))]);
        assert!(!report.is_bad());
    }
    let pickle = b"\x80\x02}.";
    let with = zip(&[("m/data.pkl", pickle), ("m/extra/x.npy", &one_zero())]);
    let report = check(&with, FileFormat::PYTORCH);
    assert_eq!(unread(&report), [("extra/x.npy", &*inner(FileFormat::NPY))]);
}

/// Archives one behind the other, as in a `.distcp`: the last one is read, and the others are
/// named. Where the places in the last one fit the first one, none is read.
#[test]
fn files_around_an_archive() {
    let (first, last) = (torch(), zip(&[("m/data.pkl", b"\x80\x02}.")]));
    let report = check(&[&first[..], &last].concat(), FileFormat::PYTORCH);
    assert_eq!(unread(&report), [("bytes before the archive", &*inner(FileFormat::PYTORCH))]);
    assert!(!report.is_bad());
    let why = error(&[&first[..], &first].concat(), FileFormat::PYTORCH);
    assert!(why.contains("archives one behind the other are not read"), "{why}");
}

#[test]
fn members_of_torch() {
    let pickle = b"\x80\x02}.";
    let nan = f32::NAN.to_le_bytes();
    let members: [(&str, &[u8]); 11] = [
        ("m/data.pkl", pickle),
        // The storage of a tensor without elements, which nothing refers to.
        ("m/data/9", b""),
        ("m/byteorder", b"little"),
        ("m/version", b"3\n"),
        ("m/.format_version", b"1"),
        ("m/.data/serialization_id", b"1234"),
        ("m/code/a.py", b"def f(): pass\n"),
        ("m/code/a.py.debug_pkl", pickle),
        ("m/extra/empty", b""),
        ("m/constants.pkl", b"\x80\x02)."),
        ("m/attributes.pkl", pickle),
    ];
    let report = check(&zip(&members), FileFormat::PYTORCH);
    assert_eq!(report.tensors, []);
    let hidden: [(&str, &[u8]); 5] = [
        ("m/extra/blob", &nan),
        ("m/data/7", &nan),
        ("other/data/0", &nan),
        ("top", &nan),
        ("m/extra/x.pkl", pickle),
    ];
    let report = check(&zip(&[&members[..], &hidden[..]].concat()), FileFormat::PYTORCH);
    let other = "a member that is no pickle and no storage";
    assert_eq!(
        unread(&report),
        [
            ("extra/blob", other),
            ("data/7", "no tensor that this version knows refers to this storage"),
            ("other/data/0", other),
            ("top", other),
            ("extra/x.pkl", "a pickle of Python"),
        ]
    );
    assert!(report.tensors.iter().all(|tensor| tensor.looked_at != LookedAt::NotFloat));
}

/// The example inputs of a traced module: their shapes are there, and their data is not.
#[test]
fn traced_inputs() {
    let inputs = tensor(&storage("FloatStorage", "0", 12), 0, &[3, 4], &[4, 1]);
    let inputs = [b"\x80\x02", &inputs[..], b"."].concat();
    let members: [(&str, &[u8]); 3] = [
        ("m/data.pkl", b"\x80\x02}."),
        ("m/traced_inputs.pkl", &inputs),
        ("m/traced_inputs/0", b""),
    ];
    let report = check(&zip(&members), FileFormat::PYTORCH);
    assert_eq!(names(&report), ["traced_inputs"]);
    let lines = json::lines(Path::new("model"), &Ok(report.clone()), Listed::All);
    assert!(report.tensors[0].is_left_out && lines.contains(r#""left_out":true"#));
    let title = report.tensors[0].title();
    assert_eq!(title.as_deref(), Some("traced_inputs (left out of the file)"));
    assert_eq!(report.tensors[0].shape, [0]);
    assert!(report.is_complete());
    // Data that is there is looked at, and of other pickles it must be there.
    let nan = [0.0; 11].into_iter().chain([f32::NAN]).flat_map(f32::to_le_bytes);
    let nan: Vec<_> = nan.collect();
    let with = [members[0], members[1], ("m/traced_inputs/0", &nan)];
    let report = check(&zip(&with), FileFormat::PYTORCH);
    assert_eq!(names(&report), ["traced_inputs"]);
    assert!(!report.tensors[0].is_left_out);
    assert_eq!(report.tensors[0].found.nan.first.as_ref().unwrap().coordinate, [2, 3]);
    let others = [("m/data.pkl", &inputs[..]), ("m/data/0", b"")];
    assert!(error(&zip(&others), FileFormat::PYTORCH).contains("beyond its storage"));
}

/// A file that was zipped anew: what is compressed and could hold numbers is named.
#[test]
fn compressed_data() {
    let data = [0.0, 1.0, f32::NAN, 3.0].map(f32::to_le_bytes).concat();
    let of = |class| tensor(&storage(class, "0", 1), 0, &[1], &[1]);
    let array = pickles::array(&pickles::dtype("<", "f4"), &[4], false, &pickles::bytes(&data));
    let pickle = state_dict(&[
        ("floats", of("FloatStorage")),
        ("integers", of("LongStorage")),
        ("array", array),
    ]);
    let report =
        check(&deflated(&[("m/data.pkl", &pickle), ("m/data/0", &data)]), FileFormat::PYTORCH);
    let again = "is compressed: load the file with torch.load and save it with torch.save";
    let why = [("floats", "its storage"), ("array", "its pickle")];
    let why = why.map(|(name, what)| (name, format!("{what} {again}")));
    assert_eq!(unread(&report), why.each_ref().map(|(name, why)| (*name, &**why)));
    assert_eq!(names(&report), ["floats", "integers", "array"]);
    // A storage that no tensor refers to.
    let report = check(
        &deflated(&[("m/data.pkl", b"\x80\x02}."), ("m/data/0", &data)]),
        FileFormat::PYTORCH,
    );
    assert_eq!(names(&report), ["data/0"]);
    assert!(!report.is_complete());
}

/// Integers are not looked at. The data of larger ones than bytes may be missing.
#[test]
fn integers() {
    let of = |class, elements| tensor(&storage(class, "0", 1), 0, &[elements], &[1]);
    let file = |value| archive(&state_dict(&[("w", value)]), &[&[1, 0xFF, 0, 0, 0, 0, 0, 0]]);
    let report = check(&file(of("LongStorage", 5)), FileFormat::PYTORCH);
    assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat);
    assert_eq!(report.tensors[0].shape, [5]);
    for class in ["ByteStorage", "CharStorage"] {
        let report = check(&file(of(class, 8)), FileFormat::PYTORCH);
        assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat);
        let long = error(&file(of(class, 9)), FileFormat::PYTORCH);
        assert!(long.contains("beyond its storage"), "{long}");
    }
}

/// Bytes before or behind an archive may be a file of another kind. Text and zeros are none, and
/// comments belong to the archive.
#[test]
fn bytes_around_an_archive() {
    let clean = zip(&[("a.npy", &one_zero())]);
    let nan = f32::NAN.to_le_bytes();
    let named = |parts: &[&[u8]]| -> Vec<String> {
        let report = check_bytes(&parts.concat(), FileFormat::NPZ, &Options::default()).unwrap();
        unread(&report).into_iter().map(|(name, _)| name.to_owned()).collect()
    };
    assert_eq!(named(&[&nan, &clean]), ["bytes before the archive"]);
    assert_eq!(named(&[&clean, &nan]), ["bytes behind the archive"]);
    for nothing in [&b"text"[..], &[0; 9]] {
        assert_eq!(named(&[nothing, &clean, nothing]), Vec::<String>::new());
    }
    // The length of the comment is the last field of the archive.
    let commented = [&clean[..clean.len() - 2], &[4, 0], &nan].concat();
    assert_eq!(named(&[&commented]), Vec::<String>::new());
}
