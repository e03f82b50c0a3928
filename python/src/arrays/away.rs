//! Tensors of torch in other memory than the CPU's: torch itself is asked.

use nonfinite::Predicate;
use pyo3::intern;
use pyo3::prelude::*;

use super::input::is_tensor;

/// The answer of `nonfinite._away` to a `question` about a tensor.
///
/// # Errors
/// `refused`, the error of the readers of the CPU's memory, for any other input. Those of torch.
#[cold]
pub(super) fn ask<'py>(
    x: &Bound<'py, PyAny>,
    refused: PyErr,
    question: &str,
    predicate: Predicate,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    if !is_tensor(x)? {
        return Err(refused);
    }
    let module = py.import(intern!(py, "nonfinite._away"))?;
    let answer = module.call_method1("answer", (x, question, predicate.name()))?;
    if answer.is_none() { Err(refused) } else { Ok(answer) }
}
