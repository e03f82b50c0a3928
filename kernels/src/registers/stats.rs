//! Order of numbers, register by register.
//!
//! ```text
//! rank = magnitude + 2^(bits - 1), or 2^(bits - 1) - magnitude where the sign is set
//! ```
//!
//! Ranks are unsigned integers of the order of values: all ones is above every rank, and 0 below.
//! AVX2 and NEON compare 64 bits only as signed integers. There, ranks are keys: magnitude or
//! -magnitude.

use crate::simd::{Line, Ordering, op};
use crate::stats::{AroundZero, Numbers, Range};

/// The instructions that order lanes.
///
/// All methods are `#[inline(always)]`.
pub(crate) trait Compare: super::Write {
    /// Whether lanes of 64 bits have an unsigned minimum and maximum.
    const WIDE: bool;

    /// The bits that are set in one of both.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;

    /// The differences of lanes.
    fn sub<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The higher lanes, unsigned. Without `WIDE` not for lanes of 64 bits.
    fn higher<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The higher lanes, signed. Without `WIDE` not for lanes of 64 bits.
    fn higher_signed<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The lower lanes, unsigned. Without `WIDE` not for lanes of 64 bits.
    fn lower<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

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

    #[inline(always)]
    fn bounds<const W: usize>(self, range: Option<Range>) -> Bounds<R::V> {
        let halves = W == 8 && !R::WIDE;
        let range = if halves { range.and_then(Range::upper_halves) } else { range };
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

    /// The codes as integers. Ends of a line that are extremes of both signs are marked:
    ///
    /// ```text
    /// unsigned    0 .. least normal number .. largest    -0 .. -least .. -largest*
    /// signed      -0 .. -least .. -largest               0 .. least .. largest*
    /// ```
    ///
    /// Without a negative number, the lowest is the one of the smallest magnitude. Without a
    /// positive number, the highest is that.
    #[inline(always)]
    fn span<const W: usize>(self, pairs: &[[Line; 2]], numbers: &Numbers) -> Option<[i64; 2]> {
        let sign = top::<W>();
        if numbers.sign() != sign || W == 8 && !R::WIDE {
            return None;
        }
        let (least, largest) =
            (numbers.least_normal(), numbers.non_finite().bound().wrapping_sub(1));
        let [magnitude, least, largest, minus_largest, mut high_signed] =
            [numbers.magnitude(), least, largest, sign | largest, sign | least]
                .map(|bits| self.splat::<W>(bits));
        // Like `high_signed`, these change no answer.
        let (mut low, mut high) = (largest, least);
        for pair in pairs {
            for part in 0..128 / R::BYTES {
                let lanes = self.load(pair.as_flattened(), part * R::BYTES);
                low = self.lower::<W>(low, self.and(lanes, magnitude));
                high = self.higher::<W>(high, lanes);
                high_signed = self.higher_signed::<W>(high_signed, lanes);
            }
        }
        let normal = self.same(self.lower::<W>(low, least), least)
            && self.same(self.higher::<W>(high, minus_largest), minus_largest)
            && self.same(self.higher_signed::<W>(high_signed, largest), largest);
        normal.then(|| {
            // The flipped sign makes a signed order of the unsigned one.
            let max = |v, flip| lanes::<R, W>(self, v, flip).fold(i64::MIN, Ord::max);
            let (high, high_signed) = (max(high, sign), max(high_signed, 0));
            let nearest = || lanes::<R, W>(self, low, 0).fold(i64::MAX, Ord::min);
            let lowest = if high < 0 { nearest() } else { -high };
            let highest = if high_signed < 0 { -nearest() } else { high_signed };
            [lowest, highest]
        })
    }

    #[inline(always)]
    fn count_within<const W: usize>(
        self,
        pairs: &[[Line; 2]],
        codes: AroundZero,
        numbers: &Numbers,
    ) -> Option<[usize; 2]> {
        let halves = W == 8 && !R::WIDE;
        let [magnitude, least, unsigned, signed, nearest] = [
            numbers.magnitude(),
            numbers.least_normal(),
            codes.unsigned,
            codes.signed,
            codes.nearest,
        ]
        .map(|bits| self.splat::<W>(bits));
        let (zero, one) = (self.splat::<W>(0), self.splat::<W>(super::ones(numbers.nan()) & 1));
        let [mut above, mut zeros, mut small] = [self.no_counts(); 3];
        // The highest codes, as unsigned and as signed integers.
        let (mut highest, mut highest_signed) = (zero, signed);
        for pair in pairs {
            for part in 0..128 / R::BYTES {
                let (lanes, i) =
                    (self.load(pair.as_flattened(), part * R::BYTES), counter::<R>(part));
                let magnitude = self.and(lanes, magnitude);
                if halves {
                    let hits = self.greater::<W>(magnitude, nearest);
                    above[i] = self.add::<W>(above[i], hits, one);
                } else {
                    highest = self.higher::<W>(highest, lanes);
                    highest_signed = self.higher_signed::<W>(highest_signed, lanes);
                }
                zeros[i] = self.add::<W>(zeros[i], self.equal::<W>(magnitude, zero), one);
                small[i] = self.add::<W>(small[i], self.greater::<W>(least, magnitude), one);
            }
        }
        let inside = if halves {
            self.same(above[0], zero) && self.same(above[1], zero)
        } else {
            self.same(self.higher::<W>(highest, unsigned), unsigned)
                && self.same(highest_signed, signed)
        };
        inside.then(|| [self.sum(zeros), self.sum(small)])
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
        let (zero, one) = (self.splat::<W>(0), self.splat::<W>(super::ones(numbers.nan()) & 1));
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
