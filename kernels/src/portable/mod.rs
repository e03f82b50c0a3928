//! The portable backend: plain loops over blocks of 64 elements, for the compiler to vectorise.
//! Targets without a hand-written backend use it, such as wasm. With the feature `portable` all
//! targets have it; on x86 it is then compiled for AVX2 by the crate pulp.

#[cfg(feature = "stats")]
mod stats;

use crate::element::elements;
use crate::lines::{Four, Hit, Long, Places};
use crate::loops::CLASS_BITS;
use crate::rule::Rule;
use crate::scalar;
use crate::values::Codes;

pub(crate) use crate::scalar::multiply;
#[cfg(feature = "stats")]
pub(crate) use stats::{find_code, order, within};

/// Elements that are looked at before a branch.
const BLOCK: usize = 64;

/// Calls a leaf, compiled for AVX2 if pulp finds that the CPU has it. Does not use `pulp::Arch`,
/// which compiles all loops again for each feature of pulp that any other crate turns on.
#[inline(always)]
fn run<R>(leaf: impl FnOnce() -> R) -> R {
    #[cfg(all(feature = "portable", any(target_arch = "x86", target_arch = "x86_64")))]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(leaf);
    }
    leaf()
}

/// Every CPU has this backend.
pub(crate) fn detect() -> bool {
    true
}

pub(crate) fn find<const W: usize>(x: Long<'_>, rule: &Rule) -> Hit {
    let at = blocks_without::<W>(x.bytes(), |bits| rule.holds_of::<W>(bits));
    if at == x.len() {
        return Hit::none_in(x);
    }
    let block = x.from(at);
    let hit = scalar::find::<W>(block, rule);
    Hit { at: x.len() - block.len() + hit.at, ..hit }
}

pub(crate) fn screen<const W: usize>(x: Long<'_>, rule: &Rule) -> usize {
    blocks_without::<W>(x.bytes(), |bits| rule.passes_of::<W>(bits))
}

/// The bytes before the first block with a hit.
#[inline(always)]
fn blocks_without<const W: usize>(x: &[u8], hit: impl Fn(u64) -> bool) -> usize {
    run(
        #[inline(always)]
        || {
            let block = x.chunks(BLOCK * W).position(|block| any::<W>(block, &hit));
            block.map_or(x.len(), |block| block * BLOCK * W)
        },
    )
}

/// Whether any element is a hit, without a branch for each.
#[inline(always)]
fn any<const W: usize>(x: &[u8], hit: impl Fn(u64) -> bool) -> bool {
    elements::<W>(x).fold(false, |any, bits| any | hit(bits))
}

pub(crate) fn count<const W: usize>(x: Long<'_>, rule: &Rule) -> u64 {
    run(
        #[inline(always)]
        || sum::<W>(x.bytes(), |bits| rule.holds_of::<W>(bits)),
    )
}

/// The number of hits. Those of a block fit into a byte, so the compiler adds bytes.
#[inline(always)]
fn sum<const W: usize>(x: &[u8], hit: impl Fn(u64) -> bool) -> u64 {
    let blocks = x.chunks(BLOCK * W);
    blocks.map(|block| u64::from(elements::<W>(block).map(|x| u8::from(hit(x))).sum::<u8>())).sum()
}

pub(crate) fn classify<const W: usize>(x: Long<'_>, nan: &Rule) -> u64 {
    let (mask, exponent) = (nan.mask(), nan.least());
    let infinity = |all, code| Rule::equal(W, all, code);
    let (inf, negative) = (infinity(mask, exponent), infinity(u64::MAX, exponent | (mask + 1)));
    run(
        #[inline(always)]
        || {
            let [nans, infs, negs] =
                [nan, &inf, &negative].map(|rule| sum::<W>(x.bytes(), |x| rule.holds_of::<W>(x)));
            nans | infs << CLASS_BITS | negs << (2 * CLASS_BITS)
        },
    )
}

pub(crate) fn mask<const W: usize>(x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
    run(
        #[inline(always)]
        || {
            for (bits, place) in elements::<W>(x.bytes()).zip(out) {
                place.write(rule.holds_of::<W>(bits));
            }
        },
    );
    x.len()
}

pub(crate) fn skip<const W: usize>(x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
    if W == 1 {
        return 0;
    }
    run(
        #[inline(always)]
        || {
            let blocks = x.bytes().chunks_exact(BLOCK * W).zip(out.chunks_exact_mut(BLOCK));
            let mut done = 0;
            for (block, out) in blocks {
                if any::<W>(block, |bits| rule.passes_of::<W>(bits)) {
                    break;
                }
                out.fill(core::mem::MaybeUninit::new(rule.usual()));
                done += block.len();
            }
            done
        },
    )
}

pub(crate) fn bits<const W: usize>(x: Long<'_>, rule: &Rule, out: &mut [u8]) -> u64 {
    run(
        #[inline(always)]
        || {
            let (lines, rest) = x.bytes().split_at(x.len() & !63);
            for (block, out) in lines.chunks(BLOCK * W).zip(out.chunks_mut(8)) {
                out.copy_from_slice(&word::<W>(block, rule).to_le_bytes()[..out.len()]);
            }
            word::<W>(rest, rule)
        },
    )
}

/// Bit `i` for element `i` of at most 64. Makes bytes first, which the compiler vectorises.
#[inline(always)]
fn word<const W: usize>(x: &[u8], rule: &Rule) -> u64 {
    let (mut bytes, mut word) = ([0; BLOCK], [0; 8]);
    for (byte, bits) in bytes.iter_mut().zip(elements::<W>(x)) {
        *byte = u8::from(rule.holds_of::<W>(bits));
    }
    for (out, eight) in word.iter_mut().zip(bytes.as_chunks().0) {
        *out = packed(*eight) as u8;
    }
    u64::from_le_bytes(word)
}

/// Bit `i` for byte `i`, each of which is 0 or 1.
#[inline(always)]
fn packed(answers: [u8; 8]) -> u64 {
    // The product moves bit 0 of byte `i` to bit `56 + i`, and no other term reaches these bits.
    u64::from_le_bytes(answers).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

pub(crate) fn replace<const W: usize>(x: &mut [Four], codes: &Codes) -> usize {
    run(
        #[inline(always)]
        || scalar::replace::<W>(x, codes),
    )
}
