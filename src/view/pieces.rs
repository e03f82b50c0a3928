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
//!                          1 0 1 1 0 1 0 ...                  else: a window
//! ```
//!
//! A window has up to 16384 elements. Kernels compare all of them, and look at the bitmap too. As
//! long as a window has many valid hits, the next window follows without a search. A short part has
//! one window, which begins at its first hit.
//!
//! So clean elements cost the same as without a bitmap. The kernels find the end of a run: they
//! search the bitmap for a byte that is not 0xFF, or not 0.

use core::ops::ControlFlow;

use nonfinite_kernels::Rule;

use super::part::Part;
use super::validity::Validity;

/// Elements of a window.
const WINDOW: usize = 16384;

/// A part of at most so many elements is one window from the block of its first hit on, and its
/// packed bits are made without a search.
pub(super) const SHORT: usize = 2048;

/// Elements whose bits are a word.
const BLOCK: usize = 64;

/// The shortest run of valid elements that is asked about alone.
const LONG: usize = 4096;

/// The shortest run of nulls that is skipped.
const NULLS: usize = 512;

/// The longest run of valid elements that one search of the bitmap covers. A question that ends
/// early then reads little of the bitmap.
const RUN: usize = 16 * LONG;

/// The windows go on if more than one of this many elements is a valid hit.
const MANY: usize = 1024;

/// A piece of a part.
pub(super) enum Piece<'v, 'a> {
    /// Elements without a null.
    Valid(Part<'v, 'a>),
    /// Elements that may be null. The visitor returns the number of valid hits.
    Mixed(Part<'v, 'a>),
}

/// The index within the part of the first element that the rule holds for, valid or null.
#[inline(never)]
pub(super) fn next_hit(part: &Part<'_, '_>, rule: &Rule) -> Option<usize> {
    part.position(rule)
}

/// Calls `visit` with the pieces of a dense part that hold the valid elements that the rule holds
/// for, in order, until it breaks.
#[inline(never)]
pub(super) fn pieces<'v, 'a>(
    validity: &Validity<'_>,
    part: &Part<'v, 'a>,
    rule: &Rule,
    visit: &mut dyn FnMut(Piece<'v, 'a>) -> ControlFlow<(), usize>,
) -> ControlFlow<()> {
    let Some(hit) = next_hit(part, rule) else { return ControlFlow::Continue(()) };
    if part.len > SHORT {
        return from_hit(validity, part, rule, hit, visit);
    }
    let clean = hit - hit % BLOCK;
    visit(Piece::Mixed(part.piece(part.first + clean, part.len - clean)))?;
    ControlFlow::Continue(())
}

/// [`pieces`] of a long part, whose first hit has this index within the part.
#[inline(never)]
fn from_hit<'v, 'a>(
    validity: &Validity<'_>,
    part: &Part<'v, 'a>,
    rule: &Rule,
    hit: usize,
    visit: &mut dyn FnMut(Piece<'v, 'a>) -> ControlFlow<(), usize>,
) -> ControlFlow<()> {
    let (mut at, end, backend) = (part.first, part.first + part.len, part.view.backend);
    // Where the next hit is, if known: the first hit. Behind a window with many hits, it is taken
    // to be the next element.
    let mut known = Some(at + hit);
    while at < end {
        let search = || next_hit(&part.piece(at, end - at), rule).map(|hit| at + hit);
        let Some(hit) = known.take().or_else(search) else { break };
        // From a block on, a window reads whole lines of the cache if the part begins at one.
        let from = at.max(hit - (hit - part.first) % BLOCK);
        at = hit;
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
        let window = part.piece(from, WINDOW.min(end - from));
        let hits = visit(Piece::Mixed(window))?;
        at = from + window.len;
        if hits > window.len / MANY {
            known = Some(at);
        }
    }
    ControlFlow::Continue(())
}
