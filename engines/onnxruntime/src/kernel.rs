//! A kernel of a session: made once for a node, and run for every tensor.
#![expect(unsafe_code, reason = "ONNX Runtime calls these functions")]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::{ptr, slice};

use nonfinite::{Format, Predicate, TensorView};
use ort_sys::{
    OrtApi, OrtCustomOp, OrtKernelContext, OrtKernelInfo, OrtShapeInferContext, OrtStatusPtr,
};

use crate::api::{Api, Failure, Input, checked};
use crate::operator::Operator;

struct Kernel {
    api: Api,
    format: Format,
    predicate: Predicate,
}

impl Kernel {
    fn new(operator: &Operator, info: *const OrtKernelInfo) -> Result<Self, Failure> {
        let Operator { api, format, declared, .. } = *operator;
        Ok(Self { api, format, predicate: (declared.asks)(api, info)? })
    }

    fn compute(&self, context: *mut OrtKernelContext) -> Result<(), Failure> {
        let api = self.api;
        let Input { data, shape, .. } = api.input(&context)?;
        let out = api.output(context, &shape)?;
        // The runtime holds both tensors in memory, so that their sizes do not overflow.
        let elements = shape.iter().product::<i64>() as usize;
        if elements == 0 {
            return Ok(());
        }
        if data.is_null() || out.is_null() {
            return Err(api.invalid(&"a tensor without data"));
        }
        // SAFETY: the runtime has made sure of the input's type, so its tensor holds that many
        // elements of this size, which it neither moves nor changes during the call.
        let x = unsafe {
            slice::from_raw_parts(data.cast::<u8>(), elements * self.format.size_in_bytes())
        };
        // SAFETY: the runtime has just made this tensor for us: one bool, one byte, for each
        // element of its shape, initialised or not: the bytes are only written through. It is not
        // the input, as no in-place use was declared.
        let out = unsafe { slice::from_raw_parts_mut(out.cast::<MaybeUninit<bool>>(), elements) };
        let x = TensorView::from_bytes(x, self.format);
        // Without the text of the error, which would make this library 27 KB larger. There is none,
        // as the lengths are right.
        x.and_then(|x| x.mask(self.predicate, out)).map_err(|_| api.invalid(&"wrong lengths"))
    }
}

/// `OrtCustomOp::InferOutputShapeFn`.
pub(crate) unsafe extern "system" fn infer(
    op: *const OrtCustomOp,
    context: *mut OrtShapeInferContext,
) -> OrtStatusPtr {
    // SAFETY: the runtime calls us with the operator that it was given.
    let api = unsafe { Operator::of(op) }.api;
    api.guard(|| api.infer_same_shape(context))
}

/// `OrtCustomOp::CreateKernelV2`.
pub(crate) unsafe extern "system" fn create(
    op: *const OrtCustomOp,
    _: *const OrtApi,
    info: *const OrtKernelInfo,
    kernel: *mut *mut c_void,
) -> OrtStatusPtr {
    // SAFETY: the runtime calls us with the operator that it was given.
    let operator = unsafe { Operator::of(op) };
    operator.api.guard(|| {
        let made = Box::new(Kernel::new(operator, info)?);
        // SAFETY: the runtime wants the kernel there.
        unsafe { kernel.write(Box::into_raw(made).cast()) };
        Ok(())
    })
}

/// `OrtCustomOp::KernelComputeV2`.
pub(crate) unsafe extern "system" fn compute(
    kernel: *mut c_void,
    context: *mut OrtKernelContext,
) -> OrtStatusPtr {
    // SAFETY: the runtime calls us with what `create` wrote, before `destroy`; threads only share
    // it.
    let kernel = unsafe { &*kernel.cast::<Kernel>() };
    kernel.api.guard(|| kernel.compute(context))
}

/// `OrtCustomOp::KernelDestroy`.
pub(crate) unsafe extern "system" fn destroy(kernel: *mut c_void) {
    if !kernel.is_null() {
        // SAFETY: the runtime calls us once with what `create` wrote, after its last use.
        drop(unsafe { Box::from_raw(kernel.cast::<Kernel>()) });
    }
}

impl Api {
    /// Input 0 of the node being computed, which is a tensor by the operator's declaration.
    pub(crate) fn input(self, context: &*mut OrtKernelContext) -> Result<Input<'_>, Failure> {
        let value = self.value(*context)?;
        // SAFETY: the operator declares a tensor. The runtime keeps inputs during the call.
        let (input, _) = unsafe { self.tensor(value)? };
        Ok(input)
    }

    /// The data of output 0 of the node being computed, of this shape.
    pub(crate) fn output(
        self,
        context: *mut OrtKernelContext,
        shape: &[i64],
    ) -> Result<*mut c_void, Failure> {
        let mut value = ptr::null_mut();
        let (sizes, rank) = (shape.as_ptr(), shape.len());
        // SAFETY: the runtime gave the context for the call that we are in; the shape is copied.
        checked(unsafe {
            ((*self.table).KernelContext_GetOutput)(context, 0, sizes, rank, &mut value)
        })?;
        let mut data = ptr::null_mut();
        // SAFETY: the runtime just made this tensor.
        checked(unsafe { ((*self.table).GetTensorMutableData)(value, &mut data) })?;
        Ok(data)
    }

    /// Declares that output 0 has the shape of input 0, named and unknown dimensions too.
    pub(crate) fn infer_same_shape(
        self,
        context: *mut OrtShapeInferContext,
    ) -> Result<(), Failure> {
        let mut info = ptr::null_mut();
        // SAFETY: the runtime gave the context for the call that we are in; it keeps `info`, which
        // is not ours.
        checked(unsafe {
            ((*self.table).ShapeInferContext_GetInputTypeShape)(context, 0, &mut info)
        })?;
        // SAFETY: as above; the shape is copied.
        checked(unsafe { ((*self.table).ShapeInferContext_SetOutputTypeShape)(context, 0, info) })
    }
}
