//! Names of predicates.

use nonfinite::Predicate;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use crate::error::{type_error, value};

/// The names of the predicates, as interned strings. Python interns the names that are written in a
/// program too, so such a name is the same object and is found by its address.
static NAMES: PyOnceLock<Vec<(Py<PyString>, Predicate)>> = PyOnceLock::new();

/// Fills `NAMES`.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    let name = |predicate: Predicate| (PyString::intern(py, predicate.name()).unbind(), predicate);
    let _ = NAMES.get_or_init(py, || Predicate::ALL.iter().copied().map(name).collect());
    Ok(())
}

/// The predicate with this name, if the name is one that Python has interned.
#[inline]
fn interned(name: &Bound<'_, PyAny>) -> Option<Predicate> {
    let mut names = NAMES.get(name.py())?.iter();
    names.find(|(own, _)| own.as_ptr() == name.as_ptr()).map(|(_, predicate)| *predicate)
}

/// The predicate with this name.
///
/// # Errors
/// TypeError if `name` is no string, ValueError if no predicate has the name.
pub(crate) fn parse(name: &Bound<'_, PyAny>) -> PyResult<Predicate> {
    interned(name).map_or_else(|| parse_text(name), Ok)
}

#[cold]
fn parse_text(name: &Bound<'_, PyAny>) -> PyResult<Predicate> {
    let text = name.extract::<String>().ok();
    let has_name = |predicate: &&Predicate| Some(predicate.name()) == text.as_deref();
    if let Some(predicate) = Predicate::ALL.iter().find(has_name) {
        return Ok(*predicate);
    }
    let names: Vec<_> = Predicate::ALL.iter().map(|known| format!("{:?}", known.name())).collect();
    let names = names.join(", ");
    Err(match text {
        Some(text) => value(format!("{text:?} is no predicate: pass one of {names}")),
        None => type_error(format!("the predicate is no string: pass one of {names}")),
    })
}

/// Whether the answer depends on signs.
pub(crate) fn has_sign(predicate: Predicate) -> bool {
    use Predicate::{NanOrPositiveInf, NegativeInf, PositiveInf};
    matches!(predicate, PositiveInf | NegativeInf | NanOrPositiveInf)
}
