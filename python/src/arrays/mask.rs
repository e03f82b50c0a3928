//! Masks: one bool for each element.

use nonfinite::Predicate;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use super::ask::{ask_array, run};
use super::{input, out, predicate};
use crate::error::{of_crate, type_error, value};
use crate::owners::{Array, Kind};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(mask, module)?)?;
    module.add_function(wrap_pyfunction!(is_nan, module)?)?;
    module.add_function(wrap_pyfunction!(is_inf, module)?)?;
    module.add_function(wrap_pyfunction!(is_finite, module)?)
}

/// One bool for each element: whether the predicate holds for it. An array of the shape of x: a
/// tensor if x is one of torch; otherwise of numpy if numpy is installed, else a memoryview. For a
/// number or an array of 0 dimensions: a bool. The predicate holds for no null of Arrow.
///
/// predicate: "nan", "inf", "+inf", "-inf", "finite", "non-finite", "nan or +inf" or "never".
/// out: a writable array of bool with the shape of x, in other memory. It is filled and returned.
/// threads: as in all_finite.
///
/// Raises TypeError if x is no array of numbers or out no array of bool, and ValueError if the
/// shape or the memory of out is wrong, or for an unknown predicate. Nothing is written then.
#[pyfunction]
#[pyo3(signature = (x, predicate, /, out=None, *, threads=None))]
fn mask<'py>(
    x: &Bound<'py, PyAny>,
    predicate: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    write(x, predicate::parse(predicate)?, out, threads)
}

/// Whether each element is NaN. The same as mask(x, "nan", out).
///
/// >>> import nonfinite
/// >>> nonfinite.is_nan(1.0)
/// False
#[pyfunction]
#[pyo3(signature = (x, /, out=None, *, threads=None))]
fn is_nan<'py>(
    x: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    write(x, Predicate::Nan, out, threads)
}

/// Whether each element is infinite, of either sign. The same as mask(x, "inf", out).
#[pyfunction]
#[pyo3(signature = (x, /, out=None, *, threads=None))]
fn is_inf<'py>(
    x: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    write(x, Predicate::Inf, out, threads)
}

/// Whether each element is neither NaN nor infinite. The same as mask(x, "finite", out).
#[pyfunction]
#[pyo3(signature = (x, /, out=None, *, threads=None))]
fn is_finite<'py>(
    x: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    write(x, Predicate::Finite, out, threads)
}

fn write<'py>(
    x: &Bound<'py, PyAny>,
    predicate: Predicate,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let array = input::read_for(x, predicate::has_sign(predicate))?;
    if let Some(out) = out {
        let target = input::read(out).map_err(|error| of_out(out, error))?;
        write_into(py, &array, predicate, target, threads)?;
        return Ok(out.clone());
    }
    let sizes = array.shape().sizes();
    if sizes.is_empty() {
        let answer = ask_array(py, &array, None, |view| view.any(predicate))?;
        return Ok(PyBool::new(py, answer).to_owned().into_any());
    }
    let view = array.view().map_err(of_crate)?;
    let mask = out::mask(py, sizes, |out| {
        run(py, view, threads, |view| view.mask(predicate, out))?.map_err(of_crate)
    })?;
    input::answer_for(x, mask)
}

/// The error of an `out` that is no array, which names `out`.
fn of_out(out: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyTypeError>(out.py()) {
        return error;
    }
    let class = out.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    type_error(format!(
        "out is of the type {class}, which is no array of bool: pass a writable one, such as \
         numpy.zeros(shape, bool) or memoryview(bytearray(n)).cast(\"?\")"
    ))
}

/// Writes the mask into an array.
fn write_into(
    py: Python<'_>,
    array: &Array<'_>,
    predicate: Predicate,
    mut out: Array<'_>,
    threads: Option<isize>,
) -> PyResult<()> {
    if out.kind != Kind::Bool {
        return Err(type_error("out is no array of bool"));
    }
    if !out.is_writable() {
        return Err(value("out is read-only, as lists and scalars are: pass a writable array"));
    }
    if out.shape().sizes() != array.shape().sizes() {
        let (x, out) = (array.shape().sizes(), out.shape().sizes());
        return Err(value(format!("x has the shape {x:?}, and out has the shape {out:?}")));
    }
    if array.overlaps(&out) {
        return Err(value("out shares memory with x"));
    }
    let view = array.view().map_err(of_crate)?;
    if let Some(bytes) = out.row_major_bytes_mut() {
        return run(py, view, threads, |view| view.mask(predicate, bytes))?.map_err(of_crate);
    }
    let mut out = out.mask_view().map_err(of_crate)?;
    run(py, view, threads, |view| view.mask_into(predicate, &mut out))?.map_err(of_crate)
}
