//! The loops of statistics: [`crate::stats`] has the algorithm.
//!
//! They look at blocks of 64 elements. Where a bitmap has a 0, another number takes the place of
//! the element.

use core::iter::repeat;
use core::ops::{Add, BitAnd, BitXor, Neg};

use crate::bitmap::Bitmap;
use crate::dispatch::tables;
use crate::element::elements;
use crate::isa::lanes::Extremes;
use crate::isa::op;
use crate::lines::{Block, COUNTED, GROUP, Long};
use crate::numbers::{Numbers, Range};
use crate::plain;
use crate::question::{On, Question};
use crate::rule::Rule;

/// What [`Order`] is given.
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
pub(crate) struct Order;

tables!(Order);

impl Question for Order {
    type Input<'x> = &'x Given<'x>;
    type Asked<'a> = ();
    type Out<'o> = &'o mut [i64; 2];
    type Answer = [usize; 3];

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(
        given: &Given<'_>,
        (): (),
        keys: &mut [i64; 2],
    ) -> [usize; 3] {
        let (found, counts) = match W {
            1 => plain_ordered::<W, BLOCK, _>(given, *keys, |bits| bits as i8),
            2 => plain_ordered::<W, BLOCK, _>(given, *keys, |bits| bits as i16),
            4 => plain_ordered::<W, BLOCK, _>(given, *keys, |bits| bits as i32),
            _ => plain_ordered::<W, BLOCK, _>(given, *keys, u64::cast_signed),
        };
        *keys = found;
        counts
    }
}

impl<I: Extremes> On<I> for Order {
    #[inline(always)]
    fn vector<const W: usize>(
        isa: I,
        given: &Given<'_>,
        (): (),
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
}

#[inline(always)]
fn ordered<I: Extremes, const W: usize, Words: Iterator<Item = u64>>(
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
fn pass<I: Extremes, const W: usize, const CAREFUL: bool>(
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
                    let hits = isa.hits::<W, { op::FLIPPED }>(x, &with);
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
                low = isa.sort::<W>(low, key)[0];
                high = isa.sort::<W>(high, key)[1];
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
fn lowest<I: Extremes, const W: usize>(isa: I, mut v: I::V) -> i64 {
    // Each step halves the number of lanes that count.
    if I::BYTES > 32 {
        v = isa.sort::<W>(v, isa.moved::<32>(v))[0];
    }
    if I::BYTES > 16 {
        v = isa.sort::<W>(v, isa.moved::<16>(v))[0];
    }
    v = isa.sort::<W>(v, isa.moved::<8>(v))[0];
    if W < 8 {
        v = isa.sort::<W>(v, isa.moved::<4>(v))[0];
    }
    if W < 4 {
        v = isa.sort::<W>(v, isa.moved::<2>(v))[0];
    }
    if W < 2 {
        v = isa.sort::<W>(v, isa.moved::<1>(v))[0];
    }
    let mut line = [0; 64];
    isa.store(v, &mut line, 0);
    let up = 64 - 8 * W as u32;
    (i64::from_le_bytes(line.as_chunks().0[0]) << up) >> up
}

/// A signed integer as wide as an element, so that a vector holds as many as it can.
trait Key:
    Copy
    + Ord
    + Into<i64>
    + From<bool>
    + Add<Output = Self>
    + BitAnd<Output = Self>
    + BitXor<Output = Self>
    + Neg<Output = Self>
{
}

impl Key for i8 {}
impl Key for i16 {}
impl Key for i32 {}
impl Key for i64 {}

/// One pass, or a second one with care. Blocks of one element take the code that is small.
#[inline(always)]
fn plain_ordered<const W: usize, const BLOCK: usize, K: Key>(
    given: &Given<'_>,
    keys: [i64; 2],
    narrow: impl Fn(u64) -> K,
) -> ([i64; 2], [usize; 3]) {
    if BLOCK == 1 || given.valid.is_some() {
        return plain_pass::<W, BLOCK, true, true, K>(given, keys, &narrow);
    }
    if !given.careful {
        let found = plain_pass::<W, BLOCK, false, false, K>(given, keys, &narrow);
        if given.numbers.are_finite(found.0) {
            return found;
        }
    }
    plain_pass::<W, BLOCK, true, false, K>(given, keys, &narrow)
}

/// One pass of the plain loop, which looks for NaN and infinities only if `CAREFUL`, and for nulls
/// only if `NULLS`. `narrow` keeps the low bytes.
#[inline(always)]
fn plain_pass<
    const W: usize,
    const BLOCK: usize,
    const CAREFUL: bool,
    const NULLS: bool,
    K: Key,
>(
    &Given { numbers, blocks, last, filling, valid, .. }: &Given<'_>,
    keys: [i64; 2],
    narrow: impl Fn(u64) -> K,
) -> ([i64; 2], [usize; 3]) {
    let [magnitude, least, sign, flip] =
        [numbers.magnitude, numbers.least_normal, numbers.sign, numbers.flip()].map(&narrow);
    let [filling, zero] = [filling, 0].map(&narrow);
    let [mut low, mut high] = keys.map(|key| narrow(key.cast_unsigned()));
    let (mut counts, mut index) = ([0; 3], 0);
    // So few elements that their number fits into a key.
    let bytes = match (BLOCK, W) {
        (1, _) => W,
        (_, 1) => 64,
        _ => COUNTED,
    };
    for x in blocks.chunks(bytes).chain(last.chunks(bytes)) {
        let [mut zeros, mut small, mut special] = [zero; 3];
        for bits in elements::<W>(x) {
            let is_null = |valid: &Bitmap<'_>| !(index < valid.len() && valid.is_valid(index));
            let null = NULLS && valid.is_some_and(is_null);
            index += usize::from(NULLS);
            let hit = CAREFUL && numbers.special.hits_of::<W>(bits) && !null;
            let bits = if hit | null { filling } else { narrow(bits) };
            let m = bits & magnitude;
            let key = if bits & sign == zero { m ^ flip } else { -m };
            (low, high) = (low.min(key), high.max(key));
            zeros = zeros + K::from(m == zero);
            small = small + K::from(m < least);
            special = special + K::from(hit);
        }
        for (count, found) in counts.iter_mut().zip([zeros, small, special]) {
            *count += found.into() as usize;
        }
    }
    ([low, high].map(Into::into), counts)
}

/// The index of the first element whose bits under a mask are a code, or the number of elements if
/// there is none. Asked: the mask, then the code.
pub(crate) struct FindCode;

tables!(FindCode);

impl Question for FindCode {
    type Input<'x> = Long<'x>;
    type Asked<'a> = (u64, u64);
    type Out<'o> = ();
    type Answer = usize;

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(
        x: Long<'_>,
        (mask, code): (u64, u64),
        (): (),
    ) -> usize {
        // A comparison in the width of an element, as a rule has it.
        let rule = Rule::equal(W, mask, code).without_opposite();
        let hit = |bits| rule.hits_of::<W>(bits);
        plain::first::<W, BLOCK>(x.bytes(), hit).unwrap_or(x.len() / W)
    }
}

impl<I: Extremes> On<I> for FindCode {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: Long<'_>, (mask, code): (u64, u64), (): ()) -> usize {
        let (with, mut line) = (isa.with_code::<W>(mask, code), x.cursor());
        loop {
            let bits = isa.line_bits::<W, { op::EQUAL }>(&line.here::<1>()[0], &with);
            if bits != 0 {
                return line.offset() / W + bits.trailing_zeros() as usize;
            }
            let Some(next) = line.next::<1>() else { return x.len() / W };
            line = next;
        }
    }
}

/// What [`InRange`] is asked.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<'b> {
    pub(crate) range: Range,
    /// Which elements are valid: all if `None`.
    pub(crate) valid: Option<&'b Bitmap<'b>>,
}

/// The number of bytes, at the beginning, of groups whose valid elements are in the range. Only the
/// last group of the plain loop may be less than whole.
///
/// ```text
/// element       below low | low .... high | above high
/// - shift       too low   | least ... MAX | wraps around, to a negative number
/// in the range  if the lowest lane is not below least
/// ```
///
/// A register takes one subtraction and one minimum.
pub(crate) struct InRange;

tables!(InRange);

impl Question for InRange {
    type Input<'x> = &'x [u8];
    type Asked<'a> = &'a Bounds<'a>;
    type Out<'o> = ();
    type Answer = usize;

    /// Looks at nulls too: a block with a null outside of the range is not skipped. Blocks of one
    /// element skip nothing.
    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(x: &[u8], asked: &Bounds<'_>, (): ()) -> usize {
        if BLOCK == 1 {
            return 0;
        }
        // Both ends of the range have the same sign, so signed integers have the order of codes.
        let Range { mask, low, high } = asked.range;
        let [not_below, above] =
            [low.wrapping_sub(1), high].map(|limit| Rule::greater(W, mask, limit));
        let outside = |bits| !not_below.holds_of::<W>(bits) | above.holds_of::<W>(bits);
        plain::blocks_without::<W, BLOCK>(x, outside)
    }
}

impl<I: Extremes> On<I> for InRange {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: &[u8], asked: &Bounds<'_>, (): ()) -> usize {
        let blocks = x.as_chunks().0.as_chunks::<W>().0;
        match asked.valid {
            None => skip::<I, W>(isa, blocks, asked.range, repeat(u64::MAX)),
            Some(valid) => skip::<I, W>(isa, blocks, asked.range, valid.blocks()),
        }
    }
}

#[inline(always)]
fn skip<I: Extremes, const W: usize>(
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
fn skip_by<I: Extremes, const W: usize, const L: usize>(
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
                // `tilt` subtracts in the lanes where `negative` has a sign: in all of them.
                let shifted = isa.tilt::<L>(isa.and(x, mask), negative, shift);
                lowest[i] = isa.sort::<L>(lowest[i], shifted)[0];
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
