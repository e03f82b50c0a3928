//! Minimum and maximum, and how many are zero, subnormal, NaN or infinite.
//!
//! ```text
//! stats(x):
//!     keys = [key of the first finite element; 2]
//!     expect = normal numbers
//!     part = the bytes before a cache line, and 256
//!     until x is at its end:
//!         from 16 KiB on: skip groups of 1 KiB that change nothing       `Numbers::range`
//!             from 1 KiB on where scans are slow: AVX2 and NEON of 64 bits, and portable
//!         if a group was skipped: part = 1 KiB
//!         with nulls: part = fill(part)                  nulls.rs; and skip looks at the bitmap
//!         taken = scan(expect, part), or else order(4 KiB of the part)
//!             after NaN or an infinity: order(part)
//!         add the counts of what was taken to the tally
//!         where a key is new: note the group that has it first, or the beginning of the part
//!         if one was not finite: count NaN, +Inf and -Inf as census.rs does
//!         expect = what was in the part
//!         part = 16 KiB at first, later 1 KiB, 4 KiB, then 16 KiB
//!     the caller searches the first element of the lowest key, and of the highest
//!
//! scan(expect, part):                            registers/stats.rs; signed formats
//!     for each chunk of 4 KiB:
//!         of each group of 1 KiB: the highest code as unsigned integer, and as signed one
//!         normal numbers:                        has every exponent a bit?
//!         zeros and subnormal numbers too:       count both
//!         if an element was not as expected: return the bytes before the chunk
//!     for each key that is new: the first group that has it
//!
//! order(part):                                   any format, any elements
//!     for each register:
//!         key = magnitude, negated where the sign is set
//!         lowest = min(lowest, key)              NaN and infinities: the lowest so far instead
//!         highest = max(highest, key)
//!         count zeros, magnitudes below the least normal number, and what is not finite
//! ```
//!
//! ```text
//! magnitudes     0 -- least normal ------ |x| so far ------ largest finite -- Inf -- NaN
//! the screen         |<----- skipped ---->|                  one subtraction and one maximum
//! ```
//!
//! A scan needs that the numbers so far are on both sides of zero, or zero. Of numbers of one sign
//! it takes the highest and the lowest code instead, and a zero or another sign ends it.
//!
//! In most tensors a new extreme is rare behind the first groups, and zeros are absent or many. So
//! the first 16 KiB are not screened, and parts grow while groups do not pass the screen. Registers
//! of 64 bytes have one maximum a cycle on the CPUs measured: a scan of normal numbers takes two
//! cycles a line, a screen one and a half.

use super::census::{ClassCounts, Classify, Three};
use super::nulls::{Nulls, ROOM, Room, SkipValid};
use super::position::Find;
use super::skip::longer;
use super::validity::{Bitmap, CountNulls};
use crate::numbers::{Numbers, Range};
use crate::rule::Comparison;
use crate::scalar;
use crate::simd::{COUNTED, GROUP, Line, Loop, Simd, expect, lines, until_line};
use crate::stats::Tally;

/// Bytes that are looked at first, from the first line of the cache on.
const FIRST: usize = 256;

/// Looks at every element.
struct Order<const W: usize>;

impl<const W: usize> Loop for Order<W> {
    type Out<'o> = (&'o Numbers, &'o mut Tally, usize, u64);
    type Output = ();

    /// Adds the elements of `x`, of which the first has this index, to a tally without classes. One
    /// element that has been seen before is given as filling.
    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        _: &Comparison,
        (numbers, tally, index, filling): Self::Out<'_>,
    ) {
        let (pairs, _) = lines(x).0.as_chunks::<2>();
        let (mut keys, mut counts) = (tally.keys, [0; 3]);
        let mut add = |more: [usize; 3]| {
            for (count, more) in counts.iter_mut().zip(more) {
                *count += more;
            }
        };
        for part in pairs.chunks(COUNTED / 128) {
            add(isa.order::<W>(part, numbers, &mut keys));
        }
        let few = &x[pairs.len() * 128..];
        if !few.is_empty() {
            add(isa.order::<W>(&[filled::<W>(few, filling)], numbers, &mut keys));
            let filled = (128 - few.len()) / W;
            for (count, one) in counts.iter_mut().zip(numbers.counts(filling)) {
                *count -= usize::from(one) * filled;
            }
        }
        if numbers.nan_is_negative_zero() {
            (counts[0], counts[1]) = (counts[0] - counts[2], counts[1] - counts[2]);
        }
        tally.extend(keys, [index; 2], counts);
    }
}

/// Two lines that begin with a few bytes. The rest is an element that was seen before.
#[inline(always)]
fn filled<const W: usize>(few: &[u8], filling: u64) -> [Line; 2] {
    let mut pair = [[0; 64]; 2];
    let bytes = pair.as_flattened_mut();
    for element in bytes.as_chunks_mut::<W>().0 {
        scalar::write(element, filling);
    }
    bytes[..few.len()].copy_from_slice(few);
    pair
}

/// Looks at elements as long as they are as expected.
struct Scan<const W: usize, const EXPECT: u8>;

impl<const W: usize, const EXPECT: u8> Loop for Scan<W, EXPECT> {
    type Out<'o> = (&'o Numbers, &'o mut Tally, usize);
    type Output = usize;

    /// Adds elements of `x`, of which the first has this index, to a tally without classes. Returns
    /// how many bytes that are.
    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        _: &Comparison,
        (numbers, tally, index): Self::Out<'_>,
    ) -> usize {
        let mut keys = tally.keys;
        let found = isa.scan::<W, EXPECT>(lines(x).0.as_chunks().0, numbers, &mut keys);
        let counts = [found.zeros, found.small, 0];
        tally.extend(keys, found.groups.map(|bytes| index + bytes / W), counts);
        found.bytes
    }
}

/// The bytes of whole groups whose elements are in the range.
struct SkipWithin<const W: usize>;

impl<const W: usize> Loop for SkipWithin<W> {
    type Out<'o> = Range;
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], _: &Comparison, range: Range) -> usize {
        let bounds = isa.bounds::<W>(range);
        let groups = lines(x).0.as_chunks::<2>().0.as_chunks::<{ GROUP / 128 }>().0;
        // A closure would not be inlined, and so not be compiled for the instruction set.
        for (i, group) in groups.iter().enumerate() {
            if !isa.within::<W>(group, bounds) {
                return i * GROUP;
            }
        }
        groups.len() * GROUP
    }
}

/// The loops for elements of one width, so that [`drive`] is compiled once for all widths.
struct Steps<I> {
    find: Step<I, (), Option<usize>>,
    classify: Step<I, (), Three>,
    skip: Step<I, Range, usize>,
    skip_valid: fn(I, &[u8], &Comparison, (Range, Bitmap<'_>)) -> usize,
    fill: for<'r> fn(&'r mut Room, I, &[u8], usize, (Bitmap<'_>, u64)) -> &'r [u8],
    order: for<'o> fn(I, &[u8], &Comparison, (&'o Numbers, &'o mut Tally, usize, u64)),
    /// By the constants of [`expect`].
    scans: [Scan3<I>; 3],
}

type Step<I, O, R> = fn(I, &[u8], &Comparison, O) -> R;
type Scan3<I> = for<'o> fn(I, &[u8], &Comparison, (&'o Numbers, &'o mut Tally, usize)) -> usize;

/// Statistics of at least one element. The first is no null. If there are nulls, it is finite, too.
pub(crate) struct Statistics<const W: usize>;

impl<const W: usize> Loop for Statistics<W> {
    type Out<'o> = (&'o Numbers, Option<Nulls<'o>>);
    type Output = Tally;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], _: &Comparison, (numbers, nulls): Self::Out<'_>) -> Tally {
        let steps = const {
            &Steps {
                find: I::run::<Find<W>>,
                classify: I::run::<Classify<W>>,
                skip: I::run::<SkipWithin<W>>,
                skip_valid: I::run::<SkipValid<W>>,
                fill: Room::filled::<I, W>,
                order: I::run::<Order<W>>,
                scans: [
                    I::run::<Scan<W, { expect::ONE_SIGN }>>,
                    I::run::<Scan<W, { expect::NORMAL }>>,
                    I::run::<Scan<W, { expect::FINITE }>>,
                ],
            }
        };
        // First what stands before the first line of the cache, and four lines.
        drive(isa, steps, isa.screened_from::<W>(), until_line::<W>(x) + FIRST, x, numbers, nulls)
    }
}

/// The algorithm of the module, for elements of any width. `run` is how many bytes it looks at
/// first. From `screened` on it skips groups.
#[inline(never)]
fn drive<I: Simd>(
    isa: I,
    steps: &Steps<I>,
    screened: usize,
    mut run: usize,
    x: &[u8],
    numbers: &Numbers,
    mut nulls: Option<Nulls<'_>>,
) -> Tally {
    let (mut tally, rule, size) = (Tally::new(), numbers.non_finite(), numbers.size());
    let mut finite = Some(0);
    if rule.holds(scalar::read_any(&x[..size])) {
        finite = (steps.find)(isa, x, &rule.not(), ());
    }
    // If none is finite, any element does: no key counts.
    let first = finite.unwrap_or(0);
    let filling = scalar::read_any(&x[first * size..][..size]);
    tally.keys = [numbers.key(filling); 2];
    tally.from = [first; 2];
    let scans = I::SCANS && finite.is_some() && numbers.is_sign_magnitude();
    let (mut done, mut expect) = (0, expect::NORMAL);
    loop {
        if done >= screened {
            let range = finite.and_then(|_| numbers.range(tally.keys));
            let rest = &x[done..];
            let clean = match (range, &nulls) {
                (None, _) => 0,
                (Some(range), None) => (steps.skip)(isa, rest, rule, range),
                (Some(range), Some(Nulls { bitmap, .. })) => {
                    let bitmap = bitmap.from(done / size);
                    let clean = (steps.skip_valid)(isa, rest, rule, (range, bitmap));
                    tally.nulls += CountNulls::run(isa, bitmap, clean / size, rule);
                    clean
                }
            };
            done += clean;
            if clean != 0 {
                run = GROUP;
            }
        }
        let rest = &x[done..];
        if rest.is_empty() {
            return tally;
        }
        let mut part = &rest[..run.min(rest.len())];
        let bitmap = nulls.as_ref().map(|nulls| nulls.bitmap.from(done / size));
        if let (Some(nulls), Some(bitmap)) = (&mut nulls, bitmap) {
            let bytes = part.len().min(ROOM);
            part = (steps.fill)(nulls.room, isa, rest, bytes, (bitmap, filling));
        }
        let [low, high] = tally.keys;
        let around_zero = low <= 0 && high >= 0;
        // A scan of one sign takes normal numbers only, those so far included.
        let normal = low.unsigned_abs().min(high.unsigned_abs()) >= numbers.least_normal();
        let (small, non_finite, index) = (tally.small, tally.non_finite, done / size);
        let mut scanned = 0;
        if scans && done != 0 && part.len() >= 128 && expect != expect::ANYTHING {
            let scan = match expect {
                expect::NORMAL if !around_zero && normal => Some(expect::ONE_SIGN),
                _ if !around_zero => None,
                expect => Some(expect),
            };
            if let Some(scan) = scan {
                let out = (numbers, &mut tally, index);
                scanned = (steps.scans[usize::from(scan)])(isa, part, rule, out);
            }
        }
        if scanned != 0 {
            part = &part[..scanned];
        } else {
            // What a scan did not expect may end soon.
            if expect != expect::ANYTHING && done != 0 {
                part = &part[..part.len().min(COUNTED)];
            }
            let out = (numbers, &mut tally, index, filling);
            (steps.order)(isa, part, rule, out);
        }
        let (small, special) = (tally.small - small, tally.non_finite - non_finite);
        if special != 0 {
            classify(isa, steps, part, numbers, special, index, &mut tally.classes);
        }
        let seen = match (small, special) {
            (0, 0) => expect::NORMAL,
            (_, 0) => expect::FINITE,
            _ => expect::ANYTHING,
        };
        // A group may be normal by chance.
        expect = if part.len() > GROUP { seen } else { expect.max(seen) };
        if let Some(bitmap) = bitmap {
            let copies = CountNulls::run(isa, bitmap, part.len() / size, rule);
            tally.nulls += copies;
            let [zero, small, _] = numbers.counts(filling);
            tally.zeros -= usize::from(zero) * copies;
            tally.small -= usize::from(small) * copies;
        }
        done += part.len();
        run = if done < screened { screened } else { longer(run) };
    }
}

/// Adds the classes of some elements that are not finite to those before element `from`.
fn classify<I: Simd>(
    isa: I,
    steps: &Steps<I>,
    x: &[u8],
    numbers: &Numbers,
    special: usize,
    from: usize,
    classes: &mut ClassCounts,
) {
    let nan = numbers.nan();
    let three = match nan.is_ieee() {
        true => (steps.classify)(isa, x, nan, ()),
        false => [special, 0, 0],
    };
    for (class, more) in three.into_iter().enumerate() {
        if more != 0 && classes.three[class] == 0 {
            let find = if class == 0 { *nan } else { nan.class(class) };
            classes.first[class] = from + (steps.find)(isa, x, &find, ()).unwrap_or(0);
        }
        classes.three[class] += more;
    }
}
