//! Stops a program that has met a NaN or an infinity.

use nonfinite::Predicate;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::answers::Census;
use super::ask::{ask, ask_array};
use super::{fallback, input};
use crate::owners::{Array, Kind};

create_exception!(
    nonfinite,
    NonFiniteError,
    PyValueError,
    "An array has NaN or infinity. The attribute census says how many, and where the first are."
);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("NonFiniteError", module.py().get_type::<NonFiniteError>())?;
    module.add_function(wrap_pyfunction!(assert_finite, module)?)
}

/// Raises NonFiniteError, a ValueError, if an element of x is NaN or infinite. The message says how
/// many elements are NaN, +Inf and -Inf, and where the first of each is.
///
/// x: as in all_finite. The message names the first bad part of a collection, and describes it.
/// name: what the message calls x.
/// threads: as in all_finite.
///
/// Raises TypeError as all_finite.
///
/// >>> import array, nonfinite
/// >>> nonfinite.assert_finite(array.array("f", [1.0, float("inf")]), name="loss")
/// Traceback (most recent call last):
///     ...
/// nonfinite.NonFiniteError: loss: 1 of 2 elements is not finite (f32, shape [2])
///   +Inf: 1, first at [1]
#[pyfunction]
#[pyo3(signature = (x, /, name="x", *, threads=None))]
fn assert_finite(x: &Bound<'_, PyAny>, name: &str, threads: Option<isize>) -> PyResult<()> {
    match ask(x, false, threads, |view| view.all(Predicate::Finite)) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(error) => return fallback::ask(x, error, "assert_finite", name, threads).map(drop),
    }
    let py = x.py();
    let array = input::read_for(x, true)?;
    let census = ask_array(py, &array, threads, |view| view.census())?;
    let census = Census::new(census, &array)?;
    let error = NonFiniteError::new_err(message(name, &array, &census));
    error.value(py).setattr("census", census)?;
    Err(error)
}

fn message(name: &str, array: &Array<'_>, census: &Census) -> String {
    let (total, sizes) = (census.total(), array.shape().sizes());
    let is = if total == 1 { "is" } else { "are" };
    let format = match array.kind {
        Kind::Float(format) => format.name(),
        Kind::Bool | Kind::Integer => "integers",
    };
    let all = array.shape().elements();
    let mut text =
        format!("{name}: {total} of {all} elements {is} not finite ({format}, shape {sizes:?})");
    for (label, count, first) in census.classes() {
        if let Some(first) = first {
            text += &format!("\n  {label}: {count}, first at {first:?}");
        }
    }
    text
}
