//! Statistics of numbers: what a loop finds, and the entries.
#![expect(unsafe_code, reason = "lines that a loop has written")]

use core::mem::MaybeUninit;
use core::slice;

use crate::backend::Backend;
use crate::census::Census;
use crate::lane::Lane;
#[cfg(feature = "views")]
use crate::lane::Loops;
use crate::loops::census::ClassCounts;
use crate::loops::nulls::Nulls;
use crate::loops::validity::Bitmap;
use crate::numbers::Numbers;
use crate::scalar;
use crate::simd::{GROUP, Line};

/// The most bytes of one scan.
pub(crate) const SCANNED: usize = 16 * 1024;

/// What a scan is given: codes as integers. Of numbers on both sides of zero, `A` is the lowest and
/// `B` the highest. Of positive ones `B` is the lowest and `A` the highest, of negative ones the
/// other way round.
///
/// ```text
/// unsigned    0 .. least normal number .. B    -0 .. -least .. A        both signs
/// signed      -0 .. -least .. A                0 .. least .. B
/// unsigned    0 .. least .. B .. A             -0 .. -least .. B .. A   one sign
/// ```
///
/// `A` and `B` of each group are kept, so that only these are searched for the group of a new key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'b> {
    /// `A` and `B` so far.
    pub(crate) known: [u64; 2],
    /// The outermost codes that are as expected.
    pub(crate) limits: [u64; 2],
    /// The code that stands in for nulls.
    pub(crate) filling: u64,
    /// Empty if there are no nulls.
    pub(crate) bitmap: Bitmap<'b>,
}

/// What a scan found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Bytes that were looked at.
    pub(crate) bytes: usize,
    /// Elements that are zero, and that are zero or subnormal.
    pub(crate) zeros: usize,
    pub(crate) small: usize,
    /// Elements that are no nulls.
    pub(crate) valid: usize,
    /// Which of the two outermost codes are new.
    pub(crate) new: [bool; 2],
}

/// A line for each group of a scan, and one for all groups. Zeros in all of them would take a tenth
/// of a scan.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The first `written` are initialised.
    lines: [MaybeUninit<Line>; SCANNED / GROUP + 1],
    written: usize,
}

impl Groups {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { lines: [const { MaybeUninit::uninit() }; SCANNED / GROUP + 1], written: 0 }
    }

    /// Adds a line. Does nothing if there are enough for a whole scan.
    #[inline(always)]
    pub(crate) fn push(&mut self, line: Line) {
        if let Some(slot) = self.lines.get_mut(self.written) {
            slot.write(line);
            self.written += 1;
        }
    }

    /// The lines.
    #[inline(always)]
    pub(crate) fn lines(&self) -> &[Line] {
        let lines = &self.lines[..self.written];
        // SAFETY: only `push` raises `written`, after it has written the line before.
        unsafe { slice::from_raw_parts(lines.as_ptr().cast(), lines.len()) }
    }
}

/// What is asked of a loop.
#[derive(Debug)]
pub enum Want<'n> {
    /// All except the places of the lowest and of the highest key.
    #[cfg(feature = "views")]
    Counts,
    /// All, of a column that may have nulls.
    Places(Option<Nulls<'n>>),
}

/// What a loop finds.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
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
    /// The statistics of `x`, of which this is the tally with places.
    pub(crate) fn stats(&self, x: &[u8], numbers: &Numbers) -> Stats {
        let (class, size) = (|class| self.classes.class(class), numbers.size());
        let census = Census::new(class(0), class(1), class(2));
        Stats::new(x.len() / size - self.nulls, self, numbers, census, |which| {
            let (key, index) = (self.keys[which], self.from[which]);
            // Of the element itself, which may be -0.
            let two = numbers.has_two_codes(key);
            let element = if two { scalar::read_any(&x[index * size..][..size]) } else { 0 };
            (numbers.code(key) | element & numbers.sign(), index)
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
    L::stats(backend, x, numbers.non_finite(), numbers, Want::Places(None)).stats(x, numbers)
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
    of(Some(backend), x, numbers.non_finite(), numbers, Want::Counts)
}
