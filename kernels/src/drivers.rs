//! The drivers call the leaves on long inputs. They are plain code, compiled once for all widths
//! and instruction sets.
//!
//! Most tensors hold few special elements or none. So a driver searches for the next hit, and gives
//! a leaf a run of elements from this hit on. Where hits are dense, a search only costs time, so a
//! longer run follows without a search.
//!
//! ```text
//! x     clean ............ | run | clean .. | run | run, longer | clean ...........
//!       find -> hit ------>| classify       | classify          | find -> none
//! ```
//!
//! A leaf takes at least 64 bytes. If fewer are left, the run begins before the hit. The elements
//! added so are no hits, or a mask has their answers already.

use crate::census::{Census, Occurrences};
use crate::leaves::{Bits, Count, Find, Mask, Screen};
use crate::loops::{CLASS_BITS, TURN};
use crate::packed;
use crate::pieces::{Hit, Long, Places, elements};
use crate::rule::{Classes, Rule};

/// Up to this length, in bytes, one leaf answers.
pub(crate) const ONE_LEAF: usize = 2048;

/// Bytes of a run of a count, and of a census, that begins with a hit.
const COUNT_RUN: usize = 1024;
const CENSUS_RUN: usize = 512;

/// After a run with more hits than one in this many bytes, the next run follows at once.
const DENSE: usize = 256;

/// Bytes of the longest run of a census, and of a run of a mask or of bits.
const LONG_RUN: usize = 16 << 10;

/// The logarithm to base 2 of the number of bytes of an element.
#[inline(always)]
fn shift(rule: &Rule) -> u32 {
    rule.size().trailing_zeros()
}

/// The first line with an element for which the answer is yes.
#[inline(always)]
pub(crate) fn search(x: Long<'_>, rule: &Rule, find: Find) -> Hit {
    if rule.is_screen() {
        let hit = find.run(x, rule, rule);
        if rule.is_exact() || hit.is_some() || hit.at == x.len() {
            return hit;
        }
    }
    screened(x, rule, &rule.screen(), find)
}

/// [`search`] by a screen that may not be exact: a leaf may stop before the end.
#[inline(never)]
fn screened(x: Long<'_>, rule: &Rule, screen: &Rule, find: Find) -> Hit {
    let mut hit = find.run(x, rule, screen);
    while !hit.is_some() && hit.at < x.len() {
        let rest = x.from(hit.at);
        hit = find.run(rest, rule, screen);
        hit.at += x.len() - rest.len();
    }
    hit
}

/// Hands over the runs of an input that may have hits, each with the bytes before the run, to
/// `hits`, which returns how many there are. `at` is where the first group begins that passes the
/// screen. Elements outside of the runs do not pass.
#[inline(always)]
fn runs<'x>(
    x: Long<'x>,
    mut at: usize,
    screen: &Rule,
    screened: Screen,
    short: usize,
    mut hits: impl FnMut(Long<'x>, usize) -> usize,
) {
    let (mut rest, mut length) = (x, short);
    while at < rest.len() {
        rest = rest.from(at);
        let (run, behind) = rest.split_after(length);
        let hits = hits(run, x.len() - rest.len());
        let Some(next) = Long::new(behind) else { return };
        rest = next;
        // Where hits are dense, a search would end at once.
        let dense = hits * DENSE > run.len();
        (at, length) = if dense { (0, LONG_RUN) } else { (screened.run(rest, screen), short) };
    }
}

/// The number of elements for which a rule of hits holds.
#[inline(never)]
pub(crate) fn count(x: Long<'_>, rule: &Rule, count: Count, screened: Screen) -> usize {
    let (screen, mut total) = (rule.screen(), 0);
    runs(x, screened.run(x, &screen), &screen, screened, COUNT_RUN, |run, _| {
        let hits = count.run(run, rule) as usize;
        total += hits;
        hits
    });
    total
}

/// The census. `at` is where the first group with a special element begins.
#[inline(never)]
pub(crate) fn census(
    x: Long<'_>,
    at: usize,
    nan: &Rule,
    classes: Classes,
    (classify, screened, find): (Count, Screen, Find),
) -> Census {
    const { assert!(LONG_RUN + 64 < 1 << CLASS_BITS) };
    let (special, rules) = (classes.special(), [classes.infinity(false), classes.infinity(true)]);
    let (rules, mut found) = ([nan, &rules[0], &rules[1]], [Occurrences::default(); 3]);
    runs(x, at, &special, screened, CENSUS_RUN, |run, at| {
        let sum = classify.run(run, nan);
        let number = |i: u32| (sum >> (i * CLASS_BITS)) as usize & ((1 << CLASS_BITS) - 1);
        // The number of infinities includes both signs.
        let [nans, infs, negs] = [number(0), number(1), number(2)];
        for ((found, count), rule) in found.iter_mut().zip([nans, infs - negs, negs]).zip(rules) {
            if count != 0 && found.count == 0 {
                let first = self::screened(run, rule, &special, find);
                found.first = Hit { at: at + first.at, ..first }.index(nan.size());
            }
            found.count += count;
        }
        nans + infs
    });
    let [nan, pos_inf, neg_inf] = found;
    Census::new(nan, pos_inf, neg_inf)
}

/// A byte for each element.
#[inline(never)]
pub(crate) fn mask(x: Long<'_>, rule: &Rule, mut out: &mut Places, mask: Mask, skip: Mask) {
    let (mut x, shift) = (x.bytes(), shift(rule));
    while let Some(rest) = Long::new(x) {
        let clean = skip.run(rest, rule, out);
        if clean == x.len() {
            return;
        }
        // A run has at least the bytes of a turn, and so has the rest, if there is any.
        let from = clean.min(x.len() - TURN);
        let end = if x.len() - from < LONG_RUN + TURN { x.len() } else { from + LONG_RUN };
        mask.run(Long::of(&x[from..end]), rule, &mut out[from >> shift..end >> shift]);
        (x, out) = (&x[end..], &mut out[end >> shift..]);
    }
}

/// A bit for each element, from the first bit of `out` on to its last byte. The bits behind the
/// last element stay as they are.
#[inline(always)]
pub(crate) fn bits(x: Long<'_>, rule: &Rule, out: &mut [u8], bits: Bits, screened: Screen) {
    let elements = |bytes| elements(bytes, rule.size());
    let (lines, behind) = out.split_at_mut(elements(x.len() & !63) / 8);
    let rest = if x.len() <= ONE_LEAF {
        bits.run(x, rule, lines)
    } else {
        long_bits(x, rule, lines, bits, screened)
    };
    if !behind.is_empty() {
        packed::put(rest, elements(x.len() % 64), behind, 0);
    }
}

/// The bits of all whole lines. Returns the bits of the elements after them.
#[inline(never)]
fn long_bits(x: Long<'_>, rule: &Rule, mut out: &mut [u8], bits: Bits, screened: Screen) -> u64 {
    let usual = if rule.usual() { u64::MAX } else { 0 };
    let (screen, shift, mut x) = (rule.of_hits().screen(), shift(rule) + 3, x);
    loop {
        let at = screened.run(x, &screen);
        // The last line is left for the leaf, unless there is no hit.
        let clean = if at < x.len() { at.min(x.len() - 64) & !63 } else { at & !63 };
        let (bytes, behind) = out.split_at_mut(clean >> shift);
        // All bytes of `usual` are equal.
        bytes.fill(usual as u8);
        if at == x.len() {
            return usual;
        }
        let (run, rest) = x.from(clean).split_after(LONG_RUN);
        let Some(next) = Long::new(rest) else { return bits.run(run, rule, behind) };
        let (here, after) = behind.split_at_mut(LONG_RUN >> shift);
        bits.run(run, rule, here);
        (x, out) = (next, after);
    }
}
