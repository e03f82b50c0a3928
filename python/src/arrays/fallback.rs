//! What the readers of the CPU's memory refuse: Python asks torch about a tensor on a GPU, and the
//! parts of collections and tables one by one.

use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;

use super::pool;

/// The answer of `nonfinite._parts` about all elements of `x`: to "any", "all" or "count_nonzero"
/// with the name of a predicate, or to "assert_finite" with the name of `x`.
///
/// # Errors
/// `refused`, the error of the readers, if `x` is neither, or if the user has stopped the program.
/// Those of [`pool::with_threads`], of torch and of the parts.
#[cold]
pub(super) fn ask<'py>(
    x: &Bound<'py, PyAny>,
    refused: PyErr,
    question: &str,
    name: &str,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    if !refused.is_instance_of::<PyException>(x.py()) {
        return Err(refused);
    }
    threads.map(pool::with_threads).transpose()?;
    let module = x.py().import(intern!(x.py(), "nonfinite._parts"))?;
    let answer = module.call_method1("answer", (x, question, name, threads))?;
    if answer.is_none() { Err(refused) } else { Ok(answer) }
}
