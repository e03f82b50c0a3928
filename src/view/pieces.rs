//! How the questions under a validity bitmap find the valid hits of a dense view.
//!
//! An element that is no hit needs no look at its validity. So a question first searches the
//! elements for the next hit, whether null or not. From the hit on, the bitmap decides:
//!
//! ```text
//! elements   . . . . . . . x . . x x . x . . . . x x . .      x: a hit
//! bitmap                   1 1 1 1 1 1 1 ...                  a long run of ones: the question of
//!                                                             TensorView, for the whole run
//!                          0 0 0 0 0 0 0 ...                  a long run of zeros: skipped
//!                          1 0 1 1 0 1 0 ...                  else: how far is the next hit?
//! ```
//!
//! The validity of a lone hit is looked up. If the next hit is near, the hits of a window of
//! elements become packed bits, and the bits of nulls are cleared. As long as a window has many
//! valid hits, the next window follows without a search. A short part has one window, which begins
//! at its first hit.
//!
//! So clean elements cost the same as without a bitmap. The kernels find the end of a run: they
//! search the bitmap for a byte that is not 0xFF, or not 0.

use core::ops::ControlFlow;

use nonfinite_kernels::Rule;

use super::part::Part;
use super::validity::Validity;

/// Elements of a window.
pub(super) const WINDOW: usize = 16384;

/// A part of at most so many elements is one window from the block of its first hit on.
pub(super) const SHORT: usize = 2048;

/// Elements of which the packed bits are a word.
const BLOCK: usize = 64;

/// The shortest run of valid elements that is asked about alone.
const LONG: usize = 4096;

/// The shortest run of nulls that is skipped.
const NULLS: usize = 512;

/// The longest run of valid elements that one search of the bitmap covers. A question that ends
/// early then reads little of the bitmap.
const RUN: usize = 16 * LONG;

/// A hit after fewer bytes than this is near the one before: a search from one hit to the next
/// costs about as much as the packed bits of so many bytes.
const NEAR: usize = 4096;

/// The windows go on if more than one of this many elements is a valid hit.
const MANY: usize = 1024;

/// A piece of a part.
pub(super) enum Piece<'h, 'v, 'a> {
    /// The index of a valid hit.
    Hit(usize),
    /// Elements without a null.
    Valid(Part<'v, 'a>),
    /// Elements that may be null; one bit for each, 1 for a valid hit; and the number of ones.
    Mixed(Part<'v, 'a>, &'h mut [u8], usize),
}

/// The index within the part of the first element that the rule holds for, valid or null.
#[inline(never)]
pub(super) fn next_hit(part: &Part<'_, '_>, rule: &Rule) -> Option<usize> {
    part.position(rule)
}

/// One bit for each element of the part, for which there is room: 1 if the rule holds for the
/// element.
#[inline(never)]
pub(super) fn packed<'o>(part: &Part<'_, '_>, rule: &Rule, room: &'o mut [u8]) -> &'o mut [u8] {
    let out = &mut room[..part.len.div_ceil(8)];
    if let Some(last) = out.last_mut() {
        *last = 0;
    }
    part.bits(rule, out, 0);
    out
}

/// Calls `visit` with the pieces of a dense part that hold the valid elements that the rule holds
/// for, in order, until it breaks.
#[inline(never)]
pub(super) fn pieces<'v, 'a>(
    validity: &Validity<'_>,
    part: &Part<'v, 'a>,
    rule: &Rule,
    visit: &mut dyn FnMut(Piece<'_, 'v, 'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(hit) = next_hit(part, rule) else { return ControlFlow::Continue(()) };
    if part.len > SHORT {
        return from_hit(validity, part, rule, hit, visit);
    }
    let clean = hit - hit % BLOCK;
    let window = part.piece(part.first + clean, part.len - clean);
    match valid_hits(validity, &window, rule, &mut [0; SHORT / 8]) {
        (_, 0) => ControlFlow::Continue(()),
        (hits, ones) => visit(Piece::Mixed(window, hits, ones)),
    }
}

/// Packed bits of a window, 1 for each valid hit, and the number of ones. `room` has a bit for each
/// element.
fn valid_hits<'o>(
    validity: &Validity<'_>,
    window: &Part<'_, '_>,
    rule: &Rule,
    room: &'o mut [u8],
) -> (&'o mut [u8], usize) {
    let hits = packed(window, rule, room);
    let ones = validity.clear_packed(window.view.backend, window.first, window.len, hits);
    (hits, ones)
}

/// [`pieces`] of a long part, whose first hit has this index within the part.
#[inline(never)]
fn from_hit<'v, 'a>(
    validity: &Validity<'_>,
    part: &Part<'v, 'a>,
    rule: &Rule,
    hit: usize,
    visit: &mut dyn FnMut(Piece<'_, 'v, 'a>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let (mut at, end, backend) = (part.first, part.first + part.len, part.view.backend);
    let near = NEAR / part.view.format.size_in_bytes();
    let mut room = [0; WINDOW / 8];
    // The first hit, and whether a window comes next.
    let (mut found, mut crowded) = (Some(at + hit), false);
    while at < end {
        let mut from = at;
        if !crowded {
            let search = || next_hit(&part.piece(at, end - at), rule).map(|hit| at + hit);
            let Some(hit) = found.take().or_else(search) else { break };
            // From a block on, a window reads whole lines of the cache if the part begins at one.
            from = at.max(hit - (hit - part.first) % BLOCK);
            at = hit;
        }
        let valid = validity.run(backend, at, end.min(at + RUN), true);
        if valid >= LONG {
            visit(Piece::Valid(part.piece(at, valid)))?;
            at += valid;
            continue;
        }
        let nulls = validity.run(backend, at, end, false);
        if nulls >= NULLS {
            at += nulls;
            continue;
        }
        // Only the near elements are searched: one valid hit may end the question.
        let ahead = near.min(end - at - 1);
        crowded = crowded || next_hit(&part.piece(at + 1, ahead), rule).is_some();
        if crowded {
            let window = part.piece(from, WINDOW.min(end - from));
            let (hits, ones) = valid_hits(validity, &window, rule, &mut room);
            if ones != 0 {
                visit(Piece::Mixed(window, hits, ones))?;
            }
            at = from + window.len;
            crowded = ones > window.len / MANY;
        } else {
            if nulls == 0 {
                visit(Piece::Hit(at))?;
            }
            at += 1 + ahead;
        }
    }
    ControlFlow::Continue(())
}
