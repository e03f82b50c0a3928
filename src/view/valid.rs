//! The questions under a validity bitmap.
//!
//! ```text
//! count(x, bitmap):
//!     search x for the next hit, as if nothing were null; return count if there is none
//!     window = up to 4096 elements from this hit on
//!     hits = the packed bits of the window AND its part of the bitmap
//!     count += the ones in hits
//!     repeat after the window
//! ```
//!
//! ```text
//! elements   . . . . . . . x . . x x . x . . . . x x . .      x: a hit
//! bitmap                   1 0 1 1 0 1 0 ...                  not read before the first hit
//! hits                     1 0 0 1 0 1 0 ...
//! ```
//!
//! So clean elements cost the same as without a bitmap. A hit that is far from the hit before is
//! looked up in the bitmap alone. `position` and `any` look up a few hits first, and end at the
//! first window with a valid hit. `census` takes windows of elements that are not finite. Where
//! such an element is valid, `census` packs the bits of NaN and of +Inf too.
//!
//! A view that is not dense is searched once, in the order of memory. If there is a hit, boxes of
//! up to 16384 elements are windows, one after the other in row-major order.

use core::fmt;

use nonfinite_kernels::{Bitmap, Rule};

use super::TensorView;
use super::part::Part;
use crate::format::with_opposite;
use crate::{Census, Error, Occurrences, Predicate};

/// Elements of a window of a dense view.
const WINDOW: usize = 4096;

/// Elements of a window of another view: boxes with many rows read whole cache lines.
const BOX: usize = 16384;

/// A hit is near if it is less than this many elements after the end of what was looked at last.
const NEAR: usize = 256;

/// This many hits are looked up one by one, from a hit on that is not near. The next near hit
/// begins a window.
const LONE: usize = 8;

/// A view with a validity bitmap: see [`TensorView::with_validity`]. Every question is about the
/// valid elements. Indices count all elements, nulls too.
///
/// There are no byte masks and no rows. For rows, give each row its own view and the offset of its
/// first bit.
#[derive(Clone, Copy)]
#[must_use]
pub struct ValidView<'a> {
    pub(super) view: TensorView<'a>,
    pub(super) validity: Bitmap<'a>,
}

impl<'a> TensorView<'a> {
    /// The same view with nulls. Bit `(offset + i) % 8` of `bitmap[(offset + i) / 8]` is 1 if the
    /// element of row-major index `i` is valid, and 0 if it is null. This is the order of Apache
    /// Arrow (Arrow columnar format, "Validity bitmaps"). Bits after the last element are ignored.
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
        let (elements, bytes) = (self.len(), bitmap.len());
        let validity = Bitmap::new(bitmap, offset, elements).ok_or(Error::ValidityBits {
            elements,
            offset,
            bytes,
        })?;
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
        self.validity.count()
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
        let bits = |part: Part<'_, '_>, out: &mut [u8], offset: usize| {
            part.bits(rule, out, offset);
            self.validity.part(part.first, part.len).clear_nulls(out, offset);
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
        self.any_where(self.view.format.rule(predicate))
    }

    /// Whether `predicate` holds for all valid elements. True if no element is valid. Stops soon
    /// after the first valid element for which the predicate does not hold.
    #[must_use]
    pub fn all(&self, predicate: Predicate) -> bool {
        let rule = |predicate| self.view.format.rule(predicate);
        !with_opposite(predicate, rule, |opposite| self.any_where(opposite))
    }

    pub(super) fn any_where(&self, rule: &Rule) -> bool {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.any(&|part| self.position_in(part, rule).is_some());
        }
        self.position_in(Part::whole(&self.view), rule).is_some()
    }

    /// For how many valid elements `predicate` holds.
    #[must_use]
    pub fn count(&self, predicate: Predicate) -> usize {
        let (counted, complement) = predicate.counted();
        let count = self.count_where(self.view.format.rule(counted));
        if complement { self.valid_count() - count } else { count }
    }

    pub(super) fn count_where(&self, rule: &Rule) -> usize {
        let count = |part: Part<'_, 'a>| {
            self.windows(part, rule, 0).map(|(_, found)| found.count).sum::<usize>()
        };
        self.by_parts(&count, &|a, b| a + b)
    }

    /// The row-major index of the first valid element for which `predicate` holds.
    #[must_use]
    pub fn position(&self, predicate: Predicate) -> Option<usize> {
        self.position_where(self.view.format.rule(predicate))
    }

    pub(super) fn position_where(&self, rule: &Rule) -> Option<usize> {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.position(&|part| self.position_in(part, rule));
        }
        self.position_in(Part::whole(&self.view), rule)
    }

    /// The row-major indices of all valid elements for which `predicate` holds, in order. Fast if
    /// the predicate holds for few elements, null or valid.
    pub fn positions(self, predicate: Predicate) -> impl Iterator<Item = usize> + use<'a> {
        self.view.positions(predicate).filter(move |&i| self.validity.is_valid(i))
    }

    /// Counts NaN, +Inf and -Inf among the valid elements, and finds the first of each by its
    /// row-major index.
    #[must_use]
    pub fn census(&self) -> Census {
        self.by_parts(&|part| self.census_in(part), &Census::join)
    }

    /// The joined answers of parts, by several threads if the view asks for threads.
    pub(super) fn by_parts<R: Send>(
        &self,
        ask: &(impl Fn(Part<'_, 'a>) -> R + Sync),
        _join: &(impl Fn(R, R) -> R + Sync),
    ) -> R {
        #[cfg(feature = "rayon")]
        if let Some(threads) = self.view.shared() {
            return threads.parts(ask, _join);
        }
        ask(Part::whole(&self.view))
    }

    /// The index within the part of the first valid element that the rule holds for.
    // Inlined, as `census_in`: a copy of a part reads 16 bytes in one load whose halves were just
    // stored one by one, and waits. Clean short columns take 10 ns less.
    #[inline]
    pub(super) fn position_in(&self, part: Part<'_, 'a>, rule: &Rule) -> Option<usize> {
        // One of the first hits is often valid.
        let first = self.windows(part, rule, LONE).find_map(|(_, found)| found.first);
        first.map(|first| first - part.first)
    }

    /// Indices count from the start of the view, so that the answers of parts can be joined.
    #[inline(always)]
    pub(super) fn census_in(&self, part: Part<'_, 'a>) -> Census {
        let rule = |predicate| self.view.format.rule(predicate);
        let mut census = Census::default();
        for (window, found) in self.windows(part, rule(Predicate::NonFinite), 0) {
            let (mut left, Census { nan, pos_inf, neg_inf, .. }) = (found.count, &mut census);
            for (class, predicate) in [(nan, Predicate::Nan), (pos_inf, Predicate::PositiveInf)] {
                if left != 0 {
                    let found = self.occurrences_in(window, rule(predicate));
                    (*class, left) = (class.join(found), left - found.count);
                }
            }
            if left != 0 && neg_inf.first.is_none() {
                neg_inf.first = self.occurrences_in(window, rule(Predicate::NegativeInf)).first;
            }
            neg_inf.count += left;
        }
        census
    }

    /// The windows of a part, which hold all elements that the rule holds for, each with its valid
    /// ones. In a dense part the first `lone` hits are windows of their own.
    fn windows<'v>(
        &self,
        part: Part<'v, 'a>,
        rule: &Rule,
        mut lone: usize,
    ) -> impl Iterator<Item = (Part<'v, 'a>, Occurrences)> {
        let mut rest = part;
        if !part.is_dense() && !part.any(rule) {
            rest.len = 0;
        }
        core::iter::from_fn(move || {
            let (window, found) = self.next_window(&rest, rule, &mut lone)?;
            rest.len -= window.first - rest.first + window.len;
            rest.first = window.first + window.len;
            Some((window, found))
        })
    }

    /// The first window of the rest of a part.
    fn next_window<'v>(
        &self,
        rest: &Part<'v, 'a>,
        rule: &Rule,
        lone: &mut usize,
    ) -> Option<(Part<'v, 'a>, Occurrences)> {
        if rest.len == 0 {
            return None;
        }
        if !rest.is_dense() {
            let window = Part::after(rest.view, rest.first, BOX.min(rest.len));
            return Some((window, self.occurrences_in(window, rule)));
        }
        let hit = rest.position(rule)?;
        if hit >= NEAR {
            *lone = LONE;
        }
        if let Some(left) = lone.checked_sub(1) {
            *lone = left;
            let hit = Part { first: rest.first + hit, len: 1, ..*rest };
            let valid = self.validity.is_valid(hit.first);
            let found = Occurrences::new(usize::from(valid), valid.then_some(hit.first));
            return Some((hit, found));
        }
        // The window reads whole cache lines, if the part begins at one.
        let clean = hit & !63;
        let window = Part { first: rest.first + clean, len: WINDOW.min(rest.len - clean), ..*rest };
        Some((window, self.occurrences_in(window, rule)))
    }

    /// The valid elements of a window that the rule holds for. Indices count from the start of the
    /// view.
    #[inline(never)]
    fn occurrences_in(&self, window: Part<'_, 'a>, rule: &Rule) -> Occurrences {
        // No larger than the window needs, since filling it with zeros takes time.
        let (mut few, mut many);
        let bits: &mut [u8] = if window.len <= WINDOW {
            few = [0; WINDOW / 8];
            &mut few
        } else {
            many = [0; BOX / 8];
            &mut many
        };
        window.bits(rule, bits, 0);
        let validity = self.validity.part(window.first, window.len);
        validity.occurrences(bits).behind(window.first)
    }
}

/// Prints no data, which may be large.
impl fmt::Debug for ValidView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValidView").field("view", &self.view).finish_non_exhaustive()
    }
}
