//! NaN or +Inf: two comparisons that never hold for the same element. They run piece by piece, so
//! that the second one finds the piece in the nearest cache.
//!
//! The loops of one width are arguments. So this module is compiled once for all widths, and a
//! program that asks one question links only the loops of that question.

use core::mem::MaybeUninit;

use crate::backend::{Backend, Row};
use crate::line::elements;
use crate::loops::bits::Bits;
use crate::loops::count::Count;
use crate::loops::mask::Mask;
use crate::loops::position::Position;
use crate::rule::Comparison;

/// Elements of a piece.
const PIECE: usize = 1024;

/// Elements that a search compares one by one where NaN and +Inf alternate.
const NEAR: usize = 64;

/// Both comparisons of a rule, from the first. Both are negated if the first is negated.
fn both(nan: &Comparison) -> [Comparison; 2] {
    [*nan, nan.other()]
}

/// A byte for each element: `out` has as many slots as `x` has elements.
#[expect(unsafe_code, reason = "all results are written")]
#[inline(never)]
pub(crate) fn mask(
    row: &Row<Mask<1>>,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
    out: &mut [MaybeUninit<bool>],
) {
    // If both are negated, both must hold: a & b is !(!a | !b). Without a branch, of which the
    // compiler would make two loops.
    let negate = nan.negate();
    let [nan, inf] = both(nan);
    let mut others = [MaybeUninit::uninit(); PIECE];
    for (x, out) in x.chunks(PIECE * nan.size()).zip(out.chunks_mut(PIECE)) {
        let others = &mut others[..out.len()];
        row.call(backend, x, &nan, out);
        row.call(backend, x, &inf, others);
        for (slot, other) in out.iter_mut().zip(others) {
            // SAFETY: a row of masks holds only loops that write a result for each element (see
            // `SameAs`), and there are as many elements as slots. So both are written.
            let (a, b) = unsafe { (slot.assume_init(), other.assume_init()) };
            slot.write((a ^ negate | b ^ negate) ^ negate);
        }
    }
}

/// A word for each 64 elements. The bits of the last elements are returned.
#[inline(never)]
pub(crate) fn bits(
    row: &Row<Bits<1>>,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
    out: &mut [[u8; 8]],
) -> u64 {
    let [nan, inf] = both(nan);
    let flip = nan.usual_bits();
    let join = |a: u64, b: u64| (a ^ flip | b ^ flip) ^ flip;
    let (words, last) = x.split_at(out.len() * 64 * nan.size());
    let mut others = [[0; 8]; PIECE / 64];
    for (x, out) in words.chunks(PIECE * nan.size()).zip(out.chunks_mut(PIECE / 64)) {
        let others = &mut others[..out.len()];
        row.call(backend, x, &nan, out);
        row.call(backend, x, &inf, others);
        for (word, other) in out.iter_mut().zip(others) {
            *word = join(u64::from_le_bytes(*word), u64::from_le_bytes(*other)).to_le_bytes();
        }
    }
    join(row.call(backend, last, &nan, &mut []), row.call(backend, last, &inf, &mut []))
}

/// The index of the first hit.
#[inline(never)]
pub(crate) fn position(
    row: &Row<Position<1>>,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
) -> Option<usize> {
    let ([nan, inf], size) = (both(nan), nan.size());
    let mut done = 0;
    if nan.negate() {
        // The first element for which both negated comparisons hold. Each search continues from the
        // last hit of the other.
        loop {
            let first = row.call(backend, &x[done * size..], &nan, ())? + done;
            let second = row.call(backend, &x[first * size..], &inf, ())? + first;
            if first == second {
                return Some(first);
            }
            // If NaN and +Inf alternate, two searches for each pair cost more than a loop over
            // single elements. For each width, eight bytes are read from the start of each element.
            done = second;
            let near = (second * size..).step_by(size).take(NEAR);
            for eight in near.map_while(|at| x.get(at..)?.first_chunk()) {
                if neither(u64::from_ne_bytes(*eight), &nan, &inf) {
                    return Some(done);
                }
                done += 1;
            }
        }
    }
    x.chunks(64 * PIECE).find_map(|x| {
        let first = row.call(backend, x, &nan, ());
        let before = first.map_or(x, |first| &x[..first * size]);
        let index = row.call(backend, before, &inf, ()).or(first).map(|index| done + index);
        done += elements(x.len(), size);
        index
    })
}

/// Whether both negated comparisons hold for the element at the beginning of these eight bytes.
fn neither(eight: u64, nan: &Comparison, inf: &Comparison) -> bool {
    // Comparisons look at the low bytes only.
    let bits = if cfg!(target_endian = "little") { eight } else { eight >> (64 - 8 * nan.size()) };
    nan.holds(bits) & inf.holds(bits)
}

/// The number of hits. The comparison must not be negated.
#[inline(never)]
pub(crate) fn count(
    row: &Row<Count<1>>,
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
) -> usize {
    let both = both(nan);
    x.chunks(64 * PIECE)
        .map(|x| both.iter().map(|one| row.call(backend, x, one, ()).hits).sum::<usize>())
        .sum()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::prelude::v1::*;

    use super::*;
    use crate::backend::Question;
    use crate::simd::{Loop, SameAs, Simd};
    use crate::{Rule, scalar};

    std::thread_local! {
        static SEARCHES: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
    }

    /// A scalar search that counts its calls.
    struct Search;

    impl Loop for Search {
        type Out<'o> = ();
        type Output = Option<usize>;
        fn vector<I: Simd>(_: I, x: &[u8], comparison: &Comparison, (): ()) -> Option<usize> {
            Self::scalar(x, comparison, ())
        }
    }

    impl SameAs<Position<1>> for Search {}

    impl Question for Search {
        fn scalar(x: &[u8], comparison: &Comparison, (): ()) -> Option<usize> {
            SEARCHES.set(SEARCHES.get() + 1);
            match comparison.size() {
                1 => scalar::position::<1>(x, comparison),
                2 => scalar::position::<2>(x, comparison),
                4 => scalar::position::<4>(x, comparison),
                _ => scalar::position::<8>(x, comparison),
            }
        }
    }

    /// One search for every two elements would be 10 000 searches.
    #[test]
    fn nan_and_inf_in_turns_cost_few_searches() {
        const LEN: usize = 10_000;
        let row = Row::of::<Search>();
        let elements = |of: &mut dyn FnMut(usize) -> u64, size: usize| -> Vec<u8> {
            let low = if cfg!(target_endian = "little") { 0 } else { 8 - size };
            (0..LEN).flat_map(|i| of(i).to_ne_bytes()[low..low + size].to_vec()).collect()
        };
        for (size, inf) in [(1, 0x7C), (2, 0x7C00), (4, 0x7F80_0000), (8, 0x7FF0 << 48)] {
            let Rule::Either(nan) = Rule::nan_or_pos_inf(size, inf).not() else {
                unreachable!("the rule that it makes")
            };
            for one in [0, 1, 63, 64, 65, 66, 67, 5000, LEN - 9, LEN - 2, LEN - 1, LEN] {
                let mut of = |i| if i == one { inf - 1 } else { inf + i as u64 % 2 };
                let x = elements(&mut of, size);
                SEARCHES.set(0);
                assert_eq!(position(&row, None, &x, &nan), (one < LEN).then_some(one));
                assert!(SEARCHES.get() <= 2 * LEN / NEAR, "{size} {one}: {}", SEARCHES.get());
            }
        }
    }
}
