//! The one question every kernel answers: `(bits & mask) == bound` or `(bits & mask) > bound`, signed.

use crate::lane::Lane;

/// How the masked bits of an element are compared with the bound, as signed integers of the lane's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `(bits & mask) == bound`
    Equal,
    /// `(bits & mask) > bound`
    Greater,
}

/// One masked comparison. Of `mask` and `bound` the low bits count, as many as the lane has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// How to compare.
    pub compare: Compare,
    /// The bits that take part.
    pub mask: u64,
    /// What they are compared with.
    pub bound: u64,
    /// The answer is true where the comparison is false.
    pub negate: bool,
}

/// What to ask of every element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The answer is the same for all bit patterns; elements are not read.
    Constant(bool),
    /// A comparison.
    Test(Test),
}

impl Rule {
    /// `(bits & mask) == bound`
    pub const fn equal(mask: u64, bound: u64) -> Self {
        Self::Test(Test { compare: Compare::Equal, mask, bound, negate: false })
    }

    /// `(bits & mask) > bound`, signed.
    pub const fn greater(mask: u64, bound: u64) -> Self {
        Self::Test(Test { compare: Compare::Greater, mask, bound, negate: false })
    }

    /// The opposite answer for every element.
    #[must_use]
    pub const fn not(self) -> Self {
        match self {
            Self::Constant(answer) => Self::Constant(!answer),
            Self::Test(test) => Self::Test(Test { negate: !test.negate, ..test }),
        }
    }
}

/// Mask and bound in the width of a lane.
#[derive(Clone, Copy)]
pub(crate) struct Pair<L> {
    pub(crate) mask: L,
    pub(crate) bound: L,
}

impl<L: Lane> Pair<L> {
    #[inline(always)]
    pub(crate) fn new(test: Test) -> Self {
        Self { mask: L::truncate(test.mask), bound: L::truncate(test.bound) }
    }
}

/// A comparison as a type, so that each loop is compiled for one.
pub(crate) trait Op: Copy {
    const OP: Operation;
}

/// What the vector paths tell apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `(bits & mask) == mask`, and only bits among the top 16 below the sign are in the mask (8-bit lanes: any):
    /// half a lane or a quarter is enough to answer.
    Ones,
    Equal,
    Greater,
}

#[derive(Clone, Copy)]
pub(crate) struct Ones;
#[derive(Clone, Copy)]
pub(crate) struct Equal;
#[derive(Clone, Copy)]
pub(crate) struct Greater;

impl Op for Ones {
    const OP: Operation = Operation::Ones;
}
impl Op for Equal {
    const OP: Operation = Operation::Equal;
}
impl Op for Greater {
    const OP: Operation = Operation::Greater;
}

impl Test {
    /// The rule itself, for one element, before negation. This is what every path must agree with.
    #[inline(always)]
    pub(crate) fn holds<L: Lane>(compare: Compare, pair: Pair<L>, lane: L) -> bool {
        let bits = lane.and(pair.mask);
        match compare {
            Compare::Equal => bits == pair.bound,
            Compare::Greater => bits > pair.bound,
        }
    }

    /// The operation that answers this test in lanes of `bits` bits.
    pub(crate) fn operation(self, bits: u32) -> Operation {
        match self.compare {
            Compare::Greater => Operation::Greater,
            Compare::Equal if self.mask == self.bound && self.mask & !top(bits) == 0 => Operation::Ones,
            Compare::Equal => Operation::Equal,
        }
    }

    /// Bits that are set in every element this test holds for, as a test for `Operation::Ones`; `None` if
    /// there are none. A search looks for these first: that is cheaper than the test.
    pub(crate) fn screen(self, bits: u32) -> Option<Self> {
        // The run of ones from the bit below the sign. An element that equals the bound has them; one that is
        // greater has them too, as long as its sign bit is masked off: there is nothing above such a run.
        let sign = 1u64 << (bits - 1);
        let below = self.bound << (u64::BITS - bits) << 1;
        let run = !(u64::MAX.checked_shr(below.leading_ones()).unwrap_or(0)) >> 1 >> (u64::BITS - bits);
        let mask = run & top(bits);
        let implied = match self.compare {
            Compare::Equal => self.mask & mask == mask,
            Compare::Greater => self.mask & (mask | sign) == mask && self.bound & sign == 0,
        };
        (mask != 0 && implied && !self.negate).then_some(Self {
            compare: Compare::Equal,
            mask,
            bound: mask,
            negate: false,
        })
    }
}

/// The bits that `Operation::Ones` may look at.
fn top(bits: u32) -> u64 {
    match bits {
        8 => 0xFF,
        _ => 0x7FFF << (bits - 16),
    }
}

/// The layout of an IEEE format: exponent bits all ones mean infinity if the mantissa is zero, else NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ieee {
    /// The exponent bits; also the code of +Inf.
    pub exponent: u64,
    /// The sign bit.
    pub sign: u64,
}

impl Ieee {
    /// Exponent all ones.
    pub(crate) fn special(self) -> Test {
        Test { compare: Compare::Equal, mask: self.exponent, bound: self.exponent, negate: false }
    }

    pub(crate) fn nan(self) -> Test {
        Test { compare: Compare::Greater, mask: self.sign - 1, bound: self.exponent, negate: false }
    }

    pub(crate) fn pos_inf(self) -> Test {
        let mask = self.sign | (self.sign - 1);
        Test { compare: Compare::Equal, mask, bound: self.exponent, negate: false }
    }

    pub(crate) fn neg_inf(self) -> Test {
        Test { bound: self.sign | self.exponent, ..self.pos_inf() }
    }
}
