//! NaN or +Inf: two comparisons that never hold for one element, asked piece by piece, so that the
//! second one finds the piece in the nearest cache.
//!
//! The loops of one width are given as functions. The rest is compiled once for all widths, and a
//! program that asks one question links the loops of that question only.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::loops::count::Counted;
use crate::rule::Comparison;
use crate::scalar;

/// Elements of a piece.
const PIECE: usize = 1024;

/// Elements that a search looks at one by one where NaN and +Inf take turns.
const NEAR: usize = 64;

/// [`crate::lane::Loops::mask`] of one width, which writes all results.
type Mask = fn(Option<Backend>, &[u8], &Comparison, &mut [MaybeUninit<bool>]);
/// [`crate::lane::Loops::bits`] of one width.
type Bits = fn(Option<Backend>, &[u8], &Comparison, &mut [[u8; 8]]) -> u64;

/// The comparisons for NaN and for +Inf, by the comparison for NaN. Both are negated if that is.
fn both(nan: &Comparison) -> [Comparison; 2] {
    [*nan, nan.class(1)]
}

/// A byte for each element.
#[expect(unsafe_code, reason = "all results are written")]
#[inline(never)]
pub(crate) fn mask(
    ask: Mask,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
    out: &mut [MaybeUninit<bool>],
) {
    let [nan, inf] = both(nan);
    let mut others = [MaybeUninit::uninit(); PIECE];
    for (x, out) in x.chunks(PIECE * nan.size()).zip(out.chunks_mut(PIECE)) {
        let others = &mut others[..out.len()];
        ask(backend, x, &nan, out);
        ask(backend, x, &inf, others);
        for (slot, other) in out.iter_mut().zip(others) {
            // SAFETY: `ask` is `Loops::mask` of a lane (the only callers), which has written a
            // result for each element, to both.
            let (a, b) = unsafe { (slot.assume_init(), other.assume_init()) };
            slot.write(if nan.negate() { a & b } else { a | b });
        }
    }
}

/// A word for each 64 elements. The bits of the last elements are returned.
#[inline(never)]
pub(crate) fn bits(
    ask: Bits,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
    out: &mut [[u8; 8]],
) -> u64 {
    let [nan, inf] = both(nan);
    let join = |a: u64, b: u64| if nan.negate() { a & b } else { a | b };
    let (words, last) = x.split_at(out.len() * 64 * nan.size());
    let mut others = [[0; 8]; PIECE / 64];
    for (x, out) in words.chunks(PIECE * nan.size()).zip(out.chunks_mut(PIECE / 64)) {
        let others = &mut others[..out.len()];
        ask(backend, x, &nan, out);
        ask(backend, x, &inf, others);
        for (word, other) in out.iter_mut().zip(others) {
            *word = join(u64::from_le_bytes(*word), u64::from_le_bytes(*other)).to_le_bytes();
        }
    }
    join(ask(backend, last, &nan, &mut []), ask(backend, last, &inf, &mut []))
}

/// The index of the first hit.
#[inline(never)]
pub(crate) fn position(
    ask: fn(Option<Backend>, &[u8], &Comparison) -> Option<usize>,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
) -> Option<usize> {
    let ([nan, inf], size) = (both(nan), nan.size());
    let mut done = 0;
    if nan.negate() {
        let near = match size {
            1 => near::<1>,
            2 => near::<2>,
            4 => near::<4>,
            _ => near::<8>,
        };
        // The first element for which both negations hold, each from the last hit of the other on.
        loop {
            let first = ask(backend, &x[done * size..], &nan)? + done;
            let second = ask(backend, &x[first * size..], &inf)? + first;
            if first == second {
                return Some(first);
            }
            // NaN and +Inf may alternate. Two searches for each pair cost more than to look at some
            // elements.
            let rest = &x[second * size..];
            if let Some(index) = near(rest, [nan, inf]) {
                return Some(second + index);
            }
            done = second + NEAR.min(rest.len() / size);
        }
    }
    x.chunks(64 * PIECE).find_map(|x| {
        let first = ask(backend, x, &nan);
        let before = first.map_or(x, |first| &x[..first * size]);
        let index = ask(backend, before, &inf).or(first).map(|index| done + index);
        done += x.len() / size;
        index
    })
}

/// The first of [`NEAR`] elements for which both comparisons hold.
fn near<const W: usize>(x: &[u8], [a, b]: [Comparison; 2]) -> Option<usize> {
    let mut elements = x.as_chunks::<W>().0.iter().take(NEAR).map(scalar::read);
    elements.position(|bits| a.holds(bits) & b.holds(bits))
}

/// How many hits there are. The comparison is not negated.
#[inline(never)]
pub(crate) fn count(
    ask: fn(Option<Backend>, &[u8], &Comparison) -> Counted,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
) -> usize {
    let both = both(nan);
    x.chunks(64 * PIECE)
        .map(|x| both.iter().map(|one| ask(backend, x, one).hits).sum::<usize>())
        .sum()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::prelude::v1::*;

    use super::*;
    use crate::Rule;

    std::thread_local! {
        static SEARCHES: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
    }

    fn search(_: Option<Backend>, x: &[u8], comparison: &Comparison) -> Option<usize> {
        SEARCHES.set(SEARCHES.get() + 1);
        scalar::position::<4>(x, comparison)
    }

    /// A search for every two elements would make 10 000 of them.
    #[test]
    fn nan_and_inf_in_turns_cost_few_searches() {
        let Rule::NanOrPosInf(nan) = Rule::nan_or_pos_inf(4, 0x7F80_0000).not() else {
            unreachable!("the rule that it makes")
        };
        const LEN: usize = 10_000;
        let turns = |i: usize| if i.is_multiple_of(2) { f32::NAN } else { f32::INFINITY };
        for one in [0, 1, 63, 64, 65, 66, 67, 5000, LEN - 1, LEN] {
            let x: Vec<u8> = (0..LEN)
                .flat_map(|i| if i == one { 1.0 } else { turns(i) }.to_ne_bytes())
                .collect();
            SEARCHES.set(0);
            assert_eq!(position(search, None, &x, &nan), (one < LEN).then_some(one));
            assert!(SEARCHES.get() <= 2 * LEN / NEAR, "{one}: {} searches", SEARCHES.get());
        }
    }
}
