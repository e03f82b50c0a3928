//! The questions under a validity bitmap.
//!
//! There are no loops of their own. An element that is no hit needs no look at its validity, so a
//! question first searches the elements for the next hit, whether null or not. From the hit on, the
//! bitmap decides:
//!
//! ```text
//! elements   . . . . . . . x . . x x . x . . . . x x . .      x: a hit
//! bitmap                   1 1 1 1 1 1 1 ...                  a long run of ones: the question of
//!                                                             TensorView, for the whole run
//!                          0 0 0 0 0 0 0 ...                  a long run of zeros: skipped
//!                          1 0 1 1 0 1 0 ...                  else packed bits of the hits of 4096
//!                                                             elements, and the bitmap
//! ```
//!
//! Clean elements so cost what they cost without a bitmap. Runs are found by the search for a byte
//! that is not 0xFF, or not 0, at the speed of the kernels.
//!
//! In a view that is not dense the order of memory is not that of indices. There the first search
//! only answers whether there is a hit at all, and boxes of at most 4096 elements follow.

use core::fmt;

use nonfinite_kernels::Rule;

use super::TensorView;
use super::part::{CLASSES, Condition, Part};
use super::validity::{Validity, count_ones, first_one};
use crate::{Census, Error, Occurrences, Predicate};

/// Elements whose hits are packed into bits at once.
const CHUNK: usize = 4096;

/// The shortest run of nulls that is skipped, not packed into bits with its neighbours.
const NULLS: usize = CHUNK / 8;

/// A view with a validity bitmap: see [`TensorView::with_validity`]. Every question is about the
/// valid elements. Indices count all elements, nulls too.
#[derive(Clone, Copy)]
#[must_use]
pub struct ValidView<'a> {
    view: TensorView<'a>,
    validity: Validity<'a>,
}

impl<'a> TensorView<'a> {
    /// The same view, of whose elements some are null: bit `(offset + i) % 8` of
    /// `bitmap[(offset + i) / 8]` is 1 if the element of row-major index `i` is valid, and 0 if it
    /// is null. This is the order of Apache Arrow (Arrow columnar format, "Validity bitmaps"). Bits
    /// behind the last element are not looked at.
    ///
    /// What the memory of a null holds makes no difference to any answer. The backend and the
    /// threads are those of this view.
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
    /// // Values of an Arrow array of booleans. Its nulls are those of the column.
    /// let mut is_nan = [0];
    /// column.bits(Predicate::Nan, &mut is_nan, 0)?;
    /// assert_eq!(is_nan, [0b1000]);
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::ValidityBits`] if the bitmap ends before the bit of the last element, or before bit
    /// `offset`.
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
        self.validity.count(0, self.len())
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
        self.view.check_bits(out, offset)?;
        let condition = Condition::of(self.view.format, predicate);
        let bits = |part: Part<'_, '_>, out: &mut [u8], offset| {
            part.bits(condition, out, offset);
            self.validity.clear_nulls(part.first, part.len, out, offset);
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
        !self.any_by(self.view.format.opposite(predicate))
    }

    fn any_by(&self, rule: &Rule) -> bool {
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
        let format = self.view.format;
        let rule = if complement { format.opposite(predicate) } else { format.rule(predicate) };
        let count = |part: Part<'_, '_>| match self.count_in(part, rule) {
            count if complement => self.validity.count(part.first, part.first + part.len) - count,
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
        let rule = self.view.format.rule(predicate);
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
    fn position_in(&self, part: Part<'_, 'a>, rule: &Rule) -> Option<usize> {
        let (mut at, end, dense) = (part.first, part.first + part.len, part.is_dense());
        if !dense && next_hit(part, rule).is_none() {
            return None;
        }
        while at < end {
            if dense {
                at += next_hit(part.piece(at, end - at), rule)?;
                if self.validity.is_valid(at) {
                    return Some(at - part.first);
                }
            }
            let nulls = self.validity.run(self.view.backend, at, end, false);
            if nulls >= NULLS {
                at += nulls;
                continue;
            }
            let chunk = part.chunk(at, CHUNK);
            if let Some(i) = first_one(&self.hits(chunk, rule)) {
                return Some(at + i - part.first);
            }
            at += chunk.len;
        }
        None
    }

    fn count_in(&self, part: Part<'_, 'a>, rule: &Rule) -> usize {
        let mut count = 0;
        self.pieces(part, rule, |piece| {
            count += match piece {
                Piece::Valid(part) => part.count(Condition::new(rule)),
                Piece::Mixed(_, hits) => count_ones(hits),
            };
        });
        count
    }

    /// Indices count from the start of the view, so that the answers of parts can be joined.
    fn census_in(&self, part: Part<'_, 'a>) -> Census {
        let rule = |predicate| self.view.format.rule(predicate);
        let [nan, pos_inf, _] = CLASSES.map(rule);
        let mut census = Census::default();
        self.pieces(part, rule(Predicate::NonFinite), |piece| {
            let found = match piece {
                Piece::Valid(part) => part.census().behind(part.first),
                Piece::Mixed(part, hits) => {
                    let nan = packed_of(part, nan, hits);
                    let pos_inf = packed_of(part, pos_inf, hits);
                    // What is neither NaN nor finite is infinite.
                    let mut neg_inf = *hits;
                    for (bits, (nan, pos_inf)) in neg_inf.iter_mut().zip(nan.iter().zip(&pos_inf)) {
                        *bits &= !(nan | pos_inf);
                    }
                    let [nan, pos_inf, neg_inf] = [nan, pos_inf, neg_inf]
                        .map(|bits| Occurrences::new(count_ones(&bits), first_one(&bits)));
                    Census::new(nan, pos_inf, neg_inf).behind(part.first)
                }
            };
            census = census.join(found);
        });
        census
    }

    /// Calls `visit` with the pieces of the part that hold the valid elements that the rule holds
    /// for, in order.
    fn pieces<'v>(
        &self,
        part: Part<'v, 'a>,
        rule: &Rule,
        mut visit: impl FnMut(Piece<'_, 'v, 'a>),
    ) {
        let (mut at, end, dense) = (part.first, part.first + part.len, part.is_dense());
        if !dense && next_hit(part, rule).is_none() {
            return;
        }
        while at < end {
            if dense {
                let Some(hit) = next_hit(part.piece(at, end - at), rule) else { return };
                at += hit;
            }
            let valid = self.validity.run(self.view.backend, at, end, true);
            if valid == part.len || dense && valid >= CHUNK {
                visit(Piece::Valid(part.piece(at, valid)));
                at += valid;
                continue;
            }
            let nulls = self.validity.run(self.view.backend, at, end, false);
            if nulls >= NULLS {
                at += nulls;
                continue;
            }
            let chunk = part.chunk(at, CHUNK);
            let hits = self.hits(chunk, rule);
            if first_one(&hits).is_some() {
                visit(Piece::Mixed(chunk, &hits));
            }
            at += chunk.len;
        }
    }

    /// One bit for each element of the part, at most [`CHUNK`]: 1 for a valid element that the rule
    /// holds for.
    fn hits(&self, part: Part<'_, 'a>, rule: &Rule) -> Packed {
        let mut bits = packed(part, rule);
        self.validity.clear_nulls(part.first, part.len, &mut bits, 0);
        bits
    }
}

/// Without the data, which may be large.
impl fmt::Debug for ValidView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValidView").field("view", &self.view).finish_non_exhaustive()
    }
}

/// A piece of a part.
enum Piece<'h, 'v, 'a> {
    /// No element is null.
    Valid(Part<'v, 'a>),
    /// Elements that may be null, and one bit for each: 1 for a valid hit.
    Mixed(Part<'v, 'a>, &'h Packed),
}

/// One bit for each of [`CHUNK`] elements.
type Packed = [u8; CHUNK / 8];

/// The index within the part of the first element that the rule holds for, valid or null. In a
/// part that is not dense: 0 if there is such an element.
#[inline(never)]
fn next_hit(part: Part<'_, '_>, rule: &Rule) -> Option<usize> {
    if part.is_dense() {
        part.position(Condition::new(rule))
    } else {
        part.any(Condition::new(rule)).then_some(0)
    }
}

/// One bit for each element of the part, at most [`CHUNK`]: 1 if the rule holds for the element.
#[inline(never)]
fn packed(part: Part<'_, '_>, rule: &Rule) -> Packed {
    let mut bits = [0; CHUNK / 8];
    part.bits(Condition::new(rule), &mut bits, 0);
    bits
}

/// [`packed`] bits that are among `hits`.
fn packed_of(part: Part<'_, '_>, rule: &Rule, hits: &Packed) -> Packed {
    let mut bits = packed(part, rule);
    bits.iter_mut().zip(hits).for_each(|(bits, hits)| *bits &= hits);
    bits
}
