//! Fewer than 64 bytes by registers of 16 bytes.
//!
//! ```text
//! 16 .. 63 bytes      two to four registers; the last one overlaps
//! 1 .. 15 bytes       one register, with zeros after the input
//! ```
//!
//! One element of 8 bytes is compared as a number.

use crate::isa::{Isa, Register, With, op};
use crate::lines::{Places, places};
use crate::rule::Rule;
use crate::scalar::each;
use crate::spread;

#[cfg(target_arch = "aarch64")]
type Here = crate::neon::Neon;
#[cfg(not(target_arch = "aarch64"))]
type Here = crate::x86::sse2::Sse2;

/// The answers for the 16 bytes at `at`, or for the last 16 bytes, by a rule that is not tilted.
#[inline(always)]
fn answers<const W: usize>(
    x: &[u8],
    at: usize,
    with: &With<<Here as Isa>::V>,
) -> <Here as Isa>::Hits {
    let lanes = Here::HERE.load(x, at.min(x.len() - 16));
    Here::HERE.hits::<W, { op::ANSWER }>(lanes, with)
}

/// Whether the answer is yes for any element. Inlined into the program, where the rule is known.
#[inline(always)]
pub(crate) fn any<const W: usize>(x: &[u8], rule: &Rule) -> bool {
    if W == 8 && x.len() < 16 {
        return each::any::<W>(x, rule);
    }
    let (isa, with) = (Here::HERE, Here::HERE.with::<W>(rule));
    let answers = |lanes| match rule.is_tilted() {
        true => isa.hits::<W, { op::TILTED }>(lanes, &with),
        false => isa.hits::<W, { op::ANSWER }>(lanes, &with),
    };
    if x.len() < 16 {
        let here = (1 << (x.len() / W)) - 1;
        return isa.lane_bits::<W>(answers(padded(x))) & here != 0;
    }
    let (at, last) = (|at| answers(isa.load(x, at)), x.len() - 16);
    let mut any = isa.either(at(0), at(last));
    if x.len() > 32 {
        any = isa.either(any, isa.either(at(16), at(last - 16)));
    }
    isa.is_any(any)
}

/// Bit `i` for element `i`: its answer.
#[inline(always)]
pub(crate) fn bits<const W: usize>(x: &[u8], rule: &Rule) -> u64 {
    if x.len() < 16 || rule.is_tilted() {
        return small_bits::<W>(x, rule);
    }
    let (with, last) = (Here::HERE.with::<W>(rule), x.len() - 16);
    let at = |at: usize| Here::HERE.lane_bits::<W>(answers::<W>(x, at, &with)) << (at / W);
    let mut bits = at(0) | at(last);
    if x.len() > 32 {
        bits |= at(16) | at(last - 16);
    }
    bits
}

/// How many answers are yes. Adds lanes, since x86 may lack the instruction POPCNT.
#[inline(always)]
pub(crate) fn count<const W: usize>(x: &[u8], rule: &Rule) -> usize {
    // 16 zeros, 16 ones: the register at byte `n` has ones in its last `n` bytes.
    const KEPT: [u8; 32] = {
        let mut bytes = [0; 32];
        let mut i = 16;
        while i < 32 {
            bytes[i] = 0xFF;
            i += 1;
        }
        bytes
    };
    if W == 8 {
        return bits::<W>(x, rule).count_ones() as usize;
    }
    if x.len() < 16 || rule.is_tilted() {
        return small_bits::<W>(x, rule).count_ones() as usize;
    }
    let (isa, with) = (Here::HERE, Here::HERE.with::<W>(rule));
    let add = |counts, hits| isa.add::<W>(counts, hits, with.one);
    let at = |at| answers::<W>(x, at, &with);
    let zero = isa.splat::<1>(0);
    let last = isa.within(at(x.len() - 16), isa.load(&KEPT, x.len() % 16));
    let mut counts = add(add(zero, last), at(0));
    if x.len() >= 32 {
        counts = add(counts, at(16));
    }
    if x.len() >= 48 {
        counts = add(counts, at(32));
    }
    isa.sum([counts, zero])
}

/// A byte for each element.
#[inline(always)]
pub(crate) fn mask<const W: usize>(x: &[u8], rule: &Rule, out: &mut Places) {
    if x.len() < 16 || rule.is_tilted() {
        return small_mask::<W>(x, rule, out);
    }
    let (isa, with, last) = (Here::HERE, Here::HERE.with::<W>(rule), x.len() - 16);
    let mut at = |at| {
        let ones = isa.ones::<W>(answers::<W>(x, at, &with));
        match W {
            1 => isa.write(ones, places(out, at)),
            2 => spread::low_bits(isa.low(ones), places::<8>(out, at / W)),
            4 => spread::low_bits(isa.low(ones), places::<4>(out, at / W)),
            _ => spread::low_bits(isa.low(ones), places::<2>(out, at / W)),
        }
    };
    at(0);
    if x.len() > 32 {
        at(16);
        at(last - 16);
    }
    at(last);
}

/// Fewer than 16 bytes, or a tilted rule, which is rare. A function of its own: as part of [`bits`]
/// it would make `bits` save registers for all lengths.
#[inline(never)]
fn small_bits<const W: usize>(x: &[u8], rule: &Rule) -> u64 {
    if W == 8 || rule.is_tilted() {
        return each::word::<W>(x, rule);
    }
    let (isa, with) = (Here::HERE, Here::HERE.with::<W>(rule));
    let here = (1 << (x.len() / W)) - 1;
    isa.lane_bits::<W>(isa.hits::<W, { op::ANSWER }>(padded(x), &with)) & here
}

/// As [`small_bits`], but a byte for each element.
#[inline(never)]
fn small_mask<const W: usize>(x: &[u8], rule: &Rule, out: &mut Places) {
    let (Some(first), Some(last), false) =
        (x.first_chunk(), x.last_chunk(), W == 8 || rule.is_tilted())
    else {
        return each::mask::<W>(x, rule, out);
    };
    let (isa, with) = (Here::HERE, Here::HERE.with::<W>(rule));
    // Two halves of a register, which may overlap.
    for (half, at) in [(first, 0), (last, (x.len() - 8) / W)] {
        let lanes = isa.pair(u64::from_le_bytes(*half), 0);
        let answers = isa.low(isa.ones::<W>(isa.hits::<W, { op::ANSWER }>(lanes, &with)));
        match W {
            1 => spread::low_bits(answers, places::<8>(out, at)),
            2 => spread::low_bits(answers, places::<4>(out, at)),
            _ => spread::low_bits(answers, places::<2>(out, at)),
        }
    }
}

/// Fewer than 16 bytes, and then zeros. Not inlined: for so few, one copy of this is enough.
#[inline(never)]
fn padded(x: &[u8]) -> <Here as Isa>::V {
    let n = x.len();
    let (low, high) = if let (Some(first), Some(last)) = (x.first_chunk(), x.last_chunk()) {
        // The bytes of the last word that are not in the first.
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last) >> (8 * (15 - n)) >> 8)
    } else if let (Some(first), Some(last)) = (x.first_chunk(), x.last_chunk()) {
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(*four)));
        (first | last << (8 * (n - 4)), 0)
    } else {
        (x.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)), 0)
    };
    Here::HERE.pair(low, high)
}
