//! DirectML: every refusal names tensor, property, value and rule (CONTRACTS, section 3), and
//! nothing is written.

use nonfinite::Backend;
use nonfinite_ops::directml::{
    BufferBinding, BufferBindingMut, BufferTensorDesc, ElementWiseIsInfinityDesc,
    ElementWiseIsNanDesc, Error, FeatureLevel, IsInfinityMode, Property, Rule, Tensor,
    TensorDataType,
};

use TensorDataType::{Float16, Float32, Uint8, Uint32};

const FL3: FeatureLevel = FeatureLevel::Level3_0;

/// The fields of an error: operator, tensor, property, index, value and rule.
#[derive(Debug)]
struct Refusal(&'static str, Option<Tensor>, Property, Option<usize>, u64, Rule);

impl PartialEq<Refusal> for Option<Error> {
    fn eq(&self, other: &Refusal) -> bool {
        let Refusal(operator, tensor, property, index, value, rule) = *other;
        self.is_some_and(|error| {
            (error.operator, error.tensor, error.property) == (operator, tensor, property)
                && (error.index, error.value, error.rule) == (index, value, rule)
        })
    }
}

fn is_nan(
    input: BufferTensorDesc<'_>,
    output: BufferTensorDesc<'_>,
    level: FeatureLevel,
) -> Option<Error> {
    ElementWiseIsNanDesc { input_tensor: input, output_tensor: output }.create(level).err()
}

fn is_infinity(
    input_tensor: BufferTensorDesc<'_>,
    output_tensor: BufferTensorDesc<'_>,
    level: FeatureLevel,
) -> Option<Error> {
    let infinity_mode = IsInfinityMode::Either;
    ElementWiseIsInfinityDesc { input_tensor, output_tensor, infinity_mode }.create(level).err()
}

fn error(
    tensor: Tensor,
    property: Property,
    index: Option<usize>,
    value: u64,
    rule: Rule,
) -> Refusal {
    Refusal("ELEMENT_WISE_IS_NAN", Some(tensor), property, index, value, rule)
}

fn f32s<'a>(sizes: &'a [u32], strides: Option<&'a [u32]>) -> BufferTensorDesc<'a> {
    BufferTensorDesc::new(Float32, sizes, strides)
}

fn u8s<'a>(sizes: &'a [u32], strides: Option<&'a [u32]>) -> BufferTensorDesc<'a> {
    BufferTensorDesc::new(Uint8, sizes, strides)
}

#[test]
fn feature_levels() {
    let sizes = [1; 4];
    let error = |operator, value, introduced| {
        let rule = Rule::Introduced(introduced);
        Refusal(operator, None, Property::FeatureLevel, None, value, rule)
    };
    let (x, y) = (f32s(&sizes, None), u8s(&sizes, None));
    let (one, two) = (FeatureLevel::Level1_0, FeatureLevel::Level2_0);
    assert_eq!(is_nan(x, y, one), error("ELEMENT_WISE_IS_NAN", 0x1000, two));
    let refused = is_infinity(x, y, two);
    assert_eq!(refused, error("ELEMENT_WISE_IS_INFINITY", 0x2000, FeatureLevel::Level2_1));
    assert_eq!(
        refused.unwrap().to_string(),
        "DML_OPERATOR_ELEMENT_WISE_IS_INFINITY: FeatureLevel is 0x2000: \
         the operator came with DML_FEATURE_LEVEL_2_1"
    );
    assert_eq!(Error::HRESULT, 0x8007_0057);
}

#[test]
fn data_types() {
    let sizes = [1; 4];
    let inputs = Rule::DataTypes(&[Float32, Float16]);
    for &data_type in TensorDataType::ALL {
        let (tensor, value) = (BufferTensorDesc::new(data_type, &sizes, None), data_type as u64);
        if !matches!(data_type, Float32 | Float16) {
            let expected = error(Tensor::Input, Property::DataType, None, value, inputs);
            assert_eq!(is_nan(tensor, u8s(&sizes, None), FL3), expected);
            assert!(is_infinity(tensor, u8s(&sizes, None), FL3).is_some());
        }
        let rule = Rule::DataTypes(&[Uint32, Uint8]);
        let expected = error(Tensor::Output, Property::DataType, None, value, rule);
        let refused = is_nan(f32s(&sizes, None), tensor, FL3);
        match data_type {
            Uint32 | Uint8 => assert_eq!(refused, None),
            _ => assert_eq!(refused, expected),
        }
        let refused = is_infinity(f32s(&sizes, None), tensor, FL3);
        assert_eq!(refused.is_some(), data_type != Uint8, "UINT32 is for IS_NAN only");
        assert!(refused.is_none_or(|error| error.rule == Rule::DataTypes(&[Uint8])));
    }
    let refused = is_nan(
        BufferTensorDesc::new(TensorDataType::Float64, &sizes, None),
        u8s(&sizes, None),
        FL3,
    );
    assert_eq!(
        refused.unwrap().to_string(),
        "DML_OPERATOR_ELEMENT_WISE_IS_NAN: InputTensor.DataType is FLOAT64: \
         must be FLOAT32 or FLOAT16"
    );
}

#[test]
fn flags() {
    let sizes = [1; 4];
    let owned = BufferTensorDesc { flags: 1, ..f32s(&sizes, None) };
    assert_eq!(is_nan(owned, u8s(&sizes, None), FL3), None);
    for flags in [2, 3, 1 << 31] {
        let output = BufferTensorDesc { flags, ..u8s(&sizes, None) };
        let expected = error(Tensor::Output, Property::Flags, None, flags.into(), Rule::Flags);
        assert_eq!(is_nan(owned, output, FL3), expected);
    }
    // learn.microsoft.com, DML_TENSOR_FLAGS: "This flag can only be used on input tensors."
    let output = BufferTensorDesc { flags: 1, ..u8s(&sizes, None) };
    let expected = error(Tensor::Output, Property::Flags, None, 1, Rule::InputsOnly);
    assert_eq!(is_nan(owned, output, FL3), expected);
    assert_eq!(is_nan(f32s(&sizes, None), output, FL3), expected);
    let expected =
        Refusal("ELEMENT_WISE_IS_INFINITY", expected.1, expected.2, None, 1, Rule::InputsOnly);
    assert_eq!(is_infinity(owned, output, FL3), expected);
}

/// learn.microsoft.com, DML_TENSOR_FLAGS: a tensor with the flag "must be bound to the binding
/// table during operator initialization, and not during execution", and the opposite without it.
#[test]
fn owned_inputs_are_bound_by_the_initializer() {
    let sizes = [2, 3];
    let x: Vec<u8> = [0.0, f32::NAN, 1.0, f32::NAN, f32::INFINITY, -1.0]
        .iter()
        .flat_map(|x| x.to_ne_bytes())
        .collect();
    let create = |flags| {
        let input_tensor = BufferTensorDesc { flags, ..f32s(&sizes, None) };
        ElementWiseIsNanDesc { input_tensor, output_tensor: u8s(&sizes, None) }.create(FL3).unwrap()
    };
    let (owned, bound) = (create(1), create(0));
    let mut out = [7; 8];
    let refused = owned.dispatch(&x[..], &mut out[..]).err();
    assert_eq!(refused, error(Tensor::Input, Property::Flags, None, 1, Rule::BoundByInitializer));
    let refused = bound.initialize(&x[..]).err();
    assert_eq!(refused, error(Tensor::Input, Property::Flags, None, 0, Rule::BoundByDispatch));
    assert_eq!(out, [7; 8], "written before an error");

    let refused = owned.initialize(&x[1..]).err();
    assert_eq!(refused, error(Tensor::Input, Property::SizeInBytes, None, 23, Rule::RangeSize(24)));
    let initialized = owned.initialize(&x[..]).unwrap();
    let refused = initialized.dispatch(&mut out[..7]).err();
    assert_eq!(refused, error(Tensor::Output, Property::SizeInBytes, None, 7, Rule::RangeSize(8)));
    for backend in Backend::available() {
        out = [7; 8];
        assert!(owned.dispatch_on(backend, &x[..], &mut out[..]).is_err());
        assert_eq!(out, [7; 8], "written before an error");
        initialized.dispatch_on(backend, &mut out[..]).unwrap();
        assert_eq!(out, [0, 1, 0, 1, 0, 0, 7, 7], "{}", backend.name());
    }
    out = [7; 8];
    initialized.dispatch(&mut out[..]).unwrap();
    assert_eq!(out, [0, 1, 0, 1, 0, 0, 7, 7]);
}

#[test]
fn dimension_counts() {
    for dimensions in 0..=10 {
        let sizes = vec![1; dimensions];
        let refused = |level| is_nan(f32s(&sizes, None), u8s(&sizes, None), level);
        let levels = FeatureLevel::ALL.iter().filter(|&&level| level >= FeatureLevel::Level2_0);
        for &level in levels {
            let (least, most) = if level < FL3 { (4, 4) } else { (1, 8) };
            if (least..=most).contains(&dimensions) {
                assert_eq!(refused(level), None, "{level}");
                continue;
            }
            let rule = Rule::DimensionCounts(least, most);
            let expected =
                error(Tensor::Input, Property::DimensionCount, None, dimensions as u64, rule);
            assert_eq!(refused(level), expected, "{level}");
        }
    }
    let refused = is_nan(f32s(&[2, 2], None), u8s(&[2, 2], None), FeatureLevel::Level2_1).unwrap();
    assert!(
        refused.to_string().ends_with("InputTensor.DimensionCount is 2: must be 4"),
        "{refused}"
    );
}

#[test]
fn sizes_and_strides() {
    use Property::{DimensionCount, Sizes, Strides};
    let (input, output) = (Tensor::Input, Tensor::Output);
    let refused = is_nan(f32s(&[2, 0, 3], None), u8s(&[2, 0, 3], None), FL3);
    assert_eq!(refused, error(input, Sizes, Some(1), 0, Rule::ZeroSize));
    let refused = is_nan(f32s(&[2, 3], Some(&[1])), u8s(&[2, 3], None), FL3);
    assert_eq!(refused, error(input, Strides, None, 1, Rule::StrideCount(2)));
    let refused = is_nan(f32s(&[2, 3], None), u8s(&[2, 3], Some(&[3, 1, 1])), FL3);
    assert_eq!(refused, error(output, Strides, None, 3, Rule::StrideCount(2)));
    let refused = is_nan(f32s(&[2, 3], None), u8s(&[2, 3, 1], None), FL3);
    assert_eq!(refused, error(output, DimensionCount, None, 3, Rule::AsInput(2)));
    let refused = is_nan(f32s(&[2, 3], None), u8s(&[2, 1], None), FL3);
    assert_eq!(refused, error(output, Sizes, Some(1), 1, Rule::AsInput(3)));
}

#[test]
fn overlapping_outputs() {
    let rows: [(&[u32], &[u32], usize, u64); 5] = [
        (&[2, 3], &[0, 1], 0, 1),
        (&[2, 3], &[2, 1], 0, 3),
        (&[2, 2, 2, 2], &[0; 4], 0, 1),
        (&[4, 1, 3], &[2, 0, 1], 0, 3),
        // Not one place is shared, but dimensions interleave: refused as well.
        (&[2, 3], &[3, 2], 0, 5),
    ];
    for (sizes, strides, index, needed) in rows {
        let refused = is_nan(f32s(sizes, Some(strides)), u8s(sizes, Some(strides)), FL3);
        let rule = Rule::Overlap { needed };
        let value = strides[index].into();
        assert_eq!(
            refused,
            error(Tensor::Output, Property::Strides, Some(index), value, rule),
            "{strides:?}"
        );
        assert_eq!(
            is_nan(f32s(sizes, Some(strides)), u8s(sizes, None), FL3),
            None,
            "an input may overlap"
        );
    }
}

/// Neither elements nor the places that strides lead over may be more than 2^32 - 1.
#[test]
fn too_many_elements() {
    let refused = |sizes, strides| is_nan(f32s(sizes, strides), u8s(sizes, None), FL3);
    let rule = Rule::TooManyElements;
    let sizes = |index, value| error(Tensor::Input, Property::Sizes, Some(index), value, rule);
    assert_eq!(refused(&[1 << 16, 1 << 16], None), sizes(1, 1 << 16));
    assert_eq!(refused(&[1 << 16, 1 << 16, 5], Some(&[0; 3])), sizes(1, 1 << 16));
    assert_eq!(refused(&[u32::MAX; 8], Some(&[u32::MAX; 8])), sizes(1, u32::MAX.into()));
    let expected = error(Tensor::Input, Property::Strides, Some(1), u32::MAX.into(), rule);
    assert_eq!(refused(&[2, 2], Some(&[1, u32::MAX])), expected);
    assert_eq!(refused(&[1, 2], Some(&[1, u32::MAX])), expected);
    // The largest there are.
    assert_eq!(refused(&[u32::MAX, 1], None), None);
    assert_eq!(refused(&[2, 1], Some(&[u32::MAX - 1, 7])), None);
}

#[test]
fn total_tensor_size() {
    let sizes = [1, 1, 3, 5];
    let refused = |total_tensor_size_in_bytes| {
        let output = BufferTensorDesc { total_tensor_size_in_bytes, ..u8s(&sizes, None) };
        is_nan(f32s(&sizes, None), output, FL3)
    };
    let expected =
        |value, rule| error(Tensor::Output, Property::TotalTensorSizeInBytes, None, value, rule);
    for value in [0, 12, 15] {
        assert_eq!(refused(value), expected(value, Rule::ImpliedSize(16)));
    }
    for value in [17, 18, 19, u64::MAX] {
        assert_eq!(refused(value), expected(value, Rule::WholeDwords));
    }
    let most = 1 << 32;
    assert_eq!(refused(most + 4), expected(most + 4, Rule::TooManyElements));
    for value in [16, 20, most] {
        assert_eq!(refused(value), None);
    }
}

#[test]
fn alignments() {
    let sizes = [1; 4];
    let refused = |guaranteed_base_offset_alignment| {
        let input = BufferTensorDesc { guaranteed_base_offset_alignment, ..f32s(&sizes, None) };
        is_nan(input, u8s(&sizes, None), FL3)
    };
    let rule = Rule::Alignment { element: 4 };
    for value in [1, 2, 3, 5, 12, 48, u32::MAX] {
        let property = Property::GuaranteedBaseOffsetAlignment;
        assert_eq!(refused(value), error(Tensor::Input, property, None, value.into(), rule));
    }
    for value in [0, 4, 8, 256, 1 << 31] {
        assert_eq!(refused(value), None);
    }
}

#[test]
fn bindings() {
    let sizes = [2, 3];
    let input_tensor = BufferTensorDesc {
        guaranteed_base_offset_alignment: 64,
        ..BufferTensorDesc::new(Float16, &sizes, None)
    };
    let output_tensor =
        BufferTensorDesc { guaranteed_base_offset_alignment: 4, ..u8s(&sizes, None) };
    let operator = ElementWiseIsNanDesc { input_tensor, output_tensor }.create(FL3).unwrap();
    let buffer = [0xFF; 140];
    // Input offset and size, output offset and size.
    let run = |i: (u64, u64), o: (u64, u64)| {
        let mut out = [7; 40];
        let input = BufferBinding { buffer: &buffer, offset: i.0, size_in_bytes: i.1 };
        let output = BufferBindingMut { buffer: &mut out, offset: o.0, size_in_bytes: o.1 };
        let result = operator.dispatch(input, output);
        assert!(result.is_ok() || out == [7; 40], "written before an error");
        result.err()
    };
    use Property::{Offset, SizeInBytes};
    let (input, output) = (Tensor::Input, Tensor::Output);
    for i in [(0, 12), (64, 12), (64, 76), (128, 12)] {
        assert_eq!(run(i, (16, 8)), None);
    }
    let rows = [
        ((141, 0), Offset, 141, Rule::WithinBuffer(140)),
        ((u64::MAX, 1), Offset, u64::MAX, Rule::WithinBuffer(140)),
        ((128, 13), SizeInBytes, 13, Rule::WithinBuffer(140)),
        ((140, 1), SizeInBytes, 1, Rule::WithinBuffer(140)),
        ((0, u64::MAX), SizeInBytes, u64::MAX, Rule::WithinBuffer(140)),
        ((16, 12), Offset, 16, Rule::OffsetAlignment(64)),
        ((4, 12), Offset, 4, Rule::OffsetAlignment(64)),
        ((64, 11), SizeInBytes, 11, Rule::RangeSize(12)),
        ((0, 0), SizeInBytes, 0, Rule::RangeSize(12)),
    ];
    for (i, property, value, rule) in rows {
        assert_eq!(run(i, (0, 40)), error(input, property, None, value, rule));
    }
    // 16 bytes are the least alignment, whatever the description guarantees.
    assert_eq!(run((0, 140), (4, 8)), error(output, Offset, None, 4, Rule::OffsetAlignment(16)));
    assert_eq!(run((0, 140), (32, 7)), error(output, SizeInBytes, None, 7, Rule::RangeSize(8)));
    assert_eq!(run((0, 140), (32, 9)), error(output, SizeInBytes, None, 9, Rule::WithinBuffer(40)));
}
