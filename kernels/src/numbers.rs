//! How the codes of a format are ordered, and which are zero or subnormal.
//!
//! ```text
//! magnitude = bits & !sign                    integers of the same order as absolute values
//! key       = magnitude, or -magnitude        integers of the same order as values; -0 equals +0
//! ```

use crate::rule::Rule;

/// How the codes of a format are ordered. The fields are what [`Numbers::new`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    pub(crate) nan: Rule,
    /// The rule for NaN and infinities.
    pub(crate) special: Rule,
    pub(crate) sign: u64,
    pub(crate) magnitude: u64,
    pub(crate) least_normal: u64,
    largest: u64,
    pub(crate) sign_magnitude: bool,
}

impl Numbers {
    /// The numbers of a format: the rules for NaN and for NaN or infinity, the bit of the sign (0
    /// if there is none), the bits of the magnitude, the magnitude of the least normal number (0 if
    /// the format has neither zero nor subnormal numbers), and the largest finite magnitude. A
    /// format without a sign has no zero either.
    ///
    /// # Panics
    /// If the rules are of different widths.
    #[must_use]
    pub const fn new(
        nan: Rule,
        special: Rule,
        sign: u64,
        magnitude: u64,
        least_normal: u64,
        largest: u64,
    ) -> Self {
        assert!(nan.size() == special.size(), "two rules for elements of one width");
        let sign_magnitude = sign == 1 << (8 * nan.size() - 1) && !special.holds(sign);
        let special = special.without_opposite();
        Self { nan, special, sign, magnitude, least_normal, largest, sign_magnitude }
    }

    /// Bytes of an element.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.nan.size()
    }

    /// The bits that turn magnitudes into signed integers of the same order, by an xor: the top bit
    /// in a format without a sign, which may use this bit, else none.
    #[inline(always)]
    pub(crate) fn flip(&self) -> u64 {
        if self.sign == 0 { 1 << (8 * self.size() - 1) } else { 0 }
    }

    /// A signed integer for the code of a finite number, in the order of values.
    #[inline(always)]
    pub(crate) fn key(&self, bits: u64) -> i64 {
        let up = 64 - 8 * self.size() as u32;
        let magnitude = ((bits & self.magnitude ^ self.flip()) << up).cast_signed() >> up;
        if bits & self.sign == 0 { magnitude } else { -magnitude }
    }

    /// Whether these are keys of finite elements. Needs [`Numbers::sign_magnitude`].
    #[inline(always)]
    pub(crate) fn are_finite(&self, [lowest, highest]: [i64; 2]) -> bool {
        let largest = self.largest.cast_signed();
        highest <= largest && lowest >= -largest
    }

    /// Whether the element counts as zero, and as zero or subnormal.
    #[inline(always)]
    pub(crate) fn counts(&self, bits: u64) -> [bool; 2] {
        let magnitude = bits & self.magnitude;
        [magnitude == 0, magnitude < self.least_normal]
    }

    /// Whether there are two codes of this key: those of +0 and -0.
    pub(crate) fn has_two_codes(&self, key: i64) -> bool {
        key == 0 && self.sign != 0 && !self.special.holds(self.sign)
    }

    /// The code of this key. For key 0, the code of +0.
    pub(crate) fn code(&self, key: i64) -> u64 {
        if self.sign == 0 {
            return (key.cast_unsigned() ^ self.flip()) & self.magnitude;
        }
        key.unsigned_abs() | if key < 0 { self.sign } else { 0 }
    }

    /// Eight bytes of elements of this code.
    pub(crate) fn eight_bytes(&self, mut code: u64) -> [u8; 8] {
        for bytes in [1, 2, 4] {
            code |= if bytes < self.size() { 0 } else { code << (8 * bytes) };
        }
        code.to_ne_bytes()
    }

    /// The elements of this key: a mask, and what their bits under the mask are.
    pub(crate) fn of_key(&self, key: i64) -> [u64; 2] {
        let sign = if self.has_two_codes(key) { 0 } else { self.sign };
        [self.magnitude | sign, self.code(key)]
    }

    pub(crate) fn has_key(&self, key: i64) -> Rule {
        let [mask, code] = self.of_key(key);
        Rule::equal(self.size(), mask, code)
    }

    /// The codes that cannot change the lowest and the highest key, and are neither zero,
    /// subnormal, NaN nor infinite. Only for formats with a sign.
    ///
    /// ```text
    /// of both signs   least normal number <= magnitude <= the smaller of |lowest| and |highest|
    /// of one sign     lowest or least normal number <= code <= highest
    /// ```
    pub(crate) fn range(&self, [lowest, highest]: [i64; 2]) -> Option<Range> {
        let (low, high) = (lowest.unsigned_abs(), highest.unsigned_abs());
        let (all, sign, least) = (self.magnitude | self.sign, self.sign, self.least_normal);
        let range = if lowest >= 0 {
            Range { mask: all, low: low.max(least), high }
        } else if highest <= 0 {
            Range { mask: all, low: sign | high.max(least), high: sign | low }
        } else {
            Range { mask: self.magnitude, low: least, high: low.min(high) }
        };
        (sign != 0 && range.low <= range.high).then_some(range)
    }
}

/// The codes for which `low <= bits & mask <= high`, as unsigned integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) mask: u64,
    pub(crate) low: u64,
    pub(crate) high: u64,
}

impl Range {
    /// What is subtracted from an element of `W` bytes, so that the highest code becomes the
    /// greatest signed integer. For 8 bytes, the halves are subtracted separately.
    #[inline(always)]
    pub(crate) fn shift<const W: usize>(self) -> u64 {
        self.high.wrapping_sub(greatest::<W>())
    }

    /// The lowest code minus the shift.
    #[inline(always)]
    pub(crate) fn least<const W: usize>(self) -> u64 {
        self.low.wrapping_sub(self.shift::<W>())
    }

    /// For codes of 64 bits: the range of upper halves that lies in this range with any lower half.
    /// Its lower halves are 0.
    #[inline(always)]
    pub(crate) fn of_halves(self) -> Option<Self> {
        const LOWER: u64 = u32::MAX as u64;
        let low = self.low.next_multiple_of(LOWER + 1);
        // The greatest upper half that is in the range with a lower half of ones.
        let high = ((self.high + 1) & !LOWER).checked_sub(LOWER + 1)?;
        (low <= high).then_some(Self { mask: self.mask & !LOWER, low, high })
    }
}

/// The greatest signed integer of `W` bytes. For 8 bytes, that of the upper half.
#[inline(always)]
fn greatest<const W: usize>() -> u64 {
    if W == 8 { 0x7FFF_FFFF << 32 } else { u64::MAX >> 1 >> (64 - 8 * W) }
}
