//! DirectML: every refusal names tensor and rule (CONTRACTS, section 3), and nothing is written.

use nonfinite::LayoutError;
use nonfinite_ops::directml::{
    ElementWiseIsInfinityDesc, ElementWiseIsNanDesc, Error, FeatureLevel, IsInfinityMode, Rule,
    Tensor, TensorDataType, TensorDesc,
};

use crate::{Sentences, hold};
use TensorDataType::{Float16, Float32, Uint8, Uint32};

const NAN: &str = "ELEMENT_WISE_IS_NAN";
const INFINITY: &str = "ELEMENT_WISE_IS_INFINITY";

/// Why the operator is not created.
fn refusal(
    operator: &str,
    input_tensor: TensorDesc<'_>,
    output_tensor: TensorDesc<'_>,
    level: u32,
) -> Option<Error> {
    let (level, infinity_mode) = (FeatureLevel(level), IsInfinityMode::Either);
    let infinity = ElementWiseIsInfinityDesc { input_tensor, output_tensor, infinity_mode };
    let nan = ElementWiseIsNanDesc { input_tensor, output_tensor };
    if operator == NAN { nan.create(level) } else { infinity.create(level) }.err()
}

fn f32s<'a>(sizes: &'a [u32], strides: Option<&'a [u32]>) -> TensorDesc<'a> {
    TensorDesc::new(Float32, sizes, strides)
}

fn u8s<'a>(sizes: &'a [u32], strides: Option<&'a [u32]>) -> TensorDesc<'a> {
    TensorDesc::new(Uint8, sizes, strides)
}

/// The error has these fields and this text.
#[track_caller]
fn assert_is(
    found: Option<Error>,
    operator: &'static str,
    tensor: Option<Tensor>,
    rule: Rule,
    text: &str,
) {
    let found = found.expect("a refusal");
    assert_eq!((found.operator, found.tensor, found.rule), (operator, tensor, rule));
    assert_eq!(found.to_string(), format!("DML_OPERATOR_{operator}: {text}"));
}

#[test]
fn sentences() {
    hold(NAN, IS_NAN);
    hold(INFINITY, IS_INFINITY);
}

const IS_NAN: Sentences = &[
    ("must have the same DimensionCount and Sizes.", || same_sizes(NAN)),
    ("introduced in DML_FEATURE_LEVEL_2_0", || introduced(NAN, 0x1000, 0x2000, "1_0", "2_0")),
    ("LEVEL_2_0 and above: 4 | UINT32, UINT8", || support(NAN, 0x2000, &[Uint32, Uint8])),
    ("LEVEL_3_0 and above: 1 to 8 | UINT32, UINT8", || support(NAN, 0x3000, &[Uint32, Uint8])),
];

const IS_INFINITY: Sentences = &[
    ("must have the same DimensionCount and Sizes.", || same_sizes(INFINITY)),
    ("introduced in DML_FEATURE_LEVEL_2_1", || introduced(INFINITY, 0x20FF, 0x2100, "2_0", "2_1")),
    ("LEVEL_2_1 and above: 4 | UINT8", || support(INFINITY, 0x2100, &[Uint8])),
    ("LEVEL_3_0 and above: 1 to 8 | UINT8", || support(INFINITY, 0x3000, &[Uint8])),
];

fn introduced(operator: &'static str, before: u32, first: u32, old: &str, new: &str) {
    let (x, y) = (f32s(&[1; 4], None), u8s(&[1; 4], None));
    assert_eq!(refusal(operator, x, y, first), None);
    let rule = Rule::Introduced { level: FeatureLevel(before), first: FeatureLevel(first) };
    let text = format!(
        "DML_FEATURE_LEVEL_{old} has no such operator: it came with DML_FEATURE_LEVEL_{new}"
    );
    assert_is(refusal(operator, x, y, before), operator, None, rule, &text);
}

/// "Tensor support" from a level on. The dimension counts of both tensors are 4, or 1 to 8. The
/// data types are FLOAT32 and FLOAT16 for the input, and these for the output.
fn support(operator: &'static str, first: u32, outputs: &'static [TensorDataType]) {
    let (last, least, most) = if first < 0x3000 { (0x2FFF, 4, 4) } else { (0x6400, 1, 8) };
    for (level, found) in (0..=10).flat_map(|count| [(first, count), (last, count)]) {
        let created = |input, output| {
            let (x, y) = (f32s(&[1; 16][..input], None), u8s(&[1; 16][..output], None));
            refusal(operator, x, y, level)
        };
        if (least..=most).contains(&found) {
            assert_eq!(created(found, found), None, "{level:#x}");
            continue;
        }
        let range = if least == most { " 4" } else { " in 1..=8" };
        let text = format!("Tensor: DimensionCount is {found}, not{range}");
        let rule = Rule::DimensionCount { found, least, most };
        let (input, output) = (created(found, least), created(least, found));
        assert_is(input, operator, Some(Tensor::Input), rule, &format!("Input{text}"));
        assert_is(output, operator, Some(Tensor::Output), rule, &format!("Output{text}"));
    }
    let (x, y) = (f32s(&[1; 4], None), u8s(&[1; 4], None));
    for &found in TensorDataType::ALL {
        let given = TensorDesc::new(found, &[1; 4], None);
        let input: (_, _, &[_]) = (Tensor::Input, (given, y), &[Float32, Float16]);
        for (tensor, (x, y), allowed) in [input, (Tensor::Output, (x, given), outputs)] {
            let refused = refusal(operator, x, y, first);
            if allowed.contains(&found) {
                assert_eq!(refused, None);
                continue;
            }
            let names: Vec<_> = allowed.iter().map(|data_type| data_type.name()).collect();
            let text = format!("{tensor:?}Tensor: DataType is {found}, not {}", names.join(" or "));
            assert_is(refused, operator, Some(tensor), Rule::DataType { found, allowed }, &text);
        }
    }
}

fn same_sizes(operator: &'static str) {
    let text = "OutputTensor: DimensionCount and Sizes are not those of InputTensor";
    for sizes in [&[2, 3, 1][..], &[2], &[2, 1], &[3, 2], &[6]] {
        let refused = refusal(operator, f32s(&[2, 3], None), u8s(sizes, None), 0x3000);
        assert_is(refused, operator, Some(Tensor::Output), Rule::Sizes, text);
    }
}

#[test]
fn sizes_and_strides() {
    let (input, output) = (Some(Tensor::Input), Some(Tensor::Output));
    let is_nan = |x, y| refusal(NAN, x, y, 0x3000);
    let refused = is_nan(f32s(&[2, 0, 3], None), u8s(&[2, 0, 3], None));
    let text = "InputTensor: Sizes[1] is zero";
    assert_is(refused, NAN, input, Rule::ZeroSize { index: 1 }, text);
    let refused = is_nan(f32s(&[2, 3], Some(&[1])), u8s(&[2, 3], None));
    let rule = Rule::StrideCount { found: 1, sizes: 2 };
    assert_is(refused, NAN, input, rule, "InputTensor: 1 strides for 2 sizes");
    let refused = is_nan(f32s(&[2, 3], None), u8s(&[2, 3], Some(&[3, 1, 1])));
    let rule = Rule::StrideCount { found: 3, sizes: 2 };
    assert_is(refused, NAN, output, rule, "OutputTensor: 3 strides for 2 sizes");
}

/// What `dispatch` refuses for buffers of these bytes.
fn dispatched(from: TensorDesc<'_>, to: TensorDesc<'_>, bytes: (usize, usize)) -> Option<Error> {
    let desc = ElementWiseIsNanDesc { input_tensor: from, output_tensor: to };
    let mut out = vec![7; bytes.1];
    let result =
        desc.create(FeatureLevel::LEVEL_3_0).unwrap().dispatch(&vec![0xFF; bytes.0], &mut out);
    assert!(result.is_ok() || out.iter().all(|&byte| byte == 7), "written before an error");
    result.err()
}

/// Sizes and strides; the dimension that overlaps, its stride, and the least stride.
type Overlap = (&'static [u32], &'static [u32], usize, isize, usize);

#[test]
fn overlapping_outputs() {
    let rows: [Overlap; 5] = [
        (&[2, 3], &[0, 1], 0, 0, 1),
        (&[2, 3], &[2, 1], 0, 2, 3),
        (&[2, 2, 2, 2], &[0; 4], 0, 0, 1),
        (&[4, 1, 3], &[2, 0, 1], 0, 2, 3),
        // Not one place is shared, but dimensions interleave: refused as well.
        (&[2, 3], &[3, 2], 0, 3, 5),
    ];
    for (sizes, strides, dimension, stride, needed) in rows {
        let from = f32s(sizes, Some(strides));
        for (data_type, width) in [(Uint8, 1), (Uint32, 4)] {
            let to = TensorDesc::new(data_type, sizes, Some(strides));
            let found = dispatched(from, to, (256, 256)).unwrap();
            let Rule::Layout(nonfinite::Error::Layout(error)) = found.rule else {
                panic!("{found}")
            };
            let LayoutError::Overlap { dimension: d, stride: s, needed: n } = error else {
                panic!("{error}")
            };
            assert_eq!((found.tensor, d, s), (Some(Tensor::Output), dimension, stride * width));
            assert!(n > s.unsigned_abs() && (width > 1 || n == needed), "{error}");
        }
        assert_eq!(dispatched(from, u8s(sizes, None), (256, 64)), None, "an input may overlap");
    }
}

/// A buffer that ends before the last element, or the last byte of the last result.
#[test]
fn buffers() {
    let sizes = [2, 3];
    let padded: &[u32] = &[5, 1];
    for (strides, elements) in [(None, 6), (Some(padded), 8)] {
        let from = TensorDesc::new(Float16, &sizes, strides);
        for (data_type, width) in [(Uint8, 1), (Uint32, 4)] {
            let to = TensorDesc::new(data_type, &sizes, strides);
            let (whole, all) = (2 * elements, width * elements);
            assert_eq!(dispatched(from, to, (whole, all)), None);
            for (bytes, tensor) in [
                ((whole - 2, all), Tensor::Input),
                ((whole - 1, all), Tensor::Input),
                ((0, all), Tensor::Input),
                ((whole, all - 1), Tensor::Output),
                ((whole, 0), Tensor::Output),
            ] {
                let error = dispatched(from, to, bytes).unwrap();
                assert_eq!(error.tensor, Some(tensor));
                assert!(matches!(error.rule, Rule::Layout(_)), "{error}");
                assert!(error.to_string().starts_with(&format!("DML_OPERATOR_{NAN}: ")));
            }
        }
    }
    // More elements than an address space has.
    let huge = [u32::MAX; 8];
    for strides in [None, Some(&huge[..]), Some(&[0; 8])] {
        let error = dispatched(f32s(&huge, strides), u8s(&huge, None), (64, 64)).unwrap();
        assert!(matches!(error.rule, Rule::Layout(_)), "{error}");
    }
}
