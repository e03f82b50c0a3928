//! DirectML: every refusal names tensor and rule (CONTRACTS, section 3), and nothing is written.

use nonfinite::LayoutError;
use nonfinite_ops::directml::{
    ElementWiseIsInfinityDesc, ElementWiseIsNanDesc, Error, FeatureLevel, IsInfinityMode, Rule,
    Tensor, TensorDataType, TensorDesc,
};

use TensorDataType::{Float16, Float32, Uint8, Uint32};

const FL3: FeatureLevel = FeatureLevel::LEVEL_3_0;
const NAN: &str = "ELEMENT_WISE_IS_NAN";
const INFINITY: &str = "ELEMENT_WISE_IS_INFINITY";

fn is_nan(
    input_tensor: TensorDesc<'_>,
    output_tensor: TensorDesc<'_>,
    level: FeatureLevel,
) -> Option<Error> {
    ElementWiseIsNanDesc { input_tensor, output_tensor }.create(level).err()
}

fn is_infinity(
    input_tensor: TensorDesc<'_>,
    output_tensor: TensorDesc<'_>,
    level: FeatureLevel,
) -> Option<Error> {
    let infinity_mode = IsInfinityMode::Either;
    ElementWiseIsInfinityDesc { input_tensor, output_tensor, infinity_mode }.create(level).err()
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
fn feature_levels() {
    let (x, y) = (f32s(&[1; 4], None), u8s(&[1; 4], None));
    let (one, two) = (FeatureLevel(0x1000), FeatureLevel::LEVEL_2_0);
    let text = "DML_FEATURE_LEVEL_1_0 has no such operator: it came with DML_FEATURE_LEVEL_2_0";
    let rule = Rule::Introduced { level: one, first: two };
    assert_is(is_nan(x, y, one), NAN, None, rule, text);
    let text = "DML_FEATURE_LEVEL_2_0 has no such operator: it came with DML_FEATURE_LEVEL_2_1";
    let rule = Rule::Introduced { level: two, first: FeatureLevel::LEVEL_2_1 };
    assert_is(is_infinity(x, y, two), INFINITY, None, rule, text);
    for level in [0x2000, 0x2100, 0x3000, 0x5200, 0x6400].map(FeatureLevel) {
        assert_eq!(is_nan(x, y, level), None);
        assert_eq!(is_infinity(x, y, level).is_some(), level == two);
    }
}

#[test]
fn data_types() {
    let (x, y) = (f32s(&[1; 4], None), u8s(&[1; 4], None));
    for &found in TensorDataType::ALL {
        let tensor = TensorDesc::new(found, &[1; 4], None);
        let rule = Rule::DataType { found, allowed: &[Float32, Float16] };
        if matches!(found, Float32 | Float16) {
            assert_eq!((is_nan(tensor, y, FL3), is_infinity(tensor, y, FL3)), (None, None));
        } else {
            let text = format!("InputTensor: DataType is {found}, not FLOAT32 or FLOAT16");
            assert_is(is_nan(tensor, y, FL3), NAN, Some(Tensor::Input), rule, &text);
            assert_is(is_infinity(tensor, y, FL3), INFINITY, Some(Tensor::Input), rule, &text);
        }
        let output = Some(Tensor::Output);
        if matches!(found, Uint32 | Uint8) {
            assert_eq!(is_nan(x, tensor, FL3), None);
        } else {
            let rule = Rule::DataType { found, allowed: &[Uint32, Uint8] };
            let text = format!("OutputTensor: DataType is {found}, not UINT32 or UINT8");
            assert_is(is_nan(x, tensor, FL3), NAN, output, rule, &text);
        }
        if found == Uint8 {
            assert_eq!(is_infinity(x, tensor, FL3), None);
        } else {
            let rule = Rule::DataType { found, allowed: &[Uint8] };
            let text = format!("OutputTensor: DataType is {found}, not UINT8");
            assert_is(is_infinity(x, tensor, FL3), INFINITY, output, rule, &text);
        }
    }
}

#[test]
fn dimension_counts() {
    for found in 0..=10 {
        let sizes = vec![1; found];
        for level in [0x2000, 0x2100, 0x3000, 0x6400].map(FeatureLevel) {
            let (least, most) = if level < FL3 { (4, 4) } else { (1, 8) };
            let refused = is_nan(f32s(&sizes, None), u8s(&sizes, None), level);
            if (least..=most).contains(&found) {
                assert_eq!(refused, None, "{level}");
                continue;
            }
            let range = if least == most { " 4" } else { " in 1..=8" };
            let text = format!("InputTensor: DimensionCount is {found}, not{range}");
            let rule = Rule::DimensionCount { found, least, most };
            assert_is(refused, NAN, Some(Tensor::Input), rule, &text);
        }
    }
}

#[test]
fn sizes_and_strides() {
    let (input, output) = (Some(Tensor::Input), Some(Tensor::Output));
    let refused = is_nan(f32s(&[2, 0, 3], None), u8s(&[2, 0, 3], None), FL3);
    let text = "InputTensor: Sizes[1] is zero";
    assert_is(refused, NAN, input, Rule::ZeroSize { index: 1 }, text);
    let refused = is_nan(f32s(&[2, 3], Some(&[1])), u8s(&[2, 3], None), FL3);
    let rule = Rule::StrideCount { found: 1, sizes: 2 };
    assert_is(refused, NAN, input, rule, "InputTensor: 1 strides for 2 sizes");
    let refused = is_nan(f32s(&[2, 3], None), u8s(&[2, 3], Some(&[3, 1, 1])), FL3);
    let rule = Rule::StrideCount { found: 3, sizes: 2 };
    assert_is(refused, NAN, output, rule, "OutputTensor: 3 strides for 2 sizes");
    let text = "OutputTensor: DimensionCount and Sizes are not those of InputTensor";
    for sizes in [&[2, 3, 1][..], &[2, 1]] {
        let refused = is_nan(f32s(&[2, 3], None), u8s(sizes, None), FL3);
        assert_is(refused, NAN, output, Rule::Sizes, text);
    }
}

/// What `dispatch` refuses for buffers of these bytes.
fn dispatched(from: TensorDesc<'_>, to: TensorDesc<'_>, bytes: (usize, usize)) -> Option<Error> {
    let desc = ElementWiseIsNanDesc { input_tensor: from, output_tensor: to };
    let mut out = vec![7; bytes.1];
    let result = desc.create(FL3).unwrap().dispatch(&vec![0xFF; bytes.0], &mut out);
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
