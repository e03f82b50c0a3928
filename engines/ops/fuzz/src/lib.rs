//! DirectML descriptors of any content: an error before anything is written, or the answer of a
//! nested scalar loop on every backend, with nothing else touched.

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::{Backend, Predicate};
use nonfinite_ops::directml::{
    CompiledOperator, ElementWiseIsInfinityDesc, ElementWiseIsNanDesc, FeatureLevel,
    IsInfinityMode, TensorDataType, TensorDesc,
};

use nonfinite_fuzz::{holds, kind_of};

const CANARY: u8 = 0xA5;
/// The largest buffer. Larger descriptors are created, but not run.
const LARGEST: u64 = 1 << 14;

/// A description that is valid more often than a random one.
#[derive(Debug)]
struct Desc {
    data_type: TensorDataType,
    strides: Option<Vec<u32>>,
    /// Bytes of the buffer, more than the tensor needs.
    spare: i8,
}

/// Descriptors and the content of buffers.
#[derive(Debug)]
pub struct Input {
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
    fn new(u: &mut Unstructured<'_>, rank: usize, likely: &[TensorDataType]) -> Result<Self> {
        let data_type =
            if u.ratio(15, 16)? { *u.choose(likely)? } else { *u.choose(TensorDataType::ALL)? };
        let rank = if u.ratio(31, 32)? { rank } else { u.int_in_range(0..=9)? };
        let strides = if u.arbitrary()? {
            Some((0..rank).map(|_| number(u)).collect::<Result<_>>()?)
        } else {
            None
        };
        let spare = if u.ratio(7, 8)? { 4 * u.int_in_range(0..=3)? } else { u.arbitrary()? };
        Ok(Self { data_type, strides, spare })
    }

    fn describe<'a>(&'a self, sizes: &'a [u32]) -> TensorDesc<'a> {
        TensorDesc::new(self.data_type, sizes, self.strides.as_deref())
    }
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        use TensorDataType::{Float16, Float32, Uint8, Uint32};
        let level = if u.ratio(3, 4)? { 0x3000 } else { u.int_in_range(0x1000..=0x6400)? };
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
        let input = Desc::new(u, rank, &[Float16, Float32])?;
        let outputs: &[_] = if mode.is_none() { &[Uint8, Uint32] } else { &[Uint8] };
        let output = Desc::new(u, rank, outputs)?;
        Ok(Self {
            level: FeatureLevel(level),
            mode,
            sizes,
            output_sizes,
            input,
            output,
            bytes: u.bytes(u.len())?.to_vec(),
        })
    }
}

/// Creates the operator, and runs it on every backend.
///
/// # Panics
/// If an answer is wrong.
pub fn check(input: &Input) {
    let from = input.input.describe(&input.sizes);
    let to = input.output.describe(&input.output_sizes);
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
        Ok(operator) => run(&operator, predicate, input, &from, &to),
    }
}

/// The bytes of an element or a result.
fn width(data_type: TensorDataType) -> u64 {
    match data_type {
        TensorDataType::Uint8 => 1,
        TensorDataType::Float16 => 2,
        _ => 4,
    }
}

/// The bytes from the first element to the end of the last, if that are at most [`LARGEST`].
fn bytes(desc: &TensorDesc<'_>) -> Option<u64> {
    let last: Vec<u32> = desc.sizes.iter().map(|&size| size - 1).collect();
    let elements = desc.sizes.iter().fold(1u128, |all, &n| all.saturating_mul(n.into()));
    let reach = match desc.strides {
        Some(strides) => {
            1 + last.iter().zip(strides).map(|(&i, &n)| u128::from(i) * u128::from(n)).sum::<u128>()
        }
        None => elements,
    };
    let bytes = reach.max(elements).checked_mul(width(desc.data_type).into())?;
    u64::try_from(bytes).ok().filter(|&bytes| bytes <= LARGEST)?;
    Some(reach as u64 * width(desc.data_type))
}

/// Whether two results lie at one place, or dimensions interleave: each stride must step over all
/// that the shorter ones reach.
fn overlaps(desc: &TensorDesc<'_>) -> bool {
    let Some(strides) = desc.strides else { return false };
    let mut steps: Vec<_> = strides.iter().zip(desc.sizes).filter(|(_, size)| **size > 1).collect();
    steps.sort_unstable();
    let mut reach = 0;
    steps.into_iter().any(|(&stride, &size)| {
        let overlap = u64::from(stride) <= reach;
        reach += u64::from(size - 1) * u64::from(stride);
        overlap
    })
}

fn run(
    operator: &CompiledOperator<'_>,
    predicate: Predicate,
    input: &Input,
    from: &TensorDesc<'_>,
    to: &TensorDesc<'_>,
) {
    let (Some(needed_in), Some(needed_out)) = (bytes(from), bytes(to)) else { return };
    let size_in = needed_in.saturating_add_signed(input.input.spare.into());
    let size_out = needed_out.saturating_add_signed(input.output.spare.into());
    let mut x: Vec<u8> = input.bytes.iter().copied().cycle().take(size_in as usize).collect();
    x.resize(size_in as usize, 0);

    let unchanged = vec![CANARY; size_out as usize];
    let mut expected = unchanged.clone();
    let fits = size_in >= needed_in
        && size_in % width(from.data_type) == 0
        && size_out >= needed_out
        && !overlaps(to);
    if fits {
        answer(predicate, from, to, &x, &mut expected);
    }
    for backend in Backend::available() {
        let mut out = unchanged.clone();
        let result = operator.with_backend(backend).dispatch(&x, &mut out);
        assert_eq!(result.is_ok(), fits, "{}: {result:?}", backend.name());
        assert_eq!(out, expected, "{}", backend.name());
    }
}

/// A nested loop over all coordinates, one element at a time.
fn answer(
    predicate: Predicate,
    from: &TensorDesc<'_>,
    to: &TensorDesc<'_>,
    x: &[u8],
    out: &mut [u8],
) {
    let format = from.data_type.format().expect("only floating-point inputs are created");
    let (size, width) = (format.size_in_bytes(), width(to.data_type));
    let mut at = vec![0; from.sizes.len()];
    loop {
        let i = offset(&at, from) * size;
        let o = offset(&at, to) * width as usize;
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

fn offset(at: &[u32], desc: &TensorDesc<'_>) -> usize {
    let places = at.iter().enumerate();
    match desc.strides {
        Some(strides) => places.map(|(i, &at)| at as usize * strides[i] as usize).sum(),
        None => places.fold(0, |all, (i, &at)| all * desc.sizes[i] as usize + at as usize),
    }
}
