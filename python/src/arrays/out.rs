//! New arrays for answers: of numpy if it is installed, otherwise a memoryview.

use std::mem::MaybeUninit;

use nonfinite::MaskOut;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyMemoryView};

use crate::owners::{new, numpy};

/// A new mask of these sizes, which `write` fills.
///
/// # Errors
/// Those of `write`, and MemoryError.
pub(crate) fn mask<'py>(
    py: Python<'py>,
    sizes: &[usize],
    write: impl FnOnce(MaskOut<'_>) -> PyResult<()>,
) -> PyResult<Bound<'py, PyAny>> {
    if numpy::load(py, true)? {
        return new::filled::<MaybeUninit<bool>>(py, sizes, |slots| write(slots.into()));
    }
    let len = sizes.iter().product();
    let bytes = PyByteArray::new_with(py, len, |bytes| write(MaskOut::from(bytes)))?;
    shaped(&bytes, "?", sizes)
}

/// Answers for rows.
pub(crate) trait Answer: new::Item + Clone + Default {
    /// The letter of the module `struct`.
    const LETTER: &'static str;
    fn write(&self, bytes: &mut Vec<u8>);
}

impl Answer for bool {
    const LETTER: &'static str = "?";

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(*self));
    }
}

impl Answer for usize {
    const LETTER: &'static str = "N";

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_ne_bytes());
    }
}

impl Answer for isize {
    const LETTER: &'static str = "n";

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.to_ne_bytes());
    }
}

/// A new array of answers, which `write` fills. With 0 dimensions: the answer alone.
///
/// # Errors
/// Those of `write`, and MemoryError.
pub(crate) fn answers<'py, A: Answer + IntoPyObject<'py>>(
    py: Python<'py>,
    sizes: &[usize],
    write: impl FnOnce(&mut [A]) -> PyResult<()>,
) -> PyResult<Bound<'py, PyAny>> {
    if sizes.is_empty() {
        let mut one = [A::default()];
        write(&mut one)?;
        let [one] = one;
        return one.into_bound_py_any(py);
    }
    if numpy::load(py, true)? {
        return new::filled(py, sizes, write);
    }
    let mut answers = vec![A::default(); sizes.iter().product()];
    write(&mut answers)?;
    let mut bytes = Vec::new();
    answers.iter().for_each(|answer| answer.write(&mut bytes));
    shaped(&PyByteArray::new(py, &bytes), A::LETTER, sizes)
}

/// The bytes as an array. A memoryview without elements has one dimension, whatever the sizes.
fn shaped<'py>(
    bytes: &Bound<'py, PyByteArray>,
    letter: &str,
    sizes: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let view = PyMemoryView::from(bytes.as_any())?;
    match sizes.contains(&0) {
        true => view.call_method1("cast", (letter,)),
        false => view.call_method1("cast", (letter, sizes.to_vec())),
    }
}
