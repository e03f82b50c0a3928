//! One answer a row: `[rows, columns]` tensors, such as the logits of a batch.

use nonfinite_kernels::strided::{self, Dim, Grid};

use crate::{Element, Elements, Path, Predicate};

/// `out[r]` tells whether `predicate` holds for an element of row `r`, which is `x[r * columns..][..columns]`. No mask is
/// made. For rows with padding, or of more dimensions, see [`crate::TensorView::any_rows`].
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
    any(None, Elements::from(x), columns, predicate, out);
}

/// `out[r]` becomes the number of elements of row `r` for which `predicate` holds; rows as in [`any_rows`].
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
    count(None, Elements::from(x), columns, predicate, out);
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
pub(crate) fn any(
    path: Option<Path>,
    x: Elements<'_>,
    columns: usize,
    predicate: Predicate,
    out: &mut [bool],
) {
    let rule = x.format().rule(predicate);
    let dims = dims(columns, out.len());
    strided::any_rows(path.map(Path::kernel), x.as_bytes(), rule, out, grid(&dims));
}

/// For elements that fit.
pub(crate) fn count(
    path: Option<Path>,
    x: Elements<'_>,
    columns: usize,
    predicate: Predicate,
    out: &mut [usize],
) {
    let rule = x.format().rule(predicate);
    let dims = dims(columns, out.len());
    strided::count_rows(path.map(Path::kernel), x.as_bytes(), rule, out, grid(&dims));
}

fn dims(columns: usize, rows: usize) -> [Dim; 2] {
    [Dim { size: columns, input: 1, output: 0 }, Dim { size: rows, input: columns as isize, output: 0 }]
}

fn grid(dims: &[Dim; 2]) -> Grid<'_> {
    Grid { input: 0, output: 0, dims }
}
