//! Byte masks: 1 where the rule holds for an element, else 0.
//!
//! Memory is read in lines of 64 bytes, the size of a cache line. An element has `W` bytes. `W`
//! lines make a block of 64 elements, which has one line in the mask.
//!
//! ```text
//! mask(x, out):
//!     if W == 1 or the rule has no screen or x is short:          2 KiB, AVX-512 8 KiB
//!         return plain(x, out)
//!     until x is at its end:
//!         skip(x, out)                        skip.rs: writes the answers of groups without a hit
//!         plain(the next 16 KiB)              dense hits: a screen only costs
//!
//! plain(x, out):
//!     if there are fewer than 64 elements:
//!         return store_few(x, out)                        AVX-512: masked loads and stores
//!             or spread(the packed bits of x, out)        AVX2 above 8 elements, and NEON
//!     store(the first 64 elements)
//!     for each block behind them:                         an x of 4 KiB or more, of aligned
//!         store(block)                                    elements: from the first cache line on
//!     store(the last 64 elements)                         overlaps blocks that are done, so no
//!                                                         loop goes element by element
//! ```
//!
//! `store` of NaN in f32 (`W` = 4):
//!
//! ```text
//! input       line 0          line 1          line 2          line 3
//!             x0 .. x15       x16 .. x31      x32 .. x47      x48 .. x63      32 bits each
//!   & mask    |               |               |               |               7FFF_FFFF
//!   > bound   |               |               |               |               7F80_0000
//! hits        0 or -1         0 or -1         0 or -1         0 or -1         32 bits each
//!   narrow    +-------+-------+               +-------+-------+
//!                     +---------------+---------------+                       8 bits each
//! mask        m0 m1 m2 ..                                          m63        0 or 1 each
//! ```
//!
//! AVX-512 compares into mask registers. AVX2 and NEON compare into lanes of all ones and narrow
//! them by packing, which mixes the order, and one permutation restores it (`layout.rs` of each
//! backend).
//!
//! `ONES` is `(bits & mask) == mask`, where all bits of the mask lie in the upper 16 bits of the
//! element. The lower half of the element cannot matter. Then the upper halves are brought together
//! first, and one register is compared instead of two or four. `Finite` and `NonFinite` of f32, f64
//! and bf16 are of this kind.

use core::mem::MaybeUninit;

use super::bits::Few;
use super::skip::{AFTER_HIT, Look, Skip};
use crate::rule::{Comparison, Operation, Screen};
use crate::simd::{Call, Loop, SameAs, Simd, op, until_line};

/// Compares every element, or skips groups without a hit.
pub(crate) struct Mask<const W: usize>;

impl<const W: usize> SameAs<Mask<1>> for Mask<W> {}

impl<const W: usize> Loop for Mask<W> {
    /// One slot for each element of the input.
    type Out<'o> = &'o mut [MaybeUninit<bool>];
    type Output = ();

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, out: &mut [MaybeUninit<bool>]) {
        // For elements of one byte, comparing is as fast as screening.
        if W > 1 && x.len() >= I::MASK_SCREEN_FROM && comparison.screen() != Screen::None {
            let steps =
                &Steps { skip: Call::of::<Skip<W>, I>(isa), mask: Call::of::<Self, I>(isa) };
            return screened(x, comparison, W.trailing_zeros(), out, steps);
        }
        if out.len() < 64 {
            if !isa.store_few::<W>(x, comparison, out) {
                spread(isa.run::<Few<W>>(x, comparison, ()), out);
            }
            return;
        }
        let negate = comparison.negate();
        let head = if x.len() < ALIGN_FROM { 0 } else { until_line(x, W) / W };
        let x = &x[..out.len() * W];
        match comparison.operation() {
            Operation::Ones if negate => {
                return plain::<I, W, { op::ONES_NOT }>(isa, x, comparison, head, out);
            }
            Operation::Ones => return plain::<I, W, { op::ONES }>(isa, x, comparison, head, out),
            // Some formats of one byte have such a rule.
            Operation::Equal if W == 1 && negate && !I::STORES_NEGATED => {
                return plain::<I, W, { op::EQUAL_NOT }>(isa, x, comparison, head, out);
            }
            Operation::Equal => plain::<I, W, { op::EQUAL }>(isa, x, comparison, head, out),
            Operation::Greater => plain::<I, W, { op::GREATER }>(isa, x, comparison, head, out),
        }
        if negate && !I::STORES_NEGATED {
            invert(out);
        }
    }
}

#[inline(always)]
#[expect(unsafe_code, reason = "blocks that overlap")]
fn plain<I: Simd, const W: usize, const OP: u8>(
    isa: I,
    x: &[u8],
    comparison: &Comparison,
    head: usize,
    out: &mut [MaybeUninit<bool>],
) {
    // A turn of the loop costs as much as a block of narrow elements.
    let blocks = match W {
        1 => 4,
        2 => 2,
        _ => 1,
    };
    let with = isa.with::<W>(comparison);
    assert!(out.len() >= 64 && out.len() * W <= x.len());
    let last = out.len() - 64;
    let (mut at, mut next) = (0, if head == 0 { blocks * 64 } else { head });
    while at < out.len() {
        for block in 0..blocks {
            let at = last.min(at + block * 64);
            // SAFETY: `x` has as many elements as `out` has slots, at least 64. `at` is at most
            // `last`, so 64 of both begin there.
            let (block, slots) =
                unsafe { (&*x.as_ptr().add(at * W).cast(), &mut *out.as_mut_ptr().add(at).cast()) };
            isa.store::<W, OP>(block, with, slots);
        }
        (at, next) = (next, next + blocks * 64);
    }
}

/// Bit `i` as byte `i`, for at most 64 bits. Eight at a time; the last eight overlap others. Not
/// inlined, so that masks of more elements save fewer registers.
#[inline(never)]
fn spread(bits: u64, out: &mut [MaybeUninit<bool>]) {
    let mut rest = bits;
    for slots in out.as_chunks_mut().0 {
        spread_eight(rest, slots);
        rest >>= 8;
    }
    let before = out.len().saturating_sub(8);
    match out.last_chunk_mut() {
        Some(slots) => spread_eight(bits >> before, slots),
        None => {
            for (i, slot) in out.iter_mut().enumerate() {
                slot.write(bits >> i & 1 != 0);
            }
        }
    }
}

/// Bit `i` as byte `i`, for the low eight bits.
#[inline(always)]
#[expect(unsafe_code, reason = "eight answers are one store")]
fn spread_eight(bits: u64, out: &mut [MaybeUninit<bool>; 8]) {
    // All bits in every byte; of byte `i`, bit `i` is kept, and moves to the top of its byte by an
    // addition that carries out of no byte.
    let kept = ((bits & 0xFF) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
    let bytes = (kept + 0x7F7F_7F7F_7F7F_7F7F) >> 7 & 0x0101_0101_0101_0101;
    // SAFETY: both arrays have 8 bytes, of any alignment, and each byte is 0 or 1: a `bool`.
    unsafe { *core::ptr::from_mut(out).cast::<[u8; 8]>() = bytes.to_le_bytes() }
}

/// Inverts every answer, for rules that no format has.
#[cold]
#[inline(never)]
#[expect(unsafe_code, reason = "all results are written")]
fn invert(out: &mut [MaybeUninit<bool>]) {
    for slot in out {
        // SAFETY: `Mask`, the only caller, has written all of `out`.
        let answer = unsafe { slot.assume_init() };
        slot.write(!answer);
    }
}

/// The loops of [`screened`].
struct Steps {
    skip: Call<Skip<1>>,
    mask: Call<Mask<1>>,
}

/// Skips groups without a hit. An element has `1 << shift` bytes.
#[inline(never)]
fn screened(
    mut x: &[u8],
    comparison: &Comparison,
    shift: u32,
    mut out: &mut [MaybeUninit<bool>],
    steps: &Steps,
) {
    let exact = comparison.unscreened();
    loop {
        let clean = steps.skip.run(x, comparison, Look::Hits(out));
        out = &mut out[clean >> shift..];
        if out.is_empty() {
            return;
        }
        // Compares the rest, or what begins with the group that may have a hit.
        let (place, behind) = out.split_at_mut(out.len().min(AFTER_HIT >> shift));
        let rest = x.get(clean..).unwrap_or_default();
        // There are as many elements as places.
        let (part, rest) = rest.split_at_checked(place.len() << shift).unwrap_or((rest, &[]));
        steps.mask.run(part, &exact, place);
        (x, out) = (rest, behind);
    }
}

/// From this length on, in bytes, blocks begin at a cache line.
const ALIGN_FROM: usize = 4096;
