//! NaN or +Inf: two comparisons that never hold for one element, asked piece by piece, so that the
//! second one finds the piece in the nearest cache.
//!
//! The loops of one width are given as functions. The rest is compiled once for all widths, and a
//! program that asks one question links the loops of that question only.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::loops::count::Counted;
use crate::rule::Comparison;

/// Elements of a piece.
const PIECE: usize = 1024;

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
        // The first element for which both negations hold, each from the last hit of the other on.
        loop {
            let first = ask(backend, &x[done * size..], &nan)? + done;
            let second = ask(backend, &x[first * size..], &inf)? + first;
            if first == second {
                return Some(first);
            }
            done = second;
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
