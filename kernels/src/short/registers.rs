//! Fewer than 64 bytes by registers of 16 bytes.
//!
//! ```text
//! 16 .. 64 bytes      two to four registers; the last one overlaps
//! 1 .. 15 bytes       one register, with zeros after the input
//! ```
//!
//! One element of 8 bytes is compared as a number.

use super::{Elements, Short};
use crate::isa::{Register, With, op};
use crate::lines::{Places, places};
use crate::mask_out::spread_bytes;
use crate::rule::Rule;

impl<R: Register> Short for R {
    #[inline(always)]
    fn any<const W: usize>(x: &[u8], rule: &Rule) -> bool {
        if W == 8 && x.len() < 16 {
            return Elements::any::<W>(x, rule);
        }
        let (isa, with) = (R::HERE, R::HERE.with_answer::<W>(rule));
        let answers = |lanes| match rule.tilted {
            true => isa.hits::<W, { op::TILTED }>(lanes, &with),
            false => isa.hits::<W, { op::FLIPPED }>(lanes, &with),
        };
        if x.len() < 16 {
            let here = (1 << (x.len() / W)) - 1;
            return isa.lane_bits::<W>(answers(padded::<R>(x))) & here != 0;
        }
        let (at, last) = (|at| answers(isa.load(x, at)), x.len() - 16);
        let mut any = isa.either(at(0), at(last));
        if x.len() > 32 {
            any = isa.either(any, isa.either(at(16), at(last - 16)));
        }
        isa.is_any(any)
    }

    #[inline(always)]
    fn bits<const W: usize>(x: &[u8], rule: &Rule) -> u64 {
        if x.len() < 16 || rule.tilted {
            return small_bits::<R, W>(x, rule);
        }
        let (with, last) = (R::HERE.with_answer::<W>(rule), x.len() - 16);
        let at = |at: usize| R::HERE.lane_bits::<W>(lanes::<R, W>(x, at, &with)) << (at / W);
        let mut bits = at(0) | at(last);
        if x.len() > 32 {
            bits |= at(16) | at(last - 16);
        }
        bits
    }

    /// Adds lanes, since x86 may lack the instruction POPCNT.
    #[inline(always)]
    fn hits<const W: usize>(x: &[u8], rule: &Rule) -> usize {
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
        if W == 8 || x.len() < 16 || rule.tilted {
            let ones = Self::bits::<W>(x, rule).count_ones() as usize;
            return if rule.opposite { x.len() / W - ones } else { ones };
        }
        let (isa, with) = (R::HERE, R::HERE.with::<W>(rule));
        let add = |counts, hits| isa.add::<W>(counts, hits, with.one);
        let at = |at| lanes::<R, W>(x, at, &with);
        let zero = isa.splat::<1>(0);
        let last = isa.and(at(x.len() - 16), isa.load(&KEPT, x.len() % 16));
        let mut counts = add(add(zero, last), at(0));
        if x.len() >= 32 {
            counts = add(counts, at(16));
        }
        if x.len() >= 48 {
            counts = add(counts, at(32));
        }
        isa.sum([counts, zero])
    }

    #[inline(always)]
    fn mask<const W: usize>(x: &[u8], rule: &Rule, out: &mut Places) {
        if x.len() < 16 || rule.tilted {
            return small_mask::<R, W>(x, rule, out);
        }
        let (isa, with, last) = (R::HERE, R::HERE.with_answer::<W>(rule), x.len() - 16);
        let mut at = |at| {
            let ones = isa.ones::<W>(lanes::<R, W>(x, at, &with));
            match W {
                1 => isa.write(ones, places(out, at)),
                2 => spread_bytes(isa.low(ones), places::<8>(out, at / W)),
                4 => spread_bytes(isa.low(ones), places::<4>(out, at / W)),
                _ => spread_bytes(isa.low(ones), places::<2>(out, at / W)),
            }
        };
        at(0);
        if x.len() > 32 {
            at(16);
            at(last - 16);
        }
        at(last);
    }
}

/// The lanes of the 16 bytes at `at`, or of the last 16 bytes, for which a comparison without tilt
/// holds.
#[inline(always)]
fn lanes<R: Register, const W: usize>(x: &[u8], at: usize, with: &With<R::V>) -> R::Hits {
    let lanes = R::HERE.load(x, at.min(x.len() - 16));
    R::HERE.hits::<W, { op::FLIPPED }>(lanes, with)
}

/// Fewer than 16 bytes, or a tilted rule, which is rare. A function of its own: as part of
/// [`Short::bits`] it would make `bits` save registers for all lengths.
#[inline(never)]
fn small_bits<R: Register, const W: usize>(x: &[u8], rule: &Rule) -> u64 {
    if W == 8 || rule.tilted {
        return Elements::bits::<W>(x, rule);
    }
    let (isa, with) = (R::HERE, R::HERE.with_answer::<W>(rule));
    let here = (1 << (x.len() / W)) - 1;
    isa.lane_bits::<W>(isa.hits::<W, { op::FLIPPED }>(padded::<R>(x), &with)) & here
}

/// As [`small_bits`], but a byte for each element.
#[inline(never)]
fn small_mask<R: Register, const W: usize>(x: &[u8], rule: &Rule, out: &mut Places) {
    let (Some(first), Some(last), false) = (x.first_chunk(), x.last_chunk(), W == 8 || rule.tilted)
    else {
        return Elements::mask::<W>(x, rule, out);
    };
    let (isa, with) = (R::HERE, R::HERE.with_answer::<W>(rule));
    // Two halves of a register, which may overlap.
    for (half, at) in [(first, 0), (last, (x.len() - 8) / W)] {
        let lanes = isa.pair(u64::from_le_bytes(*half), 0);
        let answers = isa.low(isa.ones::<W>(isa.hits::<W, { op::FLIPPED }>(lanes, &with)));
        match W {
            1 => spread_bytes(answers, places::<8>(out, at)),
            2 => spread_bytes(answers, places::<4>(out, at)),
            _ => spread_bytes(answers, places::<2>(out, at)),
        }
    }
}

/// Fewer than 16 bytes, and then zeros. Not inlined: for so few, one copy of this is enough.
#[inline(never)]
fn padded<R: Register>(x: &[u8]) -> R::V {
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
    R::HERE.pair(low, high)
}
