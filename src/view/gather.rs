//! Statistics of a few valid elements among nulls: they are copied together first.

use super::TensorView;
use super::part::Part;
use super::validity::Validity;
use crate::stats::Extreme;
use crate::{Census, Occurrences, Stats};

/// Elements that are looked at together.
pub(super) const MOST: usize = 1024;

/// The statistics of the valid elements of a dense part of at most [`MOST`] elements. Indices count
/// from the start of the view.
pub(super) fn stats(part: Part<'_, '_>, validity: &Validity<'_>) -> Stats {
    let words: [_; MOST / 64] = validity.words(part.first, part.len);
    let mut room = [0; 8 * MOST];
    let (dense, format) = (part.dense(), part.view.format);
    let valid = match format.size_in_bytes() {
        1 => gather::<1>(dense, &words, &mut room),
        2 => gather::<2>(dense, &words, &mut room),
        4 => gather::<4>(dense, &words, &mut room),
        _ => gather::<8>(dense, &words, &mut room),
    };
    let view = TensorView::from_bytes(valid, format).expect("whole elements");
    let stats = TensorView { backend: part.view.backend, ..view }.stats();
    let place = |i: usize| part.first + nth_one(&words, i);
    let extreme = |x: Option<Extreme>| x.map(|x| Extreme { index: place(x.index), ..x });
    let class = |class: Occurrences| Occurrences::new(class.count, class.first.map(place));
    let Census { nan, pos_inf, neg_inf, .. } = stats.census;
    Stats {
        census: Census::new(class(nan), class(pos_inf), class(neg_inf)),
        min: extreme(stats.min),
        max: extreme(stats.max),
        max_abs: extreme(stats.max_abs),
        ..stats
    }
}

/// Copies the elements of `N` bytes whose bits are 1 to the start of `room`. Returns the copies.
fn gather<'r, const N: usize>(dense: &[u8], words: &[u64], room: &'r mut [u8]) -> &'r [u8] {
    let elements = room.as_chunks_mut::<N>().0;
    let mut valid = 0;
    for (&word, chunk) in words.iter().zip(dense.as_chunks::<N>().0.chunks(64)) {
        if word == u64::MAX {
            elements[valid..valid + 64].copy_from_slice(chunk);
            valid += 64;
            continue;
        }
        let mut rest = word;
        while rest != 0 {
            elements[valid] = chunk[rest.trailing_zeros() as usize];
            valid += 1;
            rest &= rest - 1;
        }
    }
    elements[..valid].as_flattened()
}

/// The place of the bit that is 1 and has `n` such bits before it, least significant bits first.
// Called six times; inlined, it would add 1.3 KB to the C library.
#[inline(never)]
fn nth_one(words: &[u64], mut n: usize) -> usize {
    for (i, &word) in words.iter().enumerate() {
        let ones = word.count_ones() as usize;
        if n < ones {
            let rest = (0..n).fold(word, |rest, _| rest & (rest - 1));
            return 64 * i + rest.trailing_zeros() as usize;
        }
        n -= ones;
    }
    unreachable!("a bit for each element that was copied")
}
