//! Tensors of torch before 2.10, whose types have no exchange API of DLPack (see `dlpack`): by the
//! methods of the tensor. Its `__dlpack__` takes ten times as long, and refuses parameters and FP8.

use nonfinite::Format;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

use super::dlpack::explain;
use super::{Array, Kind, Owner, Shape};
use crate::error::of_border;

/// What is needed of the module `torch`.
struct Torch {
    /// `torch.Tensor` and `torch.nn.Parameter`. Other subclasses may answer for the memory of
    /// another tensor.
    classes: [Py<PyAny>; 2],
    strided: Py<PyAny>,
}

/// The module, if the program has imported it.
fn torch(py: Python<'_>) -> PyResult<Option<&'static Torch>> {
    static TORCH: PyOnceLock<Torch> = PyOnceLock::new();
    if let Some(torch) = TORCH.get(py) {
        return Ok(Some(torch));
    }
    // SAFETY: the thread holds the GIL, and the name is a string. The result is null without an
    // exception, or a new reference.
    let module = unsafe {
        let name = intern!(py, "torch");
        Bound::from_owned_ptr_or_opt(py, ffi::PyImport_GetModule(name.as_ptr()))
    };
    let Some(module) = module else { return Ok(None) };
    // While torch is being imported it has no tensors.
    let Some(tensor) = module.getattr_opt("Tensor")? else { return Ok(None) };
    let Some(nn) = module.getattr_opt("nn")? else { return Ok(None) };
    let Some(parameter) = nn.getattr_opt("Parameter")? else { return Ok(None) };
    let strided = module.getattr("strided")?.unbind();
    let torch = Torch { classes: [tensor.unbind(), parameter.unbind()], strided };
    Ok(Some(TORCH.get_or_init(py, || torch)))
}

/// A tensor in the memory of the CPU. `None` for all other objects, and for tensors that
/// `__dlpack__` explains: those elsewhere, sparse, quantised, nested and complex ones.
///
/// # Errors
/// Those of the methods of the tensor, and of [`Array::new`].
pub(crate) fn read<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    let py = x.py();
    let Some(torch) = torch(py)? else { return Ok(None) };
    let class = x.get_type_ptr().cast();
    if !torch.classes.iter().any(|own| own.as_ptr() == class) {
        return Ok(None);
    }
    let on_cpu = x.getattr(intern!(py, "is_cpu"))?.is_truthy()?;
    let plain = on_cpu && x.getattr(intern!(py, "layout"))?.is(&torch.strided);
    let dtype = x.getattr(intern!(py, "dtype"))?.str()?;
    let Some((kind, item)) = kind(dtype.to_str()?).filter(|_| plain) else { return Ok(None) };
    let call = |name: &Bound<'py, PyString>| x.call_method0(name).map_err(explain);
    let sizes: Vec<isize> = call(intern!(py, "size"))?.extract()?;
    let strides: Vec<isize> = call(intern!(py, "stride"))?.extract()?;
    let data: usize = call(intern!(py, "data_ptr"))?.extract()?;
    let shape = Shape::new(sizes.len(), |i| (sizes[i], strides[i])).map_err(of_border)?;
    let data = std::ptr::with_exposed_provenance_mut(data);
    // SAFETY: the class is one of torch itself, so these are its own methods. They describe memory
    // of the CPU, which the owner, a reference to the tensor, keeps alive.
    let array =
        unsafe { Array::new(kind, data, (item, item), shape, true, Owner::Object(x.clone())) };
    let mut array = array.map_err(of_border)?;
    array.tensor = true;
    Ok(Some(array))
}

/// What the elements are, and the bytes of one, by the name of a dtype such as `torch.float32`.
fn kind(dtype: &str) -> Option<(Kind, usize)> {
    let name = dtype.strip_prefix("torch.")?;
    if name == "bool" {
        return Some((Kind::Bool, 1));
    }
    if let Some(bits) = name.trim_start_matches('u').strip_prefix("int") {
        return Some((Kind::Integer, bits.parse::<usize>().ok()? / 8));
    }
    let format = name.parse::<Format>().ok()?;
    Some((Kind::Float(format), format.size_in_bytes()))
}
