//! Order of numbers, register by register.

use crate::simd::{Line, Ordering, op};
use crate::stats::{Numbers, Range};

/// The instructions that order lanes.
///
/// All methods are `#[inline(always)]`.
pub(crate) trait Compare: super::Write {
    /// Whether lanes of 64 bits have an unsigned maximum.
    const WIDE: bool;

    /// The bits that are set in one of both.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;

    /// The differences of lanes.
    fn sub<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The lower lanes, signed.
    fn min<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The higher lanes, signed.
    fn max<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The higher lanes, unsigned. Without `WIDE` not for lanes of 64 bits.
    fn higher<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// The lanes of `b` that are hits, and those of `a` that are none.
    fn choose<const W: usize>(self, a: Self::V, b: Self::V, hits: Self::Hits) -> Self::V;

    /// The lanes, negated where they are hits.
    fn negate<const W: usize>(self, lanes: Self::V, hits: Self::Hits) -> Self::V;

    /// Whether all bits are the same.
    fn same(self, a: Self::V, b: Self::V) -> bool;
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

    #[inline(always)]
    fn order<const W: usize>(
        self,
        pairs: &[[Line; 2]],
        numbers: &Numbers,
        keys: &mut [i64; 2],
    ) -> [usize; 3] {
        let special = numbers.non_finite();
        let [special_mask, special] =
            [special.mask(), special.bound()].map(|bits| self.splat::<W>(bits));
        let [magnitude, flip, least] =
            [numbers.magnitude(), numbers.flip(), numbers.least_normal()]
                .map(|bits| self.splat::<W>(bits));
        let sign = self.splat::<W>(numbers.sign());
        // Without a sign, 0 is compared with 1: nothing is negative.
        let negative = self.splat::<W>(numbers.sign().max(1));
        let [known_low, known_high] = keys.map(|key| self.splat::<W>(key.cast_unsigned()));
        let (mut low, mut high) = ([known_low; 2], [known_high; 2]);
        let one = self.splat::<W>(super::ones(numbers.nan()) & 1);
        let [mut zeros, mut small, mut infinite] = [self.no_counts(); 3];
        for pair in pairs {
            for part in 0..128 / R::BYTES {
                let (lanes, i) = (self.load(pair.as_flattened(), part * R::BYTES), part % 2);
                let not_finite = self.compare::<W, { op::EQUAL }>(lanes, special_mask, special);
                let minus = self.compare::<W, { op::EQUAL }>(lanes, sign, negative);
                let magnitude = self.xor(self.and(lanes, magnitude), flip);
                let key =
                    self.choose::<W>(self.negate::<W>(magnitude, minus), known_low, not_finite);
                low[i] = self.min::<W>(low[i], key);
                high[i] = self.max::<W>(high[i], key);
                zeros[i] = self.add::<W>(zeros[i], self.equal::<W>(magnitude, flip), one);
                small[i] = self.add::<W>(small[i], self.greater::<W>(least, magnitude), one);
                infinite[i] = self.add::<W>(infinite[i], not_finite, one);
            }
        }
        let (low, high) = (self.min::<W>(low[0], low[1]), self.max::<W>(high[0], high[1]));
        if !self.same(low, known_low) {
            keys[0] = lanes::<R, W>(self, low).fold(keys[0], Ord::min);
        }
        if !self.same(high, known_high) {
            keys[1] = lanes::<R, W>(self, high).fold(keys[1], Ord::max);
        }
        [self.sum(zeros), self.sum(small), self.sum(infinite)]
    }
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

/// The lanes of a register as signed integers.
#[inline(always)]
fn lanes<R: Compare, const W: usize>(isa: R, v: R::V) -> impl Iterator<Item = i64> {
    let mut bytes = [0; 64];
    isa.write(v, &mut bytes, 0);
    let up = 64 - 8 * W as u32;
    (0..R::BYTES / W).map(move |i| {
        let element: &[u8; W] = bytes[i * W..].first_chunk().unwrap();
        (crate::scalar::read(element) << up).cast_signed() >> up
    })
}
