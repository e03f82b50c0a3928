//! An operator, of one name and one element type.
#![expect(unsafe_code, reason = "ONNX Runtime calls these functions")]

use std::ffi::{CStr, c_int};

use nonfinite::Format;
use ort_sys::OrtCustomOp;

use crate::api::Api;

/// The question of an operator.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "the library for ONNX's own domain has no IsFinite")]
pub(crate) enum Question {
    Nan,
    Inf,
    Finite,
}

/// An operator: the description for the runtime, and our data, which each call gets back.
#[repr(C)]
pub(crate) struct Operator {
    /// First, so that a pointer to the operator is a pointer to this.
    pub(crate) declared: OrtCustomOp,
    pub(crate) name: &'static CStr,
    pub(crate) since: c_int,
    pub(crate) element: c_int,
    pub(crate) api: Api,
    pub(crate) question: Question,
    pub(crate) format: Format,
}

impl Operator {
    pub(crate) fn as_custom_op(&'static self) -> *const OrtCustomOp {
        (&raw const *self).cast()
    }

    /// # Safety
    /// `op` is what [`Operator::as_custom_op`] returned.
    pub(crate) unsafe fn of(op: *const OrtCustomOp) -> &'static Self {
        // SAFETY: as the caller promises, `op` was made of a whole `&'static Operator`.
        unsafe { &*op.cast() }
    }
}
