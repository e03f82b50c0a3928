//! `fearless_simd`: its comparisons, its narrowing of masks, its dispatch, at AVX2 and at what the CPU has.

use fearless_simd::{Level, dispatch, prelude::*};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::each_type;
use crate::task::{Ask, Input, Question, Task};

/// Elements in blocks: as many as a vector has bytes.
trait Block<S: Simd>: crate::data::Element {
    /// The answers for a block.
    fn block(simd: S, x: &[Self], question: Question) -> S::mask8s;
    /// Whether the block has a NaN or, asked for finite, an element that is not.
    fn hit(simd: S, x: &[Self], question: Question) -> bool;
}

/// `$v` vectors of type `$vector` make a block; `$narrow` makes one mask of their masks.
macro_rules! block {
    ($($t:ty, $vector:ident, $n:literal, |$x:ident| $slice:expr, |$v:ident| $nan:expr, $finite:expr, |$m:ident| $narrow:expr;)*) => { $(
        impl<S: Simd> Block<S> for $t {
            #[inline(always)]
            fn block(simd: S, $x: &[Self], question: Question) -> S::mask8s {
                let x = $slice;
                let $m = |i: usize| {
                    let $v = S::$vector::from_slice(simd, &x[i * S::$vector::LEN..][..S::$vector::LEN]);
                    if question == Question::Nan { $nan } else { $finite }
                };
                $narrow
            }
            #[inline(always)]
            fn hit(simd: S, $x: &[Self], question: Question) -> bool {
                let x = $slice;
                let hit = |i: usize| {
                    let $v = S::$vector::from_slice(simd, &x[i * S::$vector::LEN..][..S::$vector::LEN]);
                    if question == Question::Nan { $nan } else { !$finite }
                };
                let mut hits = hit(0);
                for i in 1..$n {
                    hits |= hit(i);
                }
                hits.any_true()
            }
        }
    )* };
}
block! {
    f32, f32s, 4, |x| x, |v| v.is_nan(), v.is_finite(), |m| m(0).narrow(m(1)).narrow(m(2).narrow(m(3)));
    f64, f64s, 8, |x| x, |v| v.is_nan(), v.is_finite(),
        |m| m(0).narrow(m(1)).narrow(m(2).narrow(m(3))).narrow(m(4).narrow(m(5)).narrow(m(6).narrow(m(7))));
    // No 16-bit floats here: by the bits.
    f16, u16s, 2, |x| x.reinterpret_cast(), |v| (v & 0x7FFF).simd_gt(0x7C00), (v & 0x7C00).simd_ne(0x7C00),
        |m| m(0).narrow(m(1));
    bf16, u16s, 2, |x| x.reinterpret_cast(), |v| (v & 0x7FFF).simd_gt(0x7F80), (v & 0x7F80).simd_ne(0x7F80),
        |m| m(0).narrow(m(1));
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
    let mut blocks = x.chunks_exact(S::u8s::LEN);
    let clean = blocks.by_ref().position(|block| T::hit(simd, block, question));
    let from = clean.map_or(x.len() - x.len() % S::u8s::LEN, |block| block * S::u8s::LEN);
    x[from..].iter().position(|x| x.holds(question) == (question == Question::Nan)).map(|i| from + i)
}

#[inline(always)]
fn count<S: Simd, T: Block<S>>(simd: S, x: &[T], question: Question) -> usize {
    let blocks = x.chunks_exact(S::u8s::LEN);
    let rest = blocks.remainder().iter().filter(|x| x.holds(question)).count();
    blocks.map(|block| T::block(simd, block, question).to_bitmask().count_ones() as usize).sum::<usize>()
        + rest
}

macro_rules! task {
    ($name:expr, $level:expr, $ask:expr, $x:expr) => {{
        let (name, level, x) = ($name, $level, $x);
        match $ask {
            Ask::Mask(Question::Nan) => {
                Task::mask(name, x.len(), move |out| dispatch!(level, s => mask(s, x, Question::Nan, out)))
            }
            Ask::Mask(Question::Finite) => {
                Task::mask(name, x.len(), move |out| dispatch!(level, s => mask(s, x, Question::Finite, out)))
            }
            Ask::Bits(Question::Nan) => {
                Task::bits(name, x.len(), move |out| dispatch!(level, s => bits(s, x, Question::Nan, out)))
            }
            Ask::Bits(Question::Finite) => {
                Task::bits(name, x.len(), move |out| dispatch!(level, s => bits(s, x, Question::Finite, out)))
            }
            Ask::AllFinite => {
                Task::value(name, move || dispatch!(level, s => first(s, x, Question::Finite)).is_none())
            }
            Ask::AnyNan => Task::value(name, move || dispatch!(level, s => first(s, x, Question::Nan)).is_some()),
            Ask::CountNan => Task::value(name, move || dispatch!(level, s => count(s, x, Question::Nan))),
            Ask::FirstNonFinite => {
                Task::value(name, move || dispatch!(level, s => first(s, x, Question::Finite)))
            }
        }
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
    levels.into_iter().map(|(name, level)| each_type!(x, x => task!(name, level, ask, x))).collect()
}
