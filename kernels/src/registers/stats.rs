//! Order of numbers, register by register.
//!
//! ```text
//! rank = magnitude + 2^(bits - 1), or 2^(bits - 1) - magnitude where the sign is set
//! ```
//!
//! Ranks are unsigned integers of the order of values: all ones is above every rank, and 0 below.
//! AVX2 and NEON have no minimum and maximum of 64 bits. There, ranks of 64 bits are keys:
//! magnitude or -magnitude.

use core::mem::MaybeUninit;

use crate::numbers::{Numbers, Range};
use crate::scan::{Found, Given, Groups, SCANNED};
use crate::simd::{Block, COUNTED, GROUP, Line, Ordering, expect, op};

/// The instructions that order lanes.
///
/// All methods are `#[inline(always)]`.
pub(crate) trait Compare: super::Blend {
    /// Whether lanes of 64 bits have an unsigned minimum and maximum of one instruction.
    const WIDE: bool;

    /// The bits that are set in one of both.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;

    /// The differences of lanes.
    fn sub<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The higher lanes, unsigned.
    fn higher<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The higher lanes, signed.
    fn higher_signed<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The lower lanes, unsigned.
    fn lower<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// A hit in every lane.
    fn all<const W: usize>(self) -> Self::Hits;

    /// The hits of both.
    fn both(self, a: Self::Hits, b: Self::Hits) -> Self::Hits;

    /// Whether there is a hit in every lane.
    fn is_all<const W: usize>(self, hits: Self::Hits) -> bool;

    /// The hits in whose lane a bit of the mask is set.
    fn still_some<const W: usize>(
        self,
        hits: Self::Hits,
        lanes: Self::V,
        mask: Self::V,
    ) -> Self::Hits;

    /// The lower of two ranks, except where there is a hit: there `low`.
    fn lowest<const W: usize>(self, low: Self::V, rank: Self::V, hits: Self::Hits) -> Self::V;

    /// The higher of two ranks, except where there is a hit: there `high`.
    fn highest<const W: usize>(self, high: Self::V, rank: Self::V, hits: Self::Hits) -> Self::V;

    /// The ranks of elements.
    fn rank<const W: usize>(
        self,
        lanes: Self::V,
        magnitude: Self::V,
        order: Order<Self::V>,
    ) -> Self::V;

    /// Whether all bits are the same.
    fn same(self, a: Self::V, b: Self::V) -> bool;

    /// A hit in lane `i` where bit `i` is 1. Bits behind the last lane may be anything.
    fn hits<const W: usize>(self, bits: u64) -> Self::Hits;
}

/// Bit `i % (8 * W)` in lane `i` of `W` bytes.
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

/// What ranks are made with, in registers.
#[derive(Clone, Copy)]
pub(crate) struct Order<V> {
    /// The top bit, or 0 for formats without a sign and for keys.
    pub(crate) flip: V,
    /// The sign.
    pub(crate) sign: V,
    /// The sign, or 1 for formats without a sign: no element has that sign.
    pub(crate) negative: V,
}

/// The top bit of an element.
const fn top<const W: usize>() -> u64 {
    1 << (8 * W - 1)
}

/// Mask, low end and width of a range, in registers.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<V> {
    mask: V,
    low: V,
    width: V,
    some: bool,
}

impl<R: Compare> Ordering for R {
    type Bounds = Bounds<R::V>;
    const SCANS: bool = true;

    /// Of random numbers, group `n` has a new extreme with a probability of `2 / n`. A group that
    /// fails the screen costs as much as ten groups that pass save. So early groups are not
    /// screened, except where scans are slow.
    #[inline(always)]
    fn screened_from<const W: usize>(self) -> usize {
        if W == 8 && !R::WIDE { GROUP } else { SCANNED }
    }

    #[inline(always)]
    fn bounds<const W: usize>(self, range: Range) -> Bounds<R::V> {
        let halves = W == 8 && !R::WIDE;
        let range = if halves { range.upper_halves() } else { Some(range) };
        let some = range.is_some();
        let Range { mask, low, width } = range.unwrap_or(Range { mask: 0, low: 0, width: 0 });
        if halves {
            // Lanes of 32 bits, of which the mask keeps the upper half of each element.
            let [mask, low] = [mask, low].map(|bits| self.splat::<8>(bits << 32));
            return Bounds { mask, low, width: self.splat::<4>(width), some };
        }
        let [mask, low, width] = [mask, low, width].map(|bits| self.splat::<W>(bits));
        Bounds { mask, low, width, some }
    }

    #[inline(always)]
    fn within<const W: usize>(self, pairs: &[[Line; 2]], bounds: Bounds<R::V>) -> bool {
        if W == 8 && !R::WIDE {
            within::<R, 4>(self, pairs, bounds)
        } else {
            within::<R, W>(self, pairs, bounds)
        }
    }

    #[inline(always)]
    fn within_valid<const W: usize>(
        self,
        blocks: &[Block<W>],
        words: &mut impl Iterator<Item = u64>,
        bounds: Bounds<R::V>,
    ) -> bool {
        if W == 8 && !R::WIDE {
            within_valid::<R, W, 4>(self, blocks, words, bounds)
        } else {
            within_valid::<R, W, W>(self, blocks, words, bounds)
        }
    }

    #[inline(always)]
    fn scan<const W: usize, const EXPECT: u8, const NULLS: bool>(
        self,
        lines: &[Line],
        numbers: &Numbers,
        Given { known, limits, filling, bitmap }: Given<'_>,
        [a_groups, b_groups]: &mut [Groups; 2],
    ) -> Found {
        let mut words = bitmap.words();
        // Lines that are looked at in turns: a pair, or a block, for which there is a word.
        let unit = if NULLS && W > 2 { W } else { 2 };
        let lines = if NULLS { &lines[..lines.len().min(words.len() * W)] } else { lines };
        let lines = &lines[..lines.len() / unit * unit];
        let one_sign = EXPECT == expect::ONE_SIGN;
        let [a_known, b_known] = known.map(|bits| self.splat::<W>(bits));
        let [a_limit, b_limit] = limits.map(|bits| self.splat::<W>(bits));
        let filling = self.splat::<W>(filling);
        let exponent = numbers.magnitude() & !numbers.least_normal().wrapping_sub(1);
        let [magnitude, exponent] =
            [numbers.magnitude(), exponent].map(|bits| self.splat::<W>(bits));
        let (zero, one) = (self.splat::<W>(0), self.splat::<W>(1));
        let (mut a_all, mut b_all) = (a_known, b_known);
        let mut found = Found::default();
        for chunk in lines.chunks(COUNTED / 64) {
            let (mut a_chunk, mut b_chunk) = (a_all, b_all);
            let [mut zeros, mut small] = [self.no_counts(); 2];
            let (mut normal, mut valid_here) = (self.all::<W>(), 0);
            for group in chunk.chunks(GROUP / 64) {
                let (mut a, mut b) = (a_known, b_known);
                let mut some = [self.all::<W>(); 2];
                for unit in group.chunks_exact(unit) {
                    let mut valid = 0;
                    for at in (0..64 * unit.len()).step_by(R::BYTES) {
                        let (part, element) = (at / R::BYTES, at / W);
                        let mut lanes = self.load(unit.as_flattened(), at);
                        if NULLS {
                            if element % 64 == 0 {
                                valid = words.next().unwrap_or(0);
                                valid_here += valid.count_ones() as usize;
                            }
                            let hits = self.hits::<W>(valid >> (element % 64));
                            lanes = self.blend::<W>(filling, lanes, hits);
                        }
                        if EXPECT == expect::NORMAL {
                            some[part % 2] = self.still_some::<W>(some[part % 2], lanes, exponent);
                        }
                        if EXPECT == expect::FINITE {
                            let i = counter::<R>(part);
                            let magnitude = self.and(lanes, magnitude);
                            let is_zero = self.equal::<W>(magnitude, zero);
                            let is_small = self.equal::<W>(self.and(lanes, exponent), zero);
                            zeros[i] = self.add::<W>(zeros[i], is_zero, one);
                            small[i] = self.add::<W>(small[i], is_small, one);
                        }
                        a = self.higher::<W>(a, lanes);
                        b = other_end::<R, W>(self, one_sign, b, lanes);
                    }
                }
                normal = self.both(normal, self.both(some[0], some[1]));
                a_groups.push(line_of(self, a));
                b_groups.push(line_of(self, b));
                a_chunk = self.higher::<W>(a_chunk, a);
                b_chunk = other_end::<R, W>(self, one_sign, b_chunk, b);
            }
            let expected = self.same(self.higher::<W>(a_chunk, a_limit), a_limit)
                && self.same(other_end::<R, W>(self, one_sign, b_chunk, b_limit), b_limit)
                && self.is_all::<W>(normal);
            if !expected {
                break;
            }
            (a_all, b_all) = (a_chunk, b_chunk);
            found.bytes += size_of_val(chunk);
            found.valid += if NULLS { valid_here } else { size_of_val(chunk) / W };
            if EXPECT == expect::FINITE {
                found.zeros += self.sum(zeros);
                found.small += self.sum(small);
            }
        }
        a_groups.push(line_of(self, a_all));
        b_groups.push(line_of(self, b_all));
        found.new = [!self.same(a_all, a_known), !self.same(b_all, b_known)];
        found
    }

    #[inline(always)]
    fn outermost<const W: usize>(self, lines: &[Line], flip: u64) -> (u64, usize) {
        let (flip_all, top) = (self.splat::<W>(flip), top::<W>());
        let mut code = 0;
        if let Some(last) = lines.last() {
            let last = self.xor(self.load(last, 0), flip_all);
            code = self::lanes::<R, W>(self, last, top).fold(i64::MIN, Ord::max).cast_unsigned();
            code ^= top;
        }
        let below = self.splat::<W>(code.wrapping_sub(1));
        let mut first = 0;
        for line in lines {
            let lanes = self.xor(self.load(line, 0), flip_all);
            if !self.same(self.higher::<W>(lanes, below), below) {
                break;
            }
            first += 1;
        }
        (code ^ flip, first)
    }

    #[inline(always)]
    fn order<const W: usize>(
        self,
        pairs: &[[Line; 2]],
        numbers: &Numbers,
        keys: &mut [i64; 2],
    ) -> [usize; 3] {
        let signed = W == 8 && !R::WIDE;
        let flip = if signed { 0 } else { top::<W>() };
        let order = Order {
            flip: self.splat::<W>(flip ^ numbers.flip()),
            sign: self.splat::<W>(numbers.sign()),
            negative: self.splat::<W>(numbers.sign().max(1)),
        };
        let special = numbers.non_finite();
        let (special_mask, code) = (special.mask(), special.bound());
        let [special_mask, special, largest] =
            [special_mask, code, code.wrapping_sub(1)].map(|bits| self.splat::<W>(bits));
        let [magnitude, least] =
            [numbers.magnitude(), numbers.least_normal()].map(|bits| self.splat::<W>(bits));
        let (zero, one) = (self.splat::<W>(0), self.splat::<W>(1));
        let [known_low, known_high] = keys.map(|key| self.splat::<W>(key.cast_unsigned() ^ flip));
        let (mut low, mut high) = (known_low, known_high);
        let [mut zeros, mut small, mut specials] = [self.no_counts(); 3];
        for pair in pairs {
            for part in 0..128 / R::BYTES {
                let (lanes, i) =
                    (self.load(pair.as_flattened(), part * R::BYTES), counter::<R>(part));
                let magnitude = self.and(lanes, magnitude);
                // Wider elements are of IEEE formats.
                let hits = match W {
                    1 => self.compare::<W, { op::EQUAL }>(lanes, special_mask, special),
                    _ => self.greater::<W>(magnitude, largest),
                };
                let rank = self.rank::<W>(lanes, magnitude, order);
                low = self.lowest::<W>(low, rank, hits);
                high = self.highest::<W>(high, rank, hits);
                zeros[i] = self.add::<W>(zeros[i], self.equal::<W>(magnitude, zero), one);
                small[i] = self.add::<W>(small[i], self.greater::<W>(least, magnitude), one);
                specials[i] = self.add::<W>(specials[i], hits, one);
            }
        }
        if !self.same(low, known_low) {
            keys[0] = lanes::<R, W>(self, low, flip).fold(keys[0], Ord::min);
        }
        if !self.same(high, known_high) {
            keys[1] = lanes::<R, W>(self, high, flip).fold(keys[1], Ord::max);
        }
        [self.sum(zeros), self.sum(small), self.sum(specials)]
    }

    #[inline(always)]
    fn fill_nulls<const W: usize>(
        self,
        block: &Block<W>,
        valid: u64,
        filling: u64,
        out: &mut [MaybeUninit<Line>; W],
    ) {
        let filling = self.splat::<W>(filling);
        for (i, (line, out)) in block.iter().zip(out).enumerate() {
            let mut copy: Line = [0; 64];
            for at in (0..64).step_by(R::BYTES) {
                let hits = self.hits::<W>(valid >> ((64 * i + at) / W));
                self.write(self.blend::<W>(filling, self.load(line, at), hits), &mut copy, at);
            }
            out.write(copy);
        }
    }
}

/// The lower lanes, unsigned, if all numbers have one sign; otherwise the higher lanes, signed.
#[inline(always)]
fn other_end<R: Compare, const W: usize>(isa: R, one_sign: bool, a: R::V, b: R::V) -> R::V {
    if one_sign { isa.lower::<W>(a, b) } else { isa.higher_signed::<W>(a, b) }
}

/// A line that begins with the lanes of a register.
#[inline(always)]
fn line_of<R: Compare>(isa: R, lanes: R::V) -> Line {
    let mut line = [0; 64];
    isa.write(lanes, &mut line, 0);
    line
}

/// Which of two counters a part of a pair of lines is counted in. A counter of wide registers
/// reaches 128 by itself, and AVX2 has too few registers for two.
#[inline(always)]
fn counter<R: Compare>(part: usize) -> usize {
    if R::BYTES == 16 { part % 2 } else { 0 }
}

#[inline(always)]
fn within<R: Compare, const W: usize>(
    isa: R,
    pairs: &[[Line; 2]],
    Bounds { mask, low, width, some }: Bounds<R::V>,
) -> bool {
    let mut seen = isa.no_counts();
    for pair in pairs {
        for part in 0..128 / R::BYTES {
            let lanes = isa.load(pair.as_flattened(), part * R::BYTES);
            let above = isa.sub::<W>(isa.and(lanes, mask), low);
            seen[part % 2] = isa.higher::<W>(seen[part % 2], above);
        }
    }
    let highest = isa.higher::<W>(seen[0], seen[1]);
    some && isa.same(isa.higher::<W>(highest, width), width)
}

/// [`within`] for lanes of `L` bytes, of the elements of `W` bytes whose bit is 1.
#[inline(always)]
fn within_valid<R: Compare, const W: usize, const L: usize>(
    isa: R,
    blocks: &[Block<W>],
    words: &mut impl Iterator<Item = u64>,
    Bounds { mask, low, width, some }: Bounds<R::V>,
) -> bool {
    let mut seen = isa.no_counts();
    for block in blocks {
        let Some(valid) = words.next() else { return false };
        for part in 0..64 * W / R::BYTES {
            let at = part * R::BYTES;
            let above = isa.sub::<L>(isa.and(isa.load(block.as_flattened(), at), mask), low);
            let nulls = isa.hits::<W>(!valid >> (at / W));
            seen[part % 2] = isa.highest::<L>(seen[part % 2], above, nulls);
        }
    }
    let highest = isa.higher::<L>(seen[0], seen[1]);
    some && isa.same(isa.higher::<L>(highest, width), width)
}

/// The keys of ranks.
#[inline(always)]
fn lanes<R: Compare, const W: usize>(isa: R, v: R::V, flip: u64) -> impl Iterator<Item = i64> {
    let mut bytes = [0; 64];
    isa.write(v, &mut bytes, 0);
    let up = 64 - 8 * W as u32;
    (0..R::BYTES / W).map(move |i| {
        let element: &[u8; W] = bytes[i * W..].first_chunk().unwrap();
        ((crate::scalar::read(element) ^ flip) << up).cast_signed() >> up
    })
}
