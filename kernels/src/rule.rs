//! The rule that every kernel evaluates: `(bits & mask) == bound` or `(bits & mask) > bound`,
//! signed.

/// One masked comparison, for elements of one width. Small, since each format has a table of them.
///
/// `bound` stands last. If eight bytes followed it, the compiler would load both at once, and such
/// a load waits for a field that was just written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Comparison {
    /// The answer for an element that is not a hit: `negate` as a number. Stored, since the
    /// compiler must not know that it is 0 or 1: see `registers::ones`.
    usual: u8,
    width: u8,
    operation: Operation,
    screens: Screens,
    negate: bool,
    /// Whether this is `(bits & !sign) > exponent`, where the ones of the exponent begin below the
    /// sign.
    ieee: bool,
    /// In [`Rule::Either`]: whether the other comparison is that for a sign alone, not for +Inf.
    minus_zero: bool,
    mask: u64,
    bound: u64,
}

/// How the masked bits of an element are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `(bits & mask) == mask`. The mask lies in the top 16 bits of an element, below the sign, or
    /// the element is a byte.
    Ones,
    /// `(bits & mask) == bound`
    Equal,
    /// `(bits & mask) > bound`, signed
    Greater,
}

/// Which [`Screen`] a comparison has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Screens {
    Never,
    /// Elements above the bound. The mask has no sign bit, so an unsigned comparison gives the same
    /// result.
    Above,
    /// Elements with the ones of the bound. Used if the bit below the sign is one of them.
    Ones,
    Flipped,
}

/// A cheaper test that holds wherever the comparison holds. It shows that no element of a group can
/// be a hit.
///
/// The largest of the masked (or flipped) elements of a group, compared as unsigned integers,
/// answers the question for the whole group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    /// No cheaper question is known.
    None,
    /// An element can be a hit only if `(bits & mask) >= least`.
    Masked {
        /// Never contains the sign bit.
        mask: u64,
        least: u64,
    },
    /// Elements of one byte: an element is a hit only if `bits ^ flip` is 0xFF.
    Flipped { flip: u64 },
}

/// The operation on every element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The answer is the same for all bit patterns of elements of `size` bytes; they are not read.
    Constant {
        /// The answer.
        answer: bool,
        /// Bytes of an element: 1, 2, 4 or 8. Every entry panics if it is 0.
        size: usize,
    },
    /// A comparison.
    Comparison(Comparison),
    /// Two comparisons, of which at most one holds for an element. This is the first. Made by
    /// [`Rule::nan_or_pos_inf`] and [`Rule::above_or_minus_zero`].
    Either(Comparison),
}

/// What the loops are given and do not look at.
#[cfg(feature = "validity")]
pub(crate) const UNUSED: Comparison = match Rule::equal(1, 0xFF, 0xFF) {
    Rule::Comparison(comparison) => comparison,
    _ => unreachable!(),
};

impl Rule {
    /// `(bits & mask) == bound` for elements of `size` bytes; the low `size` bytes of mask and
    /// bound count.
    ///
    /// # Panics
    /// If `size` is not 1, 2, 4 or 8.
    #[must_use]
    pub const fn equal(size: usize, mask: u64, bound: u64) -> Self {
        let (mask, bound) = (mask & all_ones(size), bound & all_ones(size));
        let operation = if mask == bound && mask & !top(size) == 0 {
            Operation::Ones
        } else {
            Operation::Equal
        };
        Self::Comparison(Comparison::new(mask, bound, size, operation))
    }

    /// `(bits & mask) > bound` for elements of `size` bytes, compared as signed integers of that
    /// size; the low `size` bytes of mask and bound count.
    ///
    /// # Panics
    /// If `size` is not 1, 2, 4 or 8.
    #[must_use]
    pub const fn greater(size: usize, mask: u64, bound: u64) -> Self {
        let (mask, bound) = (mask & all_ones(size), bound & all_ones(size));
        Self::Comparison(Comparison::new(mask, bound, size, Operation::Greater))
    }

    /// NaN or +Inf: `(bits & !sign) > exponent` or `bits == exponent`, for elements of `size`
    /// bytes. `exponent` is a run of ones that begins at the bit below the sign.
    ///
    /// # Panics
    /// If `size` is not 1, 2, 4 or 8, or if `exponent` is another number.
    #[must_use]
    pub const fn nan_or_pos_inf(size: usize, exponent: u64) -> Self {
        match Self::greater(size, sign(size) - 1, exponent) {
            Self::Comparison(nan) if nan.is_ieee() => Self::Either(nan),
            _ => panic!("no exponent that is all ones"),
        }
    }

    /// `(bits & 7F) > bound`, or `bits == 80`, for elements of one byte: a large magnitude, or NaN
    /// that has the code of -0.
    #[must_use]
    pub const fn above_or_minus_zero(bound: u8) -> Self {
        let comparison = Comparison::new(0x7F, bound as u64, 1, Operation::Greater);
        Self::Either(Comparison { minus_zero: true, ..comparison })
    }

    /// The opposite answer for every element.
    #[must_use]
    pub const fn not(self) -> Self {
        match self {
            Self::Either(nan) => Self::Either(nan.not()),
            Self::Constant { answer, size } => Self::Constant { answer: !answer, size },
            Self::Comparison(comparison) => Self::Comparison(comparison.not()),
        }
    }

    /// Bytes of an element.
    #[inline]
    #[must_use]
    pub const fn size(&self) -> usize {
        match self {
            Self::Constant { size, .. } => *size,
            Self::Comparison(comparison) | Self::Either(comparison) => comparison.size(),
        }
    }
}

const fn all_ones(size: usize) -> u64 {
    match size {
        1 | 2 | 4 | 8 => u64::MAX >> (64 - 8 * size),
        _ => panic!("elements of 1, 2, 4 or 8 bytes"),
    }
}

const fn sign(size: usize) -> u64 {
    1 << (8 * size - 1)
}

/// The bits that `Operation::Ones` may compare: the top 16 bits without the sign, or all bits of a
/// byte.
const fn top(size: usize) -> u64 {
    match size {
        1 => 0xFF,
        _ => (sign(size) - 1) & !(all_ones(size) >> 16),
    }
}

/// Whether the bound, without its sign, is a run of ones that begins at the bit below the sign.
const fn is_run_of_ones(size: usize, bound: u64) -> bool {
    let below_sign = bound << (64 - 8 * size) << 1;
    let ones = below_sign.leading_ones();
    ones != 0 && ones == below_sign.count_ones()
}

impl Comparison {
    const fn new(mask: u64, bound: u64, size: usize, operation: Operation) -> Self {
        let screens = match operation {
            Operation::Greater if (mask | bound) & sign(size) == 0 => Screens::Above,
            Operation::Ones | Operation::Equal if size == 1 && mask == 0xFF => Screens::Flipped,
            Operation::Ones | Operation::Equal if bound & sign(size) >> 1 != 0 => Screens::Ones,
            _ => Screens::Never,
        };
        Self {
            mask,
            bound,
            usual: 0,
            width: size as u8,
            operation,
            screens,
            negate: false,
            ieee: matches!(operation, Operation::Greater)
                && mask == sign(size) - 1
                && bound & sign(size) == 0
                && is_run_of_ones(size, bound),
            minus_zero: false,
        }
    }

    /// The opposite answer for every element.
    #[inline]
    pub(crate) const fn not(self) -> Self {
        Self { negate: !self.negate, usual: self.usual ^ 1, ..self }
    }

    /// Bytes of an element.
    #[inline(always)]
    pub(crate) const fn size(&self) -> usize {
        self.width as usize
    }

    #[inline(always)]
    pub(crate) fn mask(&self) -> u64 {
        self.mask
    }

    #[inline(always)]
    pub(crate) fn bound(&self) -> u64 {
        self.bound
    }

    /// The answer for an element that is not a hit, and the answer for a hit: 0 and 1, or 1 and 0.
    ///
    /// The second is computed. The compiler would fold its load into a broadcast under a mask, for
    /// which Bochs 2.7, the emulator of AVX-512, loads nothing if the lowest bit of the mask is 0.
    #[inline(always)]
    pub(crate) fn answers(&self) -> [u64; 2] {
        [self.usual.into(), (self.usual ^ 1).into()]
    }

    #[inline(always)]
    pub(crate) fn operation(&self) -> Operation {
        self.operation
    }

    #[inline(always)]
    pub(crate) const fn negate(&self) -> bool {
        self.negate
    }

    /// The answers for elements that are not hits.
    #[inline(always)]
    pub(crate) fn usual_bits(&self) -> u64 {
        if self.negate { u64::MAX } else { 0 }
    }

    /// The screen of the comparison, or of the comparison that this one negates.
    #[inline(always)]
    pub(crate) fn screen(&self) -> Screen {
        match self.screens {
            Screens::Never => Screen::None,
            Screens::Flipped => Screen::Flipped { flip: !self.bound & 0xFF },
            Screens::Above | Screens::Ones => {
                let (above, ones) =
                    (self.screens == Screens::Above, self.bound & (sign(self.size()) - 1));
                let mask = if above { self.mask } else { ones };
                Screen::Masked { mask, least: if above { self.bound + 1 } else { ones } }
            }
        }
    }

    /// The same comparison without its screen: every element is compared.
    #[inline(always)]
    pub(crate) fn unscreened(&self) -> Self {
        let mut every = *self;
        every.screens = Screens::Never;
        every
    }

    /// Whether this is the comparison for NaN of an IEEE format, `(bits & !sign) > exponent`.
    #[inline(always)]
    pub(crate) const fn is_ieee(&self) -> bool {
        self.ieee && !self.negate
    }

    /// Whether this is `(bits & exponent) == exponent` for the exponent of the comparison for NaN.
    #[cfg(feature = "stats")]
    pub(crate) const fn is_ones_of(&self, nan: &Self) -> bool {
        matches!(self.operation, Operation::Ones | Operation::Equal)
            && self.mask == nan.bound
            && self.bound == nan.bound
    }

    /// From the comparison for NaN of an IEEE format: the comparison for NaN and infinities.
    #[inline(never)]
    pub(crate) fn special(&self) -> Self {
        // A copy that is changed: a struct built from another temporary one would be copied by
        // registers wider than its parts, which waits until the parts are in memory.
        let mut special = *self;
        special.mask = self.bound;
        special.operation = Operation::Equal;
        special.screens = Screens::Ones;
        special.ieee = false;
        special
    }

    /// From the comparison for NaN of an IEEE format: the comparison for NaN (0), +Inf (1) or -Inf
    /// (2).
    #[inline(never)]
    pub(crate) fn class(&self, class: usize) -> Self {
        if class == 0 {
            return *self;
        }
        // The sign is the one bit that the mask lacks.
        let sign = self.mask + 1;
        let mut infinity = self.special();
        infinity.mask = self.mask | sign;
        if class == 2 {
            infinity.bound |= sign;
        }
        infinity
    }

    /// Of the comparison of a [`Rule::Either`]: the other one, negated if this one is.
    #[inline(never)]
    pub(crate) fn other(&self) -> Self {
        if !self.minus_zero {
            return self.class(1);
        }
        let sign = Self::new(0xFF, 0x80, 1, Operation::Equal);
        if self.negate { sign.not() } else { sign }
    }

    /// The rule itself, for the bits of one element. Every backend must agree with it.
    #[inline(always)]
    pub(crate) fn holds(&self, bits: u64) -> bool {
        // In the upper bits of a word, so that the sign of the element is that of the word.
        let up = 64 - 8 * self.size();
        let (masked, bound) = ((bits & self.mask) << up, self.bound << up);
        self.answer(masked.cast_signed().cmp(&bound.cast_signed()))
    }

    /// [`Comparison::holds`], for a caller that knows the size of an element. Compares integers of
    /// that size, so that the compiler can compare many at once.
    #[inline(always)]
    pub(crate) fn holds_of<const W: usize>(&self, bits: u64) -> bool {
        let (masked, bound) = (bits & self.mask, self.bound);
        self.answer(match W {
            1 => (masked as i8).cmp(&(bound as i8)),
            2 => (masked as i16).cmp(&(bound as i16)),
            4 => (masked as i32).cmp(&(bound as i32)),
            _ => (masked as i64).cmp(&(bound as i64)),
        })
    }

    /// The answer, from how the masked bits compare with the bound.
    #[inline(always)]
    fn answer(&self, order: core::cmp::Ordering) -> bool {
        // Without a branch: a loop over elements is compiled once, not once for each operation.
        let greater = matches!(self.operation, Operation::Greater);
        (order.is_gt() & greater | order.is_eq() & !greater) != self.negate
    }
}
