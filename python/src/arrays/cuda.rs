//! Tensors of torch on a CUDA device, which the module `nonfinite.cuda` asks the GPU about.

use nonfinite::{Census, Occurrences, Predicate};
use pyo3::intern;
use pyo3::prelude::*;

/// DLPack's number of CUDA. Tensors of ROCm are `is_cuda`, too.
const CUDA: i32 = 2;

/// The census of a tensor of torch on a CUDA device.
///
/// # Errors
/// `refused`, the error of the readers of the CPU's memory, for any other input. Those of
/// `nonfinite.cuda`.
#[cold]
pub(super) fn census(x: &Bound<'_, PyAny>, refused: PyErr) -> PyResult<Census> {
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
    // Three counts, and the complements of three indices.
    let words: [u64; 6] = module.call_method1(intern!(py, "_tally"), (x, 7))?.extract()?;
    let occurrences = |k: usize| {
        let first = (words[k] > 0).then(|| !words[3 + k] as usize);
        Occurrences::new(words[k] as usize, first)
    };
    Ok(Census::new(occurrences(0), occurrences(1), occurrences(2)))
}

/// For how many elements of such a tensor the predicate holds.
///
/// # Errors
/// As [`census`].
#[cold]
pub(super) fn count(x: &Bound<'_, PyAny>, refused: PyErr, predicate: Predicate) -> PyResult<usize> {
    let census = census(x, refused)?;
    let (nan, pos, neg) = (census.nan.count, census.pos_inf.count, census.neg_inf.count);
    Ok(match predicate {
        Predicate::Nan => nan,
        Predicate::Inf => pos + neg,
        Predicate::PositiveInf => pos,
        Predicate::NegativeInf => neg,
        Predicate::NonFinite => census.total(),
        Predicate::NanOrPositiveInf => nan + pos,
        Predicate::Never => 0,
        // Of the predicates that this module knows, `finite` is left.
        _ => {
            let elements: usize = x.call_method0(intern!(x.py(), "numel"))?.extract()?;
            elements - census.total()
        }
    })
}
