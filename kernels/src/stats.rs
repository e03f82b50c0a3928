//! Minimum and maximum, and how many elements are zero, subnormal, NaN or infinite.
//!
//! ```text
//! stats(x):
//!     keys = [key of the first finite element; 2]            `Numbers::key`: order of values
//!     run = 4 KiB
//!     until x is at its end:
//!         skip groups of 1 KiB that change nothing           `InRange`, by `Numbers::range`
//!         Order(run), and its census if one was not finite
//!         where a key changed: note the run
//!         run = 1 KiB after skipped groups, otherwise four times as long, up to 16 KiB
//!     first: find the first element of each key, from its run on
//!
//! Order(run):                                                loops/stats.rs
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
//! In most tensors a new extreme is rare after the first groups. After a run with NaN or
//! infinities, `Order` looks for them in its first pass. In formats whose codes are not a sign and
//! a magnitude, `Order` always does.
//!
//! Under a bitmap another number takes the place of each null, in registers: in `Order` a number
//! that was seen before, in `InRange` a number that changes nothing. The last elements of a run,
//! fewer than 64, are copied to a block, which is filled with the number that stands for nulls.
//!
//! A call on 1 KiB spends less time in the loops than between them. So one function has all that a
//! short call runs, and no load reads what several narrower stores have just written: such a load
//! waits until these stores are done.

use crate::backend::Backend;
use crate::bitmap::Bitmap;
use crate::census::{Census, Occurrences};
use crate::dispatch::{Dispatched, Table};
use crate::element::read;
use crate::entry;
use crate::lines::{COUNTED, GROUP, Long, elements, until_line};
use crate::loops::{Bounds, FindCode, Given, InRange, Order};
use crate::numbers::Numbers;
use crate::rule::{Classes, Rule};

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
    /// The statistics of a tally. `extremes` are the codes and the places of its keys.
    pub(crate) fn new(tally: &Tally, extremes: Option<[(u64, usize); 2]>) -> Self {
        let Tally { census, finite, zeros, small, .. } = *tally;
        Self {
            census,
            lowest: extremes.map(|[lowest, _]| lowest),
            highest: extremes.map(|[_, highest]| highest),
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
    /// The first elements of the runs in which the keys were seen first.
    from: [usize; 2],
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
pub(crate) struct ForWidth {
    in_range: &'static Table<InRange>,
    order: &'static Table<Order>,
    find_code: &'static Table<FindCode>,
    position: fn(Option<Backend>, &[u8], &Rule) -> Option<usize>,
    census: fn(Option<Backend>, &[u8], &Rule) -> Census,
    bits: fn(Option<Backend>, &[u8], &Rule, &mut [u8], usize),
}

impl ForWidth {
    pub(crate) const fn of(
        size: usize,
        position: fn(Option<Backend>, &[u8], &Rule) -> Option<usize>,
        census: fn(Option<Backend>, &[u8], &Rule) -> Census,
        bits: fn(Option<Backend>, &[u8], &Rule, &mut [u8], usize),
    ) -> Self {
        let i = size.trailing_zeros() as usize;
        let (in_range, order) = (InRange::TABLES[i], Order::TABLES[i]);
        Self { in_range, order, find_code: FindCode::TABLES[i], position, census, bits }
    }

    fn of_size(size: usize) -> &'static Self {
        const fn of(size: usize) -> ForWidth {
            ForWidth::of(size, entry::position, entry::census, entry::bits)
        }
        static ALL: [ForWidth; 4] = [of(1), of(2), of(4), of(8)];
        &ALL[size.trailing_zeros() as usize % 4]
    }
}

/// The most bytes that are ordered before the next search for groups that change nothing.
const LONGEST: usize = 16 * 1024;

/// The elements whose statistics are asked.
#[derive(Clone, Copy)]
struct Column<'c> {
    loops: &'static ForWidth,
    backend: Backend,
    numbers: &'c Numbers,
    /// Whole elements.
    x: &'c [u8],
    /// Which elements are valid: all if `None`.
    valid: Option<Bitmap<'c>>,
}

impl Column<'_> {
    /// The index of the first finite element of a column without nulls.
    #[inline(always)]
    fn first_finite(&self) -> Option<usize> {
        let special = &self.numbers.special;
        if self.x.is_empty() || special.holds(self.bits(0)) {
            return (self.loops.position)(Some(self.backend), self.x, &special.not());
        }
        Some(0)
    }

    /// `first` is the index of the first valid element that is finite.
    #[inline(always)]
    fn stats(&self, first: Option<usize>) -> Stats {
        let mut tally = Tally::default();
        self.tally(first, &mut tally);
        if tally.finite == 0 {
            return Stats::new(&tally, None);
        }
        let ([low, high], [from_low, from_high]) = (tally.keys, tally.from);
        Stats::new(&tally, Some([self.first(low, from_low), self.first(high, from_high)]))
    }

    /// The code and the index of the first valid element of this key, from element `at` on.
    #[inline(never)]
    fn first(&self, key: i64, mut at: usize) -> (u64, usize) {
        let (numbers, x) = (self.numbers, self.x);
        let ([mask, code], mut line) = (numbers.of_key(key), [0; 64]);
        let backend = Some(self.backend);
        let find_code = self.loops.find_code.pick(backend);
        loop {
            let rest = &x[at * numbers.size()..];
            // The pass has seen such an element, so there is one.
            at += if rest.len() > COUNTED {
                (self.loops.position)(backend, rest, &numbers.has_key(key)).unwrap_or(0)
            } else if let Some(rest) = Long::new(rest) {
                find_code.run(rest, (mask, code), ())
            } else {
                line[..rest.len()].copy_from_slice(rest);
                find_code.run(Long::of(&line), (mask, code), ())
            };
            if self.valid.is_none_or(|valid| valid.is_valid(at)) {
                // Zero has two codes.
                let sign = if key == 0 { self.bits(at) & numbers.sign } else { 0 };
                return (code | sign, at);
            }
            at += 1;
        }
    }

    #[inline(always)]
    fn tally(&self, first: Option<usize>, tally: &mut Tally) {
        let Self { loops, backend, numbers, x, valid } = *self;
        let size = numbers.size();
        let Some(first) = first else {
            tally.census = (loops.census)(Some(backend), x, &numbers.nan);
            return;
        };
        (tally.keys, tally.from) = ([numbers.key(self.bits(first)); 2], [first; 2]);
        // The first run ends at a cache line, so that the groups after it begin at one.
        let run = x.len().min(COUNTED - (64 - until_line(x, size)) % 64);
        let careful = self.order(0, run, false, tally);
        if run < x.len() {
            self.order_rest(run, careful, tally);
        }
        let all = valid.map_or(elements(x.len(), size), |valid| valid.count(Some(self.backend)));
        tally.finite = all - tally.census.total();
        if numbers.least_normal == 0 {
            (tally.zeros, tally.small) = (0, 0);
        }
    }

    /// Looks at the runs behind the first, which has `done` bytes.
    #[inline(never)]
    fn order_rest(&self, mut done: usize, mut careful: bool, tally: &mut Tally) {
        let Self { loops, backend, numbers, x, valid } = *self;
        let (in_range, mut run) = (loops.in_range.pick(Some(backend)), LONGEST);
        while done < x.len() {
            if let Some(range) = numbers.range(tally.keys) {
                let valid = valid.map(|valid| valid.from(elements(done, numbers.size())));
                let bounds = Bounds { range, valid: valid.as_ref() };
                let clean = in_range.run(&x[done..], &bounds, ());
                done += clean;
                run = if clean != 0 { GROUP } else { run };
            }
            let bytes = run.min(x.len() - done);
            if bytes != 0 {
                careful = self.order(done, bytes, careful, tally);
            }
            done += bytes;
            run = (run * 4).clamp(GROUP, LONGEST);
        }
    }

    /// Looks at every element of a run. Returns whether one was not finite: then others are likely
    /// to follow, so the next run is looked at with care.
    #[inline(never)]
    fn order(&self, start: usize, bytes: usize, careful: bool, tally: &mut Tally) -> bool {
        let Self { loops, backend, numbers, x, valid } = *self;
        let (size, index) = (numbers.size(), elements(start, numbers.size()));
        let run = &x[start..start + bytes];
        let valid = valid.map(|valid| valid.part(index, elements(bytes, size)));
        // The extreme with the larger magnitude is most often a normal number.
        let [low, high] = tally.keys;
        let filling = numbers.code(if high < -low { low } else { high });
        let (blocks, rest) = run.split_at(bytes & !(64 * size - 1));
        let mut room;
        let (mut last, mut padding): (&[u8], _) = (&[], 0);
        if !rest.is_empty() {
            // The elements that are left over, and fillings behind them.
            room = [numbers.eight_bytes(filling); 64];
            room.as_flattened_mut()[..rest.len()].copy_from_slice(rest);
            (last, padding) = (room[..8 * size].as_flattened(), 64 - elements(rest.len(), size));
        }
        let careful = careful || !numbers.sign_magnitude;
        let (valid, last_valid) = (valid.as_ref(), valid.map_or(0, |valid| valid.rest()));
        let given = Given { numbers, blocks, last, valid, last_valid, filling, careful };
        let order = loops.order.pick(Some(backend));
        let [zeros, small, special] = order.run(&given, (), &mut tally.keys);
        for (from, (key, known)) in tally.from.iter_mut().zip(tally.keys.iter().zip([low, high])) {
            *from = if *key == known { *from } else { index };
        }
        tally.zeros += zeros;
        tally.small += small;
        let [zero, is_small] = numbers.counts(filling);
        if is_small {
            // Once for each null, each special element, and each element that fills the last block.
            let nulls = valid.map_or(0, |valid| valid.len() - valid.count(Some(self.backend)));
            let fillings = nulls + special + padding;
            tally.zeros -= if zero { fillings } else { 0 };
            tally.small -= fillings;
        }
        if special != 0 {
            let known = tally.census.nan.first.is_some();
            let census = self.census(run, valid.copied(), special, known);
            tally.census = tally.census.join(census.behind(index));
        }
        special != 0
    }

    /// The census of a run, with `special` NaN and infinities. `known`: the first NaN is known.
    #[inline(never)]
    fn census(&self, x: &[u8], valid: Option<Bitmap<'_>>, special: usize, known: bool) -> Census {
        let (numbers, backend) = (self.numbers, Some(self.backend));
        let classes = Classes::of(&numbers.nan);
        if classes.is_none() && known {
            return Census { nan: Occurrences::new(special, None), ..Census::default() };
        }
        let Some(valid) = valid else { return (self.loops.census)(backend, x, &numbers.nan) };
        let (mut bits, mut left) = ([0; LONGEST / 8], special);
        let mut found = |rule: Rule| {
            if left == 0 {
                return Occurrences::default();
            }
            (self.loops.bits)(backend, x, &rule, &mut bits, 0);
            let found = valid.occurrences(backend, &bits);
            left -= found.count;
            found
        };
        let infinity = |negative| {
            classes.map_or(Rule::never(numbers.size()), |classes| classes.infinity(negative))
        };
        Census::new(found(numbers.nan), found(infinity(false)), found(infinity(true)))
    }

    #[inline(always)]
    fn bits(&self, index: usize) -> u64 {
        let size = self.numbers.size();
        let bytes = &self.x[index * size..][..size];
        // By a number of bytes that the compiler knows: it writes the loops out.
        match size {
            1 => read(&bytes[..1]),
            2 => read(&bytes[..2]),
            4 => read(&bytes[..4]),
            _ => read(&bytes[..8]),
        }
    }
}

/// [`crate::typed::stats`] for elements whose width `numbers` says.
#[must_use]
pub fn stats(backend: Option<Backend>, x: &[u8], numbers: &Numbers) -> Stats {
    stats_by(ForWidth::of_size(numbers.size()), backend, x, numbers)
}

#[inline(never)]
pub(crate) fn stats_by(
    loops: &'static ForWidth,
    backend: Option<Backend>,
    x: &[u8],
    numbers: &Numbers,
) -> Stats {
    let x = &x[..elements(x.len(), numbers.size()) * numbers.size()];
    let backend = backend.unwrap_or_else(Backend::active);
    let column = Column { loops, backend, numbers, x, valid: None };
    column.stats(column.first_finite())
}

pub(crate) fn tally(backend: Backend, x: &[u8], numbers: &Numbers) -> Tally {
    let loops = ForWidth::of_size(numbers.size());
    let column = Column { loops, backend, numbers, x, valid: None };
    let mut tally = Tally::default();
    column.tally(column.first_finite(), &mut tally);
    tally
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
    let column = Column { loops: ForWidth::of_size(size), backend, numbers, x, valid };
    let usable = column.valid.is_some_and(|valid| valid.is_valid(first));
    let usable = usable && !numbers.special.holds(column.bits(first));
    assert!(usable, "element {first} is null or not finite");
    column.stats(Some(first))
}
