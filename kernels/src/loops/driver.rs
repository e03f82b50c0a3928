//! The driver of statistics: which loop of `stats.rs` looks at which part, and what is counted.

use super::census::Classes;
use super::nulls::{Filler, SkipValid};
use super::position::Find;
use super::skip::longer;
use super::stats::{Order, Outermost, Scan, SkipWithin};
use super::valid::CountNulls;
use crate::bitmap::Bitmap;
use crate::found::ClassCounts;
use crate::line::elements;
use crate::numbers::Numbers;
use crate::rule::{Comparison, UNUSED};
use crate::scalar;
use crate::scan::{Given, Groups, SCANNED};
use crate::simd::{COUNTED, Call, GROUP, Loop, SameAs, Simd, expect, until_line};
use crate::tally::{Nulls, ROOM, Tally, Want};

// `Classes::count` packs its counts.
const _: () = assert!(SCANNED < 1 << super::census::COUNT);

/// Bytes that are looked at first, from the first line of the cache on.
const FIRST: usize = 256;

/// The loops for elements of one width, so that [`Driver`] is compiled once for all widths and
/// instruction sets.
struct Steps {
    find: Call<Find<1>>,
    classes: Classes,
    skip: Call<SkipWithin<1>>,
    skip_valid: Call<SkipValid<1>>,
    count_nulls: Call<CountNulls>,
    filler: Filler,
    order: Call<Order<1>>,
    has_scans: bool,
    /// By the constants of [`expect`], and whether there are nulls.
    scans: [[Scanning; 2]; 3],
    outermost: Call<Outermost<1>>,
}

/// A scan, of any expectation.
type Scanning = Call<Scan<1, { expect::NORMAL }, false>>;

/// The algorithm of `stats.rs`, for elements of any width. It has no vector instruction.
struct Driver<'x> {
    steps: &'x Steps,
    numbers: &'x Numbers,
    x: &'x [u8],
}

impl Driver<'_> {
    /// What is in the elements. `run` is how many bytes are looked at first. From byte `screened`
    /// on groups are skipped.
    #[inline(never)]
    fn tally(self, mut run: usize, screened: usize, want: Want<'_>) -> Tally {
        let Self { steps, numbers, x } = self;
        let (places, mut nulls) = match want {
            #[cfg(feature = "views")]
            Want::Counts => (false, None),
            Want::Places(nulls) => (true, nulls),
        };
        let (mut tally, rule, size) = (Tally::new(), numbers.non_finite(), numbers.size());
        let finite = match &nulls {
            Some(nulls) => Some(nulls.first),
            None if !rule.holds(scalar::read_any(&x[..size])) => Some(0),
            None => steps.find.run(x, &rule.not(), ()),
        };
        // If none is finite, any element does: no key counts.
        let first = finite.unwrap_or(0);
        let mut filling = scalar::read_any(&x[first * size..][..size]);
        tally.keys = [numbers.key(filling); 2];
        tally.from = [first; 2];
        let scans = steps.has_scans && finite.is_some() && numbers.is_sign_magnitude();
        let (mut done, mut expect) = (0, expect::NORMAL);
        loop {
            if done >= screened {
                let range = finite.and_then(|_| numbers.range(tally.keys));
                let rest = &x[done..];
                let clean = match (range, &nulls) {
                    (None, _) => 0,
                    (Some(range), None) => steps.skip.run(rest, rule, range),
                    (Some(range), Some(Nulls { bitmap, .. })) => {
                        let bitmap = bitmap.from(elements(done, size));
                        let clean = steps.skip_valid.run(rest, rule, (range, bitmap));
                        tally.nulls += self.count_nulls(bitmap, elements(clean, size));
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
                if places && finite.is_some() {
                    for (key, from) in tally.keys.iter().zip(&mut tally.from) {
                        *from = self.place(nulls.as_ref(), *key, *from);
                    }
                }
                return tally;
            }
            let mut part = &rest[..run.min(rest.len())];
            let bitmap = nulls.as_ref().map(|nulls| nulls.bitmap.from(elements(done, size)));
            let [low, high] = tally.keys;
            if bitmap.is_some() {
                // Of the numbers so far, the one that most often is a normal number.
                let outer = if low.unsigned_abs() > high.unsigned_abs() { low } else { high };
                filling = numbers.code(outer);
            }
            let around_zero = low <= 0 && high >= 0;
            // A scan of one sign takes normal numbers only, those so far included.
            let normal = low.unsigned_abs().min(high.unsigned_abs()) >= numbers.least_normal();
            let (small, non_finite, index) = (tally.small, tally.non_finite, elements(done, size));
            let scan = match expect {
                _ if !scans || done == 0 || part.len() < 128 => None,
                expect::NORMAL if !around_zero && normal => Some(expect::ONE_SIGN),
                expect::NORMAL | expect::FINITE if around_zero => Some(expect),
                _ => None,
            };
            let mut scanned = 0;
            if let Some(scan) = scan {
                scanned = self.scan(scan, part, (bitmap, filling), &mut tally, index);
            }
            if scanned != 0 {
                part = &part[..scanned];
            } else {
                // What a scan did not expect may end soon.
                if expect != expect::ANYTHING && done != 0 {
                    part = &part[..part.len().min(COUNTED)];
                }
                if let (Some(nulls), Some(bitmap)) = (&mut nulls, bitmap) {
                    let bytes = part.len().min(ROOM);
                    part = steps.filler.fill(nulls.room, rest, bytes, (bitmap, filling));
                }
                let out = (numbers, &mut tally, index, filling);
                steps.order.run(part, rule, out);
                if let Some(bitmap) = bitmap {
                    let copies = self.count_nulls(bitmap, elements(part.len(), size));
                    tally.nulls += copies;
                    let [zero, small, _] = numbers.counts(filling);
                    tally.zeros -= usize::from(zero) * copies;
                    tally.small -= usize::from(small) * copies;
                }
            }
            let (small, special) = (tally.small - small, tally.non_finite - non_finite);
            if special != 0 {
                self.classify(part, special, index, &mut tally.classes);
            }
            let seen = match (small, special) {
                (0, 0) => expect::NORMAL,
                (_, 0) => expect::FINITE,
                _ => expect::ANYTHING,
            };
            // A group may be normal by chance.
            expect = if part.len() > GROUP { seen } else { expect.max(seen) };
            done += part.len();
            run = if done < screened { screened } else { longer(run) };
        }
    }

    fn count_nulls(&self, bitmap: Bitmap<'_>, elements: usize) -> usize {
        let Bitmap { bytes, shift } = bitmap;
        self.steps.count_nulls.run(bytes, &UNUSED, [shift, shift + elements])
    }

    /// The first valid element from index `from` on that has this key.
    fn place(&self, nulls: Option<&Nulls<'_>>, key: i64, from: usize) -> usize {
        let Self { steps, numbers, x } = *self;
        let has_key = numbers.has_key(key);
        let mut at = from;
        // The key was seen in the kilobyte, or the part, that begins at `from`.
        while let Some(index) = steps.find.run(&x[at * numbers.size()..], &has_key, ()) {
            at += index;
            if nulls.is_none_or(|nulls| nulls.bitmap.is_valid(at)) {
                return at;
            }
            at += 1;
        }
        from
    }

    /// Adds elements of `part`, of which the first has this index, by a scan to a tally without
    /// classes. Returns how many bytes that are.
    fn scan(
        &self,
        expect: u8,
        part: &[u8],
        (bitmap, filling): (Option<Bitmap<'_>>, u64),
        tally: &mut Tally,
        index: usize,
    ) -> usize {
        let Self { steps, numbers, .. } = *self;
        let (sign, least, size) = (numbers.sign(), numbers.least_normal(), numbers.size());
        let largest = numbers.non_finite().bound().wrapping_sub(1);
        let [low, high] = tally.keys.map(i64::unsigned_abs);
        let one_sign = expect == expect::ONE_SIGN;
        // Which keys the ends are.
        let (known, limits, of) = match (one_sign, tally.keys[0] < 0) {
            (true, true) => ([sign | low, sign | high], [sign | largest, sign | least], [0, 1]),
            (true, false) => ([high, low], [largest, least], [1, 0]),
            (false, _) => ([sign | low, high], [sign | largest, largest], [0, 1]),
        };
        let scan = &steps.scans[usize::from(expect)][usize::from(bitmap.is_some())];
        let bitmap = bitmap.unwrap_or(Bitmap { bytes: &[], shift: 0 });
        let mut outer = [Groups::new(), Groups::new()];
        let given = Given { known, limits, filling, bitmap };
        let found = scan.run(part, numbers.nan(), (numbers, given, &mut outer));
        let (mut keys, mut from) = (tally.keys, [0; 2]);
        // Both orders become that of unsigned integers by an xor.
        let flips = [0, if one_sign { u64::MAX } else { sign }];
        for (i, which) in of.into_iter().enumerate() {
            if found.new[i] {
                let lines = outer[i].lines().as_flattened();
                let (code, group) = steps.outermost.run(lines, numbers.nan(), flips[i]);
                (keys[which], from[which]) = (numbers.key(code), elements(group * GROUP, size));
            }
        }
        let copies = elements(found.bytes, size) - found.valid;
        let [zero, small, _] = numbers.counts(filling).map(|one| usize::from(one) * copies);
        tally.nulls += copies;
        let counts = [found.zeros - zero, found.small - small, 0];
        tally.extend(keys, from.map(|from| index + from), counts);
        found.bytes
    }

    /// Adds the classes of some elements that are not finite to those before element `from`.
    fn classify(&self, part: &[u8], special: usize, from: usize, classes: &mut ClassCounts) {
        let Self { steps, numbers, .. } = *self;
        let nan = numbers.nan();
        let three = match nan.is_ieee() {
            true => steps.classes.count(part, nan),
            false => [special, 0, 0],
        };
        classes.add_three(three, |class| {
            from + steps.find.run(part, &nan.class(class), ()).unwrap_or(0)
        });
    }
}

/// A scan without nulls, and with nulls.
#[inline(always)]
fn scans<I: Simd, const W: usize, const EXPECT: u8>(isa: I) -> [Scanning; 2] {
    [Scanning::of::<Scan<W, EXPECT, false>, I>(isa), Scanning::of::<Scan<W, EXPECT, true>, I>(isa)]
}

/// Statistics of at least one element.
pub(crate) struct Statistics<const W: usize>;

impl<const W: usize> SameAs<Statistics<1>> for Statistics<W> {}

impl<const W: usize> Loop for Statistics<W> {
    type Out<'o> = (&'o Numbers, Want<'o>);
    type Output = Tally;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], _: &Comparison, (numbers, want): Self::Out<'_>) -> Tally {
        let steps = &Steps {
            find: Call::of::<Find<W>, I>(isa),
            classes: Classes::of::<I, W>(isa),
            skip: Call::of::<SkipWithin<W>, I>(isa),
            skip_valid: Call::of::<SkipValid<W>, I>(isa),
            count_nulls: Call::of::<CountNulls, I>(isa),
            filler: Filler::of::<I, W>(isa),
            order: Call::of::<Order<W>, I>(isa),
            has_scans: I::SCANS,
            scans: [
                scans::<I, W, { expect::ONE_SIGN }>(isa),
                scans::<I, W, { expect::NORMAL }>(isa),
                scans::<I, W, { expect::FINITE }>(isa),
            ],
            outermost: Call::of::<Outermost<W>, I>(isa),
        };
        // First what stands before the first line of the cache, and four lines.
        let run = until_line(x, W) + FIRST;
        Driver { steps, numbers, x }.tally(run, isa.screened_from::<W>(), want)
    }
}
