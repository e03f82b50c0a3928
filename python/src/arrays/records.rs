//! Answers for rows that are more than a number: arrays of records of numpy, with fields named as
//! the attributes of `Census` and `Stats`.

use nonfinite::{Census, Extreme, Occurrences, Stats};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyList};

use crate::error::type_error;
use crate::owners::numpy;

const OCCURRENCES: [(&str, &str); 2] = [("count", "intp"), ("first", "intp")];
const CENSUS: [(&str, [(&str, &str); 2]); 3] =
    [("nan", OCCURRENCES), ("pos_inf", OCCURRENCES), ("neg_inf", OCCURRENCES)];
const EXTREME: [(&str, &str); 3] = [("value", "f8"), ("bits", "u8"), ("first", "intp")];

/// Where there is no element: the first one.
const NOWHERE: u64 = u64::MAX;

/// One record for each census.
///
/// # Errors
/// TypeError without numpy.
pub(crate) fn census<'py>(
    py: Python<'py>,
    sizes: &[usize],
    rows: &[Census],
) -> PyResult<Bound<'py, PyAny>> {
    let fields = CENSUS.into_pyobject(py)?;
    array(py, sizes, &fields, rows.iter().flat_map(census_words))
}

/// One record for each row. Where there is no finite element, the value is NaN.
///
/// # Errors
/// TypeError without numpy.
pub(crate) fn stats<'py>(
    py: Python<'py>,
    sizes: &[usize],
    rows: &[Stats],
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyList::new(py, [("census", CENSUS)])?;
    for name in ["min", "max", "max_abs"] {
        fields.append((name, EXTREME))?;
    }
    for name in ["zeros", "subnormals", "normals"] {
        fields.append((name, "intp"))?;
    }
    let words = |stats: &Stats| {
        let extremes = [stats.min, stats.max, stats.max_abs].map(extreme_words);
        let counts = [stats.zeros, stats.subnormals, stats.normals].map(|count| count as u64);
        census_words(&stats.census).chain(extremes.into_iter().flatten()).chain(counts)
    };
    array(py, sizes, &fields, rows.iter().flat_map(words))
}

/// The fields of `CENSUS`, each of which has 8 bytes.
fn census_words(census: &Census) -> impl Iterator<Item = u64> + use<> {
    let classes = [census.nan, census.pos_inf, census.neg_inf];
    let words = |class: Occurrences| {
        [class.count as u64, class.first.map_or(NOWHERE, |index| index as u64)]
    };
    classes.into_iter().flat_map(words)
}

/// The fields of `EXTREME`.
fn extreme_words(extreme: Option<Extreme>) -> [u64; 3] {
    match extreme {
        Some(Extreme { value, bits, index, .. }) => [value.to_bits(), bits, index as u64],
        None => [f64::NAN.to_bits(), 0, NOWHERE],
    }
}

/// An array of records with these fields. With 0 dimensions: the record alone.
fn array<'py>(
    py: Python<'py>,
    sizes: &[usize],
    fields: &Bound<'py, PyAny>,
    words: impl Iterator<Item = u64>,
) -> PyResult<Bound<'py, PyAny>> {
    if !numpy::load(py, true)? {
        return Err(type_error("axis= needs numpy here, which is not installed"));
    }
    let numpy = py.import("numpy")?;
    let dtype = numpy.call_method1("dtype", (fields,))?;
    let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).collect();
    let arguments = (sizes.to_vec(), dtype, PyByteArray::new(py, &bytes));
    let array = numpy.call_method1("ndarray", arguments)?;
    if sizes.is_empty() { array.get_item(()) } else { Ok(array) }
}
