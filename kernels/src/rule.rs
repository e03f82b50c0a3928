//! The one question every kernel answers: `(bits & mask) == bound` or `(bits & mask) > bound`, signed.

use crate::lane::Lane;

/// One masked comparison of lanes of one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    mask: u64,
    bound: u64,
    /// The mask of an `Operation::Ones` that holds wherever this test does, or 0.
    screen: u64,
    width: Width,
    operation: Operation,
    negate: bool,
    /// See [`Test::index`].
    index: u8,
    one: One,
}

/// The number 1, which the compiler must not know: it would make two instructions of `min(x, 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct One(i8);

/// Bytes of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Width {
    One,
    Two,
    Four,
    Eight,
}

/// How the masked bits of a lane are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Operation {
    /// `(bits & mask) == mask`, with a mask for which the top 16 bits of a lane are enough.
    Ones,
    /// `(bits & mask) == bound`
    Equal,
    /// `(bits & mask) > bound`, signed
    Greater,
    /// `bits == bound`, with the least signed number as bound. Only to screen: a minimum finds it.
    Least,
}

/// What to ask of every element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The answer is the same for all bit patterns of elements of `size` bytes; they are not read.
    Constant {
        /// The answer.
        answer: bool,
        /// Bytes of an element: 1, 2, 4 or 8. Every sink panics if it is 0.
        size: usize,
    },
    /// A comparison.
    Test(Test),
}

impl Rule {
    /// `(bits & mask) == bound` for elements of `size` bytes; of mask and bound the low `size` bytes count.
    ///
    /// # Panics
    /// If `size` is not 1, 2, 4 or 8.
    #[must_use]
    pub const fn equal(size: usize, mask: u64, bound: u64) -> Self {
        let bits = 8 * size as u32;
        let operation =
            if mask == bound && mask & !top(bits) == 0 { Operation::Ones } else { Operation::Equal };
        let run = run_of_ones(bits, bound);
        let screen = if mask & run == run { run } else { 0 };
        Self::Test(Test::new(mask, bound, screen, width(size), operation))
    }

    /// `(bits & mask) > bound` for elements of `size` bytes, compared as signed integers of that size; of mask and bound
    /// the low `size` bytes count.
    ///
    /// # Panics
    /// If `size` is not 1, 2, 4 or 8.
    #[must_use]
    pub const fn greater(size: usize, mask: u64, bound: u64) -> Self {
        let bits = 8 * size as u32;
        let run = run_of_ones(bits, bound);
        // Without the sign bit nothing is above a run of ones from the top, so what is greater has the run too.
        let unsigned = (mask | bound) >> (bits - 1) & 1 == 0;
        let screen = if unsigned && mask & run == run { run } else { 0 };
        Self::Test(Test::new(mask, bound, screen, width(size), Operation::Greater))
    }

    /// The opposite answer for every element.
    #[must_use]
    pub const fn not(self) -> Self {
        match self {
            Self::Constant { answer, size } => Self::Constant { answer: !answer, size },
            Self::Test(test) => Self::Test(test.not()),
        }
    }

    /// Bytes of an element.
    #[inline]
    #[must_use]
    pub const fn size(&self) -> usize {
        match self {
            Self::Constant { size, .. } => *size,
            Self::Test(test) => test.size(),
        }
    }
}

const fn width(size: usize) -> Width {
    match size {
        1 => Width::One,
        2 => Width::Two,
        4 => Width::Four,
        8 => Width::Eight,
        _ => panic!("elements of 1, 2, 4 or 8 bytes"),
    }
}

/// The bits that `Operation::Ones` may look at.
const fn top(bits: u32) -> u64 {
    match bits {
        8 => 0xFF,
        _ => 0x7FFF << (bits - 16),
    }
}

/// The ones of `bound` from the bit below the sign to the first zero, as far as `Operation::Ones` may look.
const fn run_of_ones(bits: u32, bound: u64) -> u64 {
    let below_sign = bound << (u64::BITS - bits) << 1;
    let ones = match below_sign.leading_ones() {
        0 => 0,
        run => u64::MAX << (u64::BITS - run),
    };
    ones >> 1 >> (u64::BITS - bits) & top(bits)
}

impl Test {
    /// Combinations of width, operation and negation.
    pub(crate) const INDICES: usize = 24;

    #[inline(always)]
    const fn new(mask: u64, bound: u64, screen: u64, width: Width, operation: Operation) -> Self {
        let index = (width as u8 * 3 + operation as u8) * 2;
        Self { mask, bound, screen, width, operation, negate: false, index, one: One(1) }
    }

    /// The opposite answer for every element.
    #[inline(always)]
    pub(crate) const fn not(self) -> Self {
        Self { negate: !self.negate, index: self.index ^ 1, ..self }
    }

    /// Bytes of an element.
    #[inline(always)]
    pub(crate) const fn size(&self) -> usize {
        1 << self.width as u8
    }

    /// The place of this test among all combinations of width, operation and negation, in this order. It is kept, as
    /// short inputs would feel its calculation.
    #[inline(always)]
    pub(crate) fn index(&self) -> usize {
        usize::from(self.index)
    }

    #[inline(always)]
    pub(crate) fn width(&self) -> Width {
        self.width
    }

    #[inline(always)]
    pub(crate) fn operation(&self) -> Operation {
        self.operation
    }

    #[inline(always)]
    pub(crate) fn negate(&self) -> bool {
        self.negate
    }

    #[inline(always)]
    pub(crate) fn pair<L: Lane>(&self) -> Pair<L> {
        Pair { mask: L::truncate(self.mask), bound: L::truncate(self.bound), one: self.one.0 }
    }

    /// Bits that are set in every lane for which this test, or the one it negates, holds, to be searched for first: that
    /// is cheaper than the test.
    #[inline(always)]
    pub(crate) fn screen<L: Lane>(&self) -> Option<Pair<L>> {
        let mask = L::truncate(self.screen);
        (self.screen != 0).then_some(Pair { mask, bound: mask, one: self.one.0 })
    }

    /// Whether this test, or the one it negates, holds for the least signed byte and nothing else.
    #[inline(always)]
    pub(crate) fn is_least_byte(&self) -> bool {
        self.width == Width::One
            && self.operation == Operation::Equal
            && self.mask as u8 == u8::MAX
            && self.bound as i8 == i8::MIN
    }
}

impl Test {
    /// What the test for NaN of an IEEE format, `(bits & !sign) > exponent`, tells about its infinities: the tests for
    /// +Inf and -Inf.
    #[inline(always)]
    pub(crate) fn infinities(&self) -> Option<[Self; 2]> {
        let sign = 1 << (8 * self.size() - 1);
        let equal = |bound| Self::new(u64::MAX, bound, self.screen, self.width, Operation::Equal);
        self.is_ieee().then(|| [equal(self.bound), equal(self.bound | sign)])
    }

    /// Whether this is `(bits & !sign) > exponent`.
    #[inline(always)]
    const fn is_ieee(&self) -> bool {
        let sign = 1 << (8 * self.size() - 1);
        matches!(self.operation, Operation::Greater)
            && !self.negate
            && self.mask == sign - 1
            && self.bound != 0
            && self.bound == self.screen
    }

    /// Where an element is to be replaced if this is the test for NaN, and the codes of +Inf and -Inf if there are any.
    #[inline(always)]
    pub(crate) const fn special(&self) -> (Self, Option<[u64; 2]>) {
        let sign = 1 << (8 * self.size() - 1);
        if !self.is_ieee() {
            return (*self, None);
        }
        let Rule::Test(special) = Rule::equal(self.size(), self.bound, self.bound) else { unreachable!() };
        (special, Some([self.bound, self.bound | sign]))
    }

    /// Of a test that has infinities: where the exponent is all ones, where NaN is, where +Inf is, where -Inf is.
    #[inline(always)]
    pub(crate) fn census_pairs<L: Lane>(&self) -> [Pair<L>; 4] {
        let nan = self.pair::<L>();
        let equal = |bound: u64| Pair { mask: L::truncate(u64::MAX), bound: L::truncate(bound), ..nan };
        let sign = 1 << (8 * self.size() - 1);
        [Pair { mask: nan.bound, ..nan }, nan, equal(self.bound), equal(self.bound | sign)]
    }
}

/// Mask and bound in the width of a lane.
#[derive(Clone, Copy)]
pub(crate) struct Pair<L> {
    pub(crate) mask: L,
    pub(crate) bound: L,
    /// 1, see `One`.
    #[allow(dead_code, reason = "for hand-written paths: s390x and wasm have none")]
    pub(crate) one: i8,
}

/// Whether a screen can be cheaper than the test.
#[inline(always)]
pub(crate) fn screens<O: Op, const NEGATE: bool>() -> bool {
    !NEGATE && O::OP != Operation::Ones
}

/// The rule itself, for one lane. This is what every path must agree with.
#[inline(always)]
pub(crate) fn holds<L: Lane>(operation: Operation, pair: Pair<L>, lane: L) -> bool {
    match operation {
        Operation::Ones | Operation::Equal | Operation::Least => lane.and(pair.mask) == pair.bound,
        Operation::Greater => lane.and(pair.mask) > pair.bound,
    }
}

/// An operation as a type, so that each loop is compiled for one.
pub(crate) trait Op: Copy {
    const OP: Operation;
}

#[derive(Clone, Copy)]
pub(crate) struct Ones;
#[derive(Clone, Copy)]
pub(crate) struct Equal;
#[derive(Clone, Copy)]
pub(crate) struct Greater;
#[derive(Clone, Copy)]
pub(crate) struct Least;

impl Op for Ones {
    const OP: Operation = Operation::Ones;
}
impl Op for Equal {
    const OP: Operation = Operation::Equal;
}
impl Op for Greater {
    const OP: Operation = Operation::Greater;
}
impl Op for Least {
    const OP: Operation = Operation::Least;
}
