//! Multiplying in place, with a look at what was there before.
//!
//! The one module with floating-point arithmetic. Whether an element is finite is told by its bits, before it is
//! multiplied, as everywhere; but the products raise flags as products do, and where the thread flushes subnormals to
//! zero (x86 DAZ and FTZ, Arm FZ), those of f32, f64 and bf16 are flushed. f16 is not touched by that: its subnormals
//! are normal as f32. Rust code may assume that the rounding mode is to nearest, and so does this.

mod halves;

use core::marker::PhantomData;

use crate::isa::{Isa, Kernel};
use crate::lane::{BLOCK, Block, Lane};
use crate::path::Path;
use crate::rule::{Operation, Rule, Test, holds};

/// The formats that can be multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Float {
    /// IEEE 754 binary16: widened to f32, multiplied, rounded to nearest, ties to even.
    F16,
    /// bfloat16: likewise.
    Bf16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Float {
    #[inline(always)]
    const fn size(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// Multiplies every element of `x` by `factor`, which is rounded to f32 but for [`Float::F64`], and tells whether one was NaN or
/// infinite before. NaN stays NaN, made quiet, with its sign and the upper bits of its payload. `path` is the active one if
/// `None`. Bytes behind the last whole element stay.
#[inline]
pub fn scale(path: Option<Path>, x: &mut [u8], float: Float, factor: f64) -> bool {
    if x.len() / float.size() < BLOCK { scalar(x, float, factor) } else { long_scale(path, x, float, factor) }
}

#[inline(never)]
fn long_scale(path: Option<Path>, x: &mut [u8], float: Float, factor: f64) -> bool {
    path.unwrap_or_else(Path::active).scale(x, float, factor)
}

/// How the lanes of a format are multiplied, one by one: what every path must agree with.
pub(crate) trait Arithmetic {
    type Lane: Lane;
    type Factor: Copy;
    /// Holds where the exponent is all ones.
    const NON_FINITE: Rule;
    fn factor(factor: f64) -> Self::Factor;
    fn multiply(lane: Self::Lane, factor: Self::Factor) -> Self::Lane;
}

pub(crate) struct F16;
pub(crate) struct Bf16;
pub(crate) struct F32;
pub(crate) struct F64;

impl Arithmetic for F16 {
    type Lane = i16;
    type Factor = f32;
    const NON_FINITE: Rule = Rule::equal(2, 0x7C00, 0x7C00);

    #[inline(always)]
    fn factor(factor: f64) -> f32 {
        factor as f32
    }

    #[inline(always)]
    fn multiply(lane: i16, factor: f32) -> i16 {
        halves::narrow_f16(halves::widen_f16(lane.cast_unsigned()) * factor).cast_signed()
    }
}

impl Arithmetic for Bf16 {
    type Lane = i16;
    type Factor = f32;
    const NON_FINITE: Rule = Rule::equal(2, 0x7F80, 0x7F80);

    #[inline(always)]
    fn factor(factor: f64) -> f32 {
        factor as f32
    }

    #[inline(always)]
    fn multiply(lane: i16, factor: f32) -> i16 {
        halves::narrow_bf16(halves::widen_bf16(lane.cast_unsigned()) * factor).cast_signed()
    }
}

impl Arithmetic for F32 {
    type Lane = i32;
    type Factor = f32;
    const NON_FINITE: Rule = Rule::equal(4, 0x7F80_0000, 0x7F80_0000);

    #[inline(always)]
    fn factor(factor: f64) -> f32 {
        factor as f32
    }

    #[inline(always)]
    fn multiply(lane: i32, factor: f32) -> i32 {
        (f32::from_bits(lane.cast_unsigned()) * factor).to_bits().cast_signed()
    }
}

impl Arithmetic for F64 {
    type Lane = i64;
    type Factor = f64;
    const NON_FINITE: Rule = Rule::equal(8, 0x7FF0_0000_0000_0000, 0x7FF0_0000_0000_0000);

    #[inline(always)]
    fn factor(factor: f64) -> f64 {
        factor
    }

    #[inline(always)]
    fn multiply(lane: i64, factor: f64) -> i64 {
        (f64::from_bits(lane.cast_unsigned()) * factor).to_bits().cast_signed()
    }
}

/// The test for elements that are not finite.
#[inline(always)]
const fn non_finite<F: Arithmetic>() -> &'static Test {
    match &F::NON_FINITE {
        Rule::Test(test) => test,
        Rule::Constant { .. } => unreachable!(),
    }
}

/// The operations on blocks of 64 lanes of one format.
pub(crate) trait Multiply<F: Arithmetic>: Isa {
    /// The factor, and what tells that an element is not finite.
    type With: Copy;
    /// What is gathered about elements that are not.
    type Seen: Copy;

    /// To be called once, outside the loop.
    fn with(self, non_finite: &Test, factor: F::Factor) -> Self::With;

    /// Nothing seen yet.
    fn unseen(self) -> Self::Seen;

    /// Multiplies, and notes whether an element was not finite before.
    fn multiply(self, seen: Self::Seen, block: &mut Block<F::Lane>, with: Self::With) -> Self::Seen;

    /// Whether an element was not finite.
    fn hit(self, seen: Self::Seen, with: Self::With) -> bool;
}

/// What each path does about [`scale`].
pub(crate) trait Scale: Isa {
    fn scale(self, x: &mut [u8], float: Float, factor: f64) -> bool;
}

/// A loop over blocks. The output is the input, and there is no other.
struct Scaling<F>(PhantomData<F>);

impl<F: Arithmetic, I: Multiply<F>> Kernel<I> for Scaling<F> {
    type Out<'o> = (&'o mut [u8], F::Factor);
    type Output = bool;

    #[inline(always)]
    fn run(isa: I, _: &[u8], test: &Test, (x, factor): (&mut [u8], F::Factor)) -> bool {
        let with = isa.with(test, factor);
        let (blocks, rest) = F::Lane::lanes_mut(x).as_chunks_mut::<BLOCK>();
        let mut seen = isa.unseen();
        for block in blocks {
            seen = isa.multiply(seen, block, with);
        }
        if !rest.is_empty() {
            // Zeros are finite, and what becomes of them is thrown away.
            let mut block = [F::Lane::truncate(0).raw(); BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            seen = isa.multiply(seen, &mut block, with);
            rest.copy_from_slice(&block[..rest.len()]);
        }
        isa.hit(seen, with)
    }
}

/// Element by element.
#[inline(always)]
fn each<F: Arithmetic>(x: &mut [<F::Lane as Lane>::Raw], test: &Test, factor: F::Factor) -> bool {
    let pair = test.pair();
    let mut seen = false;
    for raw in x {
        let lane = F::Lane::read(*raw);
        seen |= holds(Operation::Ones, pair, lane);
        *raw = F::multiply(lane, factor).raw();
    }
    seen
}

/// [`scale`] on one instruction set.
#[inline(always)]
pub(crate) fn vector<I>(isa: I, x: &mut [u8], float: Float, factor: f64) -> bool
where
    I: Multiply<F16> + Multiply<Bf16> + Multiply<F32> + Multiply<F64>,
{
    #[inline(always)]
    fn of<F: Arithmetic, I: Multiply<F>>(isa: I, x: &mut [u8], factor: f64) -> bool {
        isa.run::<Scaling<F>>(&[], non_finite::<F>(), (x, F::factor(factor)))
    }
    match float {
        Float::F16 => of::<F16, _>(isa, x, factor),
        Float::Bf16 => of::<Bf16, _>(isa, x, factor),
        Float::F32 => of::<F32, _>(isa, x, factor),
        Float::F64 => of::<F64, _>(isa, x, factor),
    }
}

/// [`scale`] element by element.
pub(crate) fn scalar(x: &mut [u8], float: Float, factor: f64) -> bool {
    #[inline(always)]
    fn of<F: Arithmetic>(x: &mut [u8], factor: f64) -> bool {
        each::<F>(F::Lane::lanes_mut(x), non_finite::<F>(), F::factor(factor))
    }
    match float {
        Float::F16 => of::<F16>(x, factor),
        Float::Bf16 => of::<Bf16>(x, factor),
        Float::F32 => of::<F32>(x, factor),
        Float::F64 => of::<F64>(x, factor),
    }
}
