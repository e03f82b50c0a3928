//! DirectML descriptors of any content: an error before anything is written, or the answer of a
//! nested scalar loop on every backend, with nothing else touched.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use nonfinite::{Backend, Predicate};
use nonfinite_fuzz::{holds, kind_of};
use nonfinite_ops::directml::{
    BufferBinding, BufferBindingMut, BufferTensorDesc, CompiledOperator, ElementWiseIsInfinityDesc,
    ElementWiseIsNanDesc, FeatureLevel, IsInfinityMode, TensorDataType, calc_buffer_tensor_size,
};

const CANARY: u8 = 0xA5;
/// The largest buffer. Larger descriptors are created, but not run.
const LARGEST: u64 = 1 << 14;

/// A description that is valid more often than a random one.
#[derive(Debug)]
struct Desc {
    data_type: TensorDataType,
    flags: u32,
    strides: Option<Vec<u32>>,
    /// TotalTensorSizeInBytes minus the size by sizes and strides.
    spare: i8,
    alignment: u32,
    offset: u64,
}

#[derive(Debug)]
struct Input {
    level: FeatureLevel,
    mode: Option<IsInfinityMode>,
    sizes: Vec<u32>,
    output_sizes: Vec<u32>,
    input: Desc,
    output: Desc,
    bytes: Vec<u8>,
}

/// Small numbers mostly, with 0 and the largest among them.
fn number(u: &mut Unstructured<'_>) -> Result<u32> {
    Ok(match u.arbitrary::<u8>()? {
        byte @ 0..=0xDF => u32::from(byte % 9),
        byte @ 0xE0..=0xF7 => u32::from(byte),
        _ => u.arbitrary()?,
    })
}

impl Desc {
    fn new(
        u: &mut Unstructured<'_>,
        rank: usize,
        likely: &[TensorDataType],
        likely_flags: u32,
    ) -> Result<Self> {
        let data_type =
            if u.ratio(15, 16)? { *u.choose(likely)? } else { *u.choose(TensorDataType::ALL)? };
        let flags =
            if u.ratio(15, 16)? { u.int_in_range(0..=1)? & likely_flags } else { u.arbitrary()? };
        let rank = if u.ratio(31, 32)? { rank } else { u.int_in_range(0..=9)? };
        let strides = if u.arbitrary()? {
            Some((0..rank).map(|_| number(u)).collect::<Result<_>>()?)
        } else {
            None
        };
        let spare = if u.ratio(7, 8)? { 4 * u.int_in_range(0..=3)? } else { u.arbitrary()? };
        let alignment = if u.ratio(7, 8)? { *u.choose(&[0, 4, 16, 32])? } else { u.arbitrary()? };
        let offset = if u.ratio(7, 8)? { *u.choose(&[0, 32, 64])? } else { number(u)?.into() };
        Ok(Self { data_type, flags, strides, spare, alignment, offset })
    }

    fn describe<'a>(&'a self, sizes: &'a [u32]) -> BufferTensorDesc<'a> {
        let desc = BufferTensorDesc::new(self.data_type, sizes, self.strides.as_deref());
        let total = desc.total_tensor_size_in_bytes.saturating_add_signed(self.spare.into());
        BufferTensorDesc {
            flags: self.flags,
            total_tensor_size_in_bytes: total,
            guaranteed_base_offset_alignment: self.alignment,
            ..desc
        }
    }
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        use TensorDataType::{Float16, Float32, Uint8, Uint32};
        let level =
            if u.ratio(3, 4)? { FeatureLevel::Level3_0 } else { *u.choose(FeatureLevel::ALL)? };
        let mode = if u.arbitrary()? {
            None
        } else {
            IsInfinityMode::try_from(u.int_in_range(0..=2)?).ok()
        };
        let rank = u.int_in_range(0..=9)?;
        let sizes: Vec<u32> = (0..rank).map(|_| number(u)).collect::<Result<_>>()?;
        let mut output_sizes = sizes.clone();
        if u.ratio(1, 16)? {
            output_sizes = (0..u.int_in_range(0..=9)?).map(|_| number(u)).collect::<Result<_>>()?;
        }
        let input = Desc::new(u, rank, &[Float16, Float32], BufferTensorDesc::OWNED_BY_DML)?;
        let outputs: &[_] = if mode.is_none() { &[Uint8, Uint32] } else { &[Uint8] };
        let output = Desc::new(u, rank, outputs, 0)?;
        Ok(Self {
            level,
            mode,
            sizes,
            output_sizes,
            input,
            output,
            bytes: u.bytes(u.len())?.to_vec(),
        })
    }
}

fuzz_target!(|input: Input| {
    let from = input.input.describe(&input.sizes);
    let to = input.output.describe(&input.output_sizes);
    check_size(&from);
    let (created, predicate) = match input.mode {
        None => {
            let desc = ElementWiseIsNanDesc { input_tensor: from, output_tensor: to };
            (desc.create(input.level), Predicate::Nan)
        }
        Some(infinity_mode) => {
            let desc =
                ElementWiseIsInfinityDesc { input_tensor: from, output_tensor: to, infinity_mode };
            let positive = infinity_mode != IsInfinityMode::Negative;
            let negative = infinity_mode != IsInfinityMode::Positive;
            (desc.create(input.level), Predicate::inf(negative, positive))
        }
    };
    match created {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(operator) => run(&operator, predicate, &input, &from, &to),
    }
});

/// The size of a tensor by its last coordinate, where that fits.
fn check_size(desc: &BufferTensorDesc<'_>) {
    let size = calc_buffer_tensor_size(desc.data_type, desc.sizes, desc.strides);
    let known = desc.data_type.bits() != 0 && !desc.sizes.contains(&0);
    if let (Some(strides), true) = (desc.strides, known)
        && strides.len() == desc.sizes.len()
    {
        let last = desc
            .sizes
            .iter()
            .zip(strides)
            .map(|(&n, &stride)| (u128::from(n) - 1) * u128::from(stride));
        let bytes =
            ((last.sum::<u128>() + 1) * u128::from(desc.data_type.bits())).div_ceil(8).div_ceil(4)
                * 4;
        assert_eq!(size, u64::try_from(bytes).ok());
    }
}

fn run(
    operator: &CompiledOperator<'_>,
    predicate: Predicate,
    input: &Input,
    from: &BufferTensorDesc<'_>,
    to: &BufferTensorDesc<'_>,
) {
    let elements = from.sizes.iter().fold(1u64, |all, &size| all.saturating_mul(size.into()));
    let (total_in, total_out) = (from.total_tensor_size_in_bytes, to.total_tensor_size_in_bytes);
    let (offset_in, offset_out) = (input.input.offset, input.output.offset);
    if [total_in, total_out, elements, offset_in, offset_out].into_iter().any(|size| size > LARGEST)
    {
        return;
    }
    let mut x: Vec<u8> =
        input.bytes.iter().copied().cycle().take((offset_in + total_in) as usize).collect();
    x.resize((offset_in + total_in) as usize, 0);
    let owned = from.flags == BufferTensorDesc::OWNED_BY_DML;
    let aligned = [(offset_in, from), (offset_out, to)].iter().all(|(offset, desc)| {
        offset % u64::from(desc.guaranteed_base_offset_alignment.max(16)) == 0
    });

    let unchanged = vec![CANARY; (offset_out + total_out) as usize + 9];
    let mut expected = unchanged.clone();
    if aligned {
        answer(predicate, from, to, &x[offset_in as usize..], &mut expected[offset_out as usize..]);
    }
    for backend in Backend::available() {
        let mut out = unchanged.clone();
        let input = BufferBinding { buffer: &x, offset: offset_in, size_in_bytes: total_in };
        let output =
            BufferBindingMut { buffer: &mut out, offset: offset_out, size_in_bytes: total_out };
        let result = if owned {
            operator.initialize(input).and_then(|bound| bound.dispatch_on(backend, output))
        } else {
            operator.dispatch_on(backend, input, output)
        };
        assert_eq!(result.is_ok(), aligned, "{}", backend.name());
        assert_eq!(out, expected, "{}", backend.name());
    }
    // A range that is too short by a byte, or an input that must not be bound here.
    let mut out = unchanged.clone();
    let output =
        BufferBindingMut { buffer: &mut out, offset: offset_out, size_in_bytes: total_out - 1 };
    let all = BufferBinding { buffer: &x, offset: offset_in, size_in_bytes: total_in };
    assert!(operator.dispatch(all, output).is_err());
    assert_eq!(out, unchanged);
}

/// A nested loop over all coordinates, one element at a time.
fn answer(
    predicate: Predicate,
    from: &BufferTensorDesc<'_>,
    to: &BufferTensorDesc<'_>,
    x: &[u8],
    out: &mut [u8],
) {
    let format = from.data_type.format().expect("only floating-point inputs are created");
    let (size, width) = (format.size_in_bytes(), to.data_type.bits() as usize / 8);
    let mut at = vec![0; from.sizes.len()];
    loop {
        let i = offset(&at, from) * size;
        let o = offset(&at, to) * width;
        let result = u32::from(holds(predicate, kind_of(format, &x[i..i + size])));
        match width {
            1 => out[o] = result as u8,
            _ => out[o..o + 4].copy_from_slice(&result.to_ne_bytes()),
        }
        let Some(i) = (0..at.len()).rev().find(|&i| at[i] + 1 < from.sizes[i]) else { return };
        at[i] += 1;
        at[i + 1..].fill(0);
    }
}

fn offset(at: &[u32], desc: &BufferTensorDesc<'_>) -> usize {
    let places = at.iter().enumerate();
    match desc.strides {
        Some(strides) => places.map(|(i, &at)| at as usize * strides[i] as usize).sum(),
        None => places.fold(0, |all, (i, &at)| all * desc.sizes[i] as usize + at as usize),
    }
}
