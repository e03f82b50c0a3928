//! The backends without registers: plain loops over blocks of elements, for the compiler.
//!
//! `scalar` looks at one element after the other. Its code is small, and every CPU runs it.
//! `portable` looks at blocks of 64, which the compiler vectorises. Targets without a backend by
//! hand use it, such as wasm. With the feature `portable` all targets have it; on x86 the crate
//! pulp then compiles it for AVX2.
#![expect(unsafe_code, reason = "the loops of other backends need their CPU")]

use crate::element::elements;
use crate::question::{Compiled, On, Question};
use crate::rule::Rule;
use crate::short::{Elements, Short};

/// A backend of plain loops over blocks of `BLOCK` elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<const BLOCK: usize>(());

pub(crate) type Scalar = Plain<1>;
pub(crate) type Portable = Plain<64>;

impl<Q: Question, const BLOCK: usize> On<Plain<BLOCK>> for Q {}

// SAFETY: `answer` needs nothing.
unsafe impl Compiled for Scalar {
    const NAME: &'static str = "scalar";

    fn detect() -> bool {
        true
    }

    unsafe fn answer<Q: Question, const W: usize>(
        x: Q::Input<'_>,
        asked: Q::Asked<'_>,
        out: Q::Out<'_>,
    ) -> Q::Answer {
        Q::plain::<W, 1>(x, asked, out)
    }
}

// SAFETY: `answer` needs nothing.
unsafe impl Compiled for Portable {
    const NAME: &'static str = "portable";
    const SKIPS_FROM: usize = 2048;

    fn detect() -> bool {
        true
    }

    /// Does not use `pulp::Arch`, which compiles all loops again for each feature of pulp that any
    /// other crate turns on.
    unsafe fn answer<Q: Question, const W: usize>(
        x: Q::Input<'_>,
        asked: Q::Asked<'_>,
        out: Q::Out<'_>,
    ) -> Q::Answer {
        #[cfg(all(feature = "portable", any(target_arch = "x86", target_arch = "x86_64")))]
        if let Some(simd) = pulp::x86::V3::try_new() {
            return simd.vectorize(
                #[inline(always)]
                move || Q::plain::<W, 64>(x, asked, out),
            );
        }
        Q::plain::<W, 64>(x, asked, out)
    }
}

/// The bytes before the first block with a hit.
#[inline(always)]
pub(crate) fn blocks_without<const W: usize, const BLOCK: usize>(
    x: &[u8],
    hit: impl Fn(u64) -> bool,
) -> usize {
    let block = match BLOCK {
        1 => elements::<W>(x).position(hit),
        _ => x.chunks(BLOCK * W).position(|block| any::<W>(block, &hit)),
    };
    block.map_or(x.len(), |block| block * BLOCK * W)
}

/// The index of the first hit.
#[inline(always)]
pub(crate) fn first<const W: usize, const BLOCK: usize>(
    x: &[u8],
    hit: impl Fn(u64) -> bool,
) -> Option<usize> {
    let at = blocks_without::<W, BLOCK>(x, &hit);
    if BLOCK == 1 {
        return (at < x.len()).then_some(at / W);
    }
    elements::<W>(&x[at..]).position(hit).map(|i| at / W + i)
}

/// Whether any element is a hit, without a branch for each.
#[inline(always)]
pub(crate) fn any<const W: usize>(x: &[u8], hit: impl Fn(u64) -> bool) -> bool {
    elements::<W>(x).fold(false, |any, bits| any | hit(bits))
}

/// The number of hits. Those of a block fit into a byte, so the compiler adds bytes. Loops, not
/// `sum`: where LLVM does not inline `fold`, it compiles it without the instructions of the caller.
#[inline(always)]
pub(crate) fn sum<const W: usize, const BLOCK: usize>(x: &[u8], hit: impl Fn(u64) -> bool) -> u64 {
    if BLOCK == 1 {
        return elements::<W>(x).map(|bits| u64::from(hit(bits))).sum();
    }
    let mut total = 0;
    for block in x.chunks(BLOCK * W) {
        let mut hits = 0;
        for bits in elements::<W>(block) {
            hits += u8::from(hit(bits));
        }
        total += u64::from(hits);
    }
    total
}

/// Bit `i` for element `i` of at most 64: its answer. Makes bytes first, which the compiler
/// vectorises.
#[inline(always)]
pub(crate) fn word<const W: usize, const BLOCK: usize>(x: &[u8], rule: &Rule) -> u64 {
    if BLOCK == 1 {
        return Elements::bits::<W>(x, rule);
    }
    let (mut bytes, mut word) = ([0; 64], [0; 8]);
    for (byte, bits) in bytes.iter_mut().zip(elements::<W>(x)) {
        *byte = u8::from(rule.holds_of::<W>(bits));
    }
    for (out, eight) in word.iter_mut().zip(bytes.as_chunks::<8>().0) {
        // The product moves bit 0 of byte `i` to bit `56 + i`, and no other term reaches these
        // bits.
        *out = (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
    u64::from_le_bytes(word)
}
