//! What the readers of the CPU's memory refuse. Torch itself is asked about its tensors on a GPU,
//! and the parts of collections and tables are asked one by one.

use nonfinite::Predicate;
use pyo3::intern;
use pyo3::prelude::*;

use super::input::is_tensor;

/// The answer to a `question` about all elements of `x`: "any", "all" or "count_nonzero".
///
/// # Errors
/// `refused`, the error of the readers, if `x` is neither. Those of torch and of the parts.
#[cold]
pub(super) fn ask<'py>(
    x: &Bound<'py, PyAny>,
    refused: PyErr,
    question: &str,
    predicate: Predicate,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, name) = (x.py(), predicate.name());
    let answer = if is_tensor(x)? {
        let module = py.import(intern!(py, "nonfinite._away"))?;
        module.call_method1("answer", (x, question, name))?
    } else {
        let module = py.import(intern!(py, "nonfinite._parts"))?;
        module.call_method1("answer", (x, question, name, threads))?
    };
    if answer.is_none() { Err(refused) } else { Ok(answer) }
}

/// `assert_finite` of each part of a collection or a table.
///
/// # Errors
/// As [`ask`], and NonFiniteError.
#[cold]
pub(super) fn assert_finite(
    x: &Bound<'_, PyAny>,
    refused: PyErr,
    name: &str,
    threads: Option<isize>,
) -> PyResult<()> {
    let module = x.py().import("nonfinite._parts")?;
    let has_parts = module.call_method1("assert_finite", (x, name, threads))?;
    if has_parts.is_truthy()? { Ok(()) } else { Err(refused) }
}
