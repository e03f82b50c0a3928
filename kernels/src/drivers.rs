//! The drivers call the leaves on long inputs. They are plain code, compiled once for all widths
//! and instruction sets.
//!
//! Most tensors hold few special elements or none. So a driver searches for the next hit, and gives
//! a leaf a run of elements from this hit on. Where hits are dense, a search only costs time, so
//! longer and longer runs follow each other without a search.
//!
//! ```text
//! x     clean ............ | run | clean .. | run | run, longer | clean ...........
//!       find -> hit ------>| count          | count             | find -> none
//! ```
//!
//! A leaf takes at least 64 bytes. If fewer are left, the run begins before the hit. The elements
//! added so are no hits, or a mask has their answers already.

use crate::census::{Census, Occurrences};
use crate::leaves::{Bits, Count, Find, Mask};
use crate::loops::{CLASS_BITS, TURN};
use crate::pieces::{Hit, Long, Places, until_line};
use crate::rule::{Classes, Rule};

/// Up to this length, in bytes, one leaf answers.
pub(crate) const ONE_LEAF: usize = 2048;

/// Bytes of the shortest run of a count or census: as few as the leaves count in registers.
const SHORT_RUN: usize = 512;

/// Bytes of the longest run of a count or census.
const LONGEST_RUN: usize = 16 << 10;

/// Bytes of a run of a mask or of bits.
const LONG_RUN: usize = 16 << 10;

/// Bytes of a piece in which a search may compare every line, since the screen is not exact.
const PIECE: usize = 16 << 10;

/// The logarithm to base 2 of the number of bytes of an element.
#[inline(always)]
fn shift(rule: &Rule) -> u32 {
    rule.size().trailing_zeros()
}

/// The first line with an element for which the answer is yes.
#[inline(always)]
pub(crate) fn search(x: Long<'_>, rule: &Rule, find: Find) -> Hit {
    if x.len() > PIECE && !rule.is_screen() {
        return pieces(x, rule, find);
    }
    find.run(x, rule)
}

/// [`search`] piece by piece, for a rule whose screen is not exact.
#[inline(never)]
fn pieces(x: Long<'_>, rule: &Rule, find: Find) -> Hit {
    let (mut rest, mut at) = (x.bytes(), 0);
    while let Some(x) = Long::new(rest) {
        let end = if x.len() < PIECE + 64 { x.len() } else { PIECE };
        let (piece, behind) = rest.split_at(end);
        let hit = find.run(Long::of(piece), rule);
        if hit.is_some() {
            return Hit { at: at + hit.at, ..hit };
        }
        (rest, at) = (behind, at + end);
    }
    Hit::NONE
}

/// The runs of an input that may hold hits. None is shorter than 64 bytes.
struct Runs<'x> {
    /// Empty, or at least 64 bytes.
    rest: &'x [u8],
    /// Bytes before `rest`.
    at: usize,
    /// Bytes of the next run.
    run: usize,
    /// The first hit of `rest`, if known. [`Hit::NONE`] if the next run needs no search.
    first: Option<Hit>,
    shift: u32,
    find: Find,
    /// The rule of hits that a search looks for.
    rule: &'x Rule,
}

impl<'x> Runs<'x> {
    /// The runs of an input whose first hit is known.
    #[inline(always)]
    fn new(x: Long<'x>, first: Hit, find: Find, rule: &'x Rule) -> Self {
        let (rest, first, shift) = (x.bytes(), Some(first), shift(rule));
        Self { rest, at: 0, run: SHORT_RUN, first, shift, find, rule }
    }

    /// The bytes before the next run, the run, and its first hit ([`Hit::NONE`] if not known).
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, Long<'x>, Hit)> {
        let x = Long::new(self.rest)?;
        let hit = match self.first.take() {
            Some(first) => first,
            None => Some(search(x, self.rule, self.find)).filter(|hit| hit.is_some())?,
        };
        if hit.at >= SHORT_RUN {
            self.run = SHORT_RUN;
        }
        let begin = hit.at.min(x.len() - 64);
        let rest = &x.bytes()[begin..];
        let end = if rest.len() < self.run + self.run.min(1024) {
            rest.len()
        } else {
            self.run + until_line(&rest[self.run..], 1 << self.shift)
        };
        let (run, behind) = rest.split_at(end);
        let at = self.at + begin;
        (self.at, self.rest) = (at + end, behind);
        Some((at, Long::of(run), Hit { at: hit.at - begin, ..hit }))
    }

    /// Chooses the length of the next run, and whether to search first, by what the last run had.
    #[inline(always)]
    fn seen(&mut self, hits: usize, bytes: usize) {
        // With more than one hit in 256 bytes, a search would end at once.
        let dense = hits * 256 > bytes;
        self.first = dense.then_some(Hit::NONE);
        self.run = if dense {
            (16 * bytes).min(LONGEST_RUN)
        } else if hits * 1024 > bytes {
            (4 * bytes).min(LONGEST_RUN)
        } else {
            SHORT_RUN
        };
    }
}

/// The number of elements for which a rule of hits holds. `first` is the first hit.
#[inline(never)]
pub(crate) fn count(x: Long<'_>, first: Hit, rule: &Rule, count: Count, find: Find) -> usize {
    let (mut runs, mut total) = (Runs::new(x, first, find, rule), 0);
    while let Some((_, run, _)) = runs.next() {
        let hits = count.run(run, rule) as usize;
        runs.seen(hits, run.len());
        total += hits;
    }
    total
}

/// The census. `first` is the first element that is NaN or infinite.
#[inline(never)]
pub(crate) fn census(
    x: Long<'_>,
    first: Hit,
    nan: &Rule,
    classes: Classes,
    classify: Count,
    find: Find,
) -> Census {
    // The longest run: `Runs::next` adds less than `ONE_LEAF` bytes.
    const { assert!(LONGEST_RUN + ONE_LEAF < 1 << CLASS_BITS) };
    let special = classes.special();
    let mut runs = Runs::new(x, first, find, &special);
    let mut found = [Occurrences::default(); 3];
    while let Some((at, run, hit)) = runs.next() {
        let sum = classify.run(run, nan);
        let number = |i: u32| (sum >> (i * CLASS_BITS)) as usize & ((1 << CLASS_BITS) - 1);
        // The number of infinities includes both signs.
        let [nans, infs, negs] = [number(0), number(1), number(2)];
        for (class, (found, count)) in found.iter_mut().zip([nans, infs - negs, negs]).enumerate() {
            if count != 0 && found.count == 0 {
                // All hits of the run may be of this class.
                let known = if count == nans + infs { hit } else { Hit::NONE };
                let first = first_of_class(run, known, class, nan, classes, find);
                found.first = Hit { at: at + first.at, ..first }.index(nan.size());
            }
            found.count += count;
        }
        runs.seen(nans + infs, run.len());
    }
    let [nan, pos_inf, neg_inf] = found;
    Census::new(nan, pos_inf, neg_inf)
}

/// The first element of class 0 (NaN), 1 (+Inf) or 2 (-Inf) in a run: `known`, if that is a hit.
/// Not inlined, since [`census`] would have this code three times.
#[inline(never)]
fn first_of_class(
    run: Long<'_>,
    known: Hit,
    class: usize,
    nan: &Rule,
    classes: Classes,
    find: Find,
) -> Hit {
    match class {
        _ if known.is_some() => known,
        0 => find.run(run, nan),
        _ => find.run(run, &classes.infinity(class == 2)),
    }
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

/// A word for each 64 elements, at least one word. Returns the bits after the last word.
#[inline(never)]
pub(crate) fn bits(
    x: Long<'_>,
    rule: &Rule,
    mut out: &mut [[u8; 8]],
    bits: Bits,
    find: Find,
) -> u64 {
    let usual = if rule.usual() { u64::MAX } else { 0 };
    let (hits, block, mut x) = (rule.of_hits(), shift(rule) + 6, x.bytes());
    loop {
        let hit = search(Long::of(x), &hits, find);
        // At least one word is left for the leaf, so it has 64 bytes.
        let clean = if hit.is_some() { (hit.at >> block).min(out.len() - 1) } else { out.len() };
        let (words, behind) = out.split_at_mut(clean);
        if clean != 0 {
            // All bytes of `usual` are equal.
            words.as_flattened_mut().fill(usual as u8);
        }
        if !hit.is_some() {
            return usual;
        }
        x = &x[clean << block..];
        let run = LONG_RUN >> block;
        if behind.len() <= run + 1 {
            return bits.run(Long::of(x), rule, behind);
        }
        let (here, after) = behind.split_at_mut(run);
        bits.run(Long::of(&x[..LONG_RUN]), rule, here);
        (x, out) = (&x[LONG_RUN..], after);
    }
}
