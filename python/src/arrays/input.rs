//! Which objects are arrays, and in which order their kinds are tried.

use nonfinite::Format;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat, PyInt, PyList, PyMemoryView, PyTuple, PyType};

use crate::error::{of_border, type_error, value};
use crate::owners::{Array, Kind, Shape, arrow, buffer, capsule, dlpack, numpy, torch};

/// The elements of `x`, without a copy where they can be read in place.
///
/// # Errors
/// TypeError if `x` is no array of numbers in the memory of the CPU; the message says how to get
/// one. Errors of the methods of `x`.
#[inline]
pub(crate) fn read<'py>(x: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    read_raw(x)?.readable().map_err(of_border)
}

/// As [`read`], in the byte order and with the strides of the owner: for changes in place.
#[inline]
pub(crate) fn read_raw<'py>(x: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    if numpy::is_exact(x) {
        return numpy::read(x)?.ok_or_else(|| unknown(x));
    }
    match dlpack::read_known(x)? {
        Some(array) => Ok(array),
        None => read_cold(x),
    }
}

/// As [`read`]. If `signs` is set, the answer depends on signs.
///
/// # Errors
/// As [`read`], and ValueError for a tensor whose signs are not those in memory.
pub(crate) fn read_for<'py>(x: &Bound<'py, PyAny>, signs: bool) -> PyResult<Array<'py>> {
    let array = read(x)?;
    if signs && array.tensor {
        check_negative_bit(x)?;
    }
    Ok(array)
}

/// torch may set a bit on a tensor instead of changing all signs in memory.
fn check_negative_bit(x: &Bound<'_, PyAny>) -> PyResult<()> {
    match x.getattr_opt("is_neg")? {
        Some(is_neg) if is_neg.call0()?.is_truthy()? => Err(value(
            "x has torch's negative bit, so its signs are not in memory: pass \
                       x.resolve_neg()",
        )),
        _ => Ok(()),
    }
}

#[cold]
fn read_cold<'py>(x: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    if let Some(array) = scalar(x)? {
        return Ok(array);
    }
    // A class has the methods of its instances.
    if x.is_instance_of::<PyType>() {
        return Err(unknown(x));
    }
    if let Some(array) = numpy::read(x)? {
        return Ok(array);
    }
    if x.is_exact_instance_of::<PyMemoryView>()
        && let Some(array) = buffer::read(x)?
    {
        return Ok(array);
    }
    if let Some(array) = dlpack::read_by_exchange(x)? {
        return Ok(array);
    }
    if let Some(array) = torch::read(x)? {
        return Ok(array);
    }
    let is_list = x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>();
    if is_list {
        x.try_iter()?.try_for_each(|part| check_part(&part?))?;
    }
    if is_list || is_generic(x)? {
        return through_numpy(x);
    }
    if let Some(array) = arrow::read(x)? {
        return Ok(array);
    }
    if let Some(array) = capsule::read_by_method(x)? {
        return Ok(array);
    }
    if x.hasattr("__cuda_array_interface__")? {
        return Err(type_error(
            "x is in the memory of a GPU, and nonfinite reads the memory of the CPU: bring a copy \
             here, for example with x.get() or x.copy_to_host()",
        ));
    }
    if let Some(array) = buffer::read(x)? {
        return Ok(array);
    }
    // Columns of pandas, Polars and pyarrow, arrays of xarray.
    if x.hasattr("__array__")? || x.hasattr("__arrow_c_stream__")? {
        let array = x.py().import("nonfinite._parts")?.call_method1("array", (x,))?;
        return arrow::read(&array)?.map_or_else(|| through_numpy(&array), Ok);
    }
    Err(unknown(x))
}

/// numpy would make numbers of the nulls and masked elements in a list of columns.
fn check_part(part: &Bound<'_, PyAny>) -> PyResult<()> {
    let plain = part.is_exact_instance_of::<PyFloat>()
        || part.is_exact_instance_of::<PyInt>()
        || part.is_exact_instance_of::<PyList>();
    for name in ["__arrow_c_array__", "__arrow_c_stream__", "_sharedmask"] {
        if !plain && part.hasattr(name)? {
            return Err(type_error("x is a list of columns: ask about each of them"));
        }
    }
    Ok(())
}

/// A number of Python: 0 dimensions.
fn scalar<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    let one = Shape::scalar();
    if let Ok(number) = x.cast::<PyFloat>() {
        let bytes = number.value().to_ne_bytes().to_vec();
        return Array::copy(Format::F64, bytes, &one).map(Some).map_err(of_border);
    }
    if x.is_instance_of::<PyInt>() {
        // All integers are finite, however large, and so is this number.
        let mut array = Array::copy(Format::F64, vec![0; 8], &one).map_err(of_border)?;
        array.kind = Kind::Integer;
        return Ok(Some(array));
    }
    if x.is_instance_of::<PyComplex>() {
        return Err(type_error("x is complex: ask about x.real and x.imag"));
    }
    Ok(None)
}

/// Whether `x` is a scalar of numpy or ml_dtypes.
pub(crate) fn is_generic(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    match numpy::load(x.py(), false)? {
        true => x.is_instance(&x.py().import("numpy")?.getattr("generic")?),
        false => Ok(false),
    }
}

/// Whether `x` is a tensor of torch.
pub(crate) fn is_tensor(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    if numpy::is_exact(x) {
        return Ok(false);
    }
    let py = x.py();
    let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
    match modules.get_item(intern!(py, "torch")) {
        Ok(torch) => x.is_instance(&torch.getattr(intern!(py, "Tensor"))?),
        Err(_) => Ok(false),
    }
}

/// The answer about `x`. About a tensor of torch, an array of numpy becomes a tensor with the same
/// memory.
pub(crate) fn answer_for<'py>(
    x: &Bound<'py, PyAny>,
    answer: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    if !numpy::is_exact(x) && numpy::is_exact(&answer) && is_tensor(x)? {
        return x.py().import("torch")?.call_method1("from_numpy", (answer,));
    }
    Ok(answer)
}

/// The array that numpy makes of an object. It is read-only: it may be a copy, in which results
/// would be lost.
fn through_numpy<'py>(x: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    if !numpy::load(x.py(), true)? {
        return Err(type_error("x needs numpy to become an array, and numpy is not installed"));
    }
    let array = x.py().import("numpy")?.call_method1("asarray", (x,))?;
    Ok(numpy::read(&array)?.ok_or_else(|| unknown(x))?.read_only())
}

#[cold]
fn unknown(x: &Bound<'_, PyAny>) -> PyErr {
    let class = x.get_type().qualname().map_or_else(|_| "?".into(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "x is of the type {class}, which is no array: pass an array of numpy, torch, jax or Arrow, \
         an object with __dlpack__ or the buffer protocol, or a number. all_finite, any_nan, \
         any_inf, any, all and count (without axis= and keepdims=) and assert_finite also take \
         dicts and iterators of arrays, such as model.state_dict()"
    ))
}
