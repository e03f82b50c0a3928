//! Bounds of the readers of ONNX and PyTorch. Each test fails without the bound.

use nonfinite_check::{FileFormat, Options, check_bytes};

use super::error;
use super::onnx::{bytes, model, tensor as onnx_tensor};
use super::pytorch::{archive, integers, state_dict, storage, text};
use crate::check;
use crate::zip::deflated;

/// The graph of a model is at depth 0, and a graph may be at depth 64.
#[test]
fn depth_of_graphs() {
    let nan = bytes(5, &onnx_tensor("w", 1, &[1], &[bytes(9, &f32::NAN.to_le_bytes())]));
    let nested = |depth| {
        let around = |inner: Vec<u8>, _| {
            let branch = [bytes(1, b"g"), bytes(6, &inner)].concat();
            bytes(1, &[bytes(4, b"If"), bytes(5, &branch)].concat())
        };
        model(&[(0..depth).fold(nan.clone(), around)])
    };
    assert!(check(&nested(64), FileFormat::ONNX).is_bad());
    assert!(error(&nested(65), FileFormat::ONNX).contains("more than 64 graphs within graphs"));
}

/// A call with more arguments than PyTorch has makes no tensor. Many calls could share one list.
#[test]
fn arguments_of_a_call() {
    for (arguments, is_read) in [(16, true), (17, false)] {
        let (storage, ones) = (storage("FloatStorage", "0", 1), integers(&[1]));
        let more = b"N".repeat(arguments - 4);
        let list = [b"(", &storage[..], b"K\x00", &ones, &ones, &more, b"t"].concat();
        let rebuild = b"ctorch._utils\n_rebuild_tensor_v2\n";
        let plain = [&rebuild[..], &list, b"R"].concat();
        let start = b"ctorch._tensor\n_rebuild_from_type_v2\n(";
        let of_type = [&start[..], rebuild, b"cmy\nTensor\n", &list, b"}tR"].concat();
        for value in [plain, of_type] {
            let file = archive(&state_dict(&[("w", value)]), &[&f32::NAN.to_le_bytes()]);
            let report = check(&file, FileFormat::PYTORCH);
            assert_eq!((report.is_bad(), report.is_complete()), (is_read, is_read), "{arguments}");
        }
    }
}

/// Opcodes that make no object fill the stack, the marks or the memo.
#[test]
fn places_of_a_pickle() {
    const MANY: usize = 9 << 20;
    for opcode in [b'2', b'(', 0x94] {
        let pickle = [&b"\x80\x04N"[..], &vec![opcode; MANY], b"."].concat();
        let error = error(&archive(&pickle, &[]), FileFormat::PYTORCH);
        assert!(error.contains("more objects than PyTorch would write"), "{error}");
    }
}

/// The claim of a deflated pickle is not believed: its bytes are counted.
#[test]
fn claims_of_deflated_pickles() {
    let long = [b"\x80\x02", &text(&"a".repeat(2 << 20))[..], b"."].concat();
    let file = deflated(&[("m/data.pkl", &long)]);
    let claim = (long.len() as u32).to_le_bytes();
    for claimed in [100u32, 1 << 20, u32::MAX - 1] {
        let mut file = file.clone();
        for at in 0..file.len() - 4 {
            if file[at..at + 4] == claim {
                file[at..at + 4].copy_from_slice(&claimed.to_le_bytes());
            }
        }
        let result = check_bytes(&file, FileFormat::PYTORCH, &Options::default());
        let error = result.unwrap_err().to_string();
        let is_counted = error.contains("longer than a deflated pickle");
        assert!(is_counted || error.contains("more data than the archive says"), "{error}");
    }
}
