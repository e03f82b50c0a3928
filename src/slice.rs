//! Functions for typed slices. Each does the same as a method of [`crate::TensorView`].
//!
//! The width of an element is known here, so a program links only the loops of that width.

use core::mem::MaybeUninit;

use nonfinite_kernels::{MaskOut, bytes, bytes_mut, typed};

#[cfg(feature = "stats")]
use crate::Stats;
use crate::element::rule;
use crate::format::with_opposite;
use crate::{Census, Element, Predicate};
#[cfg(feature = "views")]
use crate::{Elements, Error, Rows, TensorView};

/// Sets `out[i]` to whether `x[i]` is NaN: ONNX IsNaN, OpenVINO IsNaN-10, DirectML
/// ELEMENT_WISE_IS_NAN.
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn is_nan<'o, T: Element>(x: &[T], out: impl Into<MaskOut<'o>>) {
    typed::mask::<T::Lane>(None, bytes(x), rule::<T>(Predicate::Nan), out.into());
}

/// Sets `out[i]` to whether `x[i]` is infinite, of either sign: ONNX IsInf and OpenVINO IsInf-10
/// with their default attributes, DirectML ELEMENT_WISE_IS_INFINITY in mode EITHER. For one sign,
/// or none, see [`Predicate::inf`].
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn is_inf<'o, T: Element>(x: &[T], out: impl Into<MaskOut<'o>>) {
    typed::mask::<T::Lane>(None, bytes(x), rule::<T>(Predicate::Inf), out.into());
}

/// Sets `out[i]` to whether `x[i]` is neither NaN nor infinite: OpenVINO IsFinite-10.
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn is_finite<'o, T: Element>(x: &[T], out: impl Into<MaskOut<'o>>) {
    typed::mask::<T::Lane>(None, bytes(x), rule::<T>(Predicate::Finite), out.into());
}

/// Sets `out[i]` to whether `predicate` holds for `x[i]`. `out` may be slices, arrays and vectors
/// of `bool` or `u8`, or `&mut [MaybeUninit<bool>]`.
///
/// ```
/// use nonfinite::{Predicate, mask};
/// let mut out = [false; 3];
/// mask(&[f64::INFINITY, f64::NEG_INFINITY, f64::NAN], Predicate::NegativeInf, &mut out);
/// assert_eq!(out, [false, true, false]);
/// ```
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn mask<'o, T: Element>(x: &[T], predicate: Predicate, out: impl Into<MaskOut<'o>>) {
    typed::mask::<T::Lane>(None, bytes(x), rule::<T>(predicate), out.into());
}

/// Like [`mask`], into memory that need not be initialised. Returns the initialised memory.
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn mask_uninit<'o, T: Element>(
    x: &[T],
    predicate: Predicate,
    out: &'o mut [MaybeUninit<bool>],
) -> &'o mut [bool] {
    typed::mask_uninit::<T::Lane>(None, bytes(x), rule::<T>(predicate), out)
}

/// Sets bit `i % 64` of `out[i / 64]` to whether `predicate` holds for `x[i]`. The bits behind the
/// last element keep their values.
///
/// # Panics
/// If `out` does not have `x.len().div_ceil(64)` words; nothing is written then.
#[inline]
#[track_caller]
pub fn bits<T: Element>(x: &[T], predicate: Predicate, out: &mut [u64]) {
    bitmap(x.len(), out, |out| bits_at(x, predicate, out, 0));
}

/// Calls `write` with the words as bytes, in which bit `i % 8` of byte `i / 8` belongs to element
/// `i`. On big-endian machines, the bytes of each word are swapped before and after.
#[inline]
#[track_caller]
fn bitmap(elements: usize, out: &mut [u64], write: impl FnOnce(&mut [u8])) {
    let words = out.len();
    assert!(
        words == elements.div_ceil(64),
        "{elements} elements, but an output of {words} words of 64 bits"
    );
    low_bytes_first(out);
    write(bytes_mut(out));
    low_bytes_first(out);
}

/// Moves the low byte of each word to the front, or back again. Does nothing on little-endian
/// machines.
#[inline]
fn low_bytes_first(words: &mut [u64]) {
    words.iter_mut().for_each(|word| *word = word.to_le());
}

/// Sets bit `(offset + i) % 8` of `out[(offset + i) / 8]` to whether `predicate` holds for `x[i]`:
/// the order of Apache Arrow's bitmaps (Arrow columnar format, "Validity bitmaps"). All other bits
/// keep their values.
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[inline]
#[track_caller]
pub fn bits_at<T: Element>(x: &[T], predicate: Predicate, out: &mut [u8], offset: usize) {
    typed::bits::<T::Lane>(None, bytes(x), rule::<T>(predicate), out, offset);
}

/// Whether `predicate` holds for any element. Stops soon after the first hit.
#[must_use]
#[inline]
pub fn any<T: Element>(x: &[T], predicate: Predicate) -> bool {
    position(x, predicate).is_some()
}

/// Whether `predicate` holds for all elements. True for an empty slice. Stops soon after the first
/// element for which the predicate does not hold.
#[must_use]
#[inline]
pub fn all<T: Element>(x: &[T], predicate: Predicate) -> bool {
    let position = |opposite: &_| typed::position::<T::Lane>(None, bytes(x), opposite);
    with_opposite(predicate, rule::<T>, position).is_none()
}

/// Whether all elements are finite. True for an empty slice. Stops soon after the first NaN or
/// infinity.
///
/// ```
/// assert!(nonfinite::all_finite(&[1.0, f64::MAX]));
/// assert!(!nonfinite::all_finite(&[1.0, f64::INFINITY]));
/// ```
#[must_use]
#[inline]
pub fn all_finite<T: Element>(x: &[T]) -> bool {
    all(x, Predicate::Finite)
}

/// Whether any element is NaN. Stops soon after the first one.
///
/// ```
/// assert!(nonfinite::any_nan(&[1.0, f32::NAN]));
/// ```
#[must_use]
#[inline]
pub fn any_nan<T: Element>(x: &[T]) -> bool {
    any(x, Predicate::Nan)
}

/// The number of elements for which `predicate` holds.
#[must_use]
#[inline]
pub fn count<T: Element>(x: &[T], predicate: Predicate) -> usize {
    let (counted, complement) = predicate.counted();
    let count = typed::count::<T::Lane>(None, bytes(x), rule::<T>(counted));
    if complement { x.len() - count } else { count }
}

/// The index of the first element for which `predicate` holds.
#[must_use]
#[inline]
pub fn position<T: Element>(x: &[T], predicate: Predicate) -> Option<usize> {
    typed::position::<T::Lane>(None, bytes(x), rule::<T>(predicate))
}

/// Counts NaN, +Inf and -Inf and finds the first of each, in one pass.
///
/// ```
/// let census = nonfinite::census(&[1.0, f32::NAN, f32::INFINITY, f32::NAN]);
/// assert_eq!((census.nan.count, census.nan.first), (2, Some(1)));
/// assert_eq!((census.pos_inf.count, census.pos_inf.first), (1, Some(2)));
/// assert_eq!((census.neg_inf.count, census.neg_inf.first), (0, None));
/// ```
#[must_use]
#[inline]
pub fn census<T: Element>(x: &[T]) -> Census {
    typed::census::<T::Lane>(None, bytes(x), rule::<T>(Predicate::Nan))
}

/// Minimum, maximum and maximum magnitude of the finite elements, and how many elements are zero,
/// subnormal, normal, NaN and infinite, in one pass: see [`crate::TensorView::stats`].
///
/// ```
/// let stats = nonfinite::stats(&[1.0f32, f32::NAN, -3.0, 0.0]);
/// assert_eq!((stats.min.unwrap().value, stats.max.unwrap().value), (-3.0, 1.0));
/// assert_eq!((stats.max_abs.unwrap().index, stats.zeros, stats.census.total()), (2, 1, 1));
/// ```
#[cfg(feature = "stats")]
#[must_use]
pub fn stats<T: Element>(x: &[T]) -> Stats {
    let numbers = const { &T::FORMAT.make_numbers() };
    Stats::new(typed::stats::<T::Lane>(None, bytes(x), numbers), T::FORMAT)
}

/// Sets `out[r]` to whether `predicate` holds for any element of row `r`, which is
/// `x[r * columns..][..columns]`. No mask is made. For other questions, rows with padding, more
/// dimensions or another axis, see [`TensorView::rows`].
///
/// ```
/// use nonfinite::{Predicate, any_rows};
/// let logits = [0.5, 1.0, -2.0, f32::NAN];
/// let mut bad = [false; 2];
/// any_rows(&logits, 2, Predicate::NonFinite, &mut bad);
/// assert_eq!(bad, [false, true]);
/// ```
///
/// # Panics
/// If `x` is not `out.len()` rows of `columns` elements; nothing is written then.
#[cfg(feature = "views")]
#[track_caller]
pub fn any_rows<T: Element>(x: &[T], columns: usize, predicate: Predicate, out: &mut [bool]) {
    rows(x.into(), [out.len(), columns], &mut |rows| rows.any(predicate, out));
}

/// Sets `out[r]` to the number of elements of row `r` for which `predicate` holds; rows as in
/// [`any_rows`].
///
/// ```
/// use nonfinite::{Predicate, count_rows};
/// let logits = [0.5, f32::INFINITY, f32::NAN, f32::NAN, 1.0, 2.0];
/// let mut nan = [0; 3];
/// count_rows(&logits, 2, Predicate::Nan, &mut nan);
/// assert_eq!(nan, [0, 2, 0]);
/// ```
///
/// # Panics
/// If `x` is not `out.len()` rows of `columns` elements; nothing is written then.
#[cfg(feature = "views")]
#[track_caller]
pub fn count_rows<T: Element>(x: &[T], columns: usize, predicate: Predicate, out: &mut [usize]) {
    rows(x.into(), [out.len(), columns], &mut |rows| rows.count(predicate, out));
}

/// Asks about the elements as rows. `shape` is the number of rows and their length. Not generic,
/// so that it is compiled once.
#[cfg(feature = "views")]
#[track_caller]
fn rows(x: Elements<'_>, shape: [usize; 2], ask: &mut dyn FnMut(Rows<'_>) -> Result<(), Error>) {
    let elements = x.len();
    let view = TensorView::shaped(x, &shape).ok().filter(|view| view.len() == elements);
    if view.and_then(|view| view.rows(1).and_then(&mut *ask).ok()).is_none() {
        let [rows, columns] = shape;
        panic!("{elements} elements are not {rows} rows of {columns}");
    }
}
