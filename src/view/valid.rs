//! The questions under a validity bitmap.
//!
//! `pieces.rs` has the algorithm for dense views. Other views are cut into tiles, which kernels
//! answer for. `valid_census.rs` and `valid_stats.rs` have the questions with the longest answers.

use core::fmt;
use core::ops::ControlFlow;

#[cfg(feature = "views")]
use nonfinite_kernels::strided::{self, ValidTile};
use nonfinite_kernels::{self as kernels, Rule};

use super::TensorView;
use super::part::Part;
use super::pieces::{Piece, SHORT, next_hit, pieces};
use super::validity::Validity;
use crate::format::with_opposite;
use crate::{Error, Predicate};

/// A dense part of at most so many bytes is counted without a search for a hit before: a comparison
/// of all elements takes about as long as the search. An element of one byte counts as two, because
/// the AND with the bitmap takes as long as its comparison.
const FEW: usize = 1024;
/// The same if the rule has an opposite. Longer parts are counted in two passes: the hits, and the
/// valid elements.
const FEW_BY_OPPOSITE: usize = 4096;

/// So many hits of a search are looked up in the bitmap one by one.
const LOOKED_UP: usize = 8;

/// A view with a validity bitmap: see [`TensorView::with_validity`]. Every question is about the
/// valid elements. Indices count all elements, nulls too.
///
/// It has neither masks of bytes nor rows: there is no method `mask` and no method `rows`, so a
/// caller that asks for them does not compile. For rows, give each row its own view and the offset
/// of its first bit.
#[derive(Clone, Copy)]
#[must_use]
pub struct ValidView<'a> {
    pub(super) view: TensorView<'a>,
    pub(super) validity: Validity<'a>,
}

impl<'a> TensorView<'a> {
    /// The same view with nulls. Bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]` is 1 if the
    /// element of row-major index `i` is valid, and 0 if it is null. This is the order of Apache
    /// Arrow (Arrow columnar format, "Validity bitmaps"). Bits behind the last element are ignored.
    ///
    /// The bits of a null element change no answer. The new view keeps the backend and the threads
    /// of this view.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    ///
    /// // The first NaN is the memory of a null.
    /// let column = [0.5f32, f32::NAN, f32::INFINITY, f32::NAN];
    /// let column = TensorView::from(&column).with_validity(&[0b1101], 0)?;
    /// assert_eq!(column.count(Predicate::Nan), 1);
    /// assert_eq!(column.position(Predicate::NonFinite), Some(2));
    ///
    /// // The values of an Arrow array of booleans, which has the nulls of the column.
    /// let mut is_nan = [0];
    /// column.bits(Predicate::Nan, &mut is_nan, 0)?;
    /// assert_eq!(is_nan, [0b1000]);
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ValidityBits`] if the bitmap ends before the bit of the last element, or before bit
    /// `offset`.
    #[inline]
    pub fn with_validity(self, bitmap: &'a [u8], offset: usize) -> Result<ValidView<'a>, Error> {
        let validity = Validity::new(bitmap, offset, self.len())?;
        Ok(ValidView { view: self, validity })
    }
}

impl<'a> ValidView<'a> {
    /// The number of elements, nulls among them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.view.len()
    }

    /// Whether there is no element, not even a null.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.view.is_empty()
    }

    /// The number of valid elements. All others are null.
    #[must_use]
    pub fn valid_count(&self) -> usize {
        self.validity.count(self.view.backend, 0, self.len())
    }

    /// The elements without the bitmap.
    pub fn view(&self) -> TensorView<'a> {
        self.view
    }

    /// Sets bit `(offset + i) % 8` of `out[(offset + i) / 8]` to whether element `i` is valid and
    /// `predicate` holds for the element: the values of an Arrow array of booleans that has the
    /// nulls of this view. All other bits stay as they are.
    ///
    /// # Errors
    /// As [`TensorView::bits`].
    pub fn bits(&self, predicate: Predicate, out: &mut [u8], offset: usize) -> Result<(), Error> {
        self.bits_where(self.view.format.rule(predicate), out, offset)
    }

    pub(super) fn bits_where(
        &self,
        rule: &Rule,
        out: &mut [u8],
        offset: usize,
    ) -> Result<(), Error> {
        self.view.check_bits(out, offset)?;
        let bits = |mut part: Part<'_, '_>, out: &mut [u8], mut offset: usize| {
            if part.is_dense() && part.len > SHORT {
                // Before the first hit no bit is 1, whatever is null.
                let clean = next_hit(&part, rule).map_or(part.len, |hit| hit - hit % 64);
                let never = self.view.format.rule(Predicate::Never);
                bits_of(&part.piece(part.first, clean), never, out, offset);
                part = part.piece(part.first + clean, part.len - clean);
                offset += clean;
            }
            bits_of(&part, rule, out, offset);
            self.validity.clear_nulls(self.view.backend, part.first, part.len, out, offset);
        };
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            threads.bits(out, offset, &bits);
            return Ok(());
        }
        bits(Part::whole(&self.view), out, offset);
        Ok(())
    }

    /// Whether `predicate` holds for a valid element. Stops soon after the first.
    #[must_use]
    pub fn any(&self, predicate: Predicate) -> bool {
        self.any_by(self.view.format.rule(predicate))
    }

    /// Whether `predicate` holds for all valid elements; true of none. Stops soon after the first
    /// for which the answer is no.
    #[must_use]
    pub fn all(&self, predicate: Predicate) -> bool {
        let rule = |predicate| self.view.format.rule(predicate);
        !with_opposite(predicate, rule, |opposite| self.any_by(opposite))
    }

    pub(super) fn any_by(&self, rule: &Rule) -> bool {
        let any = |part: Part<'_, 'a>| {
            #[cfg(feature = "views")]
            if !part.is_dense() {
                return self.position_in_tiles(&part, rule, true).is_some();
            }
            self.position_in(part, rule).is_some()
        };
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.any(&any);
        }
        any(Part::whole(&self.view))
    }

    /// For how many valid elements `predicate` holds.
    #[must_use]
    pub fn count(&self, predicate: Predicate) -> usize {
        let (counted, complement) = predicate.counted();
        let rule = |predicate| self.view.format.rule(predicate);
        self.count_by(rule(counted), complement.then(|| rule(predicate)))
    }

    /// How many valid elements the rule holds for, or its opposite if there is one. The rule is the
    /// one that holds for few elements.
    pub(super) fn count_by(&self, rule: &Rule, opposite: Option<&Rule>) -> usize {
        let few = if opposite.is_some() { FEW_BY_OPPOSITE } else { FEW };
        let count = |part: Part<'_, '_>| {
            if part.is_dense() && part.dense().len().max(2 * part.len) <= few {
                return self.count_in_window(&part, opposite.unwrap_or(rule));
            }
            let (hits, end) = (self.count_in(part, rule), part.first + part.len);
            match opposite {
                Some(_) => self.validity.count(self.view.backend, part.first, end) - hits,
                None => hits,
            }
        };
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.parts(&count, &|a, b| a + b);
        }
        count(Part::whole(&self.view))
    }

    /// The row-major index of the first valid element for which `predicate` holds.
    #[must_use]
    pub fn position(&self, predicate: Predicate) -> Option<usize> {
        self.position_by(self.view.format.rule(predicate))
    }

    pub(super) fn position_by(&self, rule: &Rule) -> Option<usize> {
        let position = |part: Part<'_, '_>| self.position_in(part, rule);
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.position(&position);
        }
        position(Part::whole(&self.view))
    }

    /// The row-major indices of all valid elements for which `predicate` holds, in order. Fast
    /// where few elements, null or valid, are such.
    pub fn positions(self, predicate: Predicate) -> impl Iterator<Item = usize> + use<'a> {
        self.view.positions(predicate).filter(move |&i| self.validity.is_valid(i))
    }

    /// The index within the part of the first valid element that the rule holds for.
    #[inline(never)]
    pub(super) fn position_in(&self, part: Part<'_, 'a>, rule: &Rule) -> Option<usize> {
        #[cfg(feature = "views")]
        if !part.is_dense() {
            return self.position_in_tiles(&part, rule, false);
        }
        let (mut from, end) = (part.first, part.first + part.len);
        // One of the first hits is often valid. The number of rounds is not a constant, or the
        // compiler would unroll the loop.
        for _ in 0..LOOKED_UP.min(part.len) {
            let hit = from + next_hit(&part.piece(from, end - from), rule)?;
            if self.validity.is_valid(hit) {
                return Some(hit - part.first);
            }
            from = hit + 1;
        }
        let mut first = None;
        let _ = pieces(&self.validity, &part.piece(from, end - from), rule, &mut |piece| {
            first = match piece {
                Piece::Valid(run) => next_hit(&run, rule).map(|i| run.first + i),
                Piece::Mixed(window) => {
                    self.position_in_window(&window, rule).map(|i| window.first + i)
                }
            };
            if first.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(0) }
        });
        first.map(|i| i - part.first)
    }

    /// The index within the part of a valid element that the rule holds for: of the first one, or
    /// of any if `any`. Tiles come in any order, so a later one may have an earlier hit.
    #[cfg(feature = "views")]
    #[inline(never)]
    fn position_in_tiles(&self, part: &Part<'_, 'a>, rule: &Rule, any: bool) -> Option<usize> {
        if self.has_no_null(part) {
            return if any { part.any(rule).then_some(0) } else { next_hit(part, rule) };
        }
        let (backend, mut first) = (self.view.backend, None);
        self.tiles_with_hits(part, rule, &mut |tile| {
            let (x, bitmap) = (tile.elements, tile.bitmap);
            let hit = kernels::position_of_valid(backend, x, rule, bitmap, tile.offset);
            first = hit.map(|hit| tile.index(hit)).into_iter().chain(first).min();
            first.map_or(usize::MAX, |first| if any { 0 } else { first })
        });
        first
    }

    #[inline(never)]
    fn count_in(&self, part: Part<'_, 'a>, rule: &Rule) -> usize {
        #[cfg(feature = "views")]
        if !part.is_dense() {
            return self.count_in_tiles(&part, rule);
        }
        let mut count = 0;
        let _ = pieces(&self.validity, &part, rule, &mut |piece| {
            let hits = match piece {
                Piece::Valid(run) => count_of_run(&run, rule),
                Piece::Mixed(window) => self.count_in_window(&window, rule),
            };
            count += hits;
            ControlFlow::Continue(hits)
        });
        count
    }

    #[cfg(feature = "views")]
    #[inline(never)]
    fn count_in_tiles(&self, part: &Part<'_, 'a>, rule: &Rule) -> usize {
        if self.has_no_null(part) {
            return count_of_run(part, rule);
        }
        let (backend, mut count) = (self.view.backend, 0);
        self.tiles_with_hits(part, rule, &mut |tile| {
            let (x, bitmap) = (tile.elements, tile.bitmap);
            count += kernels::count_of_valid(backend, x, rule, bitmap, tile.offset);
            usize::MAX
        });
        count
    }

    /// Whether there is no null in a part.
    #[cfg(any(feature = "views", feature = "stats"))]
    #[inline(never)]
    pub(super) fn has_no_null(&self, part: &Part<'_, '_>) -> bool {
        let (first, len) = (part.first, part.len);
        len == 0 || self.validity.run(self.view.backend, first, first + len, true) == len
    }

    /// How many valid elements of a dense part the rule holds for.
    #[inline(never)]
    fn count_in_window(&self, window: &Part<'_, '_>, rule: &Rule) -> usize {
        let (bitmap, offset) = self.validity.bits_from(window.first);
        kernels::count_of_valid(window.view.backend, window.dense(), rule, bitmap, offset)
    }

    /// The index within a dense part of the first valid element that the rule holds for.
    #[inline(never)]
    fn position_in_window(&self, window: &Part<'_, '_>, rule: &Rule) -> Option<usize> {
        let (bitmap, offset) = self.validity.bits_from(window.first);
        kernels::position_of_valid(window.view.backend, window.dense(), rule, bitmap, offset)
    }

    /// Calls `visit` with the tiles of a part that is not dense, unless the rule holds for none of
    /// its elements: see [`strided::valid_tiles`]. Indices count from the start of the part.
    #[cfg(feature = "views")]
    pub(super) fn tiles_with_hits(
        &self,
        part: &Part<'_, 'a>,
        rule: &Rule,
        visit: &mut dyn FnMut(&ValidTile<'_>) -> usize,
    ) {
        if part.len != 0 && part.any(rule) {
            self.tiles(part, visit);
        }
    }

    /// Calls `visit` with the tiles of a part that is not dense.
    #[cfg(feature = "views")]
    #[inline(never)]
    pub(super) fn tiles(
        &self,
        part: &Part<'_, 'a>,
        visit: &mut dyn FnMut(&ValidTile<'_>) -> usize,
    ) {
        let (bitmap, offset) = self.validity.bits_from(part.first);
        strided::valid_tiles(&part.source(), bitmap, offset, visit);
    }
}

/// Packed bits of a part, as if nothing were null.
#[inline(never)]
fn bits_of(part: &Part<'_, '_>, rule: &Rule, out: &mut [u8], offset: usize) {
    part.bits(rule, out, offset);
}

/// The count of a run without nulls.
#[inline(never)]
fn count_of_run(run: &Part<'_, '_>, rule: &Rule) -> usize {
    run.count(rule)
}

/// Without the data, which may be large.
impl fmt::Debug for ValidView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValidView").field("view", &self.view).finish_non_exhaustive()
    }
}
