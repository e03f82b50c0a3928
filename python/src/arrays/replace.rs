//! Functions that change elements: `nan_to_num` and `unscale_and_check`.

use nonfinite::{ElementsMut, Format, Replacement};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyComplex, PyFloat, PyInt};

use super::ask::RELEASE;
use super::encode::encode;
use super::input::{self, is_tensor};
use crate::error::{of_crate, type_error, value};
use crate::owners::{Array, Kind, numpy};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(nan_to_num, module)?)?;
    module.add_function(wrap_pyfunction!(unscale_and_check, module)?)
}

/// Replaces NaN, +Inf and -Inf, as numpy.nan_to_num. Returns an array of the dtype and shape of x.
/// A tensor of torch gives a tensor, a number gives a number, and everything else gives an array of
/// numpy. If torch records gradients of the tensor, or if it has a tangent of forward mode,
/// torch.nan_to_num answers: the gradient is that of x, and 0 where an element was replaced.
/// Integers stay as they are. Real and imaginary parts of numpy's complex numbers are replaced on
/// their own.
///
/// copy: if False, the memory of x is changed; arrays of numpy and tensors are returned themselves.
/// nan: the number for NaN.
/// posinf, neginf: the numbers for +Inf and -Inf; None means the largest and the least finite
///     number of the format. Numbers are rounded to the format.
///
/// Raises TypeError if x is no array of numbers, and ValueError if copy is False and x is
/// read-only. Nothing is written then.
#[pyfunction]
#[pyo3(signature = (x, copy=true, nan=0.0, posinf=None, neginf=None))]
fn nan_to_num<'py>(
    x: &Bound<'py, PyAny>,
    copy: bool,
    nan: f64,
    posinf: Option<f64>,
    neginf: Option<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let with = Numbers { nan, posinf, neginf };
    if let Ok(number) = x.cast_exact::<PyFloat>() {
        let bits = number.value().to_bits();
        let mut bytes = bits.to_ne_bytes();
        with.replace(&mut bytes, Format::F64)?;
        return Ok(PyFloat::new(py, f64::from_ne_bytes(bytes)).into_any());
    }
    if x.is_instance_of::<PyInt>() {
        return Ok(x.clone());
    }
    let tensor = is_tensor(x)?;
    if tensor && copy {
        let torch = py.import("torch")?;
        let recorded = x.getattr("requires_grad")?.is_truthy()?
            && torch.call_method0("is_grad_enabled")?.is_truthy()?;
        if recorded || has_tangent(x)? {
            return torch.call_method1("nan_to_num", (x, nan, posinf, neginf));
        }
    }
    let array = if tensor { x.clone() } else { as_numpy(x)? };
    let kind = match input::read_raw(&array) {
        Err(_) if is_complex(&array)? => None,
        result => Some(result?.kind),
    };
    let target = if copy { private_copy(&array)? } else { array.clone() };
    match kind {
        Some(Kind::Float(_)) => change(&target, &|bytes, format| with.replace(bytes, format))?,
        Some(Kind::Bool | Kind::Integer) => {}
        None => {
            for part in ["real", "imag"] {
                nan_to_num(&target.getattr(part)?, false, nan, posinf, neginf)?;
            }
        }
    }
    // As numpy: a scalar for a scalar, and an array for an array of 0 dimensions.
    let is_scalar = !numpy::is_exact(x)
        && (x.is_instance_of::<PyFloat>()
            || x.is_instance_of::<PyComplex>()
            || input::is_generic(x)?);
    if is_scalar { target.get_item(()) } else { Ok(target) }
}

/// Whether a tensor of torch has a tangent of forward mode.
fn has_tangent(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    let forward = x.py().import("torch.autograd.forward_ad")?;
    Ok(!forward.call_method1("unpack_dual", (x,))?.getattr("tangent")?.is_none())
}

/// Whether `x` is an array of complex numbers of numpy.
fn is_complex(x: &Bound<'_, PyAny>) -> PyResult<bool> {
    if is_tensor(x)? {
        return Ok(false);
    }
    x.getattr(intern!(x.py(), "dtype"))?.getattr(intern!(x.py(), "kind"))?.eq("c")
}

/// Multiplies every element of x by factor, in place, and returns whether any element was NaN or
/// infinite before: the step of a gradient scaler.
///
/// x: a writable array of f64, f32, f16 or bf16, of any shape and layout.
/// factor: a number; the reciprocal of the scale.
///
/// Raises TypeError for other formats, and ValueError if x is read-only. Nothing is written then.
#[pyfunction]
#[pyo3(signature = (x, factor, /))]
fn unscale_and_check(x: &Bound<'_, PyAny>, factor: f64) -> PyResult<bool> {
    match input::read_raw(x)?.kind {
        Kind::Float(Format::F64 | Format::F32 | Format::F16 | Format::Bf16) => {}
        _ => return Err(type_error("x is no array of f64, f32, f16 or bf16")),
    }
    change(x, &|bytes, format| {
        let elements = ElementsMut::from_bytes(bytes, format).map_err(of_crate)?;
        elements.unscale_and_check(factor).map_err(of_crate)
    })
}

/// The numbers of `nan_to_num`.
struct Numbers {
    nan: f64,
    posinf: Option<f64>,
    neginf: Option<f64>,
}

impl Numbers {
    /// Replaces NaN and infinities among elements of this format.
    fn replace(&self, bytes: &mut [u8], format: Format) -> PyResult<()> {
        let finite = Replacement::finite_bits(format);
        let code = |number: f64| {
            let no_nan = || value(format!("{format} has no NaN to put there"));
            encode(format, number).ok_or_else(no_nan)
        };
        let with = Replacement {
            nan: code(self.nan)?,
            pos_inf: self.posinf.map_or(Ok(finite.pos_inf), code)?,
            neg_inf: self.neginf.map_or(Ok(finite.neg_inf), code)?,
        };
        let elements = ElementsMut::from_bytes(bytes, format).map_err(of_crate)?;
        elements.replace_non_finite(with).map(drop).map_err(of_crate)
    }
}

/// Changes the elements of `x` where they are. Elements that do not lie one after the other, or not
/// in the byte order of the machine, are changed in a copy, which is written back.
fn change<R: Send>(
    x: &Bound<'_, PyAny>,
    work: &(impl Fn(&mut [u8], Format) -> PyResult<R> + Sync),
) -> PyResult<R> {
    let py = x.py();
    let mut array = input::read_raw(x)?;
    let Kind::Float(format) = array.kind else {
        return Err(type_error("x is no array of floating-point numbers"));
    };
    let tensor = is_tensor(x)?;
    if tensor && (x.getattr("requires_grad")?.is_truthy()? || has_tangent(x)?) {
        return Err(value(
            "torch differentiates x: pass x.detach() or its primal, with the same memory",
        ));
    }
    if !array.is_writable() {
        return Err(value("x is read-only, as lists and scalars are: pass a writable array"));
    }
    let negated = tensor && x.call_method0("is_neg")?.is_truthy()?;
    if !negated && let Some(bytes) = array.block_mut() {
        if bytes.len() <= RELEASE {
            return work(bytes, format);
        }
        return py.detach(|| work(bytes, format));
    }
    let copy = private_copy_native(x, &array)?;
    let result = change(&copy, work)?;
    if tensor {
        x.call_method1("copy_", (copy,))?;
    } else {
        py.import("numpy")?.call_method1("copyto", (as_numpy(x)?, copy))?;
    }
    Ok(result)
}

/// The array of numpy with the memory of `x`, or made of `x`. Subclasses stay.
fn as_numpy<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if numpy::is_exact(x) {
        return Ok(x.clone());
    }
    if !numpy::load(x.py(), true)? {
        return Err(type_error("this needs numpy, which is not installed"));
    }
    let numpy = x.py().import("numpy")?;
    let array = numpy.call_method1("asanyarray", (x,))?;
    // numpy puts objects that it does not know into an array of one object.
    let made_of_object = array.getattr("dtype")?.getattr("kind")?.eq("O")?;
    match made_of_object && x.hasattr("__dlpack__")? {
        true => numpy.call_method1("from_dlpack", (x,)),
        false => Ok(array),
    }
}

/// A copy of a tensor, or of an array of numpy in its own dtype and order of dimensions.
fn private_copy<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    if is_tensor(x)? {
        let plain = x.call_method0("detach")?.call_method0("resolve_neg")?;
        return plain.call_method0("clone");
    }
    as_numpy(x)?.call_method1(intern!(py, "copy"), (intern!(py, "K"),))
}

/// As [`private_copy`], with the byte order of the machine.
fn private_copy_native<'py>(
    x: &Bound<'py, PyAny>,
    array: &Array<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    if !array.swapped {
        return private_copy(x);
    }
    let array = as_numpy(x)?;
    let native = array.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
    array.call_method1("astype", (native,))
}
