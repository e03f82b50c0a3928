//! Lint of ONNX models.

use std::fs;

use nonfinite_check::Options;
use nonfinite_check::lint::Linter;
use nonfinite_check::lint::Severity::{Error, Note};

use super::onnx::{bytes, model, tensor};
use crate::folder::folder;
use crate::lint_model::lint_in_pieces;

/// The shape of a mask, whose first number is zero.
const MASK: [usize; 2] = [1, 3];

/// A constant stands for infinity, and onnxruntime gives blocks of zeros the scale 0.
#[test]
fn constants_and_scales_of_blocks() {
    let node = |operator: &str, inputs: &[&str]| {
        let inputs: Vec<u8> = inputs.iter().flat_map(|input| bytes(1, input.as_bytes())).collect();
        bytes(1, &[inputs, bytes(4, operator.as_bytes())].concat())
    };
    let floats = |shape: &[usize], number: f32| {
        let mut data = number.to_le_bytes().repeat(shape.iter().product());
        if shape == MASK {
            data[..4].fill(0);
        }
        bytes(5, &tensor("s", 1, shape, &[bytes(9, &data)]))
    };
    let dequantize = || node("DequantizeLinear", &["w", "s"]);
    let zero = |severity| vec![("scale-zero", severity)];
    let magnitude = |severity| vec![("magnitude", severity)];
    for (node, shape, number, expected) in [
        (dequantize(), &[][..], 1.0, vec![]),
        (dequantize(), &[2], -1.0, vec![("scale-negative", Note)]),
        (dequantize(), &[2], f32::NAN, vec![("scale-nonfinite", Error)]),
        (Vec::new(), &[], 3e38, magnitude(Note)),
        (Vec::new(), &[2, 2], f32::MIN, vec![]),
        (Vec::new(), &[2, 2], 3e38, magnitude(Error)),
        (Vec::new(), &[2, 2], f32::MAX, magnitude(Error)),
        (dequantize(), &[], f32::MAX, magnitude(Error)),
        (dequantize(), &[2], 0.0, zero(Error)),
        (dequantize(), &[2, 2], 0.0, zero(Note)),
        (node("Add", &["x", "s"]), &MASK, f32::MIN, vec![]),
        (node("Add", &["x", "s"]), &MASK, f32::NEG_INFINITY, vec![("nonfinite", Note)]),
        (node("Add", &["x", "s"]), &MASK, f32::INFINITY, vec![("nonfinite", Error)]),
        (node("Add", &["y", "s"]), &[], 1.0, vec![("count", Error)]),
        (node("MatMulNBits", &["x", "w", "s"]), &[2], 0.0, zero(Note)),
        (node("GatherBlockQuantized", &["w", "x", "s"]), &[2], 0.0, zero(Note)),
    ] {
        let folder = folder("lint-onnx");
        let path = folder.join("x.onnx");
        let inputs = ["w", "x"].map(|name| bytes(11, &bytes(1, name.as_bytes()))).concat();
        fs::write(&path, model(&[inputs, node, floats(shape, number)])).unwrap();
        let [mut linter, mut in_pieces] = [(); 2].map(|()| Linter::new(Options::default()));
        let report = linter.check(&path).unwrap();
        assert!(report.is_complete());
        assert_eq!(lint_in_pieces(&mut in_pieces, path.to_str().unwrap()), report);
        let found = linter.findings();
        assert_eq!(in_pieces.findings(), found);
        let found: Vec<_> = found.iter().map(|found| (found.rule.id, found.severity)).collect();
        assert_eq!(found, expected, "{shape:?} {number}");
    }
}
