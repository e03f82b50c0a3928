//! The entry of each sink: short inputs are answered on the spot, long ones by a path.
//!
//! The entries are always inlined: where a caller's rule is constant, all that is left of a short input is one loop.

use core::mem::MaybeUninit;

use crate::drive::{self, Census, Class};
use crate::isa::Blocks;
use crate::lane::{BLOCK, Lane};
use crate::out::MaskOut;
use crate::path::{Path, Sink, Tests, scalar};
use crate::rule::{Least, Ones, Op, Operation, Pair, Rule, Test, Width, screens};
use crate::scalar;
use crate::stream::{self, Streamed};

/// One byte per element of `x`: 1 where the rule holds, else 0. `path` is the active one if `None`.
///
/// # Panics
/// If `out` is not as long as `x` has whole elements; nothing is written then.
#[inline(always)]
#[track_caller]
pub fn mask(path: Option<Path>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    let (elements, results) = (x.len() / rule.size(), out.len());
    if elements != results {
        wrong_length(elements, results);
    }
    let out = out.slots();
    match rule {
        Rule::Constant { answer, .. } => out.fill(MaybeUninit::new(*answer)),
        Rule::Test(test) if elements < shortest_mask(test) => short_mask(x, test, out),
        Rule::Test(test) => long_mask(x, test, out, path),
    }
}

/// As [`mask`], into memory that need not be initialised; returns it initialised.
///
/// # Panics
/// If `out` is not as long as `x` has whole elements; nothing is written then.
#[inline(always)]
#[track_caller]
pub fn mask_uninit<'o>(
    path: Option<Path>,
    x: &[u8],
    rule: &Rule,
    out: &'o mut [MaybeUninit<bool>],
) -> &'o mut [bool] {
    mask(path, x, rule, MaskOut::from(&mut *out));
    // SAFETY: same length, size and alignment; `mask` has checked that `out` is as long as `x` has elements and has
    // written a result for every element.
    unsafe { &mut *(core::ptr::from_mut(out) as *mut [bool]) }
}

/// One bit per element of `x`, least significant bit of a byte first, from bit `offset` of `out` on. All other bits of
/// `out` stay as they are. `path` is the active one if `None`.
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[inline(always)]
#[track_caller]
pub fn bits(path: Option<Path>, x: &[u8], rule: &Rule, out: &mut [u8], offset: usize) {
    let elements = x.len() / rule.size();
    // In bytes, so that nothing overflows.
    let (first, shift) = (offset / 8, offset % 8);
    let end = first.saturating_add(elements / 8).saturating_add((elements % 8 + shift).div_ceil(8));
    let bytes = out.len();
    let Some(out) = out.get_mut(first..end) else { short_bitmap(elements, offset, bytes) };
    match rule {
        Rule::Constant { answer, .. } => fill_bits(*answer, elements, out, shift),
        Rule::Test(test) if elements < BLOCK => scalar::<Bits>(x, test, (out, shift as u32)),
        Rule::Test(test) => long_bits(x, test, out, shift as u32, path),
    }
}

/// The index of the first element of `x` for which the rule holds. `path` is the active one if `None`.
#[inline(always)]
#[must_use]
pub fn position(path: Option<Path>, x: &[u8], rule: &Rule) -> Option<usize> {
    let elements = x.len() / rule.size();
    match rule {
        Rule::Constant { answer, .. } => (*answer && elements != 0).then_some(0),
        Rule::Test(test) if elements < BLOCK => scalar::<Position>(x, test, ()),
        Rule::Test(test) => long_position(x, test, path),
    }
}

/// How many elements of `x` the rule holds for. `path` is the active one if `None`.
#[inline(always)]
#[must_use]
pub fn count(path: Option<Path>, x: &[u8], rule: &Rule) -> usize {
    match rule {
        Rule::Test(test) if test.negate() => {
            x.len() / rule.size() - tally_positive(path, x, &test.not()).count
        }
        _ => tally(path, x, rule).count,
    }
}

/// How many elements of `x` the rule holds for, and the first. `path` is the active one if `None`.
#[inline(always)]
#[must_use]
pub fn tally(path: Option<Path>, x: &[u8], rule: &Rule) -> Class {
    let elements = x.len() / rule.size();
    match rule {
        Rule::Constant { answer, .. } => {
            Class { count: usize::from(*answer) * elements, first: (*answer && elements != 0).then_some(0) }
        }
        // What is rare is found faster.
        Rule::Test(test) if test.negate() => Class {
            count: elements - tally_positive(path, x, &test.not()).count,
            first: position(path, x, rule),
        },
        Rule::Test(test) => tally_positive(path, x, test),
    }
}

/// [`tally`] for a test that does not negate.
#[inline(always)]
fn tally_positive(path: Option<Path>, x: &[u8], test: &Test) -> Class {
    if x.len() / test.size() < BLOCK { scalar::<Tally>(x, test, ()) } else { long_tally(x, test, path) }
}

/// NaN, +Inf and -Inf in one pass, by the rule for NaN. If that is [`Rule::greater`], `(bits & !sign) > exponent`, the
/// elements that equal the exponent are infinite; else none is. `path` is the active one if `None`.
#[inline(always)]
#[must_use]
pub fn census(path: Option<Path>, x: &[u8], nan: &Rule) -> Census {
    match nan {
        Rule::Test(test) if test.infinities().is_some() => {
            if x.len() / test.size() < BLOCK {
                scalar::<Take>(x, test, ())
            } else {
                long_census(x, test, path)
            }
        }
        _ => Census { nan: tally(path, x, nan), ..Census::default() },
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn wrong_length(elements: usize, results: usize) -> ! {
    panic!("{elements} elements, but an output for {results}")
}

#[cold]
#[inline(never)]
#[track_caller]
fn short_bitmap(elements: usize, offset: usize, bytes: usize) -> ! {
    panic!("{elements} elements from bit {offset} on, but an output of {bytes} bytes")
}

/// The same answer `elements` times. `out` starts with the byte of the first result, at bit `shift`, and ends with that
/// of the last.
fn fill_bits(answer: bool, elements: usize, out: &mut [u8], shift: usize) {
    let bits = if answer { u128::MAX } else { 0 };
    let (mut offset, mut left) = (shift, elements);
    for byte in out {
        let count = left.min(8 - offset);
        let low = u128::from(*byte & !(u8::MAX << offset));
        drive::merge(core::slice::from_mut(byte), low | bits << offset, (offset + count) as u32);
        left -= count;
        offset = 0;
    }
}

// Not generic and not inlined: the vector loops are compiled once, in this crate. The arguments go in registers.

#[inline(never)]
fn long_mask(x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>], path: Option<Path>) {
    if out.len() >= stream::LEAST {
        return large_mask(x, test, out, path);
    }
    Path::run::<Mask>(path, x, test, out);
}

/// Apart, lest short masks pay for asking how large the caches are.
#[cold]
#[inline(never)]
fn large_mask(x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>], path: Option<Path>) {
    if stream::streams(out.len()) {
        Path::run::<Streamed>(path, x, test, out);
    } else {
        Path::run::<Mask>(path, x, test, out);
    }
}

#[inline(never)]
fn long_bits(x: &[u8], test: &Test, out: &mut [u8], shift: u32, path: Option<Path>) {
    Path::run::<Bits>(path, x, test, (out, shift));
}

#[inline(never)]
fn long_position(x: &[u8], test: &Test, path: Option<Path>) -> Option<usize> {
    Path::run::<Position>(path, x, test, ())
}

#[inline(never)]
fn long_tally(x: &[u8], test: &Test, path: Option<Path>) -> Class {
    Path::run::<Tally>(path, x, test, ())
}

#[inline(never)]
fn long_census(x: &[u8], nan: &Test, path: Option<Path>) -> Census {
    Path::run::<Take>(path, x, nan, ())
}

/// A mask of less than a block, on the spot.
#[inline(always)]
fn short_mask(x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]) {
    match test.width() {
        Width::One => scalar::short_mask::<i8>(i8::lanes(x), test, out),
        Width::Two => scalar::short_mask::<i16>(i16::lanes(x), test, out),
        Width::Four => scalar::short_mask::<i32>(i32::lanes(x), test, out),
        Width::Eight => scalar::short_mask::<i64>(i64::lanes(x), test, out),
    }
}

/// Elements from which on a mask is left to a path. The paths' compilers do better on 64-bit lanes: SSE2 cannot compare them.
#[inline(always)]
fn shortest_mask(test: &Test) -> usize {
    if test.size() == 8 { 16 } else { BLOCK }
}

/// A mask of at most two blocks: without looking for hits, where the input begins or how often to go round.
#[inline(always)]
fn short<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    let (Some(first), Some(first_out)) = (x.first_chunk(), out.first_chunk_mut()) else {
        return scalar::mask_of::<L, O, NEGATE>(x, pair, out);
    };
    let with = isa.constants(pair);
    isa.store::<O, NEGATE>(first, with, first_out);
    match x.len() - BLOCK {
        0 => {}
        1..=16 => scalar::last_of_mask::<16, L, O, NEGATE>(x, pair, out),
        _ => {
            if let (Some(last), Some(last_out)) = (x.last_chunk(), out.last_chunk_mut()) {
                isa.store::<O, NEGATE>(last, with, last_out);
            }
        }
    }
}

/// Whether a minimum finds the hits.
#[inline(always)]
fn is_least<L: Lane, O: Op>(test: &Test) -> bool {
    size_of::<L>() == 1 && O::OP == Operation::Equal && test.is_least_byte()
}

pub(crate) struct Mask;

impl Sink for Mask {
    const TESTS: Tests = Tests::All;
    type Out<'o> = &'o mut [MaybeUninit<bool>];
    type Output = ();

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        out: &mut [MaybeUninit<bool>],
    ) {
        if x.len() <= 2 * BLOCK {
            return short::<L, I, O, NEGATE>(isa, x, test.pair(), out);
        }
        match test.screen() {
            Some(screen) if I::screens_masks::<O, NEGATE>() => {
                drive::screened_mask::<L, I, O, NEGATE>(isa, x, screen, test.pair(), out);
            }
            _ => drive::mask::<L, I, O, NEGATE>(isa, x, test.pair(), out),
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, out: &mut [MaybeUninit<bool>]) {
        scalar::mask::<L>(x, test, out);
    }
}

/// The output starts with the byte of the first result, at the bit that stands beside it, below 8, and ends with the byte
/// of the last result.
struct Bits;

impl Sink for Bits {
    const TESTS: Tests = Tests::All;
    type Out<'o> = (&'o mut [u8], u32);
    type Output = ();

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        out: (&mut [u8], u32),
    ) {
        match test.screen() {
            None if I::SCREENS_BITS && is_least::<L, O>(test) => {
                drive::bits::<L, I, Least, O, NEGATE>(isa, x, Some(test.pair()), test.pair(), out);
            }
            screen if I::SCREENS_BITS => {
                drive::bits::<L, I, Ones, O, NEGATE>(isa, x, screen, test.pair(), out);
            }
            _ => drive::bits::<L, I, O, O, NEGATE>(isa, x, None, test.pair(), out),
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, (out, offset): (&mut [u8], u32)) {
        scalar::bits::<L>(x, test, out, offset);
    }
}

pub(crate) struct Position;

impl Sink for Position {
    const TESTS: Tests = Tests::All;
    type Out<'o> = ();
    type Output = Option<usize>;

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        (): (),
    ) -> Option<usize> {
        match test.screen() {
            Some(screen) if screens::<O, NEGATE>() => {
                drive::position::<L, I, Ones, O, false>(isa, x, screen, test.pair())
            }
            _ if is_least::<L, O>(test) && !NEGATE => {
                drive::position::<L, I, Least, O, false>(isa, x, test.pair(), test.pair())
            }
            _ => drive::position::<L, I, O, O, NEGATE>(isa, x, test.pair(), test.pair()),
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, (): ()) -> Option<usize> {
        scalar::position::<L>(x, test)
    }
}

pub(crate) struct Tally;

impl Sink for Tally {
    const TESTS: Tests = Tests::Positive;
    type Out<'o> = ();
    type Output = Class;

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        (): (),
    ) -> Class {
        match test.screen() {
            Some(screen) if O::OP != Operation::Ones => {
                drive::tally::<L, I, Ones, O>(isa, x, screen, test.pair())
            }
            _ if is_least::<L, O>(test) => drive::tally::<L, I, Least, O>(isa, x, test.pair(), test.pair()),
            _ => drive::tally::<L, I, O, O>(isa, x, test.pair(), test.pair()),
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, (): ()) -> Class {
        scalar::tally::<L>(x, test)
    }
}

/// Takes a census.
pub(crate) struct Take;

impl Sink for Take {
    const TESTS: Tests = Tests::Greater;
    type Out<'o> = ();
    type Output = Census;

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        nan: &Test,
        (): (),
    ) -> Census {
        drive::census::<L, I>(isa, x, nan.census_pairs())
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], nan: &Test, (): ()) -> Census {
        scalar::census::<L>(x, nan)
    }
}
