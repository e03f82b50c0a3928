//! Functions for typed slices. Each does the same as a method of [`crate::TensorView`].
//!
//! The width of an element is known here, so a program links only the loops of that width. Only
//! [`mask_vec`], [`any_rows`] and [`count_rows`] make a view, which links the loops of all widths.

use core::mem::MaybeUninit;

use nonfinite_kernels::{Lane, MaskOut, bytes, typed};

#[cfg(feature = "stats")]
use crate::Stats;
use crate::element::rule;
use crate::format::with_opposite;
use crate::{Census, Element, Elements, Error, Predicate, Rows, TensorView};

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

/// Sets `out[i]` to whether `predicate` holds for `x[i]`. `out` is a slice, an array or a vector of
/// `bool` or `u8`, or `&mut [MaybeUninit<bool>]`.
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

/// [`mask`] in a new vector (feature `std`).
///
/// ```
/// use nonfinite::{Predicate, mask_vec};
/// assert_eq!(mask_vec(&[1.0f32, f32::NAN], Predicate::Nan), [false, true]);
/// ```
#[cfg(feature = "std")]
#[must_use]
pub fn mask_vec<T: Element>(x: &[T], predicate: Predicate) -> std::vec::Vec<bool> {
    TensorView::from(x).mask_vec(predicate)
}

/// Sets bit `(offset + i) % 8` of `out[(offset + i) / 8]` to whether `predicate` holds for `x[i]`:
/// the order of Apache Arrow's bitmaps (Arrow columnar format, "Validity bitmaps"). All other bits
/// keep their values.
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[inline]
#[track_caller]
pub fn bits<T: Element>(x: &[T], predicate: Predicate, out: &mut [u8], offset: usize) {
    typed::bits::<T::Lane>(None, bytes(x), rule::<T>(predicate), out, offset);
}

/// Whether `predicate` holds for any element. Stops soon after the first hit.
#[must_use]
#[inline]
pub fn any<T: Element>(x: &[T], predicate: Predicate) -> bool {
    typed::any::<T::Lane>(None, bytes(x), rule::<T>(predicate))
}

/// Whether `predicate` holds for all elements. True for an empty slice. Stops soon after the first
/// element for which the predicate does not hold.
#[must_use]
#[inline]
pub fn all<T: Element>(x: &[T], predicate: Predicate) -> bool {
    !with_opposite(predicate, rule::<T>, |rule: &_| typed::any::<T::Lane>(None, bytes(x), rule))
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
    // Not `x.len()`, since an element may be an array.
    if complement { bytes(x).len() / T::Lane::SIZE - count } else { count }
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
#[track_caller]
pub fn count_rows<T: Element>(x: &[T], columns: usize, predicate: Predicate, out: &mut [usize]) {
    rows(x.into(), [out.len(), columns], &mut |rows| rows.count(predicate, out));
}

/// Asks about `shape[0]` rows of `shape[1]` elements. Not generic, so that it is compiled once.
#[track_caller]
fn rows(x: Elements<'_>, shape: [usize; 2], ask: &mut dyn FnMut(Rows<'_>) -> Result<(), Error>) {
    let elements = x.len();
    let view = TensorView::shaped(x, &shape).ok().filter(|view| view.len() == elements);
    if view.and_then(|view| view.rows(1).and_then(&mut *ask).ok()).is_none() {
        let [rows, columns] = shape;
        panic!("{elements} elements are not {rows} rows of {columns}");
    }
}
