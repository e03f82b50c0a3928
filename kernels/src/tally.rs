//! What the loops of statistics are asked, and what they find.

use core::mem::MaybeUninit;

use crate::bitmap::Bitmap;
use crate::found::ClassCounts;
use crate::line::{COUNTED, Line};

/// What is asked of a loop.
#[derive(Debug)]
pub(crate) enum Want<'n> {
    /// All except the places of the lowest and of the highest key.
    #[cfg(feature = "views")]
    Counts,
    /// All, of a column that may have nulls.
    Places(Option<Nulls<'n>>),
}

/// What a loop finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// The lowest and the highest key of finite elements. Without any they mean nothing.
    pub(crate) keys: [i64; 2],
    /// Elements before which there is none of these keys. With places the first elements that have
    /// these keys.
    pub(crate) from: [usize; 2],
    pub(crate) zeros: usize,
    /// Zeros and subnormal numbers.
    pub(crate) small: usize,
    pub(crate) non_finite: usize,
    pub(crate) nulls: usize,
    pub(crate) classes: ClassCounts,
}

impl Tally {
    /// Nothing seen yet.
    pub(crate) fn new() -> Self {
        let classes = ClassCounts::default();
        Self { keys: [0; 2], from: [0; 2], zeros: 0, small: 0, non_finite: 0, nulls: 0, classes }
    }

    /// Adds three counts: zeros, numbers below the least normal number (with the zeros), and
    /// elements that are not finite. A key that differs replaces the old key and its place.
    #[inline(always)]
    pub(crate) fn extend(&mut self, keys: [i64; 2], from: [usize; 2], counts: [usize; 3]) {
        for ((to, old), (from, new)) in
            self.from.iter_mut().zip(&mut self.keys).zip(from.into_iter().zip(keys))
        {
            if *old != new {
                (*to, *old) = (from, new);
            }
        }
        let [zeros, small, non_finite] = counts;
        self.zeros += zeros;
        self.small += small;
        self.non_finite += non_finite;
    }

    /// Adds what is found in `elements` other elements. Indices mean nothing afterwards.
    #[cfg(feature = "views")]
    pub(crate) fn add(&mut self, other: Self, elements: usize, before: usize) {
        let finite = |tally: &Self, elements| tally.non_finite < elements;
        if finite(&other, elements) {
            let [low, high] = other.keys;
            let none = !finite(self, before);
            self.keys = [
                if none { low } else { low.min(self.keys[0]) },
                if none { high } else { high.max(self.keys[1]) },
            ];
        }
        self.zeros += other.zeros;
        self.small += other.small;
        self.non_finite += other.non_finite;
        for (count, more) in self.classes.three.iter_mut().zip(other.classes.three) {
            *count += more;
        }
    }

    /// The statistics with each element counted this many times.
    #[cfg(feature = "views")]
    pub(crate) fn times(self, repeats: usize) -> Self {
        let three = self.classes.three.map(|count| count * repeats);
        Self {
            zeros: self.zeros * repeats,
            small: self.small * repeats,
            non_finite: self.non_finite * repeats,
            classes: ClassCounts { three, ..self.classes },
            ..self
        }
    }
}

/// The validity of a column, and room for a part of it.
#[derive(Debug)]
pub(crate) struct Nulls<'n> {
    pub(crate) bitmap: Bitmap<'n>,
    /// A valid element that is finite.
    pub(crate) first: usize,
    pub(crate) room: &'n mut Room,
}

/// Bytes that are filled at once: few, so that the copy and the column stay in the nearest cache.
pub(crate) const ROOM: usize = COUNTED;

/// Room for a part of a column, from a line of the cache on. Zeros in it would take as long as half
/// a fill.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Room(pub(crate) [MaybeUninit<Line>; ROOM / 64]);

impl Room {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; ROOM / 64])
    }
}
