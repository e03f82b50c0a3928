//! DirectML: sizes of tensors, and answers in all layouts against a nested loop (CONTRACTS, section
//! 3).

use nonfinite::{Backend, Format, Predicate};
use nonfinite_ops::directml::{
    BufferBinding, BufferBindingMut, BufferTensorDesc, CompiledOperator, ElementWiseIsInfinityDesc,
    ElementWiseIsNanDesc, FeatureLevel, IsInfinityMode, TensorDataType, calc_buffer_tensor_size,
};

use crate::{CANARY, elements, memory};
use TensorDataType::{Float16, Float32, Uint8, Uint32};

/// Data type, sizes, strides, bytes.
type Minimum = (TensorDataType, &'static [u32], Option<&'static [u32]>, u64);

/// The worked minimum sizes of CONTRACTS, section 3.
#[test]
fn minimum_sizes() {
    let rows: [Minimum; 10] = [
        (Float16, &[1, 1, 3, 5], None, 32),
        (Float32, &[1, 1, 3, 5], None, 60),
        (Uint8, &[1, 1, 3, 5], None, 16),
        (Float16, &[2, 3], Some(&[0, 1]), 8),
        (Float32, &[2, 3], Some(&[5, 1]), 32),
        (Uint8, &[1, 1, 1, 1], None, 4),
        (Float16, &[1], None, 4),
        (Float16, &[4, 1, 3, 2], Some(&[3, 9, 1, 12]), 48),
        (Float32, &[2, 2, 2, 2], Some(&[0, 0, 0, 0]), 4),
        (Uint8, &[2, 3], Some(&[5, 1]), 8),
    ];
    for (data_type, sizes, strides, bytes) in rows {
        assert_eq!(
            calc_buffer_tensor_size(data_type, sizes, strides),
            Some(bytes),
            "{data_type} {sizes:?}"
        );
    }
}

/// The published helper wraps around in 32 bits, and gives 0 for an unknown type.
#[test]
fn sizes_beyond_32_bits_and_none() {
    let big = u32::MAX;
    assert_eq!(
        calc_buffer_tensor_size(Float32, &[2, 2], Some(&[big, big])),
        Some(8 * u64::from(big) + 4)
    );
    assert_eq!(calc_buffer_tensor_size(Float16, &[big, 2], None), Some(4 * u64::from(big)));
    assert_eq!(calc_buffer_tensor_size(TensorDataType::Uint4, &[9], None), Some(8));
    assert_eq!(calc_buffer_tensor_size(TensorDataType::Int4, &[1, 3], Some(&[0, 3])), Some(4));
    assert_eq!(calc_buffer_tensor_size(TensorDataType::Float64, &[3], None), Some(24));
    assert_eq!(calc_buffer_tensor_size(TensorDataType::Unknown, &[1], None), None);
    assert_eq!(calc_buffer_tensor_size(Float32, &[1, 0], None), None);
    assert_eq!(calc_buffer_tensor_size(Float32, &[1, 2], Some(&[1])), None);
    assert_eq!(calc_buffer_tensor_size(Float32, &[big, big, 2], None), None);
    assert_eq!(calc_buffer_tensor_size(Float32, &[big; 9], None), None);
    assert_eq!(calc_buffer_tensor_size(Float32, &[big; 2], Some(&[big; 2])), None);
}

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

/// Elements for `bytes` of memory: all that matters, in turn.
fn input(format: Format, bytes: u64) -> Vec<u8> {
    let turn = elements(format, "1 nan inf -inf -0 max min nan");
    let mut x: Vec<u8> = turn.iter().copied().cycle().take(bytes as usize).collect();
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
        let input_tensor = BufferTensorDesc::new(data_type, sizes, from);
        let byte = BufferTensorDesc::new(Uint8, sizes, to);
        let dword = BufferTensorDesc::new(Uint32, sizes, to);
        let level = FeatureLevel::Level3_0;
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
    from: &BufferTensorDesc<'_>,
    to: &BufferTensorDesc<'_>,
) {
    let is_nan = predicate == Predicate::Nan;
    let name = if is_nan { "ELEMENT_WISE_IS_NAN" } else { "ELEMENT_WISE_IS_INFINITY" };
    assert_eq!((operator.name(), operator.predicate()), (name, predicate));
    let x = input(format, from.total_tensor_size_in_bytes);
    let (size, width) = (format.size_in_bytes(), to.data_type.bits() as usize / 8);
    // The range is bound in the middle of a buffer; what is not a result must stay.
    let (offset_in, offset_out) = (48, 32);
    let buffer_in = [vec![0xFF; offset_in], x.clone(), vec![0xFF; 5]].concat();
    let mut expected = vec![CANARY; offset_out + to.total_tensor_size_in_bytes as usize + 7];
    let packed = packed(from.sizes);
    for at in coordinates(from.sizes) {
        let i = offset(&at, from.strides.unwrap_or(&packed)) * size;
        let answer = u32::from(holds(format, predicate, &x[i..i + size]));
        let o = offset_out + offset(&at, to.strides.unwrap_or(&packed)) * width;
        match width {
            1 => expected[o] = answer as u8,
            _ => expected[o..o + 4].copy_from_slice(&answer.to_ne_bytes()),
        }
    }
    for backend in Backend::available().map(Some).chain([None]) {
        let mut buffer = vec![CANARY; expected.len()];
        let size_in_bytes = to.total_tensor_size_in_bytes + 3;
        let output =
            BufferBindingMut { buffer: &mut buffer, offset: offset_out as u64, size_in_bytes };
        let size_in_bytes = from.total_tensor_size_in_bytes;
        let input = BufferBinding { buffer: &buffer_in, offset: offset_in as u64, size_in_bytes };
        match backend {
            Some(backend) => operator.dispatch_on(backend, input, output).unwrap(),
            None => operator.dispatch(input, output).unwrap(),
        }
        let at = format!("{} {from:?} {to:?} on {:?}", operator.name(), backend.map(Backend::name));
        assert!(buffer == expected, "{at}:\n{buffer:?}\n{expected:?}");
    }
}

#[test]
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

/// A dimension of size 1 may have any stride, as far as TotalTensorSizeInBytes is concerned none at
/// all.
#[test]
fn size_1_dimensions() {
    check(&[1, 5, 1, 7], Some(&[u32::MAX, 7, 0, 1]), Some(&[u32::MAX, 7, 3, 1]));
    check(&[1, 1], Some(&[9, u32::MAX]), Some(&[0, 0]));
}

/// Exactly four dimensions before feature level 3.0.
#[test]
fn old_feature_levels() {
    let sizes = [1, 1, 2, 3];
    let input_tensor = BufferTensorDesc::new(Float32, &sizes, None);
    let output_tensor = BufferTensorDesc::new(Uint8, &sizes, None);
    let is_nan = ElementWiseIsNanDesc { input_tensor, output_tensor };
    let is_infinity = ElementWiseIsInfinityDesc {
        input_tensor,
        output_tensor,
        infinity_mode: IsInfinityMode::default(),
    };
    for &level in FeatureLevel::ALL {
        assert_eq!(is_nan.create(level).is_ok(), level >= FeatureLevel::Level2_0);
        assert_eq!(is_infinity.create(level).is_ok(), level >= FeatureLevel::Level2_1);
    }
    assert_eq!(FeatureLevel::try_from(0x2100), Ok(FeatureLevel::Level2_1));
    assert_eq!(FeatureLevel::Level5_2.to_string(), "DML_FEATURE_LEVEL_5_2");
    let error = FeatureLevel::try_from(0x2200).unwrap_err();
    assert_eq!(error.to_string(), "DML_FEATURE_LEVEL has no value 0x2200");
}

/// Values of directml.h.
#[test]
fn values() {
    let names = [
        "UNKNOWN", "FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8",
        "FLOAT64", "UINT64", "INT64", "UINT4", "INT4",
    ];
    for (value, name) in (0..).zip(names) {
        assert_eq!(TensorDataType::try_from(value).unwrap().name(), name);
    }
    let error = TensorDataType::try_from(14).unwrap_err();
    assert_eq!(error.to_string(), "DML_TENSOR_DATA_TYPE has no value 0xe");
    assert_eq!(IsInfinityMode::try_from(0), Ok(IsInfinityMode::Either));
    assert_eq!(IsInfinityMode::try_from(1), Ok(IsInfinityMode::Positive));
    assert_eq!(IsInfinityMode::try_from(2), Ok(IsInfinityMode::Negative));
    assert!(IsInfinityMode::try_from(3).is_err());
    let levels = [
        0x1000, 0x2000, 0x2100, 0x3000, 0x3100, 0x4000, 0x4100, 0x5000, 0x5100, 0x5200, 0x6000,
        0x6100, 0x6200, 0x6300, 0x6400,
    ];
    assert!(FeatureLevel::ALL.iter().map(|&level| level as u32).eq(levels));
    assert_eq!(levels.map(|value| FeatureLevel::try_from(value).unwrap()), *FeatureLevel::ALL);
}

/// What a description says that is made without more than a type and a shape.
#[test]
fn descriptions() {
    let desc = BufferTensorDesc::new(Float16, &[2, 3], None);
    assert_eq!(
        (desc.flags, desc.guaranteed_base_offset_alignment, desc.total_tensor_size_in_bytes),
        (0, 0, 12)
    );
    for sizes in [&[0, 3][..], &[u32::MAX; 8]] {
        assert_eq!(
            BufferTensorDesc::new(Float16, sizes, None).total_tensor_size_in_bytes,
            0,
            "{sizes:?}"
        );
    }
    assert_eq!(
        BufferTensorDesc::new(TensorDataType::Unknown, &[2, 3], None).total_tensor_size_in_bytes,
        0
    );
}

/// A buffer without a range stands for all of it.
#[test]
fn whole_buffers() {
    let mut bytes = [1, 2, 3];
    let input = BufferBinding::from(&bytes[..]);
    assert_eq!((input.buffer, input.offset, input.size_in_bytes), (&[1u8, 2, 3][..], 0, 3));
    let output = BufferBindingMut::from(&mut bytes[..]);
    assert_eq!((&*output.buffer, output.offset, output.size_in_bytes), (&[1u8, 2, 3][..], 0, 3));
}
