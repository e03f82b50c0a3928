//! The rule: one comparison of signed integers, for every predicate of every format.
//!
//! ```text
//! yes    if ((bits & mask) ^ flip) > least
//! ```
//!
//! | rule | flip | least |
//! |---|---|---|
//! | masked bits above a bound | 0 | bound |
//! | masked bits equal to a bound | bound ^ MAX: the bound becomes the greatest integer | MAX - 1 |
//! | masked bits equal to the mask, below the sign | 0 | mask - 1 |
//! | the opposite of a rule | !flip: the order turns around | !least - 1 |
//! | never, always | mask = 0: see [`Rule::constant`] | |
//!
//! NaN or +Inf needs one more step: the rule is *tilted*. The masked bits of an element with a sign
//! are one less, so -Inf stays below a bound that +Inf and every NaN exceed.

use crate::element::read;

/// What is asked of the bits of one element. The fields other than `mask`, `flip`, `width`,
/// `tilted` and `least` follow from these. They are set when the rule is made, so that a leaf finds
/// out nothing about its rule.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(Hash))]
// In this order, so that the compiler does not load `flip` and `least` at once: a wide load waits
// for the two stores of a rule that was made just before.
#[repr(C)]
pub struct Rule {
    mask: u64,
    /// A signed integer as wide as an element, extended to 64 bits. `least` is one too.
    flip: i64,
    /// Bytes of an element: 1, 2, 4 or 8.
    width: u8,
    tilted: bool,
    /// The answer for zero, which is also the answer for most elements. The *hits* are the others.
    usual: bool,
    /// See [`Rule::is_greater`].
    greater: bool,
    /// See [`Rule::is_ones`].
    ones: bool,
    /// See [`Rule::is_exact`].
    exact: bool,
    /// 1 for every rule. The compiler does not know that: see `With::one_byte`.
    one: u8,
    /// See [`Rule::screen`].
    screen_flip: i8,
    least: i64,
    screen_mask: u64,
    screen_least: i64,
}

/// A cheaper comparison, `((bits & mask) ^ flip) > least`, that holds for every hit of a rule. It
/// holds for some element of a group only if it holds for the greatest of `(bits & mask) ^ flip`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Screen {
    pub(crate) mask: u64,
    /// 0, except for elements of one byte.
    pub(crate) flip: i64,
    pub(crate) least: i64,
}

impl Rule {
    /// `(bits & mask) == bound` for elements of `width` bytes. The low `width` bytes of mask and
    /// bound count.
    ///
    /// # Panics
    /// If `width` is not 1, 2, 4 or 8.
    #[must_use]
    pub const fn equal(width: usize, mask: u64, bound: u64) -> Self {
        let (mask, bound, max) = (mask & all_ones(width), bound & all_ones(width), max(width));
        if bound & !mask != 0 {
            return Self::never(width);
        }
        if mask == 0 {
            return Self::never(width).not();
        }
        if mask == bound && mask <= max {
            // The bound has all bits of the mask, so no masked element is above the bound.
            return Self::new(width, mask, 0, signed(width, mask - 1), false);
        }
        Self::new(width, mask, signed(width, bound ^ max), max as i64 - 1, false)
    }

    /// `(bits & mask) > bound` for elements of `width` bytes, as signed integers of that width. The
    /// low `width` bytes of mask and bound count.
    ///
    /// # Panics
    /// If `width` is not 1, 2, 4 or 8.
    #[must_use]
    pub const fn greater(width: usize, mask: u64, bound: u64) -> Self {
        let (all, bound) = (all_ones(width), signed(width, bound));
        if bound == max(width) as i64 {
            return Self::never(width);
        }
        let mask = mask & all;
        if mask == 0 && bound < 0 {
            return Self::never(width).not();
        }
        Self::new(width, mask, 0, bound, false)
    }

    /// NaN or +Inf: `(bits & !sign) > exponent` or `bits == exponent`, for elements of `width`
    /// bytes. `exponent` is a run of ones that begins at the bit below the sign.
    ///
    /// # Panics
    /// If `width` is not 1, 2, 4 or 8, or if `exponent` is another number.
    #[must_use]
    pub const fn nan_or_pos_inf(width: usize, exponent: u64) -> Self {
        assert!(is_exponent(width, exponent), "an exponent that is all ones");
        Self::new(width, max(width), 0, signed(width, exponent - 1), true)
    }

    /// A rule that holds for no element.
    ///
    /// # Panics
    /// If `width` is not 1, 2, 4 or 8.
    #[must_use]
    pub const fn never(width: usize) -> Self {
        assert!(all_ones(width) != 0);
        Self::new(width, 0, 0, 0, false)
    }

    #[inline(always)]
    const fn new(width: usize, mask: u64, flip: i64, least: i64, tilted: bool) -> Self {
        Self::of_usual(flip > least, width, mask, flip, least, tilted)
    }

    /// [`Rule::new`], where `usual` is the answer for zero: a constant where the caller knows it.
    #[inline(always)]
    const fn of_usual(
        usual: bool,
        width: usize,
        mask: u64,
        flip: i64,
        least: i64,
        tilted: bool,
    ) -> Self {
        // The rule of the hits.
        let (hit_flip, hit_least) = if usual { (!flip, !least - 1) } else { (flip, least) };
        let hits_greater = !tilted && hit_flip == 0;
        // The bits that are not among the top 16.
        let low = if width == 1 { 0 } else { max(width) >> 15 };
        let ones = hits_greater && (hit_least + 1) as u64 == mask && mask & low == 0;
        // Equality costs an xor. A comparison with the ones of the bound, below the sign, costs
        // none. But if the highest of these bits is 0, most elements pass.
        let bound = !hit_flip as u64 & max(width);
        let equal = hit_least == max(width) as i64 - 1 && !tilted;
        let (screen_mask, screen_flip, screen_least) = if hit_flip == 0 || width == 1 && !tilted {
            // Without the tilt, some elements are one greater.
            (mask, hit_flip as i8, hit_least)
        } else if equal && bound > max(width) / 2 {
            (bound, 0, bound as i64 - 1)
        } else {
            // Every element passes.
            (0, 0, -1)
        };
        let exact = match width {
            // A constant rule is answered before a loop, and a search for what is usual ends soon.
            _ if mask == 0 || usual => false,
            1 => !tilted,
            2 => hits_greater,
            // The screen of NEON compares the top 16 bits.
            4 if cfg!(target_arch = "aarch64") => ones,
            4 => hits_greater,
            // Screens compare the upper half.
            _ => ones,
        };
        let (width, greater) = (width as u8, !tilted && flip == 0);
        Self {
            mask,
            flip,
            width,
            tilted,
            usual,
            greater,
            ones,
            exact,
            one: 1,
            screen_flip,
            least,
            screen_mask,
            screen_least,
        }
    }

    /// The opposite answer for every element.
    #[must_use]
    #[inline]
    pub const fn not(self) -> Self {
        Self::new(self.size(), self.mask, !self.flip, !self.least - 1, self.tilted)
    }

    /// Bytes of an element.
    #[must_use]
    #[inline(always)]
    pub const fn size(&self) -> usize {
        self.width as usize
    }

    /// The answer, if it is the same for all elements.
    #[must_use]
    #[inline(always)]
    pub const fn constant(&self) -> Option<bool> {
        if self.mask == 0 { Some(self.usual) } else { None }
    }

    /// The answer for an element. Only the low [`Rule::size`] bytes count. Every backend must give
    /// this answer.
    #[must_use]
    #[inline(always)]
    pub const fn holds(&self, bits: u64) -> bool {
        let masked = signed(self.size(), bits & self.mask);
        let negative = signed(self.size(), bits) < 0;
        let tilted = masked - (self.tilted && negative) as i64;
        tilted ^ self.flip > self.least
    }

    /// [`Rule::holds`] for elements of `W` bytes. The compiler can vectorise a loop over elements,
    /// since there is no branch and the integers are as wide as an element.
    #[inline(always)]
    pub(crate) const fn holds_of<const W: usize>(&self, bits: u64) -> bool {
        let (masked, tilt) = (bits & self.mask, if self.tilted { bits } else { 0 });
        let (flip, least) = (self.flip, self.least);
        match W {
            1 => ((masked as i8).wrapping_add(tilt as i8 >> 7)) ^ flip as i8 > least as i8,
            2 => ((masked as i16).wrapping_add(tilt as i16 >> 15)) ^ flip as i16 > least as i16,
            4 => ((masked as i32).wrapping_add(tilt as i32 >> 31)) ^ flip as i32 > least as i32,
            _ => ((masked as i64).wrapping_add(tilt as i64 >> 63)) ^ flip > least,
        }
    }

    /// The answer for zero, which is also the answer for most elements.
    #[inline(always)]
    pub(crate) const fn usual(&self) -> bool {
        self.usual
    }

    /// Whether a hit may have these bits. See [`Screen`]. Masks in the width of the elements, so
    /// that a vector holds as many as it can.
    #[inline(always)]
    pub(crate) const fn passes_of<const W: usize>(&self, bits: u64) -> bool {
        let Screen { mask, flip, least } = self.screen();
        let masked = (bits & mask) ^ flip as u64;
        match W {
            1 => masked as i8 > least as i8,
            2 => (bits as i16 & mask as i16) ^ flip as i16 > least as i16,
            4 => (bits as i32 & mask as i32) ^ flip as i32 > least as i32,
            _ => masked as i64 > least,
        }
    }

    #[inline(always)]
    pub(crate) const fn screen(&self) -> Screen {
        let flip = self.screen_flip as i64;
        Screen { mask: self.screen_mask, flip, least: self.screen_least }
    }

    #[inline(always)]
    pub(crate) const fn mask(&self) -> u64 {
        self.mask
    }

    #[inline(always)]
    pub(crate) const fn flip(&self) -> u64 {
        self.flip as u64
    }

    #[inline(always)]
    pub(crate) const fn least(&self) -> u64 {
        self.least as u64
    }

    /// 1, which the compiler does not know.
    #[inline(always)]
    pub(crate) const fn one(&self) -> u64 {
        self.one as u64
    }

    #[inline(always)]
    pub(crate) const fn is_tilted(&self) -> bool {
        self.tilted
    }

    /// Whether the rule is `(bits & mask) > least`.
    #[inline(always)]
    pub(crate) const fn is_greater(&self) -> bool {
        self.greater
    }

    /// The bound of a rule that compares for equality.
    #[inline(always)]
    pub(crate) const fn equal_to(&self) -> u64 {
        self.flip as u64 ^ max(self.size())
    }

    /// Whether the rule or its opposite is `(bits & mask) == mask`, where the mask lies in the top
    /// 16 bits of an element, or in a byte, below the sign.
    #[inline(always)]
    pub(crate) const fn is_ones(&self) -> bool {
        self.ones
    }

    /// Whether the rule holds for every element that passes the screen of a backend, and for no
    /// other. The screens of wide elements compare upper bits only.
    #[inline(always)]
    pub(crate) const fn is_exact(&self) -> bool {
        self.exact
    }

    /// The exponent, if this is the rule for NaN of an IEEE format, `(bits & !sign) > exponent`. At
    /// least two bits are below the exponent: with one bit, `> 7E` would be the same as `== 7F`,
    /// the rule for NaN of a format without infinities.
    #[must_use]
    #[inline(always)]
    pub const fn exponent(&self) -> Option<u64> {
        let width = self.size();
        let exponent = is_exponent(width, self.least()) && self.least & 3 == 0;
        if self.is_greater() && self.mask == max(width) && exponent {
            Some(self.least())
        } else {
            None
        }
    }
}

/// The classes of a format that has infinities. `exponent` has ones in all bits of the exponent.
#[derive(Clone, Copy)]
pub(crate) struct Classes {
    width: usize,
    pub(crate) exponent: u64,
}

impl Classes {
    /// The classes, if `nan` is the rule for NaN of an IEEE format.
    #[inline(always)]
    pub(crate) const fn of(nan: &Rule) -> Option<Self> {
        match nan.exponent() {
            Some(exponent) => Some(Self { width: nan.size(), exponent }),
            None => None,
        }
    }

    /// The class of a special element: 0 for NaN, 1 for +Inf, 2 for -Inf.
    #[inline(always)]
    pub(crate) fn of_element(self, x: &[u8], index: usize) -> usize {
        let bits = read(&x[index * self.width..][..self.width]);
        let infinite = bits & max(self.width) == self.exponent;
        usize::from(infinite) + usize::from(infinite && bits != self.exponent)
    }

    /// NaN, +Inf and -Inf.
    #[inline(always)]
    pub(crate) const fn special(self) -> Rule {
        Rule::of_usual(false, self.width, self.exponent, 0, self.exponent as i64 - 1, false)
    }

    /// +Inf, or -Inf.
    #[inline(always)]
    pub(crate) const fn infinity(self, negative: bool) -> Rule {
        let (max, sign) = (max(self.width), if negative { max(self.width) + 1 } else { 0 });
        let flip = signed(self.width, (self.exponent | sign) ^ max);
        Rule::of_usual(false, self.width, max | (max + 1), flip, max as i64 - 1, false)
    }
}

/// Prints the numbers of the comparison, as wide as an element.
impl core::fmt::Debug for Rule {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { mask, flip, least, width, tilted, usual, ones, exact, .. } = self;
        let all = all_ones(self.size());
        let (flip, least) = (*flip as u64 & all, *least as u64 & all);
        write!(f, "Rule {{ width: {width}, mask: {mask:#x}, tilted: {tilted}, ")?;
        write!(f, "flip: {flip:#x}, least: {least:#x}, usual: {usual}, ones: {ones}, ")?;
        let screen = self.screen();
        let (flip, least) = (screen.flip as u64 & all, screen.least as u64 & all);
        write!(f, "exact: {exact}, screen: [{:#x}, {flip:#x}, {least:#x}] }}", screen.mask)
    }
}

/// # Panics
/// If `width` is not 1, 2, 4 or 8.
const fn all_ones(width: usize) -> u64 {
    match width {
        1 | 2 | 4 | 8 => u64::MAX >> (64 - 8 * width),
        _ => panic!("elements of 1, 2, 4 or 8 bytes"),
    }
}

/// The greatest signed integer: all bits but the sign.
#[inline(always)]
const fn max(width: usize) -> u64 {
    u64::MAX >> 1 >> (64 - 8 * width)
}

/// The low `width` bytes as a signed integer.
#[inline(always)]
const fn signed(width: usize, bits: u64) -> i64 {
    let up = 64 - 8 * width as u32;
    ((bits << up) as i64) >> up
}

/// Whether these bits are a run of ones that begins at the bit below the sign.
#[inline(always)]
const fn is_exponent(width: usize, bits: u64) -> bool {
    // In such a run of ones, adding the lowest one carries up to the sign.
    let lowest = bits & bits.wrapping_neg();
    lowest != 0 && bits <= max(width) && bits + lowest == max(width) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rule of bytes, against what its function says.
    #[test]
    fn rules_of_bytes() {
        for mask in 0..=255u64 {
            for bound in 0..=255u64 {
                let (equal, greater) = (Rule::equal(1, mask, bound), Rule::greater(1, mask, bound));
                for bits in 0..=255u64 {
                    let masked = bits & mask;
                    let above = masked as u8 as i8 > bound as u8 as i8;
                    for (rule, answer) in [(equal, masked == bound), (greater, above)] {
                        assert_eq!(rule.holds(bits), answer, "{rule:?} {bits:#x}");
                        assert_eq!(rule.holds_of::<1>(bits), answer, "{rule:?} {bits:#x}");
                        assert_eq!(rule.not().holds(bits), !answer, "not {rule:?} {bits:#x}");
                        assert!(rule.constant().is_none_or(|constant| constant == answer));
                    }
                }
            }
        }
    }

    /// Every hit passes the screen. Where the screen is exact, nothing else passes.
    #[test]
    fn screens_of_bytes() {
        let exponents = [0x40, 0x70, 0x78, 0x7C, 0x7E].map(|e| Rule::nan_or_pos_inf(1, e));
        let all = (0..=255).flat_map(|mask| (0..=255).map(move |bound| (mask, bound)));
        let rules = all.flat_map(|(m, b)| [Rule::equal(1, m, b), Rule::greater(1, m, b)]);
        for rule in rules.chain(exponents).flat_map(|rule| [rule, rule.not()]) {
            assert_eq!(rule.screen(), rule.not().screen(), "{rule:?}");
            for bits in 0..=255_u64 {
                let (passes, hit) = (rule.passes_of::<1>(bits), rule.holds(bits) != rule.usual());
                assert!(passes || !hit, "{rule:?} {bits:#x}");
                assert!(!rule.is_exact() || passes == rule.holds(bits), "{rule:?} {bits:#x}");
            }
        }
    }

    /// The leaves that are fast for such rules are chosen for a format with this exponent.
    fn is_fast<const W: usize>(exponent: u64) {
        let special = Rule::equal(W, exponent, exponent);
        assert!(special.is_ones() && special.not().is_ones(), "{special:?}");
        assert!(special.is_exact() && !special.not().is_exact(), "{special:?}");
        for rule in [Rule::greater(W, max(W), exponent), special] {
            assert!(rule.is_greater() && !rule.passes_of::<W>(0), "{rule:?}");
            assert_eq!(rule.screen().flip, 0, "{rule:?}");
        }
        assert!(!Rule::equal(W, max(W), exponent).passes_of::<W>(0));
    }

    #[test]
    fn rules_of_formats_are_fast() {
        is_fast::<1>(0x7C);
        is_fast::<1>(0x78);
        is_fast::<2>(0x7C00);
        is_fast::<2>(0x7F80);
        is_fast::<4>(0x7F80_0000);
        is_fast::<8>(0x7FF0 << 48);
    }

    #[test]
    fn nan_or_positive_infinity() {
        for bits in 0..=0xFFFF_u64 {
            let answer = bits & 0x7FFF > 0x7C00 || bits == 0x7C00;
            let rule = Rule::nan_or_pos_inf(2, 0x7C00);
            assert_eq!((rule.holds(bits), rule.not().holds(bits)), (answer, !answer), "{bits:#x}");
            assert_eq!(rule.holds_of::<2>(bits), answer, "{bits:#x}");
        }
    }
}
