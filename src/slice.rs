//! Functions for typed slices. Each does the same as a method of [`crate::TensorView`]. The width
//! of an element is known here, so a program links only the loops of that width.

use nonfinite_kernels::{MaskOut, bytes, typed};

#[cfg(feature = "stats")]
use crate::Stats;
use crate::element::{asked, known};
use crate::{Census, Element, Predicate};

/// Sets `out[i]` to whether `x[i]` is NaN: ONNX IsNaN, OpenVINO IsNaN-10, DirectML
/// ELEMENT_WISE_IS_NAN.
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn is_nan<'o, T: Element>(x: &[T], out: impl Into<MaskOut<'o>>) {
    mask(x, Predicate::Nan, out);
}

/// Sets `out[i]` to whether `x[i]` is infinite, of either sign: ONNX IsInf and OpenVINO IsInf-10
/// with their default attributes, DirectML ELEMENT_WISE_IS_INFINITY in mode EITHER. For one sign,
/// or none, see [`Predicate::inf`].
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn is_infinite<'o, T: Element>(x: &[T], out: impl Into<MaskOut<'o>>) {
    mask(x, Predicate::Inf, out);
}

/// Sets `out[i]` to whether `x[i]` is neither NaN nor infinite: OpenVINO IsFinite-10.
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn is_finite<'o, T: Element>(x: &[T], out: impl Into<MaskOut<'o>>) {
    mask(x, Predicate::Finite, out);
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
    typed::mask::<T::Lane>(None, bytes(x), &asked::<T>(predicate), out.into());
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
    typed::bits::<T::Lane>(None, bytes(x), &asked::<T>(predicate), out, offset);
}

/// Whether `predicate` holds for any element. Stops soon after the first hit.
#[must_use]
#[inline]
#[track_caller]
pub fn any<T: Element>(x: &[T], predicate: Predicate) -> bool {
    typed::any::<T::Lane>(None, bytes(x), &asked::<T>(predicate))
}

/// Whether `predicate` holds for all elements. True for an empty slice. Stops soon after the first
/// element for which the predicate does not hold.
#[must_use]
#[inline]
#[track_caller]
pub fn all<T: Element>(x: &[T], predicate: Predicate) -> bool {
    let (counted, opposite) = predicate.counted();
    !typed::any::<T::Lane>(None, bytes(x), &asked::<T>(counted).not_if(!opposite))
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
#[track_caller]
pub fn count<T: Element>(x: &[T], predicate: Predicate) -> usize {
    typed::count::<T::Lane>(None, bytes(x), &asked::<T>(predicate))
}

/// The index of the first element for which `predicate` holds.
#[must_use]
#[inline]
#[track_caller]
pub fn position<T: Element>(x: &[T], predicate: Predicate) -> Option<usize> {
    typed::position::<T::Lane>(None, bytes(x), &asked::<T>(predicate))
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
    typed::census::<T::Lane>(None, bytes(x), known::<T>(Predicate::Nan))
}

/// Minimum, maximum and maximum magnitude of the finite elements, and how many elements are zero,
/// subnormal, normal, NaN and infinite, in one pass: see [`crate::TensorView::stats`].
///
/// ```
/// let stats = nonfinite::stats(&[1.0f32, f32::NAN, -3.0, 0.0]);
/// assert_eq!((stats.min.unwrap().value, stats.max.unwrap().value), (-3.0, 1.0));
/// assert_eq!((stats.max_abs.unwrap().index, stats.zeros, stats.census.total()), (2, 1, 1));
/// let text = "1 NaN, 0 +Inf, 0 -Inf, 1 zero, 0 subnormal, 2 normal, from -3.0 to 1.0";
/// assert_eq!(stats.to_string(), text);
/// ```
#[cfg(feature = "stats")]
#[must_use]
pub fn stats<T: Element>(x: &[T]) -> Stats {
    let numbers = const { &T::FORMAT.make_numbers() };
    Stats::new(typed::stats::<T::Lane>(None, bytes(x), numbers), T::FORMAT)
}
