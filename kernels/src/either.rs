//! NaN or +Inf: two comparisons that never hold for one element, asked piece by piece, so that the
//! second one finds the piece in the nearest cache.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::lane::Lane;
use crate::rule::Comparison;
use crate::scalar::read;

/// Elements of a piece.
const PIECE: usize = 1024;

/// The comparisons for NaN and for +Inf, by the comparison for NaN. Both are negated if that is.
fn both(nan: &Comparison) -> [Comparison; 2] {
    [*nan, nan.class(1)]
}

/// A byte for each element.
#[expect(unsafe_code, reason = "all results are written")]
#[inline(never)]
pub(crate) fn mask<L: Lane>(
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
    out: &mut [MaybeUninit<bool>],
) {
    let [nan, inf] = both(nan);
    let mut others = [MaybeUninit::uninit(); PIECE];
    for (x, out) in x.chunks(PIECE * L::SIZE).zip(out.chunks_mut(PIECE)) {
        let others = &mut others[..out.len()];
        L::mask(backend, x, &nan, out);
        L::mask(backend, x, &inf, others);
        for (slot, other) in out.iter_mut().zip(others) {
            // SAFETY: `mask` has written a result for each element, to both.
            let (a, b) = unsafe { (slot.assume_init(), other.assume_init()) };
            slot.write(if nan.negate() { a & b } else { a | b });
        }
    }
}

/// A word for each 64 elements. The bits of the last elements are returned.
#[inline(never)]
pub(crate) fn bits<L: Lane>(
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
    out: &mut [[u8; 8]],
) -> u64 {
    let [nan, inf] = both(nan);
    let either = |a: u64, b: u64| if nan.negate() { a & b } else { a | b };
    let (words, last) = x.split_at(out.len() * 64 * L::SIZE);
    let mut others = [[0; 8]; PIECE / 64];
    for (x, out) in words.chunks(PIECE * L::SIZE).zip(out.chunks_mut(PIECE / 64)) {
        let others = &mut others[..out.len()];
        L::bits(backend, x, &nan, out);
        L::bits(backend, x, &inf, others);
        for (word, other) in out.iter_mut().zip(others) {
            *word = either(u64::from_le_bytes(*word), u64::from_le_bytes(*other)).to_le_bytes();
        }
    }
    either(L::bits(backend, last, &nan, &mut []), L::bits(backend, last, &inf, &mut []))
}

/// The index of the first hit.
#[inline(never)]
pub(crate) fn position<L: Lane>(
    backend: Option<Backend>,
    x: &[u8],
    nan: &Comparison,
) -> Option<usize> {
    let [nan, inf] = both(nan);
    if nan.negate() {
        // Most elements of most tensors are hits: the search ends at once.
        return elements::<L>(x).position(|bits| nan.holds(bits) & inf.holds(bits));
    }
    x.chunks(64 * PIECE).enumerate().find_map(|(i, x)| {
        let first = L::position(backend, x, &nan);
        let before = first.map_or(x, |first| &x[..first * L::SIZE]);
        let index = L::position(backend, before, &inf).or(first)?;
        Some(i * (64 * PIECE / L::SIZE) + index)
    })
}

/// How many hits there are. The comparison is not negated.
#[inline(never)]
pub(crate) fn count<L: Lane>(backend: Option<Backend>, x: &[u8], nan: &Comparison) -> usize {
    let both = both(nan);
    let of = |x: &[u8]| both.iter().map(|one| L::count(backend, x, one).hits).sum::<usize>();
    x.chunks(64 * PIECE).map(of).sum()
}

/// The bits of the elements.
fn elements<L: Lane>(x: &[u8]) -> impl Iterator<Item = u64> + '_ {
    x.chunks_exact(L::SIZE).map(|element| match *element {
        [a] => read(&[a]),
        [a, b] => read(&[a, b]),
        [a, b, c, d] => read(&[a, b, c, d]),
        [a, b, c, d, e, f, g, h] => read(&[a, b, c, d, e, f, g, h]),
        _ => unreachable!("a lane has 1, 2, 4 or 8 bytes"),
    })
}
