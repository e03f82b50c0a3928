//! Tensors by DLPack (dlpack.h of DLPack 1.3).
//!
//! torch and others put a capsule on their types, `__dlpack_c_exchange_api__`, with a function that
//! describes a tensor without a call of Python. For other objects see `capsule`.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use nonfinite::Format;
use nonfinite_border::dlpack::Tensor;
use nonfinite_border::managed::Version;
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyType};

use super::{Array, Owner};
use crate::error::{of_border, type_error};

/// `DLPackExchangeAPI`.
#[repr(C)]
struct Exchange {
    version: Version,
    previous: *mut Exchange,
    allocate: *mut c_void,
    managed_from_object: *mut c_void,
    managed_to_object: *mut c_void,
    /// `dltensor_from_py_object_no_sync`, which may be null.
    describe: Option<Describe>,
    current_stream: *mut c_void,
}

/// Describes the memory of an object, which the object still owns. Returns 0, or -1 with an
/// exception set. dlpack.h guarantees the memory until control returns to Python. A thread that
/// runs while the GIL is released may free it: README says which calls do.
type Describe = unsafe extern "C" fn(*mut c_void, *mut Tensor) -> c_int;

/// A type and its exchange function, both null until they are set. The type is set last and never
/// freed. There are several entries, since programs use tensors and parameters, a subclass, in
/// turns.
struct Known {
    class: AtomicPtr<ffi::PyTypeObject>,
    describe: AtomicPtr<c_void>,
}

static KNOWN: [Known; 4] = [const {
    Known { class: AtomicPtr::new(ptr::null_mut()), describe: AtomicPtr::new(ptr::null_mut()) }
}; 4];

/// The function that the type of `x` names, if it was met before.
#[inline]
fn known(x: &Bound<'_, PyAny>) -> Option<Describe> {
    let class = x.get_type_ptr();
    let known = KNOWN.iter().find(|known| known.class.load(Ordering::Acquire) == class)?;
    let describe = known.describe.load(Ordering::Relaxed);
    // SAFETY: `remember` has stored a function of this type, before the class.
    Some(unsafe { std::mem::transmute::<*mut c_void, Describe>(describe) })
}

/// The elements of a tensor that lie one after the other, if its type was met before. `None` for
/// everything else, which [`read_known`] may know.
#[inline]
pub(super) fn flat<'a>(x: &'a Bound<'_, PyAny>) -> Option<(&'a [u8], Format)> {
    let describe = known(x)?;
    let mut tensor = Tensor::empty();
    // SAFETY: the type of `x` names the function, which fills the tensor if it returns 0.
    if unsafe { describe(x.as_ptr().cast(), &raw mut tensor) } != 0 {
        // `read_known` asks again, and explains the error.
        // SAFETY: the thread holds the GIL, as `x` says.
        unsafe { ffi::PyErr_Clear() };
        return None;
    }
    // SAFETY: the function has described the memory of `x`, which is borrowed.
    unsafe { tensor.flat() }
}

/// A tensor whose type has the exchange API and was met before. `None` otherwise.
///
/// # Errors
/// TypeError for tensors elsewhere than in the memory of the CPU, and of unknown formats. Errors of
/// the owner of the tensor.
#[inline]
pub(crate) fn read_known<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    // SAFETY: the type of `x` names the function.
    known(x).map(|describe| unsafe { describe_with(describe, x) }).transpose()
}

/// As [`read_known`], for types not met before.
pub(crate) fn read_by_exchange<'py>(x: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    let class = x.get_type();
    let Some(api) = class.getattr_opt(intern!(x.py(), "__dlpack_c_exchange_api__"))? else {
        return Ok(None);
    };
    let Ok(api) = api.cast_into::<PyCapsule>() else { return Ok(None) };
    let Ok(api) = api.pointer_checked(Some(c"dlpack_exchange_api")) else { return Ok(None) };
    // SAFETY: a capsule of this name holds the structure, which lives as long as the process
    // (dlpack.h, `DLPackExchangeAPI`). The place of `describe` is that of version 1.
    let api = unsafe { api.cast::<Exchange>().as_ref() };
    let Some(describe) = api.describe.filter(|_| api.version.major == 1) else { return Ok(None) };
    remember(&class, describe);
    // SAFETY: the type of `x` names this function.
    unsafe { describe_with(describe, x) }.map(Some)
}

/// Puts the type into a free entry, if there is one.
fn remember(class: &Bound<'_, PyType>, describe: Describe) {
    let function = describe as *mut c_void;
    for known in &KNOWN {
        let free = ptr::null_mut();
        let order = (Ordering::AcqRel, Ordering::Acquire);
        if known.describe.compare_exchange(free, function, order.0, order.1).is_ok() {
            // The reference is never given back, so no other type gets this address.
            let class = class.clone().into_ptr().cast();
            known.class.store(class, Ordering::Release);
            return;
        }
    }
}

/// # Safety
/// `describe` is the function that the type of `x` names.
unsafe fn describe_with<'py>(describe: Describe, x: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    let mut tensor = Tensor::empty();
    // SAFETY: by the contract of this function. The function fills the tensor if it returns 0.
    if unsafe { describe(x.as_ptr().cast(), &raw mut tensor) } != 0 {
        return Err(explain(PyErr::fetch(x.py())));
    }
    // The function reports no flags. Tensors of torch may be written to.
    // SAFETY: the function has described the memory of `x`, which the owner, a reference to `x`,
    // keeps alive.
    unsafe { tensor.array(true, Owner::Object(x.clone())) }.map_err(of_border)
}

/// Says which tensors DLPack does not describe. A RuntimeError becomes a TypeError. Other errors
/// stay: only their owner knows how to make an error of such a class. Those of jax get a note.
#[cold]
pub(super) fn explain(error: PyErr) -> PyErr {
    Python::attach(|py| {
        let class = error.get_type(py);
        if class.module().is_ok_and(|module| module.to_string_lossy().starts_with("jax")) {
            let note = "Inside of jax.jit, jax.grad and jax.vmap x has no memory: ask outside, or \
                        use jax.numpy.isfinite there.";
            // If there is no note, the error still says what is wrong.
            let _ = error.value(py).call_method1("add_note", (note,));
        }
        let runtime = [py.get_type::<PyRuntimeError>(), py.get_type::<PyNotImplementedError>()];
        if !runtime.iter().any(|known| known.is(&class)) {
            return error;
        }
        let text = error.value(py).to_string();
        let mut lines = text.lines();
        let explained = type_error(format!(
            "x has no memory of plain elements (such as sparse, quantised, meta and nested \
             tensors: ask about their parts, for example x.values() or x.dequantize()): {}",
            lines.next().unwrap_or_default()
        ));
        // Behind the first line, torch lists the frames of its C++ code, which help nobody.
        if lines.next().is_none() {
            explained.set_cause(py, Some(error));
        }
        explained
    })
}
