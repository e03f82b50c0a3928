//! The readers of PyTorch and ONNX at their limits: the last input that is read, and the first that
//! is not. Most limits are multiples of the length of the file. Bytes that mean nothing make the
//! file as long as needed.

use std::fs;

use nonfinite_check::{FileFormat, Options, check_bytes, check_file};

use super::onnx::{bytes, entry, model, number, tensor as onnx_tensor};
use super::pytorch::{archive, state_dict, storage, tensor, text};
use crate::check;
use crate::folder::folder;

/// Asserts that a file of so many units is read, and that one with a unit more, or with a byte of
/// filler less, is refused for this reason.
#[track_caller]
fn assert_most(most: usize, of: impl Fn(usize) -> Vec<u8>, format: FileFormat, reason: &str) {
    let check = |units| check_bytes(&of(units), format, &Options::default());
    check(most).expect("as many as may be");
    let error = check(most + 1).expect_err("one more").to_string();
    assert!(error.contains(reason), "{error}");
}

/// The filler with which a file, or a part of it, has this length.
#[track_caller]
fn filler(length: usize, of: impl Fn(usize) -> Vec<u8>) -> usize {
    // The length of the filler takes bytes, too.
    let most = length.checked_sub(of(0).len()).expect("it is shorter without filler");
    (0..=most).rev().find(|&filler| of(filler).len() == length).expect("a filler of this length")
}

fn of_pickle(pickle: &[u8]) -> Vec<u8> {
    archive(pickle, &[])
}

/// The names of lists within lists: 64 bytes for each byte of the pickle, and 128 KiB.
#[test]
fn names_within_a_pickle() {
    const MIN: usize = 128 << 10;
    let lists = 400;
    // The name of the list of lists, and of each list in it.
    let key = |length| "k".repeat(length);
    let names = |length| {
        length + (0..lists).map(|i| format!("{}.{i}", key(length)).len()).sum::<usize>() - MIN
    };
    let length = (1000..).find(|&length| names(length).is_multiple_of(64)).expect("a length");
    let (key, names) = (key(length), names(length));
    let pickle = |filler: usize| {
        let items = [b"](", &b"]".repeat(lists)[..], b"e"].concat();
        let filler = [text(&"f".repeat(filler)), b"0".to_vec()].concat();
        [b"\x80\x02", &filler[..], b"}", &text(&key), &items, b"s."].concat()
    };
    let filler = filler(names / 64, pickle);
    let file = |less| of_pickle(&pickle(filler - less));
    assert_most(0, file, FileFormat::PYTORCH, "names and shapes");
}

/// Names of functions that are joined from texts: 16 bytes for each byte of the pickle.
#[test]
fn names_of_functions() {
    // A multiple of 16.
    let (times, module) = (96, "m".repeat(200));
    let names = times * (2 * module.len() + 1);
    let pickle = |filler: usize| {
        let start =
            [b"\x80\x04", &text(&module)[..], b"q\x00", &text(&"f".repeat(filler))].concat();
        [&start[..], &b"h\x00h\x00\x930".repeat(times), b"N."].concat()
    };
    let filler = filler(names / 16, pickle);
    let file = |less| of_pickle(&pickle(filler - less));
    assert_most(0, file, FileFormat::PYTORCH, "names of functions that are far longer");
}

/// Places on the stack of a pickle.
#[test]
fn objects_of_a_pickle() {
    let file = |places| of_pickle(&[&b"\x80\x04N"[..], &vec![b'2'; places - 1], b"."].concat());
    assert_most(1 << 22, file, FileFormat::PYTORCH, "more objects than PyTorch would write");
}

/// A tensor has at most 256 axes. One with more is no tensor, and its storage is named.
#[test]
fn rank_of_a_tensor() {
    for (rank, expected) in [(256, true), (257, false)] {
        let ones = vec![1; rank];
        let value = tensor(&storage("FloatStorage", "0", 1), 0, &ones, &ones);
        let file = archive(&state_dict(&[("w", value)]), &[&f32::NAN.to_le_bytes()]);
        let report = check(&file, FileFormat::PYTORCH);
        assert_eq!((report.is_bad(), report.is_complete()), (expected, expected), "{rank}");
    }
}

/// Tensors of one storage take at most 64 times the file.
#[test]
fn sharing_of_a_storage() {
    let (times, data) = (80, vec![0; 1 << 16]);
    let elements = data.len() / 4;
    let file = |filler: usize| {
        let one = tensor(&storage("FloatStorage", "0", elements), 0, &[elements], &[1]);
        let filler = text(&"f".repeat(filler));
        archive(&state_dict(&[vec![("w", one); times], vec![("f", filler)]].concat()), &[&data])
    };
    let filler = filler((times * data.len()).div_ceil(64), file);
    assert_most(0, |less| file(filler - less), FileFormat::PYTORCH, "more than 64 times");
}

/// The names of tensors take at most 16 times the model.
#[test]
fn names_of_a_model() {
    // The graph of a branch repeats the name of its node in the names of its tensors.
    let (tensors, name) = (300, "n".repeat(1000));
    let file = |filler: usize| {
        let one = bytes(5, &onnx_tensor("w", 1, &[0], &[]));
        let branch = [bytes(1, b"g"), bytes(6, &one.repeat(tensors))].concat();
        let node = bytes(1, &[bytes(3, name.as_bytes()), bytes(5, &branch)].concat());
        model(&[node, bytes(10, &vec![b'f'; filler])])
    };
    let report = check(&file(1 << 20), FileFormat::ONNX);
    let names = report.tensors.iter().filter_map(|tensor| tensor.name.as_deref()).map(str::len);
    let filler = filler(names.sum::<usize>().div_ceil(16), file);
    assert_most(0, |less| file(filler - less), FileFormat::ONNX, "names of more than 16 times");
}

/// External data takes at most 64 times the model and its files.
#[test]
fn sharing_of_external_data() {
    let folder = folder("onnx-sharing-limit");
    let (times, data, path) = (80, vec![0; 1 << 16], folder.join("model.onnx"));
    fs::write(folder.join("data"), &data).unwrap();
    let external = [entry("location", "data"), number(14, 1)];
    let external = onnx_tensor("w", 1, &[data.len() / 4], &external);
    let file =
        |filler: usize| model(&[bytes(5, &external).repeat(times), bytes(10, &vec![b'f'; filler])]);
    let filler = filler((times * data.len()).div_ceil(64) - data.len(), file);
    for (filler, expected) in [(filler, true), (filler - 1, false)] {
        fs::write(&path, file(filler)).unwrap();
        match check_file(&path, &Options::default()) {
            Ok(_) => assert!(expected),
            Err(error) => assert!(!expected && error.to_string().contains("more than 64 times")),
        }
    }
}

/// A model has at most 2^20 tensors.
#[test]
fn tensors_of_a_model() {
    let file = |tensors| model(&[bytes(5, &[]).repeat(tensors)]);
    assert_most(1 << 20, file, FileFormat::ONNX, "more than 1048576 tensors");
}
