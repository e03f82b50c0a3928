//! `wide`: instructions are chosen when it is compiled, so this is what the build's target allows
//! (AVX2 by .cargo/config.toml).

use bytemuck::cast;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use wide::{f32x8, f64x4, i8x16, i16x8, i16x16, i32x8};

use super::each_float;
use crate::task::{Ask, Input, Question, Task};

/// Elements in blocks of 16.
trait Block: crate::data::Element {
    /// A block's answers as bits, and as bytes.
    fn bits(x: &[Self; 16], question: Question) -> u16;
    fn bytes(x: &[Self; 16], question: Question) -> [u8; 16];
    /// Whether two blocks have a NaN or, asked for finite, an element that is not.
    fn hit(x: &[[Self; 16]; 2], question: Question) -> bool;
}

impl Block for f32 {
    #[inline(always)]
    fn bits(x: &[Self; 16], question: Question) -> u16 {
        let [low, high] = halves_f32(x, question);
        (low.to_bitmask() | high.to_bitmask() << 8) as u16
    }
    #[inline(always)]
    fn bytes(x: &[Self; 16], question: Question) -> [u8; 16] {
        let words = halves_f32(x, question)
            .map(|mask| i16x8::from_i32x8_saturate(cast::<f32x8, i32x8>(mask)));
        ones(cast(words))
    }
    #[inline(always)]
    fn hit(x: &[[Self; 16]; 2], question: Question) -> bool {
        let [[a, b], [c, d]] = [halves_f32(&x[0], question), halves_f32(&x[1], question)];
        if question == Question::Nan { (a | b | c | d).any() } else { !(a & b & c & d).all() }
    }
}

#[inline(always)]
fn halves_f32(x: &[f32; 16], question: Question) -> [f32x8; 2] {
    cast::<[f32; 16], [f32x8; 2]>(*x)
        .map(|v| if question == Question::Nan { v.is_nan() } else { v.is_finite() })
}

impl Block for f64 {
    #[inline(always)]
    fn bits(x: &[Self; 16], question: Question) -> u16 {
        let bits = quarters_f64(x, question).map(|mask| mask.to_bitmask() as u16);
        bits[0] | bits[1] << 4 | bits[2] << 8 | bits[3] << 12
    }
    #[inline(always)]
    fn bytes(x: &[Self; 16], question: Question) -> [u8; 16] {
        // Nothing here narrows 64-bit lanes; a table does, four bits at a time.
        const SPREAD: [[u8; 4]; 16] = {
            let mut table = [[0; 4]; 16];
            let mut i = 0;
            while i < 64 {
                table[i / 4][i % 4] = ((i / 4) >> (i % 4) & 1) as u8;
                i += 1;
            }
            table
        };
        cast(quarters_f64(x, question).map(|mask| SPREAD[mask.to_bitmask() as usize & 15]))
    }
    #[inline(always)]
    fn hit(x: &[[Self; 16]; 2], question: Question) -> bool {
        let [[a, b, c, d], [e, f, g, h]] =
            [quarters_f64(&x[0], question), quarters_f64(&x[1], question)];
        if question == Question::Nan {
            (a | b | c | d | e | f | g | h).any()
        } else {
            !(a & b & c & d & e & f & g & h).all()
        }
    }
}

#[inline(always)]
fn quarters_f64(x: &[f64; 16], question: Question) -> [f64x4; 4] {
    cast::<[f64; 16], [f64x4; 4]>(*x)
        .map(|v| if question == Question::Nan { v.is_nan() } else { v.is_finite() })
}

macro_rules! half {
    ($($t:ty, $exponent:literal;)*) => { $(
        impl Block for $t {
            #[inline(always)]
            fn bits(x: &[Self; 16], question: Question) -> u16 {
                words::<$exponent>(x.reinterpret_cast(), question).to_bitmask() as u16
            }
            #[inline(always)]
            fn bytes(x: &[Self; 16], question: Question) -> [u8; 16] {
                ones(words::<$exponent>(x.reinterpret_cast(), question))
            }
            #[inline(always)]
            fn hit(x: &[[Self; 16]; 2], question: Question) -> bool {
                let [a, b] = [0, 1].map(|i| words::<$exponent>(x[i].reinterpret_cast(), question));
                if question == Question::Nan { (a | b).any() } else { !(a & b).all() }
            }
        }
    )* };
}
half! {
    f16, 0x7C00;
    bf16, 0x7F80;
}

/// By the bits: there are no 16-bit floats here.
#[inline(always)]
fn words<const EXPONENT: i16>(x: &[u16], question: Question) -> i16x16 {
    let x: [u16; 16] = x.try_into().expect("a block");
    let (x, exponent) = (cast::<[u16; 16], i16x16>(x), i16x16::splat(EXPONENT));
    match question {
        Question::Nan => (x & i16x16::splat(0x7FFF)).simd_gt(exponent),
        _ => !(x & exponent).simd_eq(exponent),
    }
}

#[inline(always)]
fn ones(mask: i16x16) -> [u8; 16] {
    cast(i8x16::from_i16x16_saturate(mask) & i8x16::splat(1))
}

#[inline(always)]
fn mask<T: Block>(x: &[T], question: Question, out: &mut [u8]) {
    let (blocks, rest) = x.as_chunks::<16>();
    let (outs, out) = out.as_chunks_mut::<16>();
    for (block, out) in blocks.iter().zip(outs) {
        *out = T::bytes(block, question);
    }
    for (x, out) in rest.iter().zip(out) {
        *out = u8::from(x.holds(question));
    }
}

#[inline(always)]
fn bits<T: Block>(x: &[T], question: Question, out: &mut [u8]) {
    let (blocks, rest) = x.as_chunks::<16>();
    let (outs, _) = out.as_chunks_mut::<2>();
    for (block, out) in blocks.iter().zip(&mut *outs) {
        *out = T::bits(block, question).to_le_bytes();
    }
    if !rest.is_empty() {
        let bits = rest
            .iter()
            .enumerate()
            .fold(0u16, |bits, (i, x)| bits | u16::from(x.holds(question)) << i);
        outs[blocks.len()] = bits.to_le_bytes();
    }
}

#[inline(always)]
fn first<T: Block>(x: &[T], question: Question) -> Option<usize> {
    let (blocks, _) = x.as_chunks::<16>();
    let (pairs, _) = blocks.as_chunks::<2>();
    let from = 32 * pairs.iter().position(|pair| T::hit(pair, question)).unwrap_or(pairs.len());
    x[from..]
        .iter()
        .position(|x| x.holds(question) == (question == Question::Nan))
        .map(|i| from + i)
}

#[inline(always)]
fn count<T: Block>(x: &[T], question: Question) -> usize {
    let (blocks, rest) = x.as_chunks::<16>();
    let rest = rest.iter().filter(|x| x.holds(question)).count();
    blocks.iter().map(|block| T::bits(block, question).count_ones() as usize).sum::<usize>() + rest
}

fn task<T: Block>(ask: Ask, x: &[T]) -> Option<Task<'_>> {
    const NAME: &str = "wide";
    Some(match ask {
        // One loop a question: it is known where the functions are inlined.
        Ask::Mask(Question::Nan) => Task::mask(NAME, x.len(), |out| mask(x, Question::Nan, out)),
        Ask::Mask(Question::Finite) => {
            Task::mask(NAME, x.len(), |out| mask(x, Question::Finite, out))
        }
        Ask::Bits(Question::Nan) => Task::bits(NAME, x.len(), |out| bits(x, Question::Nan, out)),
        Ask::Bits(Question::Finite) => {
            Task::bits(NAME, x.len(), |out| bits(x, Question::Finite, out))
        }
        Ask::AllFinite => Task::value(NAME, || first(x, Question::Finite).is_none()),
        Ask::AnyNan => Task::value(NAME, || first(x, Question::Nan).is_some()),
        Ask::CountNan => Task::value(NAME, || count(x, Question::Nan)),
        Ask::FirstNonFinite => Task::value(NAME, || first(x, Question::Finite)),
        _ => return None,
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    each_float!(x, x => task(ask, x))
}
