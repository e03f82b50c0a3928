//! Tensors of torch on a CUDA device, which the module `nonfinite.cuda` asks the GPU about.

use nonfinite::Predicate;
use pyo3::intern;
use pyo3::prelude::*;

use super::answers::Census;

/// DLPack's number of CUDA. Tensors of ROCm are `is_cuda`, too.
const CUDA: i32 = 2;

/// The census of a tensor of torch on a CUDA device.
///
/// # Errors
/// `refused`, the error of the readers of the CPU's memory, for any other input. Those of
/// `nonfinite.cuda`.
#[cold]
pub(super) fn census<'py>(x: &Bound<'py, PyAny>, refused: PyErr) -> PyResult<Bound<'py, Census>> {
    let py = x.py();
    let there = x.getattr(intern!(py, "is_cuda")).and_then(|there| there.is_truthy());
    if !there.unwrap_or(false) {
        return Err(refused);
    }
    let (device, _): (i32, i32) = x.call_method0(intern!(py, "__dlpack_device__"))?.extract()?;
    if device != CUDA {
        return Err(refused);
    }
    let module = py.import(intern!(py, "nonfinite.cuda"))?;
    Ok(module.call_method1(intern!(py, "_census_of"), (x,))?.cast_into()?)
}

/// For how many elements of such a tensor the predicate holds.
///
/// # Errors
/// As [`census`].
#[cold]
pub(super) fn count(x: &Bound<'_, PyAny>, refused: PyErr, predicate: Predicate) -> PyResult<usize> {
    let census = census(x, refused)?;
    let [nan, pos, neg] = census.get().classes().map(|(_, count, _)| count);
    Ok(match predicate {
        Predicate::Nan => nan,
        Predicate::Inf => pos + neg,
        Predicate::PositiveInf => pos,
        Predicate::NegativeInf => neg,
        Predicate::NonFinite => nan + pos + neg,
        Predicate::NanOrPositiveInf => nan + pos,
        Predicate::Never => 0,
        // Of the predicates that this module knows, `finite` is left.
        _ => {
            let elements: usize = x.call_method0(intern!(x.py(), "numel"))?.extract()?;
            elements - (nan + pos + neg)
        }
    })
}
