//! One answer a row: `[rows, columns]` tensors, such as the logits of a batch.

use nonfinite_kernels::strided::Source;

use crate::strided::{Asked, Rows};
use crate::{Backend, Census, Element, Elements, Predicate};

/// `out[r]` becomes whether `predicate` holds for an element of row `r`, which is
/// `x[r * columns..][..columns]`. No mask is made. For rows with padding, of more dimensions, or
/// along another one, see [`crate::TensorView::any_rows_along`].
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
    check(x.len(), columns, out.len());
    ask(None, Elements::from(x), columns, predicate, Rows::Any(out));
}

/// `out[r]` becomes the number of elements of row `r` for which `predicate` holds; rows as in
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
    check(x.len(), columns, out.len());
    ask(None, Elements::from(x), columns, predicate, Rows::Count(out));
}

/// `out[r]` becomes the index, counted along row `r`, of its first element for which `predicate`
/// holds; rows as in [`any_rows`].
///
/// ```
/// use nonfinite::{Predicate, position_rows};
/// let logits = [0.5, f32::INFINITY, f32::NAN, f32::NAN, 1.0, 2.0];
/// let mut first = [None; 2];
/// position_rows(&logits, 3, Predicate::Nan, &mut first);
/// assert_eq!(first, [Some(2), Some(0)]);
/// ```
///
/// # Panics
/// If `x` is not `out.len()` rows of `columns` elements; nothing is written then.
#[track_caller]
pub fn position_rows<T: Element>(
    x: &[T],
    columns: usize,
    predicate: Predicate,
    out: &mut [Option<usize>],
) {
    check(x.len(), columns, out.len());
    ask(None, Elements::from(x), columns, predicate, Rows::Position(out));
}

/// `out[r]` becomes the census of row `r`: how many elements are NaN, +Inf and -Inf, and the index
/// of the first of each, counted along the row; rows as in [`any_rows`].
///
/// # Panics
/// If `x` is not `out.len()` rows of `columns` elements; nothing is written then.
#[track_caller]
pub fn census_rows<T: Element>(x: &[T], columns: usize, out: &mut [Census]) {
    check(x.len(), columns, out.len());
    ask(None, Elements::from(x), columns, Predicate::NonFinite, Rows::Census(out));
}

#[track_caller]
fn check(elements: usize, columns: usize, rows: usize) {
    assert!(fits(elements, columns, rows), "{elements} elements are not {rows} rows of {columns}");
}

/// Whether so many elements make so many rows.
pub(crate) fn fits(elements: usize, columns: usize, rows: usize) -> bool {
    rows.checked_mul(columns) == Some(elements)
}

/// For elements that fit.
pub(crate) fn ask(
    backend: Option<Backend>,
    x: Elements<'_>,
    columns: usize,
    predicate: Predicate,
    out: Rows<'_>,
) {
    let dims = [(columns, 1), (out.len(), columns as isize)];
    let source = Source::new(x.as_bytes(), x.format().size_in_bytes(), 0, dims.into_iter());
    Asked { source, format: x.format(), backend }.rows(0, columns, predicate, out);
}
