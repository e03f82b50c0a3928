//! Safe wrappers of the functions of ONNX Runtime that this library calls. Statuses become
//! `Result`s.
#![expect(unsafe_code, reason = "functions of ONNX Runtime")]

use std::ffi::{CStr, CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::OnceLock;

use ort_sys::{
    OrtApi, OrtCustomOpDomain, OrtErrorCode, OrtKernelContext, OrtKernelInfo, OrtSessionOptions,
    OrtShapeInferContext, OrtStatusPtr, OrtTensorTypeAndShapeInfo, OrtValue,
};

use crate::operator::Operator;

/// A status with an error. It is returned to the runtime, which frees it.
pub(crate) struct Failure(OrtStatusPtr);

/// The table of functions of the runtime, for our version of the interface.
#[derive(Clone, Copy)]
pub(crate) struct Api(&'static OrtApi);

/// Type and shape of a tensor, released on drop.
struct Info {
    api: Api,
    info: *mut OrtTensorTypeAndShapeInfo,
}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: the runtime gave `info` to us to release, and nobody else has it.
        unsafe { (self.api.0.ReleaseTensorTypeAndShapeInfo)(self.info) }
    }
}

static REGISTERED: OnceLock<Api> = OnceLock::new();

fn checked(status: OrtStatusPtr) -> Result<(), Failure> {
    if status.0.is_null() { Ok(()) } else { Err(Failure(status)) }
}

impl Api {
    /// # Safety
    /// `raw` is not null, was returned by `OrtApiBase::GetApi` for our version, and lives as long
    /// as this library.
    pub(crate) unsafe fn new(raw: *const OrtApi) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { &*raw })
    }

    /// Keeps it for [`Api::registered`].
    pub(crate) fn register(self) {
        REGISTERED.get_or_init(|| self);
    }

    /// The table of the runtime that has registered our operators, for callbacks without one.
    pub(crate) fn registered() -> Option<Self> {
        REGISTERED.get().copied()
    }

    /// Runs a function that may fail or panic, and converts the result to a status.
    pub(crate) fn guard(self, run: impl FnOnce() -> Result<(), Failure>) -> OrtStatusPtr {
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => OrtStatusPtr::default(),
            Ok(Err(failure)) => failure.0,
            Err(_) => {
                self.status(
                    OrtErrorCode::ORT_RUNTIME_EXCEPTION,
                    c"nonfinite: a panic, which is a bug",
                )
                .0
            }
        }
    }

    fn status(self, code: OrtErrorCode, message: &CStr) -> Failure {
        // SAFETY: the message ends with a null byte and is copied.
        Failure(unsafe { (self.0.CreateStatus)(code, message.as_ptr()) })
    }

    /// A status for invalid input.
    pub(crate) fn invalid(self, message: &CStr) -> Failure {
        self.status(OrtErrorCode::ORT_INVALID_ARGUMENT, message)
    }

    pub(crate) fn create_domain(self, name: &CStr) -> Result<*mut OrtCustomOpDomain, Failure> {
        let mut domain = ptr::null_mut();
        // SAFETY: the name ends with a null byte and is copied; `domain` takes a pointer.
        checked(unsafe { (self.0.CreateCustomOpDomain)(name.as_ptr(), &mut domain) })?;
        Ok(domain)
    }

    /// `domain` is one that [`Api::create_domain`] made.
    pub(crate) fn add_operator(
        self,
        domain: *mut OrtCustomOpDomain,
        operator: &'static Operator,
    ) -> Result<(), Failure> {
        // SAFETY: the domain exists, as nobody releases it; the operator lives forever.
        checked(unsafe { (self.0.CustomOpDomain_Add)(domain, operator.as_custom_op()) })
    }

    /// `options` are those that the runtime gave, `domain` is one that [`Api::create_domain`] made.
    pub(crate) fn add_domain(
        self,
        options: *mut OrtSessionOptions,
        domain: *mut OrtCustomOpDomain,
    ) -> Result<(), Failure> {
        // SAFETY: both exist: the options during the call of `RegisterCustomOps`, the domain
        // forever.
        checked(unsafe { (self.0.AddCustomOpDomain)(options, domain) })
    }

    /// An integer attribute of a node, or `default` if the node has none of that name. One of
    /// another type is an error.
    pub(crate) fn attribute(
        self,
        info: *const OrtKernelInfo,
        name: &CStr,
        default: i64,
    ) -> Result<i64, Failure> {
        let mut value = default;
        // SAFETY: the runtime gave `info` for the call that we are in; the name ends with a null
        // byte.
        let status =
            unsafe { (self.0.KernelInfoGetAttribute_int64)(info, name.as_ptr(), &mut value) };
        let Err(failure) = checked(status) else { return Ok(value) };
        let message = self.take_message(failure);
        // The runtime has no code of its own for an attribute that is not there.
        if message.starts_with("No attribute") {
            return Ok(default);
        }
        let name = name.to_string_lossy();
        let message =
            CString::new(format!("nonfinite: attribute {name}: {message}")).unwrap_or_default();
        Err(self.invalid(&message))
    }

    fn take_message(self, failure: Failure) -> String {
        // SAFETY: the status is not null; its message ends with a null byte and lives as long as
        // the status.
        let message = unsafe { CStr::from_ptr((self.0.GetErrorMessage)(failure.0.0)) }
            .to_string_lossy()
            .into_owned();
        // SAFETY: the status is ours, and is not used again.
        unsafe { (self.0.ReleaseStatus)(failure.0.0) };
        message
    }

    /// The data and the shape of input 0 of the node being computed.
    pub(crate) fn input(
        self,
        context: *mut OrtKernelContext,
    ) -> Result<(*const c_void, Vec<i64>), Failure> {
        let mut value: *const OrtValue = ptr::null();
        // SAFETY: the runtime gave the context for the call that we are in; `value` takes a
        // pointer.
        checked(unsafe { (self.0.KernelContext_GetInput)(context, 0, &mut value) })?;
        if value.is_null() {
            return Err(self.invalid(c"nonfinite: input 0 is missing"));
        }
        let mut info = ptr::null_mut();
        // SAFETY: the value is a tensor, as the operator's declaration asks for; `info` takes a
        // pointer.
        checked(unsafe { (self.0.GetTensorTypeAndShape)(value, &mut info) })?;
        let shape = self.shape(&Info { api: self, info })?;
        let mut data = ptr::null_mut();
        // SAFETY: as above. The pointer is only read through, though the runtime has no other
        // function for it.
        checked(unsafe { (self.0.GetTensorMutableData)(value.cast_mut(), &mut data) })?;
        Ok((data, shape))
    }

    fn shape(self, info: &Info) -> Result<Vec<i64>, Failure> {
        let mut rank = 0;
        // SAFETY: `info` exists until it is dropped.
        checked(unsafe { (self.0.GetDimensionsCount)(info.info, &mut rank) })?;
        let mut shape = vec![0; rank];
        // SAFETY: as above; `shape` takes `rank` numbers.
        checked(unsafe { (self.0.GetDimensions)(info.info, shape.as_mut_ptr(), rank) })?;
        Ok(shape)
    }

    /// The data of output 0 of the node being computed, of this shape.
    pub(crate) fn output(
        self,
        context: *mut OrtKernelContext,
        shape: &[i64],
    ) -> Result<*mut c_void, Failure> {
        let mut value = ptr::null_mut();
        // SAFETY: the runtime gave the context for the call that we are in; the shape is copied.
        checked(unsafe {
            (self.0.KernelContext_GetOutput)(context, 0, shape.as_ptr(), shape.len(), &mut value)
        })?;
        let mut data = ptr::null_mut();
        // SAFETY: the runtime just made this tensor.
        checked(unsafe { (self.0.GetTensorMutableData)(value, &mut data) })?;
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
        checked(unsafe { (self.0.ShapeInferContext_GetInputTypeShape)(context, 0, &mut info) })?;
        // SAFETY: as above; the shape is copied.
        checked(unsafe { (self.0.ShapeInferContext_SetOutputTypeShape)(context, 0, info) })
    }
}
