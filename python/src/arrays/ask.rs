//! Asks a question of an array: with the GIL, without the GIL, or with threads.

use nonfinite::{Census, Hit, Predicate, Stats, TensorView, ValidView};
use pyo3::prelude::*;

use super::error::{of_crate, type_error};
use super::input;
use super::pool;
use crate::border::{Array, Kind, flat, numpy};

/// Inputs of more bytes than this are read without the GIL. Giving it up and taking it again took
/// 38 ns (CPython 3.11, Zen 5), and the kernels read as many bytes in about 1 us.
pub(crate) const RELEASE: usize = 64 << 10;

/// The elements, with or without nulls.
#[derive(Clone, Copy)]
pub(crate) enum View<'a> {
    All(TensorView<'a>),
    Valid(ValidView<'a>),
}

impl View<'_> {
    #[inline]
    pub(crate) fn any(&self, predicate: Predicate) -> bool {
        match self {
            Self::All(view) => view.any(predicate),
            Self::Valid(view) => view.any(predicate),
        }
    }

    #[inline]
    pub(crate) fn all(&self, predicate: Predicate) -> bool {
        match self {
            Self::All(view) => view.all(predicate),
            Self::Valid(view) => view.all(predicate),
        }
    }

    pub(crate) fn count(&self, predicate: Predicate) -> usize {
        match self {
            Self::All(view) => view.count(predicate),
            Self::Valid(view) => view.count(predicate),
        }
    }

    pub(crate) fn first(&self, predicate: Predicate) -> Option<Hit> {
        match self {
            Self::All(view) => view.first(predicate),
            Self::Valid(view) => view.first(predicate),
        }
    }

    pub(crate) fn census(&self) -> Census {
        match self {
            Self::All(view) => view.census(),
            Self::Valid(view) => view.census(),
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        match self {
            Self::All(view) => view.stats(),
            Self::Valid(view) => view.stats(),
        }
    }
}

/// Asks `question` of the elements of `x`. If `signs` is set, the answer depends on signs.
///
/// # Errors
/// Those of [`input::read_for`] and of [`pool::with_threads`].
#[inline]
pub(crate) fn ask<R: Send>(
    x: &Bound<'_, PyAny>,
    signs: bool,
    threads: Option<isize>,
    question: impl FnOnce(View<'_>) -> R + Send,
) -> PyResult<R> {
    if threads.is_none()
        && (!signs || numpy::is_exact(x))
        && let Some((bytes, format)) = flat(x)
        && bytes.len() <= RELEASE
    {
        let view = TensorView::from_bytes(bytes, format).map_err(of_crate)?;
        return Ok(question(View::All(view)));
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
    question: impl FnOnce(View<'_>) -> R + Send,
) -> PyResult<R> {
    let view = array.view().map_err(of_crate)?;
    let validity = array.validity();
    let with_nulls = move |view: TensorView<'_>| match validity {
        Some((bitmap, first)) => {
            view.with_validity(bitmap, first).map(|view| question(View::Valid(view)))
        }
        None => Ok(question(View::All(view))),
    };
    run(py, view, threads, with_nulls)?.map_err(of_crate)
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

/// The elements without nulls.
///
/// # Errors
/// TypeError if the array may have nulls.
pub(crate) fn without_nulls<'a>(array: &'a Array<'_>) -> PyResult<TensorView<'a>> {
    if array.validity().is_some() {
        return Err(type_error("x has nulls, and this question has no answer for them"));
    }
    array.view().map_err(of_crate)
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
