//! Tensors by DLPack (dlpack.h of DLPack 1.3).
//!
//! torch and others put a capsule on their types, `__dlpack_c_exchange_api__`, with a function that
//! describes a tensor without a call of Python. For other objects see `capsule`.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

use nonfinite::Format;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyType};

use super::{Array, Kind, Owner, Shape};
use crate::arrays::error::{type_error, value};

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Tensor {
    data: *mut u8,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

#[repr(C)]
pub(super) struct Version {
    pub(super) major: u32,
    minor: u32,
}

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
    let pointers = [tensor.data.cast_const().cast(), tensor.shape, tensor.strides];
    if tensor.device_type != 1 || pointers.iter().any(|pointer| pointer.is_null()) {
        return None;
    }
    let format = tensor.format()?;
    let rank = usize::try_from(tensor.ndim).ok()?;
    // SAFETY: `ndim` sizes and `ndim` strides lie at these pointers, which are not null.
    let (sizes, strides) = unsafe {
        let sizes = slice::from_raw_parts(tensor.shape, rank);
        (sizes, slice::from_raw_parts(tensor.strides, rank))
    };
    let mut len = 1i64;
    for (&size, &stride) in sizes.iter().zip(strides).rev() {
        if size != 1 && stride != len {
            return None;
        }
        len = len.checked_mul(size)?;
    }
    let bytes = usize::try_from(len).ok()?.checked_mul(format.size_in_bytes())?;
    let data = tensor.data.wrapping_add(tensor.byte_offset as usize);
    // SAFETY: `data` is not null, and the elements lie one after the other from there on. The
    // tensor, which is borrowed, keeps them alive.
    Some((unsafe { slice::from_raw_parts(data, bytes) }, format))
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
    // SAFETY: the function has described the memory of `x`, which the owner, a reference to `x`,
    // keeps alive.
    let mut array = unsafe { tensor.array(Owner::Object(x.clone()))? };
    // The function reports no flags. Tensors of torch may be written to.
    array.writable = true;
    Ok(array)
}

impl Tensor {
    fn empty() -> Self {
        let (data, shape, strides) = (ptr::null_mut(), ptr::null(), ptr::null());
        let (device_type, device_id, ndim, byte_offset) = (0, 0, 0, 0);
        let (code, bits, lanes) = (0, 0, 0);
        Self { data, device_type, device_id, ndim, code, bits, lanes, shape, strides, byte_offset }
    }

    /// # Errors
    /// TypeError for another device and for formats that have no [`Kind`].
    ///
    /// # Safety
    /// The tensor is one that a producer described by DLPack's rules. `owner` keeps it alive.
    #[inline]
    pub(super) unsafe fn array<'py>(&self, owner: Owner<'py>) -> PyResult<Array<'py>> {
        check_device(self.device_type, self.device_id)?;
        let (kind, item) = self.kind()?;
        let rank = usize::try_from(self.ndim).map_err(|_| value("x has negative dimensions"))?;
        // SAFETY: `ndim` sizes lie at `shape`, and as many strides at `strides` if it is not null.
        // An i64 is an isize: `numpy` asserts that the machine has 64 bits.
        let dimension = |i: usize| unsafe {
            let stride = if self.strides.is_null() { 1 } else { *self.strides.add(i) };
            (*self.shape.add(i) as isize, stride as isize)
        };
        let shape = Shape::new(rank, dimension).ok_or_else(|| value("a size of x is negative"))?;
        let shape = if self.strides.is_null() { shape.row_major() } else { shape };
        let data = match self.data.is_null() {
            true => self.data,
            false => self.data.wrapping_add(self.byte_offset as usize),
        };
        // SAFETY: by the contract of this function, and DLPack's strides are in elements.
        let mut array = unsafe { Array::new(kind, data, (item, item), shape, owner)? };
        array.tensor = true;
        Ok(array)
    }

    /// The format of the elements, if they are floating-point numbers: `DLDataTypeCode`.
    #[inline]
    fn format(&self) -> Option<Format> {
        // The most frequent one without a table, on whose answer the next steps would wait.
        if (self.code, self.bits, self.lanes) == (2, 32, 1) {
            return Some(Format::F32);
        }
        match (self.code, self.bits) {
            _ if self.lanes != 1 => None,
            (2, 16) => Some(Format::F16),
            (2, 64) => Some(Format::F64),
            (4, 16) => Some(Format::Bf16),
            (7, 8) => Some(Format::F8E3M4),
            (8, 8) => Some(Format::F8E4M3),
            (9, 8) => Some(Format::F8E4M3B11FnUz),
            (10, 8) => Some(Format::F8E4M3Fn),
            (11, 8) => Some(Format::F8E4M3FnUz),
            (12, 8) => Some(Format::F8E5M2),
            (13, 8) => Some(Format::F8E5M2FnUz),
            (14, 8) => Some(Format::F8E8M0Fnu),
            (15, 8) => Some(Format::F6E2M3Fn),
            (16, 8) => Some(Format::F6E3M2Fn),
            (17, 8) => Some(Format::F4E2M1Fn),
            _ => None,
        }
    }

    /// What the elements are, and the bytes of one.
    fn kind(&self) -> PyResult<(Kind, usize)> {
        if let Some(format) = self.format() {
            return Ok((Kind::Float(format), format.size_in_bytes()));
        }
        match (self.code, self.bits, self.lanes) {
            (0 | 1, 8 | 16 | 32 | 64, 1) => {
                return Ok((Kind::Integer, usize::from(self.bits) / 8));
            }
            (6, 8, 1) => return Ok((Kind::Bool, 1)),
            _ => {}
        }
        Err(match (self.code, self.bits) {
            (5, _) => type_error("x is complex: ask about x.real and x.imag"),
            (17, 4) => type_error("x has two numbers of FP4 in a byte: all of them are finite"),
            (code, bits) => type_error(format!(
                "x has elements of DLPack's type {code} with {bits} bits and {} lanes, which is \
                 unknown to nonfinite",
                self.lanes
            )),
        })
    }
}

/// # Errors
/// TypeError if the device has memory that the CPU cannot read.
#[inline]
pub(super) fn check_device(kind: i32, id: i32) -> PyResult<()> {
    // The CPU, and memory of the CPU that CUDA or ROCm has pinned.
    if matches!(kind, 1 | 3 | 11) {
        return Ok(());
    }
    Err(elsewhere(kind, id))
}

#[cold]
fn elsewhere(kind: i32, id: i32) -> PyErr {
    let (name, how) = match kind {
        2 | 13 => ("CUDA", "x.cpu() of torch, x.get() of cupy, jax.device_get(x) of jax"),
        8 => ("Metal", "x.cpu() of torch"),
        10 => ("ROCm", "x.cpu() of torch, x.get() of cupy"),
        14 => ("oneAPI", "x.cpu() of torch"),
        _ => ("another kind", "x.cpu() of torch, jax.device_get(x) of jax"),
    };
    type_error(format!(
        "x is on device {id} of {name} (DLPack's device type {kind}), and nonfinite reads the \
         memory of the CPU: bring a copy here with {how}"
    ))
}

/// Says which tensors DLPack does not describe. Of the error only the first line: behind that,
/// torch lists the frames of its C++ code.
#[cold]
pub(super) fn explain(error: PyErr) -> PyErr {
    Python::attach(|py| {
        let text = error.value(py).to_string();
        let first = text.lines().next().unwrap_or_default();
        if error.is_instance_of::<PyBufferError>(py) || error.is_instance_of::<PyTypeError>(py) {
            return PyErr::from_type(error.get_type(py), first.to_owned());
        }
        type_error(format!(
            "x has no memory of plain elements (such as sparse, quantised, meta and nested \
             tensors: ask about their parts, for example x.values() or x.dequantize()): {first}"
        ))
    })
}
