//! What only sinks ask of the runtime.
#![expect(unsafe_code, reason = "calls through the C interface")]

use std::ffi::{c_int, c_void};

use nonfinite::Format;
use ort_sys::OrtKernelContext;

use crate::api::{Api, Failure, Input, checked};
use crate::declared::types;

/// The format of an element type as the C interface of the runtime 1.`minor` numbers it.
pub(crate) fn format_of(minor: u32, element: c_int) -> Option<Format> {
    types(minor).find(|(number, _)| *number == element).map(|(_, format)| format)
}

/// float8e8m0 in ONNX. All other floating-point types have one number, in ONNX and in the C
/// interface.
const E8M0_IN_ONNX: c_int = 24;

/// The format of an element type as ONNX numbers it.
pub(crate) fn format_in_onnx(element: c_int) -> Option<Format> {
    match element {
        E8M0_IN_ONNX => Some(Format::F8E8M0Fnu),
        // No runtime of version 1.0 has float8e8m0.
        other => format_of(0, other),
    }
}

/// The number in ONNX of the element type that the C interface numbers `element`.
pub(crate) fn in_onnx(element: c_int, format: Format) -> c_int {
    if format == Format::F8E8M0Fnu { E8M0_IN_ONNX } else { element }
}

impl Api {
    /// Input 0 of the node being computed, and its element type as the C interface numbers it.
    /// `None` if the input is no tensor (a sequence).
    pub(crate) fn tensor_input(
        self,
        context: &*mut OrtKernelContext,
    ) -> Result<Option<(Input<'_>, c_int)>, Failure> {
        let value = self.value(*context)?;
        let mut is_tensor = 0;
        // SAFETY: the runtime gave the value for the call that we are in.
        checked(unsafe { ((*self.table).IsTensor)(value, &mut is_tensor) })?;
        if is_tensor == 0 {
            return Ok(None);
        }
        // SAFETY: the runtime has said that the value is a tensor, and keeps inputs during the
        // call.
        unsafe { self.tensor(value) }.map(Some)
    }

    /// Calls `run(data, i)` for each i below `total`, on the threads of the session. Returns after
    /// the last call.
    ///
    /// # Safety
    /// `run` accepts `data` on any thread, and several calls at once.
    pub(crate) unsafe fn parallel_for(
        self,
        context: *mut OrtKernelContext,
        run: unsafe extern "system" fn(*mut c_void, usize),
        total: usize,
        data: *const c_void,
    ) -> Result<(), Failure> {
        // SAFETY: the runtime gave the context for the call that we are in; the rest as the caller
        // promises. 0: the runtime decides how many calls a thread takes at once.
        checked(unsafe {
            ((*self.table).KernelContext_ParallelFor)(context, run, total, 0, data.cast_mut())
        })
    }
}
