//! Asks a question of an array: with the GIL, without the GIL, or with threads.

use nonfinite::TensorView;
use pyo3::prelude::*;

use super::input;
use super::pool;
use crate::error::{of_crate, type_error};
use crate::owners::{Array, Kind, flat, numpy};

/// Inputs of more bytes than this are read without the GIL. Giving it up and taking it again took
/// 38 ns (CPython 3.11, Zen 5), and the kernels read as many bytes in about 1 us.
pub(crate) const RELEASE: usize = 64 << 10;

/// Asks `question` of the elements of `x`. If `signs` is set, the answer depends on signs.
///
/// # Errors
/// Those of [`input::read_for`] and of [`pool::with_threads`].
#[inline]
pub(crate) fn ask<R: Send>(
    x: &Bound<'_, PyAny>,
    signs: bool,
    threads: Option<isize>,
    question: impl FnOnce(TensorView<'_>) -> R + Send,
) -> PyResult<R> {
    if threads.is_none()
        && (!signs || numpy::is_exact(x))
        && let Some((bytes, format)) = flat(x)
        && bytes.len() <= RELEASE
    {
        let view = TensorView::from_bytes(bytes, format).map_err(of_crate)?;
        return Ok(question(view));
    }
    ask_array(x.py(), &input::read_for(x, signs)?, threads, question)
}

/// Asks `question` of the elements of an array.
///
/// # Errors
/// As [`ask`].
pub(crate) fn ask_array<R: Send>(
    py: Python<'_>,
    array: &Array<'_>,
    threads: Option<isize>,
    question: impl FnOnce(TensorView<'_>) -> R + Send,
) -> PyResult<R> {
    run(py, array.view().map_err(of_crate)?, threads, question)
}

/// Calls `work` with the view: on the calling thread, or in the pool without the GIL.
///
/// # Errors
/// Those of [`pool::with_threads`].
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    view: TensorView<'_>,
    threads: Option<isize>,
    work: impl FnOnce(TensorView<'_>) -> R + Send,
) -> PyResult<R> {
    let small = view.len().saturating_mul(view.format().size_in_bytes()) <= RELEASE;
    let Some(threads) = threads else {
        return Ok(if small { work(view) } else { py.detach(|| work(view)) });
    };
    py.detach(|| {
        Ok(match pool::with_threads(threads)? {
            Some(pool) if !small => pool.install(|| work(view.par())),
            _ => work(view),
        })
    })
}

/// # Errors
/// TypeError if the elements are integers.
pub(crate) fn check_float(array: &Array<'_>) -> PyResult<()> {
    match array.kind {
        Kind::Float(_) => Ok(()),
        Kind::Bool | Kind::Integer => {
            Err(type_error("x holds integers, and this question is for floating-point numbers"))
        }
    }
}
