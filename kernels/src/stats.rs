//! Statistics of numbers: what a loop finds, and the entries.

use crate::backend::{Backend, Row};
use crate::census::Census;
use crate::lane::{Lane, Loops, of_width};
use crate::line::elements;
use crate::loops::driver::Statistics;
use crate::numbers::Numbers;
use crate::scalar;
use crate::tally::{Tally, Want};

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
    /// The statistics of `x`, of which this is the tally with places.
    #[inline(never)]
    pub(crate) fn stats(&self, x: &[u8], numbers: &Numbers) -> Stats {
        let (class, size) = (|class| self.classes.class(class), numbers.size());
        let census = Census::new(class(0), class(1), class(2));
        Stats::new(elements(x.len(), size) - self.nulls, self, numbers, census, |which| {
            self.place(which, x, numbers)
        })
    }

    /// The code and the index of the lowest (0) or highest (1) number.
    #[inline(never)]
    fn place(&self, which: usize, x: &[u8], numbers: &Numbers) -> (u64, usize) {
        let (key, index, size) = (self.keys[which], self.from[which], numbers.size());
        // Of the element itself, which may be -0.
        let two = numbers.has_two_codes(key);
        let element = if two { scalar::read_any(&x[index * size..][..size]) } else { 0 };
        (numbers.code(key) | element & numbers.sign(), index)
    }
}

/// Statistics of `x` in one pass. `backend` is the active one if `None`.
///
/// # Panics
/// If the numbers are of another width.
#[must_use]
pub fn stats<L: Lane>(backend: Option<Backend>, x: &[u8], numbers: &Numbers) -> Stats {
    assert!(numbers.size() == L::SIZE, "numbers of another width");
    stats_by(backend, x, numbers, L::STATS)
}

/// [`crate::typed::stats`] of elements whose width is known at run time only.
#[must_use]
pub fn stats_of_bytes(backend: Option<Backend>, x: &[u8], numbers: &Numbers) -> Stats {
    let (row, _) = of_width(numbers.size(), &[u8::STATS, u16::STATS, u32::STATS, u64::STATS]);
    stats_by(backend, x, numbers, row)
}

#[inline(never)]
fn stats_by(
    backend: Option<Backend>,
    x: &[u8],
    numbers: &Numbers,
    row: &Row<Statistics<1>>,
) -> Stats {
    let elements = elements(x.len(), numbers.size());
    let x = &x[..elements * numbers.size()];
    if x.is_empty() {
        return Stats::default();
    }
    let out = (numbers, Want::Places(None));
    row.run(backend, x, numbers.non_finite(), out).stats(x, numbers)
}

/// What the loop finds, without the indices of the lowest and the highest number.
#[cfg(feature = "views")]
#[inline(never)]
pub(crate) fn tally(backend: Backend, x: &[u8], numbers: &Numbers) -> Tally {
    let (row, _) = of_width(numbers.size(), &[u8::STATS, u16::STATS, u32::STATS, u64::STATS]);
    row.run(Some(backend), x, numbers.non_finite(), (numbers, Want::Counts))
}
