//! Minimum and maximum, and how many elements are zero, subnormal, NaN or infinite.
//!
//! ```text
//! stats(x):
//!     keys = [key of the first finite element; 2]            `Numbers::key`: order of values
//!     part = 4 KiB
//!     until x is at its end:
//!         skip groups of 1 KiB that change nothing           `within`, by `Numbers::range`
//!         order(part), and its census if one was not finite
//!         where a key changed: note the part
//!         part = 1 KiB after skipped groups, otherwise four times as long, up to 16 KiB
//!     place: find the first element of each key, from its part on
//!
//! order(part):                                               loops/stats.rs
//!     for each register:
//!         key = magnitude, negated where the sign is set
//!         lowest = min(lowest, key)
//!         highest = max(highest, key)
//!         count zeros, and magnitudes below the least normal number
//!     if a key is that of NaN or of an infinity: repeat, count the elements that are not finite,
//!         and use a number that was seen before in their place
//! ```
//!
//! ```text
//! magnitudes     0 -- least normal ------ |x| so far ------ largest finite -- Inf -- NaN
//! a group that       |<----- skipped ---->|
//! ```
//!
//! In most tensors a new extreme is rare after the first groups. Where NaN and infinities were
//! found, the next `order` looks for them in its first pass. In formats whose codes are not a sign
//! and a magnitude, `order` always does.
//!
//! Under a validity bitmap another number takes the place of each null, in registers: in `order` a
//! number that was seen before, in `within` one that changes nothing. So a group is skipped if its
//! valid elements change nothing. The last elements of `x`, fewer than 64, are copied to a block of
//! 64, whose other elements count as nulls.

use crate::backend::Backend;
use crate::bitmap::Bitmap;
use crate::bytes;
use crate::census::{Census, Occurrences};
use crate::element::read;
use crate::entry;
use crate::loops::Given;
use crate::numbers::Numbers;
use crate::pieces::{COUNTED, GROUP, elements, until_line};
use crate::rule::{Classes, Rule};
use crate::tables::{Lane, Order, Table, Within};

/// The statistics of some elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// NaN, +Inf and -Inf.
    pub census: Census,
    /// The code and the index of the first minimum. `None` if no element is finite.
    pub lowest: Option<(u64, usize)>,
    /// The same for the maximum.
    pub highest: Option<(u64, usize)>,
    /// Elements that are zero, of either sign.
    pub zeros: usize,
    /// Subnormal numbers.
    pub subnormals: usize,
    /// Normal numbers.
    pub normals: usize,
}

impl Stats {
    /// The statistics of a tally. `place` finds the first element of a key.
    pub(crate) fn new(tally: &Tally, mut place: impl FnMut(i64) -> (u64, usize)) -> Self {
        let Tally { census, keys: [low, high], finite, zeros, small } = *tally;
        Self {
            census,
            lowest: (finite != 0).then(|| place(low)),
            highest: (finite != 0).then(|| place(high)),
            zeros,
            subnormals: small - zeros,
            normals: finite - small,
        }
    }
}

/// What a pass finds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) census: Census,
    /// The lowest and the highest key of finite elements. Without any they mean nothing.
    pub(crate) keys: [i64; 2],
    pub(crate) finite: usize,
    pub(crate) zeros: usize,
    /// Zeros and subnormal numbers.
    pub(crate) small: usize,
}

impl Tally {
    /// Adds what is found in other elements. Indices mean nothing afterwards.
    pub(crate) fn add(&mut self, other: &Self) {
        if self.finite == 0 {
            self.keys = other.keys;
        } else if other.finite != 0 {
            let ([low, high], [other_low, other_high]) = (self.keys, other.keys);
            self.keys = [low.min(other_low), high.max(other_high)];
        }
        self.census = self.census.join(other.census);
        self.finite += other.finite;
        self.zeros += other.zeros;
        self.small += other.small;
    }
}

/// The loops and the questions for elements of one width.
#[derive(Clone, Copy)]
struct Width {
    within: &'static Table<Within>,
    order: &'static Table<Order>,
    position: fn(Option<Backend>, &[u8], &Rule) -> Option<usize>,
    census: fn(Option<Backend>, &[u8], &Rule) -> Census,
    bits: fn(Option<Backend>, &[u8], &Rule, &mut [u8], usize),
}

impl Width {
    const fn of<L: Lane>() -> Self {
        Self {
            within: L::WITHIN,
            order: L::ORDER,
            position: entry::position::<L>,
            census: entry::census::<L>,
            bits: entry::bits::<L>,
        }
    }

    fn of_bytes(rule: &Rule) -> Self {
        bytes::of(rule, [Self::of::<u8>(), Self::of::<u16>(), Self::of::<u32>(), Self::of::<u64>()])
    }
}

/// The most bytes that are ordered before the next search for groups that change nothing.
const LONGEST: usize = 16 * 1024;

/// The elements whose statistics are asked.
#[derive(Clone, Copy)]
struct Column<'c> {
    width: Width,
    backend: Backend,
    numbers: &'c Numbers,
    /// Whole elements.
    x: &'c [u8],
    /// Which elements are valid: all if `None`.
    valid: Option<Bitmap<'c>>,
}

impl Column<'_> {
    /// The index of the first finite element of a column without nulls.
    fn first_finite(&self) -> Option<usize> {
        let special = self.numbers.special;
        if self.x.is_empty() || special.holds(self.bits(0)) {
            return (self.width.position)(Some(self.backend), self.x, &special.not());
        }
        Some(0)
    }

    /// `first` is the index of the first valid element that is finite.
    #[inline(never)]
    fn stats(&self, first: Option<usize>) -> Stats {
        let (tally, from) = self.tally(first);
        let mut from = from.into_iter();
        Stats::new(&tally, |key| self.place(key, from.next().unwrap_or(0)))
    }

    /// One pass. Also returns the first elements of the parts in which the keys were seen first.
    #[inline(never)]
    fn tally(&self, first: Option<usize>) -> (Tally, [usize; 2]) {
        let Self { width, backend, numbers, x, valid } = *self;
        let Some(first) = first else {
            let census = (width.census)(Some(backend), x, &numbers.nan);
            return (Tally { census, ..Tally::default() }, [0; 2]);
        };
        let within = width.within.pick(Some(backend));
        let (size, mut tally) = (numbers.size(), Tally::default());
        tally.keys = [numbers.key(self.bits(first)); 2];
        // The first part ends at a cache line, so that the groups after it begin at one.
        let mut part = COUNTED - (64 - until_line(x, size)) % 64;
        let (mut from, mut done, mut careful) = ([first; 2], 0, false);
        while done < x.len() {
            if done != 0
                && let Some(range) = numbers.range(tally.keys)
            {
                let valid = valid.map(|valid| valid.from(elements(done, size)));
                let clean = within.run(&x[done..], range, valid.as_ref());
                done += clean;
                part = if clean != 0 { GROUP } else { part };
            }
            let end = x.len().min(done + part);
            while done < end {
                // Whole blocks, or the last elements.
                let most = LONGEST.min(end - done);
                let bytes = if most < 64 * size { most } else { most & !(64 * size - 1) };
                let (keys, special) = (tally.keys, tally.census.total());
                self.order(done, bytes, careful, &mut tally);
                for (from, key) in from.iter_mut().zip([0, 1]) {
                    if tally.keys[key] != keys[key] {
                        *from = elements(done, size);
                    }
                }
                // Where an element was not finite, others are likely to follow.
                careful = tally.census.total() != special;
                done += bytes;
            }
            part = (part * 4).clamp(GROUP, LONGEST);
        }
        let all = valid.map_or(elements(x.len(), size), |valid| valid.count());
        tally.finite = all - tally.census.total();
        if numbers.least_normal == 0 {
            (tally.zeros, tally.small) = (0, 0);
        }
        (tally, from)
    }

    /// Looks at every element of a part: whole blocks of 64 elements, or fewer than 64 elements.
    fn order(&self, start: usize, bytes: usize, careful: bool, tally: &mut Tally) {
        let Self { width, backend, numbers, x, valid } = *self;
        let (size, index) = (numbers.size(), elements(start, numbers.size()));
        let (mut part, count) = (&x[start..start + bytes], elements(bytes, size));
        let mut valid = valid.map(|valid| valid.part(index, count));
        let (mut block, word);
        if count < 64 {
            // The rest of the block counts as nulls.
            block = [0; 64 * 8];
            block[..bytes].copy_from_slice(part);
            part = &block[..64 * size];
            word = valid.map_or(!(u64::MAX << count), |valid| valid.rest()).to_le_bytes();
            valid = Bitmap::new(&word, 0, 64);
        }
        // The extreme with the larger magnitude is most often a normal number.
        let [low, high] = tally.keys;
        let outer = if low.unsigned_abs() > high.unsigned_abs() { low } else { high };
        let filling = numbers.code(outer);
        let careful = careful || !numbers.is_sign_magnitude();
        let given = Given { numbers, valid: valid.as_ref(), filling, careful };
        let order = width.order.pick(Some(backend));
        let [zeros, small, special] = order.run(part, &given, &mut tally.keys);
        tally.zeros += zeros;
        tally.small += small;
        let [zero, is_small] = numbers.counts(filling);
        if is_small {
            // The filling was counted once for each null and each special element.
            let nulls = valid.map_or(0, |valid| valid.len() - valid.count());
            tally.zeros -= if zero { nulls + special } else { 0 };
            tally.small -= nulls + special;
        }
        if special != 0 {
            let known = tally.census.nan.first.is_some();
            let census = self.census(part, valid, special, known);
            tally.census = tally.census.join(census.behind(index));
        }
    }

    /// The census of a part, with `special` NaN and infinities. `known`: the first NaN is known.
    #[inline(never)]
    fn census(&self, x: &[u8], valid: Option<Bitmap<'_>>, special: usize, known: bool) -> Census {
        let (numbers, backend) = (self.numbers, Some(self.backend));
        let classes = Classes::of(&numbers.nan);
        if classes.is_none() && known {
            return Census { nan: Occurrences::new(special, None), ..Census::default() };
        }
        let Some(valid) = valid else { return (self.width.census)(backend, x, &numbers.nan) };
        let (mut bits, mut left) = ([0; LONGEST / 8], special);
        let mut found = |rule: Rule| {
            if left == 0 {
                return Occurrences::default();
            }
            (self.width.bits)(backend, x, &rule, &mut bits, 0);
            let found = valid.occurrences(&bits);
            left -= found.count;
            found
        };
        let infinity = |negative| {
            classes.map_or(Rule::never(numbers.size()), |classes| classes.infinity(negative))
        };
        Census::new(found(numbers.nan), found(infinity(false)), found(infinity(true)))
    }

    /// The bits of an element.
    fn bits(&self, index: usize) -> u64 {
        read(&self.x[index * self.numbers.size()..][..self.numbers.size()])
    }

    /// The code and the index of the first valid element of this key, from element `from` on.
    fn place(&self, key: i64, from: usize) -> (u64, usize) {
        let (numbers, mut at) = (self.numbers, from);
        let rule = numbers.has_key(key);
        // The pass has seen such an element, so there is one.
        while let Some(found) =
            (self.width.position)(Some(self.backend), &self.x[at * numbers.size()..], &rule)
        {
            at += found;
            if self.valid.is_none_or(|valid| valid.is_valid(at)) {
                break;
            }
            at += 1;
        }
        // Zero has two codes.
        let sign = if numbers.has_two_codes(key) { self.bits(at) & numbers.sign } else { 0 };
        (numbers.code(key) | sign, at)
    }
}

/// Statistics of `x` in one pass. `None` means the active backend.
///
/// # Panics
/// If `numbers` are for elements of another width.
#[must_use]
pub fn stats<L: Lane>(backend: Option<Backend>, x: &[u8], numbers: &Numbers) -> Stats {
    assert!(numbers.size() == L::SIZE, "numbers of another width");
    stats_by(Width::of::<L>(), backend, x, numbers)
}

/// [`crate::typed::stats`] for elements whose width `numbers` says.
#[must_use]
pub fn stats_of_bytes(backend: Option<Backend>, x: &[u8], numbers: &Numbers) -> Stats {
    stats_by(Width::of_bytes(&numbers.nan), backend, x, numbers)
}

#[inline(never)]
fn stats_by(width: Width, backend: Option<Backend>, x: &[u8], numbers: &Numbers) -> Stats {
    let x = &x[..elements(x.len(), numbers.size()) * numbers.size()];
    let backend = backend.unwrap_or_else(Backend::active);
    let column = Column { width, backend, numbers, x, valid: None };
    column.stats(column.first_finite())
}

/// The tally of some elements.
pub(crate) fn tally(backend: Backend, x: &[u8], numbers: &Numbers) -> Tally {
    let width = Width::of_bytes(&numbers.nan);
    let column = Column { width, backend, numbers, x, valid: None };
    column.tally(column.first_finite()).0
}

/// Statistics of the valid elements of `x`. Indices count nulls too. `first` is the index of the
/// first valid element that is finite. `None` means the active backend.
///
/// # Panics
/// If the bitmap is not as long as `x`, or if element `first` is null or not finite, or does not
/// exist.
#[must_use]
pub fn stats_of_valid(
    backend: Option<Backend>,
    x: &[u8],
    numbers: &Numbers,
    valid: Bitmap<'_>,
    first: usize,
) -> Stats {
    let (size, backend) = (numbers.size(), backend.unwrap_or_else(Backend::active));
    let elements = elements(x.len(), size);
    assert!(elements == valid.len(), "{elements} elements and {} validity bits", valid.len());
    let (x, valid) = (&x[..elements * size], Some(valid));
    let column = Column { width: Width::of_bytes(&numbers.nan), backend, numbers, x, valid };
    let usable = column.valid.is_some_and(|valid| valid.is_valid(first));
    let usable = usable && !numbers.special.holds(column.bits(first));
    assert!(usable, "element {first} is null or not finite");
    column.stats(Some(first))
}
