//! DirectML: answers in all layouts against a nested loop (CONTRACTS, section 3), and values of the
//! header.

use nonfinite::{Backend, Format, Predicate};
use nonfinite_ops::directml::{
    CompiledOperator, ElementWiseIsInfinityDesc, ElementWiseIsNanDesc, FeatureLevel,
    IsInfinityMode, TensorDataType, TensorDesc,
};

use crate::{CANARY, Sentences, elements, hold, memory};
use TensorDataType::{Float16, Float32, Uint8, Uint32};

/// Row-major strides.
fn packed(sizes: &[u32]) -> Vec<u32> {
    (0..sizes.len()).map(|i| sizes[i + 1..].iter().product()).collect()
}

/// Every coordinate, the last dimension fastest.
fn coordinates(sizes: &[u32]) -> Vec<Vec<u32>> {
    sizes.iter().fold(vec![vec![]], |all, &size| {
        all.iter().flat_map(|at| (0..size).map(move |i| [&at[..], &[i]].concat())).collect()
    })
}

fn offset(at: &[u32], strides: &[u32]) -> usize {
    at.iter().zip(strides).map(|(&at, &stride)| at as usize * stride as usize).sum()
}

/// The elements from the first to the last.
fn reach(sizes: &[u32], strides: Option<&[u32]>) -> usize {
    let last: Vec<u32> = sizes.iter().map(|size| size - 1).collect();
    offset(&last, strides.unwrap_or(&packed(sizes))) + 1
}

/// Elements for `bytes` of memory: all that matters, in turn.
fn input(format: Format, bytes: usize) -> Vec<u8> {
    let turn = elements(format, "1 nan inf -inf -0 max min nan");
    let mut x: Vec<u8> = turn.iter().copied().cycle().take(bytes).collect();
    // No period of its own: a signalling NaN every 13 elements.
    let snan = memory(format, [if format == Format::F16 { 0xFC01 } else { 0xFF80_0001 }]);
    x.chunks_exact_mut(snan.len()).step_by(13).for_each(|element| element.copy_from_slice(&snan));
    x
}

fn holds(format: Format, predicate: Predicate, element: &[u8]) -> bool {
    let x = match format {
        Format::F16 => half::f16::from_ne_bytes(element.try_into().unwrap()).to_f32(),
        _ => f32::from_ne_bytes(element.try_into().unwrap()),
    };
    match predicate {
        Predicate::Nan => x.is_nan(),
        Predicate::Inf => x.is_infinite(),
        Predicate::PositiveInf => x == f32::INFINITY,
        _ => x == f32::NEG_INFINITY,
    }
}

/// All operators and types for these layouts, on every backend, against a loop over all
/// coordinates.
fn check(sizes: &[u32], from: Option<&[u32]>, to: Option<&[u32]>) {
    for (data_type, format) in [(Float32, Format::F32), (Float16, Format::F16)] {
        let input_tensor = TensorDesc::new(data_type, sizes, from);
        let byte = TensorDesc::new(Uint8, sizes, to);
        let dword = TensorDesc::new(Uint32, sizes, to);
        let level = FeatureLevel::LEVEL_3_0;
        for output_tensor in [byte, dword] {
            let desc = ElementWiseIsNanDesc { input_tensor, output_tensor };
            check_operator(
                &desc.create(level).unwrap(),
                format,
                Predicate::Nan,
                &input_tensor,
                &output_tensor,
            );
        }
        for (infinity_mode, predicate) in [
            (IsInfinityMode::Either, Predicate::Inf),
            (IsInfinityMode::Positive, Predicate::PositiveInf),
            (IsInfinityMode::Negative, Predicate::NegativeInf),
        ] {
            let desc =
                ElementWiseIsInfinityDesc { input_tensor, output_tensor: byte, infinity_mode };
            check_operator(&desc.create(level).unwrap(), format, predicate, &input_tensor, &byte);
        }
    }
}

fn check_operator(
    operator: &CompiledOperator<'_>,
    format: Format,
    predicate: Predicate,
    from: &TensorDesc<'_>,
    to: &TensorDesc<'_>,
) {
    let is_nan = predicate == Predicate::Nan;
    let name = if is_nan { "ELEMENT_WISE_IS_NAN" } else { "ELEMENT_WISE_IS_INFINITY" };
    assert_eq!((operator.name(), operator.predicate()), (name, predicate));
    let (size, width) =
        (format.size_in_bytes(), if to.data_type == TensorDataType::Uint32 { 4 } else { 1 });
    let x = input(format, reach(from.sizes, from.strides) * size);
    // What is not a result must stay.
    let mut expected = vec![CANARY; reach(to.sizes, to.strides) * width + 7];
    let packed = packed(from.sizes);
    for at in coordinates(from.sizes) {
        let i = offset(&at, from.strides.unwrap_or(&packed)) * size;
        let answer = u32::from(holds(format, predicate, &x[i..i + size]));
        let o = offset(&at, to.strides.unwrap_or(&packed)) * width;
        match width {
            1 => expected[o] = answer as u8,
            _ => expected[o..o + 4].copy_from_slice(&answer.to_ne_bytes()),
        }
    }
    for backend in Backend::available().map(Some).chain([None]) {
        let mut buffer = vec![CANARY; expected.len()];
        let operator = backend.map_or(*operator, |backend| operator.with_backend(backend));
        operator.dispatch(&x, &mut buffer).unwrap();
        let at = format!("{} {from:?} {to:?} on {:?}", operator.name(), backend.map(Backend::name));
        assert!(buffer == expected, "{at}:\n{buffer:?}\n{expected:?}");
    }
}

fn packed_tensors() {
    for sizes in [&[1][..], &[1, 1, 1, 1], &[1, 1, 3, 5], &[2, 3, 5, 7], &[700], &[3, 300], &[2; 8]]
    {
        check(sizes, None, None);
        check(sizes, Some(&packed(sizes)), Some(&packed(sizes)));
    }
}

#[test]
fn padded_rows() {
    check(&[2, 3], Some(&[5, 1]), None);
    check(&[2, 3], None, Some(&[5, 1]));
    // Rows one element longer than they are read or written.
    check(&[9, 4], Some(&[5, 1]), None);
    check(&[9, 4], None, Some(&[5, 1]));
    check(&[4, 100], Some(&[128, 1]), Some(&[104, 1]));
    check(&[2, 3, 70], Some(&[300, 90, 1]), Some(&[280, 72, 1]));
    check(&[5, 3], Some(&[21, 7]), Some(&[9, 3]));
}

/// NHWC memory with NCHW sizes, on either side or on both.
#[test]
fn permuted() {
    for channels in [3, 4, 16] {
        let sizes = [2, channels, 5, 9];
        let nhwc = [channels * 45, 1, channels * 9, channels];
        check(&sizes, Some(&nhwc), None);
        check(&sizes, None, Some(&nhwc));
        check(&sizes, Some(&nhwc), Some(&nhwc));
    }
    check(&[4, 1, 3, 2], Some(&[3, 9, 1, 12]), None);
    check(&[65, 66], Some(&[1, 65]), None);
    check(&[700, 2], Some(&[1, 700]), Some(&[2, 1]));
    check(&[2, 2], None, Some(&[1, 2]));
    check(&[3, 4], None, Some(&[1, 3]));
}

/// Strides of 0, and others that overlap: inputs only.
#[test]
fn broadcast_inputs() {
    check(&[2, 3], Some(&[0, 1]), None);
    check(&[2, 2, 2, 2], Some(&[0; 4]), None);
    check(&[3, 600], Some(&[0, 1]), Some(&[640, 1]));
    check(&[600, 3], Some(&[1, 0]), None);
    check(&[600, 3], Some(&[1, 1]), None);
    check(&[4, 5, 6], Some(&[7, 0, 1]), None);
}

/// A dimension of size 1 may have any stride.
#[test]
fn size_1_dimensions() {
    check(&[1, 5, 1, 7], Some(&[u32::MAX, 7, 0, 1]), Some(&[u32::MAX, 7, 3, 1]));
    check(&[1, 1], Some(&[9, u32::MAX]), Some(&[0, 0]));
}

/// DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC, and the values of directml.h.
#[test]
fn sentences() {
    hold("IS_INFINITY", IS_INFINITY);
}

const IS_INFINITY: Sentences = &[
    ("the result (1 for true, 0 for false) into the corresponding element", packed_tensors),
    ("EITHER, then 1 will be returned if the element is -inf or inf", || mode(0, [1, 1, 0, 0])),
    ("POSITIVE, then 1 will be returned if the element is inf", || mode(1, [0, 1, 0, 0])),
    ("NEGATIVE, then 1 will be returned if the element is -inf", || mode(2, [1, 0, 0, 0])),
    ("directml.h: DML_TENSOR_DATA_TYPE", data_types),
];

/// The answers of this value of `DML_IS_INFINITY_MODE`, for -inf, inf, a NaN and 1.
fn mode(value: u32, expected: [u8; 4]) {
    let infinity_mode = IsInfinityMode::try_from(value).unwrap();
    assert_eq!(infinity_mode as u32, value);
    assert!(IsInfinityMode::try_from(value + 3).is_err());
    let (input_tensor, output_tensor) = (
        TensorDesc::new(Float32, &[1, 2, 1, 2], None),
        TensorDesc::new(Uint8, &[1, 2, 1, 2], None),
    );
    let desc = ElementWiseIsInfinityDesc { input_tensor, output_tensor, infinity_mode };
    let mut out = [CANARY; 4];
    let x = elements(Format::F32, "-inf inf nan 1");
    desc.create(FeatureLevel(0x2100)).unwrap().dispatch(&x, &mut out).unwrap();
    assert_eq!(out, expected);
}

fn data_types() {
    let names = [
        "UNKNOWN", "FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8",
        "FLOAT64", "UINT64", "INT64", "UINT4", "INT4",
    ];
    for (value, name) in (0..).zip(names) {
        let data_type = TensorDataType::try_from(value).unwrap();
        assert_eq!((data_type.name(), data_type as u32), (name, value));
    }
    let error = TensorDataType::try_from(14).unwrap_err();
    assert_eq!(error.to_string(), "DML_TENSOR_DATA_TYPE has no value 0xe");
}
