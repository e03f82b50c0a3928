//! The census under a validity bitmap.

use core::ops::ControlFlow;

use nonfinite_kernels::{self as kernels, Rule, clear_nulls};

#[cfg(feature = "views")]
use super::boxes::Boxed;
use super::part::{CLASSES, Part};
use super::pieces::{Piece, SHORT, WINDOW, packed, pieces};
use super::valid::ValidView;
use super::validity::first_one;
use crate::{Census, Occurrences, Predicate};

/// If at most one valid hit comes on so many bytes, the hits are copied, and classified together...
const SPARSE: usize = 128;

/// ... so many at once.
const COPIED: usize = 64;

impl<'a> ValidView<'a> {
    /// Counts NaN, +Inf and -Inf among the valid elements, and finds the first of each by its
    /// row-major index.
    #[must_use]
    pub fn census(&self) -> Census {
        let census = |part: Part<'_, '_>| self.census_in(part);
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.parts(&census, &Census::join);
        }
        census(Part::whole(&self.view))
    }

    /// Indices count from the start of the view, so that the answers of parts can be joined.
    pub(super) fn census_in(&self, part: Part<'_, 'a>) -> Census {
        let mut census = Census::default();
        let special = self.view.format.rule(Predicate::NonFinite);
        #[cfg(feature = "views")]
        if !part.is_dense() {
            let _ = self.boxes_with_hits(part, special, &mut |boxed| {
                census = census.join(match boxed {
                    Boxed::Valid(run) => census_of_run(&run),
                    Boxed::Copied(view, first) => {
                        self.of_copy(view, first).census_in(Part::whole(&view)).behind(first)
                    }
                });
                ControlFlow::Continue(())
            });
            return census;
        }
        let _ = pieces(&self.validity, &part, special, &mut |piece| {
            census = census.join(match piece {
                Piece::Hit(i) => census_of_run(&part.piece(i, 1)),
                Piece::Valid(run) => census_of_run(&run),
                Piece::Mixed(window, hits, ones) => {
                    census_of_hits(&window, hits, ones).behind(window.first)
                }
            });
            ControlFlow::Continue(())
        });
        census
    }
}

/// The census of a run without nulls. Indices count from the start of the view.
#[inline(never)]
fn census_of_run(run: &Part<'_, '_>) -> Census {
    run.census().behind(run.first)
}

/// The census of the valid NaN and infinities of a part: the elements whose bit is 1 in `hits`.
/// `ones` is their number.
#[inline(never)]
fn census_of_hits(part: &Part<'_, '_>, hits: &mut [u8], ones: usize) -> Census {
    if ones <= part.dense().len() / SPARSE {
        return census_of_sparse(part, hits);
    }
    // Clearing the large room takes as long as searching 2 KiB.
    if part.len <= SHORT {
        census_of_dense(part, hits, ones, &mut [0; SHORT / 8])
    } else {
        census_of_dense(part, hits, ones, &mut [0; WINDOW / 8])
    }
}

/// [`census_of_hits`] of a part with many hits. There is room for their packed bits.
#[inline(never)]
fn census_of_dense(part: &Part<'_, '_>, hits: &mut [u8], ones: usize, room: &mut [u8]) -> Census {
    let [nan, pos_inf, _] = CLASSES.map(|class| part.view.format.rule(class));
    let mut census = Census::default();
    census.nan = take(part, nan, hits, room);
    let infinite = ones - census.nan.count;
    if infinite != 0 {
        census.pos_inf = take(part, pos_inf, hits, room);
        let neg_inf = infinite - census.pos_inf.count;
        census.neg_inf = Occurrences::new(neg_inf, first_one(hits));
    }
    census
}

/// [`census_of_hits`] of a part with few hits. Copied one behind the other, they are counted at
/// once.
#[inline(never)]
fn census_of_sparse(part: &Part<'_, '_>, hits: &[u8]) -> Census {
    let (size, x) = (part.view.format.size_in_bytes(), part.dense());
    let (mut copies, mut indices) = ([0; 8 * COPIED], [0; COPIED]);
    let (mut census, mut few) = (Census::default(), 0);
    let (words, rest) = hits.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for (first, word) in (0..).step_by(64).zip(words.iter().chain([&last])) {
        let mut bits = u64::from_le_bytes(*word);
        while bits != 0 {
            if few == COPIED {
                census = census.join(census_of_copies(part, &copies, &indices));
                few = 0;
            }
            let index = first + bits.trailing_zeros() as usize;
            copies[few * size..][..size].copy_from_slice(&x[index * size..][..size]);
            indices[few] = index;
            (few, bits) = (few + 1, bits & (bits - 1));
        }
    }
    census.join(census_of_copies(part, &copies, &indices[..few]))
}

/// The census of elements of the part that have these indices.
#[inline(never)]
fn census_of_copies(part: &Part<'_, '_>, copies: &[u8], indices: &[usize]) -> Census {
    let (size, nan) = (part.view.format.size_in_bytes(), part.view.format.rule(Predicate::Nan));
    let mut census = kernels::census(part.view.backend, &copies[..indices.len() * size], nan);
    for class in [&mut census.nan, &mut census.pos_inf, &mut census.neg_inf] {
        class.first = class.first.map(|first| indices[first]);
    }
    census
}

/// Takes those elements out of `hits`, a bit for each element of the part, that the rule holds for.
#[inline(never)]
fn take(part: &Part<'_, '_>, rule: &Rule, hits: &mut [u8], room: &mut [u8]) -> Occurrences {
    let bits = packed(part, rule, room);
    let ones = clear_nulls(part.view.backend, bits, part.len, hits, 0);
    for (bits, hits) in bits.iter().zip(hits) {
        *hits ^= bits;
    }
    Occurrences::new(ones, first_one(bits))
}
