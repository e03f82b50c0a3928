//! Statistics of numbers: what a loop finds, and the entries.

use crate::backend::Backend;
use crate::census::Census;
use crate::entry;
use crate::lane::Lane;
#[cfg(feature = "views")]
use crate::lane::Loops;
use crate::loops::census::ClassCounts;
use crate::numbers::Numbers;
use crate::rule::Rule;

/// The most bytes of one scan.
pub(crate) const SCANNED: usize = 16 * 1024;

/// What a scan found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Bytes that were looked at.
    pub(crate) bytes: usize,
    /// Elements that are zero, and that are zero or subnormal.
    pub(crate) zeros: usize,
    pub(crate) small: usize,
    /// For each key that is new, the bytes before the group that has it first.
    pub(crate) groups: [usize; 2],
}

/// What a loop finds.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// The lowest and the highest key of finite elements. Without any they mean nothing.
    pub(crate) keys: [i64; 2],
    /// Elements before which there is none of these keys.
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

    /// Adds counts (zeros, zeros and subnormal numbers, what is not finite), and takes new keys and
    /// their places.
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

/// The statistics of some elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// NaN, +Inf and -Inf.
    pub census: Census,
    /// The code and the index of the first element with the minimum.
    pub lowest: Option<(u64, usize)>,
    /// The same with the maximum.
    pub highest: Option<(u64, usize)>,
    /// Elements that are zero, of either sign.
    pub zeros: usize,
    /// Subnormal numbers.
    pub subnormals: usize,
    /// Normal numbers.
    pub normals: usize,
}

impl Stats {
    /// Of `elements` elements, of which `tally` was taken. `census` and `first`, which finds the
    /// first element of a key, count from the first of them.
    #[inline(always)]
    pub(crate) fn new(
        elements: usize,
        tally: &Tally,
        numbers: &Numbers,
        census: Census,
        mut first: impl FnMut(usize) -> (u64, usize),
    ) -> Self {
        let finite = elements - tally.non_finite;
        let mut extreme = |which| if finite == 0 { None } else { Some(first(which)) };
        let (zeros, small) =
            if numbers.least_normal() == 0 { (0, 0) } else { (tally.zeros, tally.small) };
        Self {
            census,
            lowest: extreme(0),
            highest: extreme(1),
            zeros,
            subnormals: small - zeros,
            normals: finite - small,
        }
    }
}

impl Tally {
    /// The statistics of `x`, which `find` searches: for the first element from an index on that a
    /// rule holds for.
    pub(crate) fn stats<L: Lane>(
        &self,
        backend: Option<Backend>,
        x: &[u8],
        numbers: &Numbers,
        find: &mut dyn FnMut(usize, &Rule) -> Option<usize>,
    ) -> Stats {
        let class = |class| self.classes.class(class);
        let census = Census::new(class(0), class(1), class(2));
        Stats::new(x.len() / L::SIZE - self.nulls, self, numbers, census, |which| {
            let (key, from) = (self.keys[which], self.from[which]);
            // The loop has seen it.
            let index = find(from, &numbers.has_key(key)).unwrap_or(from);
            let element = &x[index * L::SIZE..][..L::SIZE];
            let minus_zero = numbers.has_two_codes(key)
                && entry::position::<L>(backend, element, &numbers.has_code(numbers.sign()))
                    .is_some();
            (if minus_zero { numbers.sign() } else { numbers.code(key) }, index)
        })
    }
}

/// Statistics of `x` in one pass. `backend` is the active one if `None`.
///
/// # Panics
/// If the numbers are of another width.
#[must_use]
pub fn stats<L: Lane>(backend: Option<Backend>, x: &[u8], numbers: &Numbers) -> Stats {
    assert!(numbers.size() == L::SIZE, "numbers of another width");
    let elements = x.len() / L::SIZE;
    let x = &x[..elements * L::SIZE];
    if x.is_empty() {
        return Stats::default();
    }
    let tally = L::stats(backend, x, numbers.non_finite(), numbers, None);
    tally.stats::<L>(backend, x, numbers, &mut |from, rule| {
        entry::position::<L>(backend, &x[from * L::SIZE..], rule).map(|index| from + index)
    })
}

/// [`crate::typed::stats`] of elements whose width is known at run time only.
#[must_use]
pub fn stats_of_bytes(backend: Option<Backend>, x: &[u8], numbers: &Numbers) -> Stats {
    match numbers.size() {
        1 => stats::<u8>(backend, x, numbers),
        2 => stats::<u16>(backend, x, numbers),
        4 => stats::<u32>(backend, x, numbers),
        _ => stats::<u64>(backend, x, numbers),
    }
}

/// What the loop finds, without the indices of the lowest and the highest number.
#[cfg(feature = "views")]
#[inline(never)]
pub(crate) fn tally(backend: Backend, x: &[u8], numbers: &Numbers) -> Tally {
    let of = match numbers.size() {
        1 => u8::stats,
        2 => u16::stats,
        4 => u32::stats,
        _ => u64::stats,
    };
    of(Some(backend), x, numbers.non_finite(), numbers, None)
}
