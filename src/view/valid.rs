//! The questions under a validity bitmap.
//!
//! `pieces.rs` has the algorithm. Only `stats` has kernels that read elements and bitmap together:
//! `valid_stats.rs` calls them.

use core::fmt;
use core::ops::ControlFlow;

use nonfinite_kernels::{self as kernels, Rule, clear_nulls};

use super::TensorView;
use super::part::{CLASSES, Condition, Part};
use super::pieces::{Piece, WINDOW, next_hit, packed, pieces};
use super::validity::{Validity, first_one};
use crate::{Census, Error, Occurrences, Predicate};

/// So many hits of a search are looked up in the bitmap one by one.
const LOOKED_UP: usize = 8;

/// If at most one valid hit comes on so many bytes, the hits are copied, and classified together...
const SPARSE: usize = 128;

/// ... so many at once.
const COPIED: usize = 16;

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
        self.bits_where(Condition::of(self.view.format, predicate), out, offset)
    }

    pub(super) fn bits_where(
        &self,
        condition: Condition<'_>,
        out: &mut [u8],
        offset: usize,
    ) -> Result<(), Error> {
        self.view.check_bits(out, offset)?;
        let bits = |part: Part<'_, '_>, out: &mut [u8], offset| {
            part.bits(condition, out, offset);
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
        !self.any_by(&self.view.format.rule(predicate).not())
    }

    pub(super) fn any_by(&self, rule: &Rule) -> bool {
        let any = |part: Part<'_, '_>| self.position_in(part, rule).is_some();
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.any(&any);
        }
        any(Part::whole(&self.view))
    }

    /// For how many valid elements `predicate` holds.
    #[must_use]
    pub fn count(&self, predicate: Predicate) -> usize {
        // Counts the complement: most elements are finite.
        let complement = predicate == Predicate::Finite;
        let counted = if complement { Predicate::NonFinite } else { predicate };
        self.count_by(self.view.format.rule(counted), complement)
    }

    /// How many valid elements the rule holds for, or does not.
    pub(super) fn count_by(&self, rule: &Rule, complement: bool) -> usize {
        let count = |part: Part<'_, '_>| match self.count_in(part, rule) {
            count if complement => {
                let (backend, end) = (self.view.backend, part.first + part.len);
                self.validity.count(backend, part.first, end) - count
            }
            count => count,
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

    /// The index within the part of the first valid element that the rule holds for.
    pub(super) fn position_in(&self, part: Part<'_, 'a>, rule: &Rule) -> Option<usize> {
        let (mut from, end) = (part.first, part.first + part.len);
        // One of the first hits is often valid.
        for _ in 0..if part.is_dense() { LOOKED_UP } else { 0 } {
            let hit = from + next_hit(part.piece(from, end - from), rule)?;
            if self.validity.is_valid(hit) {
                return Some(hit - part.first);
            }
            from = hit + 1;
        }
        let rest = if from == part.first { part } else { part.piece(from, end - from) };
        let mut first = None;
        let _ = pieces(&self.validity, rest, rule, &mut |piece| {
            first = match piece {
                Piece::Hit(i) => Some(i),
                Piece::Valid(run) => run.position(Condition::new(rule)).map(|i| run.first + i),
                Piece::Mixed(chunk, hits, _) => first_one(hits).map(|i| chunk.first + i),
            };
            if first.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        first.map(|i| i - part.first)
    }

    fn count_in(&self, part: Part<'_, 'a>, rule: &Rule) -> usize {
        let mut count = 0;
        let _ = pieces(&self.validity, part, rule, &mut |piece| {
            count += match piece {
                Piece::Hit(_) => 1,
                Piece::Valid(run) => run.count(Condition::new(rule)),
                Piece::Mixed(.., ones) => ones,
            };
            ControlFlow::Continue(())
        });
        count
    }

    /// Indices count from the start of the view, so that the answers of parts can be joined.
    pub(super) fn census_in(&self, part: Part<'_, 'a>) -> Census {
        let mut census = Census::default();
        let special = self.view.format.rule(Predicate::NonFinite);
        let _ = pieces(&self.validity, part, special, &mut |piece| {
            let run = match piece {
                Piece::Hit(i) => part.piece(i, 1),
                Piece::Valid(run) => run,
                Piece::Mixed(chunk, hits, ones) => {
                    let found = census_of_hits(chunk, hits, ones);
                    census = census.join(found.behind(chunk.first));
                    return ControlFlow::Continue(());
                }
            };
            census = census.join(run.census().behind(run.first));
            ControlFlow::Continue(())
        });
        census
    }
}

/// Without the data, which may be large.
impl fmt::Debug for ValidView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValidView").field("view", &self.view).finish_non_exhaustive()
    }
}

/// The census of the valid NaN and infinities of a part: the elements whose bit is 1 in `hits`.
/// There are so many as `ones`.
#[inline(never)]
fn census_of_hits(part: Part<'_, '_>, hits: &mut [u8], ones: usize) -> Census {
    if part.is_dense() && ones <= part.dense().len() / SPARSE {
        return census_of_sparse(part, hits);
    }
    let [nan, pos_inf, _] = CLASSES.map(|class| part.view.format.rule(class));
    let (mut census, mut room) = (Census::default(), [0; WINDOW / 8]);
    census.nan = take(part, nan, hits, &mut room);
    let infinite = ones - census.nan.count;
    if infinite != 0 {
        census.pos_inf = take(part, pos_inf, hits, &mut room);
        let neg_inf = infinite - census.pos_inf.count;
        census.neg_inf = Occurrences::new(neg_inf, first_one(hits));
    }
    census
}

/// [`census_of_hits`] of a dense part with few hits. Copied one behind the other, they are counted
/// at once.
fn census_of_sparse(part: Part<'_, '_>, hits: &[u8]) -> Census {
    let (format, x) = (part.view.format, part.dense());
    let (size, nan) = (format.size_in_bytes(), format.rule(Predicate::Nan));
    let (mut copies, mut indices) = ([[0; 8]; COPIED], [0; COPIED]);
    let count = |copies: &[u8], indices: &[usize]| {
        let mut census = kernels::census(part.view.backend, copies, nan);
        for class in [&mut census.nan, &mut census.pos_inf, &mut census.neg_inf] {
            class.first = class.first.map(|first| indices[first]);
        }
        census
    };
    let (mut census, mut few) = (Census::default(), 0);
    let copies = &mut copies.as_flattened_mut()[..COPIED * size];
    let (words, rest) = hits.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for (first, word) in (0..).step_by(64).zip(words.iter().chain([&last])) {
        let mut bits = u64::from_le_bytes(*word);
        while bits != 0 {
            let index = first + bits.trailing_zeros() as usize;
            copies[few * size..][..size].copy_from_slice(&x[index * size..][..size]);
            indices[few] = index;
            (few, bits) = (few + 1, bits & (bits - 1));
            if few == COPIED {
                census = census.join(count(copies, &indices));
                few = 0;
            }
        }
    }
    census.join(count(&copies[..few * size], &indices))
}

/// Takes those elements out of `hits`, a bit for each element of the part, that the rule holds for.
fn take(
    part: Part<'_, '_>,
    rule: &Rule,
    hits: &mut [u8],
    room: &mut [u8; WINDOW / 8],
) -> Occurrences {
    let bits = packed(part, rule, room);
    let ones = clear_nulls(part.view.backend, bits, part.len, hits, 0);
    for (bits, hits) in bits.iter().zip(hits) {
        *hits ^= bits;
    }
    Occurrences::new(ones, first_one(bits))
}
