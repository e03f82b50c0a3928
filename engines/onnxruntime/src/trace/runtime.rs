//! What only sinks ask of the runtime.
#![expect(unsafe_code, reason = "calls through the C interface")]

use std::ffi::{c_int, c_void};

use nonfinite_ops::onnx::DataType;
use ort_sys::OrtKernelContext;

use crate::api::{Api, Failure, Input, checked};
use crate::declared::{number, types_of};

/// The floating-point type that the C interface of the runtime 1.`minor` numbers `element`.
pub(crate) fn type_of(minor: u32, element: c_int) -> Option<DataType> {
    types_of(minor).find(|data_type| number(*data_type) == element)
}

/// The floating-point type that ONNX numbers `element`, if a sink looks at it.
pub(crate) fn type_in_onnx(element: c_int) -> Option<DataType> {
    types_of(u32::MAX).find(|data_type| data_type.code() == element)
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
