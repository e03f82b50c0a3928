//! Typed slices.

use core::mem::MaybeUninit;

use nonfinite_kernels::{MaskOut, bytes, bytes_mut, typed};

use crate::element::{opposite, rule};
use crate::{Census, Element, Predicate};

/// Sets `out[i]` to whether `x[i]` is NaN: ONNX IsNaN, OpenVINO IsNaN-10, DirectML
/// ELEMENT_WISE_IS_NAN.
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn is_nan<T: Element>(x: &[T], out: &mut [bool]) {
    typed::mask::<T::Lane>(None, bytes(x), rule::<T>(Predicate::Nan), MaskOut::from(out));
}

/// Sets `out[i]` to whether `x[i]` is infinite, of either sign: ONNX IsInf and OpenVINO IsInf-10
/// with their default attributes, DirectML ELEMENT_WISE_IS_INFINITY in mode EITHER. For one sign,
/// or none, see [`Predicate::inf`].
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn is_inf<T: Element>(x: &[T], out: &mut [bool]) {
    typed::mask::<T::Lane>(None, bytes(x), rule::<T>(Predicate::Inf), MaskOut::from(out));
}

/// Sets `out[i]` to whether `x[i]` is neither NaN nor infinite: OpenVINO IsFinite-10.
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[inline]
#[track_caller]
pub fn is_finite<T: Element>(x: &[T], out: &mut [bool]) {
    typed::mask::<T::Lane>(None, bytes(x), rule::<T>(Predicate::Finite), MaskOut::from(out));
}

/// Sets `out[i]` to whether `predicate` holds for `x[i]`.
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
pub fn mask<T: Element>(x: &[T], predicate: Predicate, out: &mut [bool]) {
    typed::mask::<T::Lane>(None, bytes(x), rule::<T>(predicate), MaskOut::from(out));
}

/// As [`mask`], into memory that need not be initialised; returns it initialised.
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

/// Sets bit `i % 64` of `out[i / 64]` to whether `predicate` holds for `x[i]`. The bits of the last
/// word behind the last element stay as they are.
///
/// # Panics
/// If `out` does not have `x.len().div_ceil(64)` words; nothing is written then.
#[inline]
#[track_caller]
pub fn bits<T: Element>(x: &[T], predicate: Predicate, out: &mut [u64]) {
    bitmap(x.len(), out, |out| bits_at(x, predicate, out, 0));
}

/// Shows words of bits for so many elements as bytes, bit `i % 8` of byte `i / 8`: the same bits
/// where the low byte comes first.
#[inline]
#[track_caller]
pub(crate) fn bitmap(elements: usize, out: &mut [u64], write: impl FnOnce(&mut [u8])) {
    let words = out.len();
    assert!(
        words == elements.div_ceil(64),
        "{elements} elements, but an output of {words} words of 64 bits"
    );
    low_bytes_first(out);
    write(bytes_mut(out));
    low_bytes_first(out);
}

/// Brings the low byte of each word to the front, and back again; where it is in front, nothing is
/// done.
#[inline]
fn low_bytes_first(words: &mut [u64]) {
    words.iter_mut().for_each(|word| *word = word.to_le());
}

/// Sets bit `(offset + i) % 8` of `out[(offset + i) / 8]` to whether `predicate` holds for `x[i]`:
/// the order of Apache Arrow's bitmaps (Arrow columnar format, "Validity bitmaps"). All other bits
/// stay as they are.
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[inline]
#[track_caller]
pub fn bits_at<T: Element>(x: &[T], predicate: Predicate, out: &mut [u8], offset: usize) {
    typed::bits::<T::Lane>(None, bytes(x), rule::<T>(predicate), out, offset);
}

/// Whether `predicate` holds for an element. Stops soon after the first.
#[must_use]
#[inline]
pub fn any<T: Element>(x: &[T], predicate: Predicate) -> bool {
    position(x, predicate).is_some()
}

/// Whether `predicate` holds for all elements; true of none. Stops soon after the first for which
/// it does not.
#[must_use]
#[inline]
pub fn all<T: Element>(x: &[T], predicate: Predicate) -> bool {
    typed::position::<T::Lane>(None, bytes(x), opposite::<T>(predicate)).is_none()
}

/// For how many elements `predicate` holds.
#[must_use]
#[inline]
pub fn count<T: Element>(x: &[T], predicate: Predicate) -> usize {
    typed::count::<T::Lane>(None, bytes(x), rule::<T>(predicate))
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
