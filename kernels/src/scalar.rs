//! The scalar path: the rule, element by element. Every other path must give the same answers, and inputs shorter
//! than a block are answered here without a choice of path. The compiler may vectorise these loops.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::drive::{Census, Class, merge};
use crate::lane::{BLOCK, Lane};
use crate::rule::{Op, Operation, Pair, Test, holds};

/// A loop over elements that asks `hit` of each.
trait Loop<L: Lane> {
    type Output;
    fn run(self, x: &[L::Raw], hit: impl Fn(L) -> bool) -> Self::Output;
}

/// Compiles the loop once for each comparison.
#[inline(always)]
fn each<L: Lane, R: Loop<L>>(x: &[L::Raw], test: &Test, run: R) -> R::Output {
    let pair = test.pair::<L>();
    match (test.operation(), test.negate()) {
        (Operation::Ones, false) => run.run(x, |lane| ones(pair, lane)),
        (Operation::Ones, true) => run.run(x, |lane| !ones(pair, lane)),
        (Operation::Equal | Operation::Least, false) => {
            run.run(x, |lane| holds(Operation::Equal, pair, lane))
        }
        (Operation::Equal | Operation::Least, true) => {
            run.run(x, |lane| !holds(Operation::Equal, pair, lane))
        }
        (Operation::Greater, false) => run.run(x, |lane| holds(Operation::Greater, pair, lane)),
        (Operation::Greater, true) => run.run(x, |lane| !holds(Operation::Greater, pair, lane)),
    }
}

/// `Operation::Ones` by the upper half of 64-bit lanes: SSE2 has no comparison of whole ones.
#[inline(always)]
fn ones<L: Lane>(pair: Pair<L>, lane: L) -> bool {
    lane.upper() & pair.mask.upper() == pair.mask.upper()
}

struct Mask<'a>(&'a mut [MaybeUninit<bool>]);

impl<L: Lane> Loop<L> for Mask<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self, x: &[L::Raw], hit: impl Fn(L) -> bool) {
        for (&raw, out) in x.iter().zip(self.0) {
            out.write(hit(L::read(raw)));
        }
    }
}

struct Bits<'a> {
    out: &'a mut [u8],
    offset: u32,
}

impl<L: Lane> Loop<L> for Bits<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self, x: &[L::Raw], hit: impl Fn(L) -> bool) {
        let mut out = self.out;
        for block in x.chunks(BLOCK) {
            let bits = block.iter().rev().fold(0, |bits, &raw| bits << 1 | u64::from(hit(L::read(raw))));
            let low = out.first().copied().unwrap_or(0) & !(u8::MAX << self.offset);
            merge(out, u128::from(low) | u128::from(bits) << self.offset, self.offset + block.len() as u32);
            out = out.get_mut(8..).unwrap_or(&mut []);
        }
    }
}

struct Position;

impl<L: Lane> Loop<L> for Position {
    type Output = Option<usize>;
    #[inline(always)]
    fn run(self, x: &[L::Raw], hit: impl Fn(L) -> bool) -> Option<usize> {
        x.iter().position(|&raw| hit(L::read(raw)))
    }
}

struct Tally;

impl<L: Lane> Loop<L> for Tally {
    type Output = Class;
    #[inline(always)]
    fn run(self, x: &[L::Raw], hit: impl Fn(L) -> bool) -> Class {
        let count = x.iter().filter(|&&raw| hit(L::read(raw))).count();
        let first = if count == 0 { None } else { Position.run(x, hit) };
        Class { count, first }
    }
}

struct ShortMask<'a>(&'a mut [MaybeUninit<bool>]);

impl<L: Lane> Loop<L> for ShortMask<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self, x: &[L::Raw], hit: impl Fn(L) -> bool) {
        pieces(x, self.0, &hit);
    }
}

/// A question about a lane.
trait Ask<L> {
    fn ask(&self, lane: L) -> bool;
}

impl<L, F: Fn(L) -> bool> Ask<L> for F {
    #[inline(always)]
    fn ask(&self, lane: L) -> bool {
        self(lane)
    }
}

/// A comparison. Other than a closure it is always inlined.
struct Compare<L, O, const NEGATE: bool> {
    pair: Pair<L>,
    op: PhantomData<O>,
}

impl<L: Lane, O: Op, const NEGATE: bool> Ask<L> for Compare<L, O, NEGATE> {
    #[inline(always)]
    fn ask(&self, lane: L) -> bool {
        holds(O::OP, self.pair, lane) != NEGATE
    }
}

/// A mask of few elements, in pieces of constant length, of which the last overlaps the one before: the compiler makes vectors
/// of them, and no element is left over.
#[inline(always)]
fn pieces<L: Lane>(x: &[L::Raw], out: &mut [MaybeUninit<bool>], hit: &impl Ask<L>) {
    // They are equally long, which the compiler may not know: no panic.
    let count = x.len().min(out.len());
    let (x, out) = (&x[..count], &mut out[..count]);
    match count {
        0 => {}
        1..4 => {
            for i in [0, count / 2, count - 1] {
                if let (Some(&raw), Some(out)) = (x.get(i), out.get_mut(i)) {
                    out.write(hit.ask(L::read(raw)));
                }
            }
        }
        4..=8 => ends::<4, L>(x, out, hit),
        9..=16 => ends::<8, L>(x, out, hit),
        17.. => {
            let before_last = (x[..count - 1].as_chunks::<16>().0, out[..count - 1].as_chunks_mut().0);
            for (piece, out) in before_last.0.iter().zip(before_last.1) {
                each_of::<16, L>(piece, out, hit);
            }
            last::<16, L>(x, out, hit);
        }
    }
}

/// The first and the last `N` of at least as many elements.
#[inline(always)]
fn ends<const N: usize, L: Lane>(x: &[L::Raw], out: &mut [MaybeUninit<bool>], hit: &impl Ask<L>) {
    if let (Some(first), Some(out)) = (x.first_chunk(), out.first_chunk_mut()) {
        each_of::<N, L>(first, out, hit);
    }
    last::<N, L>(x, out, hit);
}

/// The last `N` of at least as many elements.
#[inline(always)]
fn last<const N: usize, L: Lane>(x: &[L::Raw], out: &mut [MaybeUninit<bool>], hit: &impl Ask<L>) {
    if let (Some(last), Some(out)) = (x.last_chunk(), out.last_chunk_mut()) {
        each_of::<N, L>(last, out, hit);
    }
}

/// All are read before the first is written, or the compiler would have to know that the slices do not overlap.
#[inline(always)]
fn each_of<const N: usize, L: Lane>(x: &[L::Raw; N], out: &mut [MaybeUninit<bool>; N], hit: &impl Ask<L>) {
    for (raw, out) in (*x).into_iter().zip(out) {
        out.write(hit.ask(L::read(raw)));
    }
}

/// The mask of one comparison for few elements, for a path to compile with its instructions.
#[inline(always)]
pub(crate) fn mask_of<L: Lane, O: Op, const NEGATE: bool>(
    x: &[L::Raw],
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    pieces(x, out, &Compare::<L, O, NEGATE> { pair, op: PhantomData });
}

/// [`mask_of`] for the last `N` of at least as many elements.
#[inline(always)]
pub(crate) fn last_of_mask<const N: usize, L: Lane, O: Op, const NEGATE: bool>(
    x: &[L::Raw],
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    last::<N, L>(x, out, &Compare::<L, O, NEGATE> { pair, op: PhantomData });
}

/// [`mask`] of less than a block.
#[inline(always)]
pub(crate) fn short_mask<L: Lane>(x: &[L::Raw], test: &Test, out: &mut [MaybeUninit<bool>]) {
    each::<L, _>(x, test, ShortMask(out));
}

#[inline(always)]
pub(crate) fn mask<L: Lane>(x: &[L::Raw], test: &Test, out: &mut [MaybeUninit<bool>]) {
    each::<L, _>(x, test, Mask(out));
}

#[inline(always)]
pub(crate) fn bits<L: Lane>(x: &[L::Raw], test: &Test, out: &mut [u8], offset: u32) {
    each::<L, _>(x, test, Bits { out, offset });
}

#[inline(always)]
pub(crate) fn position<L: Lane>(x: &[L::Raw], test: &Test) -> Option<usize> {
    each::<L, _>(x, test, Position)
}

#[inline(always)]
pub(crate) fn tally<L: Lane>(x: &[L::Raw], test: &Test) -> Class {
    each::<L, _>(x, test, Tally)
}

/// `nan` as in [`crate::census`].
#[inline(always)]
pub(crate) fn census<L: Lane>(x: &[L::Raw], nan: &Test) -> Census {
    let [pos_inf, neg_inf] = match nan.infinities() {
        Some(tests) => tests.map(|test| tally::<L>(x, &test)),
        None => [Class::default(); 2],
    };
    Census { nan: tally::<L>(x, nan), pos_inf, neg_inf }
}
