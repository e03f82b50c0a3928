//! The entry of each sink: short inputs are answered on the spot, long ones by a path.

use core::mem::MaybeUninit;

use crate::drive::{self, Census, Class, IeeePairs};
use crate::isa::Blocks;
use crate::lane::{BLOCK, Lane, Lanes};
use crate::out::MaskOut;
use crate::path::{Path, Sink, Vector};
use crate::rule::{Equal, Greater, Ieee, Ones, Op, Operation, Pair, Rule, Test};
use crate::scalar;

/// One byte per element: 1 where the rule holds, else 0. `path` is the active one if `None`.
///
/// # Panics
/// If `out` is not as long as `lanes`; nothing is written then.
#[inline]
#[track_caller]
pub fn mask(path: Option<Path>, lanes: Lanes<'_>, rule: Rule, out: MaskOut<'_>) {
    let (elements, results) = (lanes.len(), out.len());
    assert!(elements == results, "{elements} elements, but an output for {results}");
    let sink = Mask { out: out.slots() };
    match rule {
        Rule::Constant(answer) => sink.out.fill(MaybeUninit::new(answer)),
        Rule::Test(test) if elements < BLOCK => short(lanes, test, sink),
        Rule::Test(test) => long_mask(path, lanes, test, sink),
    }
}

/// As [`mask`], into memory that need not be initialised; returns it initialised.
///
/// # Panics
/// If `out` is not as long as `lanes`; nothing is written then.
#[inline]
#[track_caller]
pub fn mask_uninit<'o>(
    path: Option<Path>,
    lanes: Lanes<'_>,
    rule: Rule,
    out: &'o mut [MaybeUninit<bool>],
) -> &'o mut [bool] {
    mask(path, lanes, rule, MaskOut::from(&mut *out));
    // SAFETY: same length, size and alignment; `mask` has checked that `out` is as long as `lanes` and has written a
    // result for every element.
    unsafe { &mut *(core::ptr::from_mut(out) as *mut [bool]) }
}

/// One bit per element, least significant bit of a byte first, from bit `offset` of `out` on. All other bits of `out`
/// stay as they are. `path` is the active one if `None`.
///
/// # Panics
/// If `out` has fewer than `offset + lanes.len()` bits; nothing is written then.
#[inline]
#[track_caller]
pub fn bits(path: Option<Path>, lanes: Lanes<'_>, rule: Rule, out: &mut [u8], offset: usize) {
    let elements = lanes.len();
    // In bytes, so that nothing overflows.
    let (first, shift) = (offset / 8, offset % 8);
    let end = first.saturating_add(elements / 8).saturating_add((elements % 8 + shift).div_ceil(8));
    let bytes = out.len();
    assert!(end <= bytes, "{elements} elements from bit {offset} on, but an output of {bytes} bytes");
    let sink = Bits { out: &mut out[first..end], offset: shift as u32 };
    match rule {
        Rule::Constant(answer) => sink.fill(answer, elements),
        Rule::Test(test) if elements < BLOCK => short(lanes, test, sink),
        Rule::Test(test) => long_bits(path, lanes, test, sink),
    }
}

/// The index of the first element for which the rule holds. `path` is the active one if `None`.
#[inline]
pub fn position(path: Option<Path>, lanes: Lanes<'_>, rule: Rule) -> Option<usize> {
    match rule {
        Rule::Constant(answer) => (answer && !lanes.is_empty()).then_some(0),
        Rule::Test(test) if lanes.len() < BLOCK => short(lanes, test, Position),
        Rule::Test(test) => long_position(path, lanes, test),
    }
}

/// How many elements the rule holds for. `path` is the active one if `None`.
#[inline]
pub fn count(path: Option<Path>, lanes: Lanes<'_>, rule: Rule) -> usize {
    match rule {
        Rule::Constant(answer) => usize::from(answer) * lanes.len(),
        Rule::Test(Test { negate: true, .. }) => lanes.len() - tally(path, lanes, rule.not()).count,
        Rule::Test(_) => tally(path, lanes, rule).count,
    }
}

/// How many elements the rule holds for, and the first. `path` is the active one if `None`.
#[inline]
pub fn tally(path: Option<Path>, lanes: Lanes<'_>, rule: Rule) -> Class {
    match rule {
        Rule::Constant(answer) => Class {
            count: usize::from(answer) * lanes.len(),
            first: (answer && !lanes.is_empty()).then_some(0),
        },
        Rule::Test(test) if lanes.len() < BLOCK => short(lanes, test, Tally),
        Rule::Test(test) => long_tally(path, lanes, test),
    }
}

/// NaN, +Inf and -Inf of an IEEE format in one pass. `path` is the active one if `None`.
#[inline]
pub fn census(path: Option<Path>, lanes: Lanes<'_>, ieee: Ieee) -> Census {
    if lanes.len() < BLOCK { short(lanes, ieee.nan(), Take { ieee }) } else { long_census(path, lanes, ieee) }
}

/// Fewer than a block: no choice of path, and the loop may be inlined into the caller.
#[inline(always)]
fn short<S: Sink>(lanes: Lanes<'_>, test: Test, sink: S) -> S::Output {
    match lanes {
        Lanes::L8(x) => sink.scalar::<i8>(x, test),
        Lanes::L16(x) => sink.scalar::<i16>(x, test),
        Lanes::L32(x) => sink.scalar::<i32>(x, test),
        Lanes::L64(x) => sink.scalar::<i64>(x, test),
    }
}

// Not generic and not inlined: the vector loops are compiled once, in this crate.

#[inline(never)]
fn long_mask(path: Option<Path>, lanes: Lanes<'_>, test: Test, sink: Mask<'_>) {
    long(path, lanes, test, sink);
}

#[inline(never)]
fn long_bits(path: Option<Path>, lanes: Lanes<'_>, test: Test, sink: Bits<'_>) {
    long(path, lanes, test, sink);
}

#[inline(never)]
fn long_position(path: Option<Path>, lanes: Lanes<'_>, test: Test) -> Option<usize> {
    long(path, lanes, test, Position)
}

#[inline(never)]
fn long_tally(path: Option<Path>, lanes: Lanes<'_>, test: Test) -> Class {
    long(path, lanes, test, Tally)
}

#[inline(never)]
fn long_census(path: Option<Path>, lanes: Lanes<'_>, ieee: Ieee) -> Census {
    let (path, test, sink) = (path.unwrap_or_else(Path::active), ieee.nan(), Take { ieee });
    match lanes {
        Lanes::L8(x) => path.run::<_, i8, Greater, false>(sink, x, test),
        Lanes::L16(x) => path.run::<_, i16, Greater, false>(sink, x, test),
        Lanes::L32(x) => path.run::<_, i32, Greater, false>(sink, x, test),
        Lanes::L64(x) => path.run::<_, i64, Greater, false>(sink, x, test),
    }
}

#[inline(always)]
fn long<S: Sink>(path: Option<Path>, lanes: Lanes<'_>, test: Test, sink: S) -> S::Output {
    let path = path.unwrap_or_else(Path::active);
    match lanes {
        Lanes::L8(x) => by_operation::<S, i8>(path, x, test, sink),
        Lanes::L16(x) => by_operation::<S, i16>(path, x, test, sink),
        Lanes::L32(x) => by_operation::<S, i32>(path, x, test, sink),
        Lanes::L64(x) => by_operation::<S, i64>(path, x, test, sink),
    }
}

#[inline(always)]
fn by_operation<S: Sink, L: Vector>(path: Path, x: &[L::Raw], test: Test, sink: S) -> S::Output {
    match (test.operation(L::BITS), test.negate) {
        (Operation::Ones, false) => path.run::<S, L, Ones, false>(sink, x, test),
        (Operation::Ones, true) => path.run::<S, L, Ones, true>(sink, x, test),
        (Operation::Equal, false) => path.run::<S, L, Equal, false>(sink, x, test),
        (Operation::Equal, true) => path.run::<S, L, Equal, true>(sink, x, test),
        (Operation::Greater, false) => path.run::<S, L, Greater, false>(sink, x, test),
        (Operation::Greater, true) => path.run::<S, L, Greater, true>(sink, x, test),
    }
}

struct Mask<'a> {
    out: &'a mut [MaybeUninit<bool>],
}

impl Sink for Mask<'_> {
    type Output = ();

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(self, isa: I, x: &[L::Raw], test: Test) {
        drive::mask::<L, I, O, NEGATE>(isa, x, Pair::new(test), self.out);
    }

    #[inline(always)]
    fn scalar<L: Lane>(self, x: &[L::Raw], test: Test) {
        scalar::mask::<L>(x, test, self.out);
    }
}

/// `out` starts with the byte of the first result and ends with that of the last; `offset` is below 8.
struct Bits<'a> {
    out: &'a mut [u8],
    offset: u32,
}

impl Bits<'_> {
    fn fill(self, answer: bool, elements: usize) {
        let bits = if answer { u128::MAX } else { 0 };
        let mut offset = self.offset;
        let mut left = elements;
        for byte in self.out {
            let count = left.min(8 - offset as usize);
            let low = u128::from(*byte & !(u8::MAX << offset));
            drive::merge(core::slice::from_mut(byte), low | bits << offset, offset + count as u32);
            left -= count;
            offset = 0;
        }
    }
}

impl Sink for Bits<'_> {
    type Output = ();

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(self, isa: I, x: &[L::Raw], test: Test) {
        drive::bits::<L, I, O, NEGATE>(isa, x, Pair::new(test), self.out, self.offset);
    }

    #[inline(always)]
    fn scalar<L: Lane>(self, x: &[L::Raw], test: Test) {
        scalar::bits::<L>(x, test, self.out, self.offset);
    }
}

struct Position;

impl Sink for Position {
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        self,
        isa: I,
        x: &[L::Raw],
        test: Test,
    ) -> Option<usize> {
        let pair = Pair::new(test);
        match test.screen(L::BITS) {
            Some(screen) if !NEGATE => {
                drive::position::<L, I, Ones, O, false>(isa, x, Pair::new(screen), pair)
            }
            _ => drive::position::<L, I, O, O, NEGATE>(isa, x, pair, pair),
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(self, x: &[L::Raw], test: Test) -> Option<usize> {
        scalar::position::<L>(x, test)
    }
}

struct Tally;

impl Sink for Tally {
    type Output = Class;

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        self,
        isa: I,
        x: &[L::Raw],
        test: Test,
    ) -> Class {
        let pair = Pair::new(test);
        match test.screen(L::BITS) {
            Some(screen) if !NEGATE => drive::tally::<L, I, Ones, O, false>(isa, x, Pair::new(screen), pair),
            _ => drive::tally::<L, I, O, O, NEGATE>(isa, x, pair, pair),
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(self, x: &[L::Raw], test: Test) -> Class {
        scalar::tally::<L>(x, test)
    }
}

/// A census.
struct Take {
    ieee: Ieee,
}

impl Sink for Take {
    type Output = Census;

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        self,
        isa: I,
        x: &[L::Raw],
        _: Test,
    ) -> Census {
        let pairs = IeeePairs {
            special: Pair::new(self.ieee.special()),
            nan: Pair::new(self.ieee.nan()),
            pos_inf: Pair::new(self.ieee.pos_inf()),
        };
        drive::census::<L, I>(isa, x, pairs)
    }

    #[inline(always)]
    fn scalar<L: Lane>(self, x: &[L::Raw], _: Test) -> Census {
        scalar::census::<L>(x, self.ieee)
    }
}
