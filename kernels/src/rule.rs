//! The rule: one comparison of signed integers, for every predicate of every format.
//!
//! ```text
//! hit     if ((bits & mask) ^ flip) > limit
//! answer  hit, or the opposite of hit
//! ```
//!
//! | hits | flip | limit |
//! |---|---|---|
//! | masked bits above a limit | 0 | the limit |
//! | masked bits equal to a code | code ^ MAX: the code becomes the greatest integer | MAX - 1 |
//! | masked bits equal to the mask, below the sign | 0 | mask - 1 |
//! | all that are no hits of another rule | !flip: the order turns around | !limit - 1 |
//! | none | mask = 0: see [`Rule::constant`] | |
//!
//! Zero is never a hit, since most elements of a tensor are like zero: neither NaN nor infinite nor
//! large. So loops look for the few, and the rule says whether the answer is the opposite.
//!
//! NaN or +Inf needs one more step: the rule is *tilted*. The masked bits of an element with a sign
//! are one less, so +Inf and every NaN are above the limit and -Inf is not.

use crate::element::read;

/// What is asked of the bits of one element. To make a rule of a width other than 1, 2, 4 or 8
/// bytes panics.
///
/// The fields from `greater` on follow from those before. They are set when the rule is made, so
/// that a loop finds out nothing about its rule.
#[derive(Clone, Copy, PartialEq, Eq)]
// In this order, so that the compiler does not load `flip` and `limit` at once: a wide load waits
// for the two stores of a rule that was made just before.
#[repr(C)]
pub struct Rule {
    pub(crate) mask: u64,
    /// A signed integer as wide as an element, extended to 64 bits. `limit` is one too.
    pub(crate) flip: i64,
    /// Bytes of an element: 1, 2, 4 or 8.
    width: u8,
    pub(crate) tilted: bool,
    /// Whether the answer is yes for the elements that are no hits.
    pub(crate) opposite: bool,
    /// Whether the hits are `(bits & mask) > limit`.
    pub(crate) greater: bool,
    /// Whether the hits are `(bits & mask) == mask`, where the mask lies in the top 16 bits of an
    /// element, or in a byte, below the sign.
    pub(crate) ones: bool,
    /// Whether every element that passes the screen of a backend is a hit. The screens of wide
    /// elements compare upper bits only.
    pub(crate) exact: bool,
    /// 1 for every rule. The compiler does not know that: see `With::one_byte`.
    pub(crate) one: u8,
    screen_flip: i8,
    /// The greatest number that is no hit.
    pub(crate) limit: i64,
    /// The flip and the limit of a comparison that is the answer: those above, or the opposite.
    pub(crate) answer: [i64; 2],
    screen_mask: u64,
    screen_limit: i64,
}

/// A cheaper comparison, `((bits & mask) ^ flip) > limit`, that holds for every hit of a rule. It
/// holds for some element of a group only if it holds for the greatest of `(bits & mask) ^ flip`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Screen {
    pub(crate) mask: u64,
    /// 0, except for elements of one byte.
    pub(crate) flip: i64,
    pub(crate) limit: i64,
}

impl Screen {
    /// Every element passes.
    const NONE: Self = Self { mask: 0, flip: 0, limit: -1 };
}

impl Rule {
    /// `(bits & mask) == code` for elements of `width` bytes. The low `width` bytes of mask and
    /// code count.
    #[must_use]
    pub const fn equal(width: usize, mask: u64, code: u64) -> Self {
        let (mask, code, max) = (mask & all_ones(width), code & all_ones(width), max(width));
        if code & !mask != 0 {
            return Self::never(width);
        }
        if mask == 0 {
            return Self::never(width).not();
        }
        if mask == code && mask <= max {
            // The code has all bits of the mask, so no masked element is above the code.
            return Self::hits(width, mask, 0, signed(width, mask - 1), false);
        }
        Self::new(width, mask, signed(width, code ^ max), max as i64 - 1)
    }

    /// `(bits & mask) > limit` for elements of `width` bytes, as signed integers of that width. The
    /// low `width` bytes of mask and limit count.
    #[must_use]
    pub const fn greater(width: usize, mask: u64, limit: u64) -> Self {
        let (all, limit) = (all_ones(width), signed(width, limit));
        if limit == max(width) as i64 {
            return Self::never(width);
        }
        let mask = mask & all;
        if mask == 0 && limit < 0 {
            return Self::never(width).not();
        }
        Self::new(width, mask, 0, limit)
    }

    /// NaN or +Inf: `(bits & !sign) > exponent` or `bits == exponent`, for elements of `width`
    /// bytes. `exponent` is ones only, from some bit up to the bit below the sign.
    ///
    /// # Panics
    /// If `exponent` is another number.
    #[must_use]
    pub const fn nan_or_pos_inf(width: usize, exponent: u64) -> Self {
        assert!(is_exponent(width, exponent), "an exponent that is all ones");
        Self::hits(width, max(width), 0, signed(width, exponent - 1), true)
    }

    /// A rule that holds for no element.
    #[must_use]
    pub const fn never(width: usize) -> Self {
        assert!(all_ones(width) != 0);
        Self::hits(width, 0, 0, 0, false)
    }

    /// The answer is yes if `((bits & mask) ^ flip) > limit`.
    #[inline(always)]
    const fn new(width: usize, mask: u64, flip: i64, limit: i64) -> Self {
        if flip > limit {
            // Zero passes, so the hits are the elements that do not.
            Self::hits(width, mask, !flip, !limit - 1, false).not()
        } else {
            Self::hits(width, mask, flip, limit, false)
        }
    }

    /// The answer is yes for hits. Zero is no hit.
    #[inline(always)]
    const fn hits(width: usize, mask: u64, flip: i64, limit: i64, tilted: bool) -> Self {
        let greater = !tilted && flip == 0;
        // The bits that are not among the top 16.
        let low = if width == 1 { 0 } else { max(width) >> 15 };
        let ones = greater && (limit + 1) as u64 == mask && mask & low == 0;
        // To save the xor of a comparison for equality, the screen compares `bits & code` with the
        // code, below the sign. That passes every hit. It also passes many other elements if the
        // highest bit of the code is 0, so such rules have no screen.
        let code = !flip as u64 & max(width);
        let equal = limit == max(width) as i64 - 1 && !tilted;
        let screen = if flip == 0 || width == 1 && !tilted {
            // Without the tilt, some elements are one greater.
            Screen { mask, flip, limit }
        } else if equal && code > max(width) / 2 {
            Screen { mask: code, flip: 0, limit: code as i64 - 1 }
        } else {
            Screen::NONE
        };
        let exact = match width {
            // A constant rule is answered before a loop.
            _ if mask == 0 => false,
            1 => !tilted,
            2 => greater,
            // The screen of NEON compares the top 16 bits.
            4 if cfg!(target_arch = "aarch64") => ones,
            4 => greater,
            // Screens compare the upper half.
            _ => ones,
        };
        Self {
            mask,
            flip,
            width: width as u8,
            tilted,
            opposite: false,
            greater,
            ones,
            exact,
            one: 1,
            screen_flip: screen.flip as i8,
            limit,
            answer: [flip, limit],
            screen_mask: screen.mask,
            screen_limit: screen.limit,
        }
    }

    /// The opposite answer for every element.
    #[must_use]
    #[inline]
    pub const fn not(self) -> Self {
        let [flip, limit] = self.answer;
        Self { opposite: !self.opposite, answer: [!flip, !limit - 1], ..self }
    }

    /// A rule of the same answers whose hits are the elements for which the answer is yes, also if
    /// these are most elements.
    #[must_use]
    #[inline]
    pub(crate) const fn without_opposite(self) -> Self {
        if !self.opposite {
            return self;
        }
        let [flip, limit] = self.answer;
        let Screen { mask: screen_mask, limit: screen_limit, .. } = Screen::NONE;
        let (greater, ones, exact, screen_flip) = (false, false, false, 0);
        let (opposite, numbers) = (false, Self { flip, limit, ..self });
        Self { opposite, greater, ones, exact, screen_flip, screen_mask, screen_limit, ..numbers }
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
        if self.mask == 0 { Some(self.opposite) } else { None }
    }

    /// The answer for an element. Only the low [`Rule::size`] bytes count. Every backend must give
    /// this answer.
    #[must_use]
    #[inline(always)]
    pub const fn holds(&self, bits: u64) -> bool {
        let masked = signed(self.size(), bits & self.mask);
        let negative = signed(self.size(), bits) < 0;
        let tilted = masked - (self.tilted && negative) as i64;
        (tilted ^ self.flip > self.limit) != self.opposite
    }

    /// [`Rule::holds`] for elements of `W` bytes. The compiler can vectorise a loop over elements,
    /// since there is no branch and the integers are as wide as an element.
    #[inline(always)]
    pub(crate) const fn holds_of<const W: usize>(&self, bits: u64) -> bool {
        self.compare::<W>(bits, self.answer)
    }

    /// Whether an element of `W` bytes is a hit.
    #[inline(always)]
    pub(crate) const fn hits_of<const W: usize>(&self, bits: u64) -> bool {
        self.compare::<W>(bits, [self.flip, self.limit])
    }

    #[inline(always)]
    const fn compare<const W: usize>(&self, bits: u64, [flip, limit]: [i64; 2]) -> bool {
        let (masked, tilt) = (bits & self.mask, if self.tilted { bits } else { 0 });
        match W {
            1 => ((masked as i8).wrapping_add(tilt as i8 >> 7)) ^ flip as i8 > limit as i8,
            2 => ((masked as i16).wrapping_add(tilt as i16 >> 15)) ^ flip as i16 > limit as i16,
            4 => ((masked as i32).wrapping_add(tilt as i32 >> 31)) ^ flip as i32 > limit as i32,
            _ => ((masked as i64).wrapping_add(tilt as i64 >> 63)) ^ flip > limit,
        }
    }

    /// Whether a hit may have these bits. See [`Screen`]. Masks in the width of the elements, so
    /// that a vector holds as many as it can.
    #[inline(always)]
    pub(crate) const fn passes_of<const W: usize>(&self, bits: u64) -> bool {
        let Screen { mask, flip, limit } = self.screen();
        let masked = (bits & mask) ^ flip as u64;
        match W {
            1 => masked as i8 > limit as i8,
            2 => (bits as i16 & mask as i16) ^ flip as i16 > limit as i16,
            4 => (bits as i32 & mask as i32) ^ flip as i32 > limit as i32,
            _ => masked as i64 > limit,
        }
    }

    /// Whether the screen flips elements, of `W` bytes: only elements of one byte.
    #[inline(always)]
    pub(crate) const fn screen_flips<const W: usize>(&self) -> bool {
        W == 1 && self.screen_flip != 0
    }

    #[inline(always)]
    pub(crate) const fn screen(&self) -> Screen {
        let flip = self.screen_flip as i64;
        Screen { mask: self.screen_mask, flip, limit: self.screen_limit }
    }

    /// The exponent, if this is the rule for NaN of an IEEE format, `(bits & !sign) > exponent`. At
    /// least two bits are below the exponent: with one bit, `> 7E` would be the same as `== 7F`,
    /// the rule for NaN of a format without infinities.
    #[must_use]
    #[inline(always)]
    pub const fn exponent(&self) -> Option<u64> {
        let width = self.size();
        let limit = self.limit as u64;
        let exponent = is_exponent(width, limit) && limit & 3 == 0;
        if self.greater && !self.opposite && self.mask == max(width) && exponent {
            Some(limit)
        } else {
            None
        }
    }
}

/// The classes of a format that has infinities.
#[derive(Clone, Copy)]
pub(crate) struct Classes {
    /// Bytes of an element.
    pub(crate) width: usize,
    /// Ones in all bits of the exponent. The highest is the bit below the sign.
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

    #[inline(always)]
    pub(crate) const fn nan(self) -> Rule {
        Rule::hits(self.width, max(self.width), 0, self.exponent as i64, false)
    }

    /// NaN, +Inf and -Inf.
    #[inline(always)]
    pub(crate) const fn special(self) -> Rule {
        Rule::hits(self.width, self.exponent, 0, self.exponent as i64 - 1, false)
    }

    /// +Inf, or -Inf.
    #[inline(always)]
    pub(crate) const fn infinity(self, negative: bool) -> Rule {
        let (width, max) = (self.width, max(self.width));
        let sign = if negative { max + 1 } else { 0 };
        let flip = signed(width, (self.exponent | sign) ^ max);
        Rule::hits(width, max | (max + 1), flip, max as i64 - 1, false)
    }
}

/// Prints the numbers of the comparison for hits, as wide as an element.
impl core::fmt::Debug for Rule {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { mask, flip, limit, width, tilted, opposite, ones, exact, .. } = self;
        let all = all_ones(self.size());
        let (flip, limit) = (*flip as u64 & all, *limit as u64 & all);
        write!(f, "Rule {{ width: {width}, mask: {mask:#x}, tilted: {tilted}, ")?;
        write!(f, "flip: {flip:#x}, limit: {limit:#x}, opposite: {opposite}, ones: {ones}, ")?;
        let screen = self.screen();
        let (flip, limit) = (screen.flip as u64 & all, screen.limit as u64 & all);
        write!(f, "exact: {exact}, screen: [{:#x}, {flip:#x}, {limit:#x}] }}", screen.mask)
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

/// Whether these bits are ones only, from some bit up to the bit below the sign.
#[inline(always)]
const fn is_exponent(width: usize, bits: u64) -> bool {
    // To add the lowest of such ones carries up to the sign.
    let lowest = bits & bits.wrapping_neg();
    lowest != 0 && bits <= max(width) && bits + lowest == max(width) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every hit passes the screen. Where the screen is exact, nothing else passes.
    #[test]
    fn screens_of_bytes() {
        let exponents = [0x40, 0x70, 0x78, 0x7C, 0x7E].map(|e| Rule::nan_or_pos_inf(1, e));
        let all = (0..=255).flat_map(|mask| (0..=255).map(move |bound| (mask, bound)));
        let rules = all.flat_map(|(m, b)| [Rule::equal(1, m, b), Rule::greater(1, m, b)]);
        for rule in rules.chain(exponents).flat_map(|rule| [rule, rule.not()]) {
            assert!(!rule.hits_of::<1>(0), "{rule:?}");
            let all = rule.without_opposite();
            for bits in 0..=255_u64 {
                let (passes, hit) = (rule.passes_of::<1>(bits), rule.hits_of::<1>(bits));
                assert_eq!(hit != rule.opposite, rule.holds(bits), "{rule:?} {bits:#x}");
                assert!(passes || !hit, "{rule:?} {bits:#x}");
                assert!(!rule.exact || passes == hit, "{rule:?} {bits:#x}");
                assert_eq!(all.hits_of::<1>(bits), rule.holds(bits), "{rule:?} {bits:#x}");
                assert!(all.passes_of::<1>(bits) || !rule.holds(bits), "{rule:?} {bits:#x}");
            }
        }
    }

    /// The loops that are fast for such rules are chosen for a format with this exponent.
    fn is_fast<const W: usize>(exponent: u64) {
        let special = Rule::equal(W, exponent, exponent);
        assert!(special.ones && special.not().ones, "{special:?}");
        assert!(special.exact && !special.not().without_opposite().exact, "{special:?}");
        for rule in [Rule::greater(W, max(W), exponent), special] {
            assert!(rule.greater && !rule.passes_of::<W>(0), "{rule:?}");
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
}
