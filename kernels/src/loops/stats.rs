//! The loops of statistics: [`crate::stats`] has the algorithm.
//!
//! Both look at blocks of 64 elements. Where a bitmap has a 0, another number takes the place of
//! the element.

use core::iter::repeat;

use super::Blend;
use crate::isa::{With, op};
use crate::lines::{Block, COUNTED, GROUP, Long};
use crate::order::{Numbers, Range};
use crate::validity::Bitmap;

/// The instructions that order lanes.
///
/// All methods are `#[inline(always)]`.
pub(crate) trait Order: Blend {
    /// A hit in lane `i` where bit `i` is 1. Bits after the last lane may be anything.
    fn lanes_of<const W: usize>(self, bits: u64) -> Self::Hits;

    /// The magnitudes `m` of `x`, negated where the top bit of `x` is set. Where `x` is 0, `m` must
    /// be 0.
    fn signed<const W: usize>(self, x: Self::V, m: Self::V) -> Self::V;

    /// The bytes from byte `N` on, moved to byte 0. What follows these may be anything. `N` is a
    /// power of two.
    fn moved<const N: usize>(self, v: Self::V) -> Self::V;

    /// The higher lanes.
    #[inline(always)]
    fn higher<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V {
        self.blend::<W>(a, b, self.greater::<W>(b, a))
    }

    /// The lower lanes.
    #[inline(always)]
    fn lower<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V {
        self.blend::<W>(a, b, self.greater::<W>(a, b))
    }
}

/// A register in which lane `i`, of `W` bytes, has only bit `i % (8 * W)` set.
#[cfg_attr(
    not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")),
    expect(dead_code, reason = "no registers")
)]
pub(crate) const fn powers<const W: usize, const BYTES: usize>() -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let mut lane = 0;
    while lane < BYTES / W {
        let bit = lane % (8 * W);
        bytes[lane * W + bit / 8] = 1 << (bit % 8);
        lane += 1;
    }
    bytes
}

/// What [`order`] is given.
#[derive(Clone, Copy)]
pub(crate) struct Given<'g> {
    pub(crate) numbers: &'g Numbers,
    /// Whole blocks of 64 elements.
    pub(crate) blocks: &'g [u8],
    /// One block more, or nothing.
    pub(crate) last: &'g [u8],
    /// Which elements of the blocks are valid: all if `None`.
    pub(crate) valid: Option<&'g Bitmap<'g>>,
    /// The valid elements of the last block, if not all are valid.
    pub(crate) last_valid: u64,
    /// The code of a finite number, which takes the place of nulls and special elements.
    pub(crate) filling: u64,
    /// Whether NaN and infinities are expected.
    pub(crate) careful: bool,
}

/// Extends the lowest and the highest key of finite elements. Returns how many elements are zero,
/// how many zero or subnormal, and how many NaN or infinite. Special elements and nulls are counted
/// as if the filling stood there.
#[inline(always)]
pub(crate) fn order<I: Order, const W: usize>(
    isa: I,
    given: &Given<'_>,
    keys: &mut [i64; 2],
) -> [usize; 3] {
    let (found, counts) = match given.valid {
        None => ordered::<I, W, _>(isa, given, || repeat(u64::MAX), *keys),
        Some(valid) => {
            ordered::<I, W, _>(isa, given, || valid.blocks().chain([given.last_valid]), *keys)
        }
    };
    *keys = found;
    counts
}

#[inline(always)]
fn ordered<I: Order, const W: usize, Words: Iterator<Item = u64>>(
    isa: I,
    given: &Given<'_>,
    words: impl Fn() -> Words,
    keys: [i64; 2],
) -> ([i64; 2], [usize; 3]) {
    if !given.careful {
        let found = pass::<I, W, false>(isa, given, words(), keys);
        if given.numbers.are_finite(found.0) {
            return found;
        }
    }
    pass::<I, W, true>(isa, given, words(), keys)
}

/// One pass. Takes NaN and infinities for numbers, unless `CAREFUL`.
#[inline(always)]
fn pass<I: Order, const W: usize, const CAREFUL: bool>(
    isa: I,
    &Given { numbers, blocks, last, filling, .. }: &Given<'_>,
    mut words: impl Iterator<Item = u64>,
    keys: [i64; 2],
) -> ([i64; 2], [usize; 3]) {
    let [blocks, last]: [&[Block<W>]; 2] = [blocks, last].map(|x| x.as_chunks().0.as_chunks().0);
    let with = isa.with::<W>(&numbers.special);
    let [magnitude, least, sign, flip] =
        [numbers.magnitude, numbers.least_normal, numbers.sign, numbers.flip()]
            .map(|bits| isa.splat::<W>(bits));
    let [filling, zero, ones] = [filling, 0, u64::MAX].map(|bits| isa.splat::<W>(bits));
    let [mut low, mut high] = keys.map(|key| isa.splat::<W>(key.cast_unsigned()));
    let mut counts = [0; 3];
    for blocks in blocks.chunks(COUNTED / 64 / W).chain(last.chunks(1)) {
        let [mut zeros, mut small, mut special] = [[isa.splat::<1>(0); 2]; 3];
        for (block, valid) in blocks.iter().zip(&mut words) {
            for part in 0..64 * W / I::BYTES {
                let (at, i) = (part * I::BYTES, part % 2);
                let valid = isa.lanes_of::<W>(valid >> (at / W));
                let mut x = isa.blend::<W>(filling, isa.load(block.as_flattened(), at), valid);
                if CAREFUL {
                    let hits = isa.hits::<W, { op::ANSWER }>(x, &with);
                    special[i] = isa.add::<W>(special[i], hits, with.one);
                    x = isa.blend::<W>(x, filling, hits);
                }
                let m = isa.and(x, magnitude);
                let key = if CAREFUL && W == 1 {
                    // The sign may be any bit, or none.
                    let positive = isa.equal::<1>(isa.and(x, sign), zero);
                    let signs = isa.blend::<1>(ones, with.one, positive);
                    isa.xor(isa.signed::<1>(signs, m), flip)
                } else {
                    isa.signed::<W>(x, m)
                };
                low = isa.lower::<W>(low, key);
                high = isa.higher::<W>(high, key);
                zeros[i] = isa.add::<W>(zeros[i], isa.equal::<W>(m, zero), with.one);
                small[i] = isa.add::<W>(small[i], isa.greater::<W>(least, m), with.one);
            }
        }
        let lanes = [zeros, small, special].into_iter().take(if CAREFUL { 3 } else { 2 });
        for (count, lanes) in counts.iter_mut().zip(lanes) {
            *count += isa.sum(lanes);
        }
    }
    // The opposite of an integer `x` in the order of integers: `!x`.
    ([lowest::<I, W>(isa, low), !lowest::<I, W>(isa, isa.xor(high, ones))], counts)
}

/// The lowest lane, as a signed integer.
#[inline(always)]
fn lowest<I: Order, const W: usize>(isa: I, mut v: I::V) -> i64 {
    // Each step halves the number of lanes that count.
    if I::BYTES > 32 {
        v = isa.lower::<W>(v, isa.moved::<32>(v));
    }
    if I::BYTES > 16 {
        v = isa.lower::<W>(v, isa.moved::<16>(v));
    }
    v = isa.lower::<W>(v, isa.moved::<8>(v));
    if W < 8 {
        v = isa.lower::<W>(v, isa.moved::<4>(v));
    }
    if W < 4 {
        v = isa.lower::<W>(v, isa.moved::<2>(v));
    }
    if W < 2 {
        v = isa.lower::<W>(v, isa.moved::<1>(v));
    }
    let mut line = [0; 64];
    isa.store(v, &mut line, 0);
    let up = 64 - 8 * W as u32;
    (i64::from_le_bytes(line.as_chunks().0[0]) << up) >> up
}

/// The index of the first element whose bits under a mask are a code, or the number of elements if
/// there is none.
#[inline(always)]
pub(crate) fn find_code<I: Order, const W: usize>(
    isa: I,
    x: Long<'_>,
    mask: u64,
    code: u64,
) -> usize {
    let [mask, bound, zero] = [mask, code, 0].map(|bits| isa.splat::<W>(bits));
    let (flip, least, tilt, one, one_byte, not_ones, top) =
        (zero, zero, zero, zero, zero, zero, zero);
    let with = With { mask, flip, least, bound, tilt, one, one_byte, not_ones, top };
    let mut line = x.windows();
    loop {
        let bits = isa.line_bits::<W, { op::EQUAL }>(&line.here::<1>()[0], &with);
        if bits != 0 {
            return line.offset() / W + bits.trailing_zeros() as usize;
        }
        let Some(next) = line.next::<1>() else { return x.len() / W };
        line = next;
    }
}

/// The number of bytes, at the beginning, of whole groups whose valid elements are in the range.
///
/// ```text
/// element       below low | low .... high | above high
/// - shift       too low   | least ... MAX | wraps around, to a negative number
/// in the range  if the lowest lane is not below least
/// ```
///
/// A register takes one subtraction and one minimum.
#[inline(always)]
pub(crate) fn within<I: Order, const W: usize>(
    isa: I,
    x: &[u8],
    range: Range,
    valid: Option<&Bitmap<'_>>,
) -> usize {
    let blocks = x.as_chunks().0.as_chunks::<W>().0;
    match valid {
        None => skip::<I, W>(isa, blocks, range, repeat(u64::MAX)),
        Some(valid) => skip::<I, W>(isa, blocks, range, valid.blocks()),
    }
}

#[inline(always)]
fn skip<I: Order, const W: usize>(
    isa: I,
    blocks: &[Block<W>],
    range: Range,
    words: impl Iterator<Item = u64>,
) -> usize {
    match W {
        1 => skip_by::<I, W, 1>(isa, blocks, Some(range), words),
        2 => skip_by::<I, W, 2>(isa, blocks, Some(range), words),
        4 => skip_by::<I, W, 4>(isa, blocks, Some(range), words),
        // The upper halves of elements of 8 bytes.
        _ => skip_by::<I, W, 4>(isa, blocks, range.of_halves(), words),
    }
}

/// Compares elements of `W` bytes by lanes of `L` bytes.
#[inline(always)]
fn skip_by<I: Order, const W: usize, const L: usize>(
    isa: I,
    blocks: &[Block<W>],
    range: Option<Range>,
    mut words: impl Iterator<Item = u64>,
) -> usize {
    let Some(range) = range else { return 0 };
    let [mask, low, shift, least] = [range.mask, range.low, range.shift::<W>(), range.least::<W>()]
        .map(|bits| isa.splat::<W>(bits));
    let [zero, one, negative] = [0, 1, u64::MAX].map(|bits| isa.splat::<L>(bits));
    let mut done = 0;
    for group in blocks.chunks_exact(GROUP / 64 / W) {
        let mut lowest = [least; 2];
        for (block, valid) in group.iter().zip(&mut words) {
            for part in 0..64 * W / I::BYTES {
                let (at, i) = (part * I::BYTES, part % 2);
                let valid = isa.lanes_of::<W>(valid >> (at / W));
                let x = isa.blend::<W>(low, isa.load(block.as_flattened(), at), valid);
                // Subtracts in every lane: `negative` has all signs.
                let shifted = isa.tilt::<L>(isa.and(x, mask), negative, shift);
                lowest[i] = isa.lower::<L>(lowest[i], shifted);
            }
        }
        let below = lowest.map(|lanes| isa.add::<L>(zero, isa.greater::<L>(least, lanes), one));
        if isa.sum(below) != 0 {
            break;
        }
        done += GROUP;
    }
    done
}
