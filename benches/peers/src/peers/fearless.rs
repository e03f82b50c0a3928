//! `fearless_simd`: its comparisons, its narrowing of masks, its dispatch, at AVX2 and at what the
//! CPU has.

use fearless_simd::{Level, dispatch, prelude::*};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::each_float;
use crate::task::{Ask, Input, Question, Task};

/// Elements in blocks: as many as a vector has bytes.
///
/// Vectors are not passed to closures or to methods of iterators: the compiler may not inline
/// those, and then compiles them without the CPU's instructions.
trait Block<S: Simd>: crate::data::Element {
    type Mask: SimdMask<S>;
    const VECTORS: usize;
    /// The answers for vector `i` of the block.
    fn vector(simd: S, x: &[Self], i: usize, question: Question) -> Self::Mask;
    /// The answers for the block.
    fn block(simd: S, x: &[Self], question: Question) -> S::mask8s;
}

/// Whether the block has a NaN or, asked for finite, an element that is not.
#[inline(always)]
fn hit<S: Simd, T: Block<S>>(simd: S, x: &[T], question: Question) -> bool {
    let mut mask = T::vector(simd, x, 0, question);
    let mut i = 1;
    while i < T::VECTORS {
        let next = T::vector(simd, x, i, question);
        mask = if question == Question::Nan { mask | next } else { mask & next };
        i += 1;
    }
    if question == Question::Nan { mask.any_true() } else { mask.any_false() }
}

macro_rules! block {
    ($(
        $t:ty, $vector:ident, $mask:ident, $n:literal, |$x:ident| $slice:expr,
        |$v:ident| $nan:expr, $finite:expr,
        |$m:ident| $narrow:expr;
    )*) => { $(
        impl<S: Simd> Block<S> for $t {
            type Mask = S::$mask;
            const VECTORS: usize = $n;
            #[inline(always)]
            fn vector(simd: S, $x: &[Self], i: usize, question: Question) -> Self::Mask {
                let elements = &$slice[i * S::$vector::LEN..][..S::$vector::LEN];
                let $v = S::$vector::from_slice(simd, elements);
                if question == Question::Nan { $nan } else { $finite }
            }
            #[inline(always)]
            fn block(simd: S, x: &[Self], question: Question) -> S::mask8s {
                macro_rules! $m {
                    ($i:literal) => {
                        <Self as Block<S>>::vector(simd, x, $i, question)
                    };
                }
                $narrow
            }
        }
    )* };
}
block! {
    f32, f32s, mask32s, 4, |x| x, |v| v.is_nan(), v.is_finite(),
        |m| m!(0).narrow(m!(1)).narrow(m!(2).narrow(m!(3)));
    f64, f64s, mask64s, 8, |x| x, |v| v.is_nan(), v.is_finite(),
        |m| m!(0).narrow(m!(1)).narrow(m!(2).narrow(m!(3)))
            .narrow(m!(4).narrow(m!(5)).narrow(m!(6).narrow(m!(7))));
    // No 16-bit floats here: by the bits.
    f16, u16s, mask16s, 2, |x| x.reinterpret_cast(),
        |v| (v & 0x7FFF).simd_gt(0x7C00), !(v & 0x7C00).simd_eq(0x7C00),
        |m| m!(0).narrow(m!(1));
    bf16, u16s, mask16s, 2, |x| x.reinterpret_cast(),
        |v| (v & 0x7FFF).simd_gt(0x7F80), !(v & 0x7F80).simd_eq(0x7F80),
        |m| m!(0).narrow(m!(1));
}

#[inline(always)]
fn mask<S: Simd, T: Block<S>>(simd: S, x: &[T], question: Question, out: &mut [u8]) {
    let (one, zero) = (S::u8s::splat(simd, 1), S::u8s::splat(simd, 0));
    let (blocks, outs) = (x.chunks_exact(S::u8s::LEN), out.chunks_exact_mut(S::u8s::LEN));
    let rest = blocks.remainder();
    for (block, out) in blocks.zip(outs) {
        T::block(simd, block, question).select(one, zero).store_slice(out);
    }
    let done = x.len() - rest.len();
    for (x, out) in rest.iter().zip(&mut out[done..]) {
        *out = u8::from(x.holds(question));
    }
}

#[inline(always)]
fn bits<S: Simd, T: Block<S>>(simd: S, x: &[T], question: Question, out: &mut [u8]) {
    let bytes = S::u8s::LEN / 8;
    let (blocks, outs) = (x.chunks_exact(S::u8s::LEN), out.chunks_exact_mut(bytes));
    let rest = blocks.remainder();
    for (block, out) in blocks.zip(outs) {
        out.copy_from_slice(&T::block(simd, block, question).to_bitmask().to_le_bytes()[..bytes]);
    }
    let done = x.len() - rest.len();
    for (x, out) in rest.chunks(8).zip(&mut out[done / 8..]) {
        *out = x.iter().enumerate().fold(0, |bits, (i, x)| bits | u8::from(x.holds(question)) << i);
    }
}

/// The first NaN or, asked for finite, the first element that is not.
#[inline(always)]
fn first<S: Simd, T: Block<S>>(simd: S, x: &[T], question: Question) -> Option<usize> {
    let mut from = 0;
    for block in x.chunks_exact(S::u8s::LEN) {
        if hit(simd, block, question) {
            break;
        }
        from += S::u8s::LEN;
    }
    x[from..]
        .iter()
        .position(|x| x.holds(question) == (question == Question::Nan))
        .map(|i| from + i)
}

#[inline(always)]
fn count<S: Simd, T: Block<S>>(simd: S, x: &[T], question: Question) -> usize {
    let blocks = x.chunks_exact(S::u8s::LEN);
    let mut count = blocks.remainder().iter().filter(|x| x.holds(question)).count();
    for block in blocks {
        count += T::block(simd, block, question).to_bitmask().count_ones() as usize;
    }
    count
}

macro_rules! task {
    ($name:expr, $level:expr, $ask:expr, $x:expr) => {{
        let (name, level, x) = ($name, $level, $x);
        // A closure, so that a question which the crate does not answer can return `None`.
        (|| Some(match $ask {
            Ask::Mask(Question::Nan) => {
                Task::mask(name, x.len(), move |out| {
                    dispatch!(level, s => mask(s, x, Question::Nan, out))
                })
            }
            Ask::Mask(Question::Finite) => {
                Task::mask(name, x.len(), move |out| {
                    dispatch!(level, s => mask(s, x, Question::Finite, out))
                })
            }
            Ask::Bits(Question::Nan) => {
                Task::bits(name, x.len(), move |out| {
                    dispatch!(level, s => bits(s, x, Question::Nan, out))
                })
            }
            Ask::Bits(Question::Finite) => {
                Task::bits(name, x.len(), move |out| {
                    dispatch!(level, s => bits(s, x, Question::Finite, out))
                })
            }
            Ask::AllFinite => {
                Task::value(name, move || {
                    dispatch!(level, s => first(s, x, Question::Finite)).is_none()
                })
            }
            Ask::AnyNan => {
                Task::value(name, move || {
                    dispatch!(level, s => first(s, x, Question::Nan)).is_some()
                })
            }
            Ask::CountNan => {
                Task::value(name, move || dispatch!(level, s => count(s, x, Question::Nan)))
            }
            Ask::FirstNonFinite => {
                Task::value(name, move || dispatch!(level, s => first(s, x, Question::Finite)))
            }
            _ => return None,
        }))()
    }};
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let best = Level::new();
    let mut levels = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(avx2) = best.as_avx2() {
            levels.push(("fearless_simd avx2", Level::Avx2(avx2)));
        }
        if best.as_avx512().is_some() {
            levels.push(("fearless_simd avx512", best));
        }
    }
    if levels.is_empty() {
        levels.push(("fearless_simd", best));
    }
    let task = |(name, level)| -> Vec<Task<'_>> { each_float!(x, x => task!(name, level, ask, x)) };
    levels.into_iter().flat_map(task).collect()
}
