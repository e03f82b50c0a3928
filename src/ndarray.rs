//! Arrays of the crate `ndarray` (feature `ndarray`): any dimension, any layout, any [`Element`] type.
//!
//! An array whose elements lie in one piece, in whatever order of the axes, is a [`TensorView`] at once. Others are taken
//! apart along their axes until the parts are: safe code cannot see the memory between the elements of a view, which may
//! belong to another one. Elements that lie apart along their last axis are copied, 64 at a time.
//!
//! ```
//! use ::ndarray::array;
//! use nonfinite::{Predicate, ndarray};
//!
//! let x = array![[1.0, f32::NAN], [f32::INFINITY, 4.0]];
//! assert_eq!(ndarray::mask(&x.t(), Predicate::Finite), array![[true, false], [false, true]]);
//! assert_eq!(ndarray::count(&x, Predicate::NonFinite), 2);
//! assert_eq!(ndarray::position(&x.t(), Predicate::Nan), Some(2));
//! ```

use ::ndarray::{Array, ArrayBase, ArrayView, ArrayViewMut, Axis, Data, Dimension, IxDyn};

use crate::{Census, Class, Element, Predicate, TensorView, TensorViewMut, ViewError};

/// An array of the same shape: whether `predicate` holds for each element.
pub fn mask<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
) -> Array<bool, D> {
    let mut out = Array::from_elem(x.raw_dim(), false);
    mask_parts(x.view().into_dyn(), predicate, out.view_mut().into_dyn());
    out
}

/// As [`mask`], into an array that is there.
///
/// # Errors
/// [`ViewError::OutputSize`] if `out` does not have the shape of `x`, or [`ViewError::OutputRank`]; nothing is written then.
pub fn mask_into<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
    out: ArrayViewMut<'_, bool, D>,
) -> Result<(), ViewError> {
    let (from, to) = (x.shape(), out.shape());
    if from.len() != to.len() {
        return Err(ViewError::OutputRank { input: from.len(), output: to.len() });
    }
    if let Some(dimension) = (0..from.len()).find(|&i| from[i] != to[i]) {
        return Err(ViewError::OutputSize { dimension, input: from[dimension], output: to[dimension] });
    }
    mask_parts(x.view().into_dyn(), predicate, out.into_dyn());
    Ok(())
}

/// Whether `predicate` holds for an element.
pub fn any<T: Element, S: Data<Elem = T>, D: Dimension>(x: &ArrayBase<S, D>, predicate: Predicate) -> bool {
    any_part(x.view().into_dyn(), predicate)
}

/// Whether `predicate` holds for all elements; true of none.
pub fn all<T: Element, S: Data<Elem = T>, D: Dimension>(x: &ArrayBase<S, D>, predicate: Predicate) -> bool {
    count(x, predicate) == x.len()
}

/// For how many elements `predicate` holds.
pub fn count<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
) -> usize {
    count_parts(x.view().into_dyn(), predicate)
}

/// The index, in row-major order, of the first element for which `predicate` holds.
pub fn position<T: Element, S: Data<Elem = T>, D: Dimension>(
    x: &ArrayBase<S, D>,
    predicate: Predicate,
) -> Option<usize> {
    first_part(x.view().into_dyn(), predicate)
}

/// Counts NaN, +Inf and -Inf and finds the first of each, by row-major index.
pub fn census<T: Element, S: Data<Elem = T>, D: Dimension>(x: &ArrayBase<S, D>) -> Census {
    let class = |predicate| Class { count: count(x, predicate), first: position(x, predicate) };
    let mut census = Census::default();
    if any(x, Predicate::NonFinite) {
        census.nan = class(Predicate::Nan);
        census.pos_inf = class(Predicate::PositiveInf);
        census.neg_inf = class(Predicate::NegativeInf);
    }
    census
}

type Part<'x, T> = ArrayView<'x, T, IxDyn>;

/// What lies in one piece, and where coordinate 0 is in it.
fn piece<'x, T>(x: &Part<'x, T>) -> Option<(&'x [T], usize)> {
    Some((x.to_slice_memory_order()?, offset(x.shape(), x.strides())))
}

/// How far the element at coordinate 0 is from that at the lowest address.
fn offset(sizes: &[usize], strides: &[isize]) -> usize {
    let backwards = sizes.iter().zip(strides).filter(|(_, stride)| **stride < 0);
    backwards.map(|(size, stride)| size.saturating_sub(1) * stride.unsigned_abs()).sum()
}

/// A view of what lies in one piece, handed to `ask`.
fn with_view<T: Element, R>(x: &Part<'_, T>, ask: impl FnOnce(TensorView<'_>) -> R) -> Option<R> {
    let (elements, offset) = piece(x)?;
    let view = TensorView::new(elements, offset, x.shape(), x.strides());
    Some(ask(view.expect("ndarray gives the memory of all elements")))
}

/// The axis along which elements are furthest apart.
fn widest(x: &Part<'_, impl Element>) -> Axis {
    let axes = (0..x.ndim()).filter(|&axis| x.shape()[axis] > 1);
    Axis(axes.max_by_key(|&axis| x.strides()[axis].unsigned_abs()).unwrap_or(0))
}

fn mask_parts<T: Element>(x: Part<'_, T>, predicate: Predicate, mut out: ArrayViewMut<'_, bool, IxDyn>) {
    let done = with_view(&x, |view| {
        let (sizes, strides) = (out.shape().to_vec(), out.strides().to_vec());
        let offset = offset(&sizes, &strides);
        let Some(room) = out.as_slice_memory_order_mut() else { return false };
        let out = TensorViewMut::new(room, offset, &sizes, &strides);
        let mut out = out.expect("elements of a mutable view are apart");
        view.mask_into(predicate, &mut out).expect("both have one shape");
        true
    });
    if done == Some(true) {
        return;
    }
    if x.ndim() == 1 {
        let (mut from, mut to) = (x.iter(), out.iter_mut());
        while from.len() > 0 {
            let mut answers = [false; 64];
            let count = lanes(&mut from, |lanes| {
                crate::mask(lanes, predicate, &mut answers[..lanes.len()]);
            });
            for (answer, slot) in answers[..count].iter().zip(to.by_ref()) {
                *slot = *answer;
            }
        }
        return;
    }
    let axis = widest(&x);
    for (x, out) in x.axis_iter(axis).zip(out.axis_iter_mut(axis)) {
        mask_parts(x, predicate, out);
    }
}

/// Copies the next 64 elements, or the last ones one at a time, and hands them to `ask`. How many they were.
fn lanes<'x, T: Element + 'x>(
    from: &mut impl ExactSizeIterator<Item = &'x T>,
    ask: impl FnOnce(&[T]),
) -> usize {
    if from.len() >= 64 {
        ask(&core::array::from_fn::<T, 64, _>(|_| *from.next().expect("64 elements")));
        64
    } else {
        ask(&[*from.next().expect("an element")]);
        1
    }
}

fn any_part<T: Element>(x: Part<'_, T>, predicate: Predicate) -> bool {
    if let Some(any) = with_view(&x, |view| view.any(predicate)) {
        return any;
    }
    if x.ndim() == 1 {
        return count_lanes(&x, predicate) > 0;
    }
    let axis = widest(&x);
    x.axis_iter(axis).any(|x| any_part(x, predicate))
}

fn count_parts<T: Element>(x: Part<'_, T>, predicate: Predicate) -> usize {
    if let Some(count) = with_view(&x, |view| view.count(predicate)) {
        return count;
    }
    if x.ndim() == 1 {
        return count_lanes(&x, predicate);
    }
    let axis = widest(&x);
    x.axis_iter(axis).map(|x| count_parts(x, predicate)).sum()
}

fn count_lanes<T: Element>(x: &Part<'_, T>, predicate: Predicate) -> usize {
    let (mut from, mut count) = (x.iter(), 0);
    while from.len() > 0 {
        lanes(&mut from, |lanes| count += crate::count(lanes, predicate));
    }
    count
}

fn first_part<T: Element>(x: Part<'_, T>, predicate: Predicate) -> Option<usize> {
    if let Some(first) = with_view(&x, |view| view.position(predicate)) {
        return first;
    }
    if x.ndim() == 1 {
        return x.iter().position(|&x| crate::any(&[x], predicate));
    }
    let size = x.len() / x.shape()[0].max(1);
    let mut parts = x.axis_iter(Axis(0)).enumerate();
    parts.find_map(|(i, x)| Some(i * size + first_part(x, predicate)?))
}
