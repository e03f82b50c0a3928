//! Arrays of the crate `ndarray` (feature `ndarray`): any dimension, any layout, any [`Element`]
//! type.
//!
//! An array is asked as a [`TensorView`](crate::TensorView) is, with one difference: what lies
//! between its elements may belong to another array and is not read.
//!
//! ```
//! use ::ndarray::{Axis, array};
//! use nonfinite::{Predicate, ndarray};
//!
//! let x = array![[1.0, f32::NAN], [f32::INFINITY, 4.0]];
//! assert_eq!(ndarray::mask(&x.t(), Predicate::Finite), array![[true, false], [false, true]]);
//! assert_eq!(ndarray::count(&x, Predicate::NonFinite), 2);
//! assert_eq!(ndarray::position(&x.t(), Predicate::Nan), Some(2));
//! assert_eq!(ndarray::any_rows(&x, Axis(0), Predicate::Nan), array![false, true]);
//! ```

use ::ndarray::{Array, ArrayBase, ArrayViewMut, Axis, Data, Dimension, RemoveAxis};
use nonfinite_kernels::strided::{Source, Target};

use crate::strided::{Asked, Rows};
use crate::{Census, Element, Predicate, ViewError};

/// An array of the same shape: whether `predicate` holds for each element.
pub fn mask<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
) -> Array<bool, D> {
    let mut out = Array::from_elem(x.raw_dim(), false);
    asked(x).mask(predicate, Target::from(&mut out.view_mut()));
    out
}

/// As [`mask`], into an array that is there.
///
/// # Errors
/// [`ViewError::OutputSize`] if `out` does not have the shape of `x`, or [`ViewError::OutputRank`];
/// nothing is written then.
pub fn mask_into<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
    mut out: ArrayViewMut<'_, bool, D>,
) -> Result<(), ViewError> {
    ViewError::check_sizes(x.shape(), out.shape())?;
    asked(x).mask(predicate, Target::from(&mut out));
    Ok(())
}

/// Whether `predicate` holds for an element. Stops soon after one was found.
pub fn any<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
) -> bool {
    asked(x).any(predicate)
}

/// Whether `predicate` holds for all elements; true of none. Stops soon after one was found for
/// which it does not.
pub fn all<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
) -> bool {
    asked(x).all(predicate)
}

/// For how many elements `predicate` holds.
pub fn count<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
) -> usize {
    asked(x).count(predicate)
}

/// The index, in row-major order, of the first element for which `predicate` holds.
pub fn position<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
) -> Option<usize> {
    asked(x).position(predicate)
}

/// Counts NaN, +Inf and -Inf and finds the first of each, by row-major index.
pub fn census<T: Element, S: Data<Elem = T>, D: Dimension>(x: &ArrayBase<S, D>) -> Census {
    asked(x).census()
}

/// For each row along `axis`, whether `predicate` holds for an element: an array without that axis.
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn any_rows<T: Element, S: Data<Elem = T>, D: RemoveAxis>(
    x: &ArrayBase<S, D>,
    axis: Axis,
    predicate: Predicate,
) -> Array<bool, D::Smaller> {
    rows(x, axis, predicate, |out| Rows::Any(out))
}

/// For each row along `axis`, for how many elements `predicate` holds: an array without that axis.
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn count_rows<T: Element, S: Data<Elem = T>, D: RemoveAxis>(
    x: &ArrayBase<S, D>,
    axis: Axis,
    predicate: Predicate,
) -> Array<usize, D::Smaller> {
    rows(x, axis, predicate, |out| Rows::Count(out))
}

/// For each row along `axis`, the index along it of the first element for which `predicate` holds:
/// an array without that axis.
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn position_rows<T: Element, S: Data<Elem = T>, D: RemoveAxis>(
    x: &ArrayBase<S, D>,
    axis: Axis,
    predicate: Predicate,
) -> Array<Option<usize>, D::Smaller> {
    rows(x, axis, predicate, |out| Rows::Position(out))
}

/// For each row along `axis`, how many elements are NaN, +Inf and -Inf, and the index along it of
/// the first of each: an array without that axis.
///
/// # Panics
/// If there is no such axis.
#[track_caller]
pub fn census_rows<T: Element, S: Data<Elem = T>, D: RemoveAxis>(
    x: &ArrayBase<S, D>,
    axis: Axis,
) -> Array<Census, D::Smaller> {
    rows(x, axis, Predicate::NonFinite, |out| Rows::Census(out))
}

#[track_caller]
fn rows<T: Element, S: Data<Elem = T>, D: RemoveAxis, A: Clone + Default>(
    x: &ArrayBase<S, D>,
    axis: Axis,
    predicate: Predicate,
    places: impl FnOnce(&mut [A]) -> Rows<'_>,
) -> Array<A, D::Smaller> {
    let size = x.len_of(axis);
    let mut out = Array::from_elem(x.raw_dim().remove_axis(axis), A::default());
    let slots = out.as_slice_mut().expect("a new array is in row-major order");
    asked(x).rows(x.ndim() - 1 - axis.index(), size, predicate, places(slots));
    out
}

fn asked<T: Element, S: Data<Elem = T>, D: Dimension>(x: &ArrayBase<S, D>) -> Asked<'_> {
    Asked { source: Source::from(x), format: T::FORMAT, backend: None }
}
