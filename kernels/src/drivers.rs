//! The drivers call the loops on long inputs: plain code for all widths and instruction sets.
//!
//! Most tensors hold few special elements or none. So a driver searches for the next hit, and gives
//! a loop a run of elements from this hit on. Where hits are dense, a search only costs time, so a
//! longer run follows without a search.
//!
//! ```text
//! x     clean ............ | run | clean .. | run | run, longer | clean ...........
//!       Find -> hit ------>| Classify       | Classify          | Find -> none
//! ```
//!
//! A loop takes at least 64 bytes. If fewer are left, the run begins up to 63 bytes before the hit.
//! Counting these elements again changes nothing, since the search has found no hit among them, and
//! a mask writes the same answers again.

use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::census::{Census, Occurrences};
use crate::dispatch::{Loop, Table};
use crate::lines::{Hit, Long, Places, elements};
use crate::loops::{CLASS_BITS, Classify, Clean, Count, FOUR_LINES, Find, Mask, MaskClean, Pack};
use crate::packed;
use crate::rule::{Classes, Rule};
use crate::tuning::{CENSUS_RUN, COUNT_RUN, DENSE, LONG_RUN, ONE_LOOP};

/// The first line with an element for which the answer is yes.
#[inline(always)]
pub(crate) fn search(x: Long<'_>, rule: &Rule, find: Loop<Find>) -> Hit {
    if rule.constant().is_some() || rule.opposite {
        return search_most(x, rule, find);
    }
    let hit = find.run(x, rule, ());
    if rule.exact || hit.is_some() || hit.at == x.len() {
        return hit;
    }
    search_on(x, hit.at, rule, find)
}

/// [`search`] where the answer is yes for most elements, or the same for all.
#[cold]
#[inline(never)]
fn search_most(x: Long<'_>, rule: &Rule, find: Loop<Find>) -> Hit {
    match rule.constant() {
        // The first element decides.
        Some(true) => Hit { at: 0, bits: 1 },
        Some(false) => Hit::none_in(x),
        None => search_on(x, 0, &rule.without_opposite(), find),
    }
}

/// [`search`] from byte `at` on, where a loop stopped because a group without a hit passed.
#[inline(never)]
fn search_on(x: Long<'_>, mut at: usize, rule: &Rule, find: Loop<Find>) -> Hit {
    loop {
        let rest = x.from(at);
        let hit = find.run(rest, rule, ());
        at = x.len() - rest.len() + hit.at;
        if hit.is_some() || at == x.len() {
            return Hit { at, ..hit };
        }
    }
}

/// The number of hits.
#[inline(always)]
pub(crate) fn hits(x: Long<'_>, rule: &Rule, count: Loop<Count>, clean: Loop<Clean>) -> usize {
    let (mut rest, mut total, mut length) = (x, 0, COUNT_RUN);
    loop {
        if length == COUNT_RUN {
            let at = clean.run(rest, rule, ());
            if at == rest.len() {
                return total;
            }
            rest = rest.from(at);
        }
        let (run, behind) = rest.split_after(length);
        let hits = count.run(run, rule, ()) as usize;
        total += hits;
        let Some(next) = Long::new(behind) else { return total };
        // Where hits are dense, a search would end at once.
        length = if hits * DENSE > run.len() { LONG_RUN } else { COUNT_RUN };
        rest = next;
    }
}

/// The counts and the first indices of NaN, +Inf and -Inf. Integers in arrays: a wide load of a
/// record would wait for the narrow stores into it.
struct ByClass {
    counts: [usize; 3],
    /// `usize::MAX` for a class without elements.
    firsts: [usize; 3],
}

impl ByClass {
    const EMPTY: Self = Self { counts: [0; 3], firsts: [usize::MAX; 3] };

    /// Adds the special elements of a line, one for each 1 of `bits`. Element `i` of the line is
    /// element `index + i`.
    #[inline(never)]
    fn add_line(&mut self, line: &[u8], mut bits: u64, classes: Classes, index: usize) {
        while bits != 0 {
            let i = bits.trailing_zeros() as usize;
            let class = classes.of_element(line, i);
            self.counts[class] += 1;
            self.firsts[class] = self.firsts[class].min(index + i);
            bits &= bits - 1;
        }
    }

    #[inline(always)]
    fn census(&self) -> Census {
        let class = |i: usize| {
            Occurrences::new(self.counts[i], (self.counts[i] != 0).then_some(self.firsts[i]))
        };
        Census::new(class(0), class(1), class(2))
    }
}

/// The census of fewer than 64 bytes, with a special element for each 1 of `bits`.
#[inline(never)]
pub(crate) fn short_census(x: &[u8], bits: u64, classes: Classes) -> Census {
    let mut tally = ByClass::EMPTY;
    tally.add_line(x, bits, classes, 0);
    tally.census()
}

/// The census, by the rule for NaN and infinities. `hit` is the first line with a special element.
///
/// A lone line with hits is counted hit by hit. A line near the line before begins a run, which a
/// loop counts, and a longer run follows where hits are dense.
#[inline(never)]
pub(crate) fn census(
    x: Long<'_>,
    mut hit: Hit,
    special: &Rule,
    classes: Classes,
    classify: Loop<Classify>,
    find: Loop<Find>,
) -> Census {
    const { assert!(LONG_RUN + 64 < 1 << CLASS_BITS) };
    let (nan, index) = (classes.nan(), |at| elements(at, special.size()));
    let (mut tally, mut seen, mut length) = (ByClass::EMPTY, 0, 0);
    while hit.is_some() {
        let rest = x.from(seen);
        let at = x.len() - rest.len() + hit.at;
        if length == 0 || at < seen {
            // The last line of the input may overlap what is counted.
            let new = hit.bits & u64::MAX << index(seen.saturating_sub(at));
            tally.add_line(&x.bytes()[at..], new, classes, index(at));
            seen = at + 64;
        } else {
            let (run, behind) = x.from(at).split_after(length);
            let sum = classify.run(run, &nan, ());
            let number = |i: u32| (sum >> (i * CLASS_BITS)) as usize & ((1 << CLASS_BITS) - 1);
            // The number of infinities includes both signs.
            let [nans, infs, negs] = [number(0), number(1), number(2)];
            for (class, count) in [nans, infs - negs, negs].into_iter().enumerate() {
                if count != 0 && tally.counts[class] == 0 {
                    let infinity = classes.infinity(class == 2);
                    let rule = if class == 0 { &nan } else { &infinity };
                    let first = search(run, rule, find).index(special.size());
                    tally.firsts[class] = index(at) + first.unwrap_or(0);
                }
                tally.counts[class] += count;
            }
            seen = x.len() - behind.len();
            // Where hits are dense, a search would end at once. A run needs no bits of a line.
            if (nans + infs) * DENSE > run.len() && seen < x.len() {
                (hit.at, length) = (0, LONG_RUN);
                continue;
            }
        }
        if seen == x.len() {
            break;
        }
        hit = search(x.from(seen), special, find);
        length = if hit.at < CENSUS_RUN { CENSUS_RUN } else { 0 };
    }
    tally.census()
}

/// A byte for each element of an input that is too long for one loop. `out` has a place for each.
#[inline(never)]
pub(crate) fn mask(
    (mask, clean): (&Table<Mask>, &Table<MaskClean>),
    backend: Option<Backend>,
    x: Long<'_>,
    rule: &Rule,
    mut out: &mut Places,
) {
    if let Some(answer) = rule.constant() {
        return out.fill(MaybeUninit::new(answer));
    }
    let mask = mask.pick(backend);
    // For elements of one byte, a comparison is as fast as a screen.
    if rule.size() == 1 || rule.tilted || x.len() < Backend::skips_from(backend) {
        return mask.run(x, rule, out);
    }
    let (clean, mut x, shift) = (clean.pick(backend), x.bytes(), rule.size().trailing_zeros());
    while let Some(rest) = Long::new(x) {
        let done = clean.run(rest, rule, out);
        if done == x.len() {
            return;
        }
        // A run has at least the bytes of a group, and so has the rest, if there is any.
        let from = done.min(x.len() - FOUR_LINES);
        let end = if x.len() - from < LONG_RUN + FOUR_LINES { x.len() } else { from + LONG_RUN };
        mask.run(Long::of(&x[from..end]), rule, &mut out[from >> shift..end >> shift]);
        (x, out) = (&x[end..], &mut out[end >> shift..]);
    }
}

/// A bit for each element, from the first bit of `out` on to its last byte. `lines` writes the bits
/// of all whole lines, and returns the bits of the elements after them. The bits behind the last
/// element stay as they are.
#[inline(always)]
pub(crate) fn bits_of(
    x: Long<'_>,
    rule: &Rule,
    out: &mut [u8],
    lines: impl FnOnce(&mut [u8]) -> u64,
) {
    let elements = |bytes| elements(bytes, rule.size());
    let (whole, behind) = out.split_at_mut(elements(x.len() & !63) / 8);
    let rest = lines(whole);
    if !behind.is_empty() {
        packed::put(rest, elements(x.len() % 64), behind, 0);
    }
}

/// [`bits_of`] an input of any length.
#[inline(always)]
pub(crate) fn bits(
    x: Long<'_>,
    rule: &Rule,
    out: &mut [u8],
    (pack, clean): (Loop<Pack>, Loop<Clean>),
) {
    bits_of(x, rule, out, |lines| match x.len() {
        0..=ONE_LOOP => pack.run(x, rule, lines),
        _ => long_bits(x, rule, lines, pack, clean),
    });
}

/// The bits of all whole lines. Returns the bits of the elements after them.
#[inline(always)]
fn long_bits(
    mut x: Long<'_>,
    rule: &Rule,
    mut out: &mut [u8],
    pack: Loop<Pack>,
    clean: Loop<Clean>,
) -> u64 {
    let (no_hits, shift) =
        (if rule.opposite { u64::MAX } else { 0 }, rule.size().trailing_zeros() + 3);
    loop {
        let at = clean.run(x, rule, ());
        // The last line is left for the loop, unless there is no hit.
        let clean = if at < x.len() { at.min(x.len() - 64) & !63 } else { at & !63 };
        let (bytes, behind) = out.split_at_mut(clean >> shift);
        // All bytes of `no_hits` are equal.
        bytes.fill(no_hits as u8);
        if at == x.len() {
            return no_hits;
        }
        let (run, rest) = x.from(clean).split_after(LONG_RUN);
        let Some(next) = Long::new(rest) else { return pack.run(run, rule, behind) };
        let (here, after) = behind.split_at_mut(LONG_RUN >> shift);
        pack.run(run, rule, here);
        (x, out) = (next, after);
    }
}
