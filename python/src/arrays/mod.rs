//! Questions about arrays.

mod answers;
mod ask;
mod check;
mod encode;
mod fallback;
mod input;
mod mask;
mod out;
mod pool;
mod predicate;
mod question;
mod records;
mod replace;
mod rows;

use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    predicate::prepare(module.py())?;
    answers::register(module)?;
    question::register(module)?;
    mask::register(module)?;
    check::register(module)?;
    replace::register(module)
}
