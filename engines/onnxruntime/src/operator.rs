//! An operator, as its kernels and its domain know it.
#![expect(unsafe_code, reason = "ONNX Runtime has pointers to operators")]

use std::ffi::{CStr, c_int};

use nonfinite::{Format, Predicate};
use ort_sys::{OrtCustomOp, OrtKernelInfo};

use crate::api::{Api, Failure};

/// An operator of a domain, of any element type.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    pub(crate) name: &'static CStr,
    /// The first version of the domain in which nodes may use this operator.
    pub(crate) since: c_int,
    /// What a node asks of each element.
    pub(crate) asks: fn(Api, *const OrtKernelInfo) -> Result<Predicate, Failure>,
}

/// An operator of one element type: the description for the runtime, and our data, which each call
/// gets back.
#[repr(C)]
pub(crate) struct Operator {
    /// First, so that a pointer to the operator is a pointer to this.
    pub(crate) description: OrtCustomOp,
    pub(crate) declared: Declared,
    pub(crate) element: c_int,
    pub(crate) format: Format,
    pub(crate) api: Api,
}

impl Operator {
    /// # Safety
    /// `op` points to an `Operator` that is never freed.
    pub(crate) unsafe fn of(op: *const OrtCustomOp) -> &'static Self {
        // SAFETY: as the caller promises, `op` points to a whole `Operator` that lives forever.
        unsafe { &*op.cast() }
    }
}
