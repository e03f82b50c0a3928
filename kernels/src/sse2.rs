//! Inputs of fewer than 64 bytes, by SSE2: for elements of 1, 2 and 4 bytes.
//!
//! ```text
//! 16 .. 63 bytes      two to four registers of 16 bytes; the last one overlaps
//! 1 .. 15 bytes       one register, with zeros after the input
//! ```
#![expect(unsafe_code, reason = "intrinsics that the target has")]

use crate::intrinsics::*;
use crate::pieces::{Places, places};
use crate::rule::Rule;
use crate::scalar::elements;
use crate::spread;

type V = __m128i;

// SAFETY of all blocks below: the target has SSE2, or this module would not be compiled. Loads and
// stores ask for no alignment; each reads or writes one array, as long as the register or the part
// of it that is loaded or stored.

/// The registers of an input of 16 to 63 bytes. The last one may overlap the one before.
struct Registers<'x> {
    x: &'x [u8],
}

impl<'x> Registers<'x> {
    #[inline(always)]
    fn new(x: &'x [u8]) -> Option<Self> {
        (x.len() >= 16).then_some(Self { x })
    }

    /// The register at byte `at`, or the last one if that begins earlier.
    #[inline(always)]
    fn at(&self, at: usize) -> V {
        let at = at.min(self.x.len() - 16);
        // SAFETY: see above; 16 bytes follow `at`.
        unsafe { _mm_loadu_si128(self.x.as_ptr().add(at).cast()) }
    }
}

#[inline(always)]
pub(crate) fn any<const W: usize>(x: &[u8], rule: &Rule) -> bool {
    let Some(registers) = Registers::new(x) else {
        let here = (1 << x.len()) - 1;
        return signs(answers::<W>(padded(x), rule)) & here != 0;
    };
    let last = x.len() - 16;
    let mut any = or(answers::<W>(registers.at(0), rule), answers::<W>(registers.at(last), rule));
    if x.len() > 32 {
        any = or(any, answers::<W>(registers.at(16), rule));
        any = or(any, answers::<W>(registers.at(last - 16), rule));
    }
    signs(any) != 0
}

#[inline(always)]
pub(crate) fn bits<const W: usize>(x: &[u8], rule: &Rule) -> u64 {
    let Some(registers) = Registers::new(x) else {
        let here = (1 << (x.len() / W)) - 1;
        return pack::<W>(answers::<W>(padded(x), rule)) & here;
    };
    let at = |at: usize| pack::<W>(answers::<W>(registers.at(at), rule)) << (at / W);
    let last = x.len() - 16;
    let mut bits = at(0) | at(last);
    if x.len() > 32 {
        bits |= at(16) | at(last - 16);
    }
    bits
}

/// Adds lanes, since the target may lack the instruction POPCNT.
#[inline(always)]
pub(crate) fn count<const W: usize>(x: &[u8], rule: &Rule) -> usize {
    // 16 zeros, 16 ones, 16 zeros: the register at byte `n` has ones in its last `n` bytes.
    const KEPT: [u8; 48] = {
        let mut bytes = [0; 48];
        let mut i = 16;
        while i < 32 {
            bytes[i] = 0xFF;
            i += 1;
        }
        bytes
    };
    let kept = |from: usize| Registers { x: &KEPT }.at(from);
    let Some(registers) = Registers::new(x) else {
        // Keeps the first bytes, those of the input.
        return sum::<W>(and(answers::<W>(padded(x), rule), kept(32 - x.len())));
    };
    let last = and(answers::<W>(registers.at(x.len() - 16), rule), kept(x.len() % 16));
    let mut hits = add::<W>(answers::<W>(registers.at(0), rule), last);
    if x.len() >= 32 {
        hits = add::<W>(hits, answers::<W>(registers.at(16), rule));
    }
    if x.len() >= 48 {
        hits = add::<W>(hits, answers::<W>(registers.at(32), rule));
    }
    sum::<W>(hits)
}

#[inline(always)]
pub(crate) fn mask<const W: usize>(x: &[u8], rule: &Rule, out: &mut Places) {
    let Some(registers) = Registers::new(x).filter(|_| !rule.is_tilted()) else {
        return small_mask::<W>(x, rule, out);
    };
    let mut at = |at: usize| {
        store::<W>(ones::<W>(untilted::<W>(registers.at(at), rule)), out, at / W);
    };
    let last = x.len() - 16;
    at(0);
    if x.len() > 32 {
        at(16);
        at(last - 16);
    }
    at(last);
}

/// Fewer than 16 bytes, or a tilted rule. A function of its own: as part of [`mask`] it would make
/// `mask` save registers for all lengths.
#[inline(never)]
fn small_mask<const W: usize>(x: &[u8], rule: &Rule, out: &mut Places) {
    let (Some(first), Some(last), false) = (x.first_chunk(), x.last_chunk(), rule.is_tilted())
    else {
        for (bits, place) in elements::<W>(x).zip(out) {
            place.write(rule.holds_of::<W>(bits));
        }
        return;
    };
    // Two halves of a register, which may overlap.
    for (half, at) in [(first, 0), (last, (x.len() - 8) / W)] {
        // SAFETY: see above; 8 bytes are read from an array of 8 bytes.
        let half = unsafe { _mm_loadl_epi64(<*const [u8; 8]>::cast(half)) };
        let [answers, _] = words(ones::<W>(untilted::<W>(half, rule)));
        match W {
            1 => spread::low_bits(answers, places::<8>(out, at)),
            2 => spread::low_bits(answers, places::<4>(out, at)),
            _ => spread::low_bits(answers, places::<2>(out, at)),
        }
    }
}

/// -1 in each lane whose answer is yes, else 0.
#[inline(always)]
fn answers<const W: usize>(x: V, rule: &Rule) -> V {
    if !rule.is_tilted() {
        return untilted::<W>(x, rule);
    }
    let lanes = and(x, splat::<W>(rule.mask()));
    compared::<W>(add::<W>(lanes, greater::<W>(splat::<1>(0), x)), rule)
}

/// [`answers`] of a rule that is not tilted.
#[inline(always)]
fn untilted<const W: usize>(x: V, rule: &Rule) -> V {
    compared::<W>(and(x, splat::<W>(rule.mask())), rule)
}

#[inline(always)]
fn compared<const W: usize>(masked: V, rule: &Rule) -> V {
    // SAFETY: see above.
    let flipped = unsafe { _mm_xor_si128(masked, splat::<W>(rule.flip())) };
    greater::<W>(flipped, splat::<W>(rule.least()))
}

#[inline(always)]
fn splat<const W: usize>(bits: u64) -> V {
    // SAFETY: see above.
    unsafe {
        match W {
            1 => _mm_set1_epi8(bits as i8),
            2 => _mm_set1_epi16(bits as i16),
            _ => _mm_set1_epi32(bits as i32),
        }
    }
}

#[inline(always)]
fn greater<const W: usize>(a: V, b: V) -> V {
    // SAFETY: see above.
    unsafe {
        match W {
            1 => _mm_cmpgt_epi8(a, b),
            2 => _mm_cmpgt_epi16(a, b),
            _ => _mm_cmpgt_epi32(a, b),
        }
    }
}

#[inline(always)]
fn add<const W: usize>(a: V, b: V) -> V {
    // SAFETY: see above.
    unsafe {
        match W {
            1 => _mm_add_epi8(a, b),
            2 => _mm_add_epi16(a, b),
            _ => _mm_add_epi32(a, b),
        }
    }
}

#[inline(always)]
fn and(a: V, b: V) -> V {
    // SAFETY: see above.
    unsafe { _mm_and_si128(a, b) }
}

#[inline(always)]
fn or(a: V, b: V) -> V {
    // SAFETY: see above.
    unsafe { _mm_or_si128(a, b) }
}

/// How many answers are yes. Each lane is the sum of at most four answers of -1 or 0.
#[inline(always)]
fn sum<const W: usize>(hits: V) -> usize {
    // SAFETY: see above.
    let [low, high] = words(unsafe { _mm_sad_epu8(negated::<W>(hits), splat::<1>(0)) });
    (low + high) as usize
}

/// 0 to 4 for lanes of 0 to -4.
#[inline(always)]
fn negated<const W: usize>(hits: V) -> V {
    // SAFETY: see above.
    unsafe {
        match W {
            1 => _mm_sub_epi8(splat::<1>(0), hits),
            2 => _mm_sub_epi16(splat::<1>(0), hits),
            _ => _mm_sub_epi32(splat::<1>(0), hits),
        }
    }
}

/// One bit for each lane.
#[inline(always)]
fn pack<const W: usize>(answers: V) -> u64 {
    // SAFETY: see above.
    unsafe {
        match W {
            1 => signs(answers),
            2 => signs(_mm_packs_epi16(answers, _mm_setzero_si128())),
            _ => _mm_movemask_ps(_mm_castsi128_ps(answers)) as u64,
        }
    }
}

/// Bit `i` is the sign of byte `i`.
#[inline(always)]
fn signs(v: V) -> u64 {
    // SAFETY: see above.
    unsafe { _mm_movemask_epi8(v) as u64 }
}

/// 1 or 0 for lanes of -1 or 0, in the low `16 / W` bytes.
#[inline(always)]
fn ones<const W: usize>(answers: V) -> V {
    // SAFETY: see above.
    unsafe {
        let packed = match W {
            1 => answers,
            2 => _mm_packs_epi16(answers, answers),
            _ => {
                let packed = _mm_packs_epi32(answers, answers);
                _mm_packs_epi16(packed, packed)
            }
        };
        _mm_and_si128(packed, _mm_set1_epi8(1))
    }
}

/// The low and the high eight bytes.
#[inline(always)]
fn words(v: V) -> [u64; 2] {
    let word = |v| {
        let mut word = [0; 8];
        // SAFETY: see above.
        unsafe { _mm_storel_epi64(word.as_mut_ptr().cast(), v) }
        u64::from_le_bytes(word)
    };
    // SAFETY: see above.
    [word(v), word(unsafe { _mm_unpackhi_epi64(v, v) })]
}

/// Writes `16 / W` answers from place `at` on, or to the last places.
#[inline(always)]
fn store<const W: usize>(answers: V, out: &mut Places, at: usize) {
    // SAFETY: see above.
    unsafe {
        match W {
            1 => _mm_storeu_si128(places::<16>(out, at).as_mut_ptr().cast(), answers),
            2 => _mm_storel_epi64(places::<8>(out, at).as_mut_ptr().cast(), answers),
            _ => _mm_storeu_si32(places::<4>(out, at).as_mut_ptr().cast(), answers),
        }
    }
}

/// Fewer than 16 bytes, and then zeros. Not inlined: for so few, one copy of this is enough.
#[inline(never)]
fn padded(x: &[u8]) -> V {
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
    // SAFETY: see above.
    unsafe { _mm_set_epi64x(high.cast_signed(), low.cast_signed()) }
}
