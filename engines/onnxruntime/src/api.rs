//! Safe wrappers of the functions of ONNX Runtime that this library calls. Statuses become
//! `Result`s.
#![expect(unsafe_code, reason = "functions of ONNX Runtime")]

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int, c_void};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use ort_sys::{
    ONNXTensorElementDataType as ElementType, OrtApi, OrtApiBase, OrtCustomOp, OrtCustomOpDomain,
    OrtErrorCode, OrtKernelContext, OrtKernelInfo, OrtSessionOptions, OrtStatusPtr,
    OrtTensorTypeAndShapeInfo, OrtValue,
};

/// Version of the interface that this library asks the runtime for: the first of ONNX Runtime 1.17.
pub(crate) const API_VERSION: u32 = 17;

/// The first version of the interface with `GetTensorElementTypeAndShapeDataReference`.
const SHAPE_VERSION: u32 = 24;

/// A status with an error. It is returned to the runtime, which frees it.
pub(crate) struct Failure(OrtStatusPtr);

/// The functions of the runtime.
#[derive(Clone, Copy)]
pub(crate) struct Api {
    /// The table for `API_VERSION`. `OrtApi` also declares functions of later versions, which the
    /// table of an old runtime ends before. So this is a pointer, and never a reference.
    pub(crate) table: *const OrtApi,
    /// The function for the shape of a tensor that allocates nothing, where the runtime has it.
    shape: Option<ShapeFn>,
    /// The Y of the runtime's version 1.Y.Z.
    minor: u32,
}

/// `OrtApi::GetTensorElementTypeAndShapeDataReference`.
type ShapeFn = unsafe extern "system" fn(
    *const OrtValue,
    *mut ElementType,
    *mut *const i64,
    *mut usize,
) -> OrtStatusPtr;

/// Input 0 of the node being computed, which lives as long as the call of the node.
pub(crate) struct Input<'a> {
    pub(crate) data: *const c_void,
    pub(crate) shape: Cow<'a, [i64]>,
}

/// Type and shape of a tensor, released on drop.
struct Info {
    api: Api,
    info: *mut OrtTensorTypeAndShapeInfo,
}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: the runtime gave `info` to us to release, and nobody else has it.
        unsafe { ((*self.api.table).ReleaseTensorTypeAndShapeInfo)(self.info) }
    }
}

pub(crate) fn checked(status: OrtStatusPtr) -> Result<(), Failure> {
    if status.0.is_null() { Ok(()) } else { Err(Failure(status)) }
}

impl Api {
    /// `None` if `base` is null or the runtime is older than 1.17.
    ///
    /// # Safety
    /// `base` is null or what `OrtGetApiBase` returns, and the functions behind `base` live as long
    /// as this library.
    pub(crate) unsafe fn new(base: *const OrtApiBase) -> Option<Self> {
        if base.is_null() {
            return None;
        }
        // SAFETY: not null, so as the caller promises.
        let base = unsafe { &*base };
        // SAFETY: the function takes nothing and returns a static string.
        let version = unsafe { CStr::from_ptr((base.GetVersionString)()) };
        let version = version.to_str().unwrap_or_default();
        let minor = version.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0);
        // SAFETY: `GetApi` returns null for a version that the runtime does not have.
        let table = unsafe { (base.GetApi)(API_VERSION) };
        if table.is_null() {
            return None;
        }
        // The runtime prints an error when it is asked for a version that it does not have.
        let shape = if minor < SHAPE_VERSION { None } else { Self::shape_function(base) };
        Some(Self { table, shape, minor })
    }

    fn shape_function(base: &OrtApiBase) -> Option<ShapeFn> {
        // SAFETY: `GetApi` returns null for a version that the runtime does not have.
        let table = unsafe { (base.GetApi)(SHAPE_VERSION) };
        if table.is_null() {
            return None;
        }
        // SAFETY: the table is of the version that added this function.
        Some(unsafe { (*table).GetTensorElementTypeAndShapeDataReference })
    }

    /// The Y of the runtime's version 1.Y.Z.
    pub(crate) fn minor(self) -> u32 {
        self.minor
    }

    /// Runs a function that may fail or panic, and converts the result to a status.
    pub(crate) fn guard(self, run: impl FnOnce() -> Result<(), Failure>) -> OrtStatusPtr {
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => OrtStatusPtr::default(),
            Ok(Err(failure)) => failure.0,
            // Such as a wrong NONFINITE_BACKEND: the text of the panic says so.
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                let text = text.unwrap_or("a panic without a text");
                self.status(OrtErrorCode::ORT_RUNTIME_EXCEPTION, &text).0
            }
        }
    }

    fn status(self, code: OrtErrorCode, message: &dyn Display) -> Failure {
        let message = CString::new(format!("nonfinite: {message}")).unwrap_or_default();
        // SAFETY: the message ends with a null byte and is copied.
        Failure(unsafe { ((*self.table).CreateStatus)(code, message.as_ptr()) })
    }

    /// A status for invalid input.
    pub(crate) fn invalid(self, message: &dyn Display) -> Failure {
        self.status(OrtErrorCode::ORT_INVALID_ARGUMENT, message)
    }

    pub(crate) fn create_domain(self, name: &CStr) -> Result<*mut OrtCustomOpDomain, Failure> {
        let mut domain = ptr::null_mut();
        // SAFETY: the name ends with a null byte and is copied; `domain` takes a pointer.
        checked(unsafe { ((*self.table).CreateCustomOpDomain)(name.as_ptr(), &mut domain) })?;
        Ok(domain)
    }

    /// `domain` is one that [`Api::create_domain`] made. `operator` lives forever.
    pub(crate) fn add_operator(
        self,
        domain: *mut OrtCustomOpDomain,
        operator: *const OrtCustomOp,
    ) -> Result<(), Failure> {
        // SAFETY: the domain exists, as nobody releases it; the operator lives forever.
        checked(unsafe { ((*self.table).CustomOpDomain_Add)(domain, operator) })
    }

    /// `options` are those that the runtime gave, `domain` is one that [`Api::create_domain`] made.
    pub(crate) fn add_domain(
        self,
        options: *mut OrtSessionOptions,
        domain: *mut OrtCustomOpDomain,
    ) -> Result<(), Failure> {
        // SAFETY: both exist: the options during the call of `RegisterCustomOps`, the domain
        // forever.
        checked(unsafe { ((*self.table).AddCustomOpDomain)(options, domain) })
    }

    /// An integer attribute of a node. One of another type is an error.
    pub(crate) fn attribute(
        self,
        info: *const OrtKernelInfo,
        name: &str,
    ) -> Result<Option<i64>, Failure> {
        let mut value = 0;
        let c_name = CString::new(name).map_err(|error| self.invalid(&error))?;
        // SAFETY: the runtime gave `info` for the call that we are in; the name ends with a null
        // byte.
        let status = unsafe {
            ((*self.table).KernelInfoGetAttribute_int64)(info, c_name.as_ptr(), &mut value)
        };
        let Err(failure) = checked(status) else { return Ok(Some(value)) };
        let message = self.take_message(failure);
        // The runtime has no code of its own for an attribute that is not there.
        if message.starts_with("No attribute") {
            return Ok(None);
        }
        Err(self.invalid(&format_args!("attribute {name}: {message}")))
    }

    fn take_message(self, failure: Failure) -> String {
        // SAFETY: the status is not null; its message ends with a null byte and lives as long as
        // the status.
        let message = unsafe { CStr::from_ptr(((*self.table).GetErrorMessage)(failure.0.0)) }
            .to_string_lossy()
            .into_owned();
        // SAFETY: the status is ours, and is not used again.
        unsafe { ((*self.table).ReleaseStatus)(failure.0.0) };
        message
    }

    /// Input 0 of the node being computed.
    pub(crate) fn value(self, context: *mut OrtKernelContext) -> Result<*const OrtValue, Failure> {
        let mut value: *const OrtValue = ptr::null();
        // SAFETY: the runtime gave the context for the call that we are in; `value` takes a
        // pointer.
        checked(unsafe { ((*self.table).KernelContext_GetInput)(context, 0, &mut value) })?;
        if value.is_null() {
            return Err(self.invalid(&"input 0 is missing"));
        }
        Ok(value)
    }

    /// The data and the shape of a tensor, and its element type as the C interface numbers it.
    ///
    /// # Safety
    /// `value` is a tensor, which the runtime keeps as it is during the call.
    pub(crate) unsafe fn tensor<'a>(
        self,
        value: *const OrtValue,
    ) -> Result<(Input<'a>, c_int), Failure> {
        let (element, shape) = match self.shape {
            Some(function) => self.borrowed_shape(function, value)?,
            None => self.copied_shape(value)?,
        };
        let mut data = ptr::null_mut();
        // SAFETY: the value is a tensor. The pointer is only read through, though old runtimes have
        // no other function for it.
        checked(unsafe { ((*self.table).GetTensorMutableData)(value.cast_mut(), &mut data) })?;
        Ok((Input { data, shape }, element))
    }

    /// `value` is an input of the node being computed: a tensor, which the runtime keeps as it is
    /// during the call.
    fn borrowed_shape<'a>(
        self,
        function: ShapeFn,
        value: *const OrtValue,
    ) -> Result<(c_int, Cow<'a, [i64]>), Failure> {
        // A number, because the enum of `ort_sys` lacks newer types.
        let mut element: c_int = 0;
        let (mut sizes, mut rank) = (ptr::null(), 0);
        let type_ = (&raw mut element).cast::<ElementType>();
        // SAFETY: `value` is a tensor; the other three take what the function writes. A C enum has
        // the size of `c_int`.
        checked(unsafe { function(value, type_, &mut sizes, &mut rank) })?;
        if rank == 0 {
            return Ok((element, Cow::Borrowed(&[])));
        }
        // SAFETY: the tensor keeps that many sizes there as long as it lives.
        Ok((element, Cow::Borrowed(unsafe { slice::from_raw_parts(sizes, rank) })))
    }

    /// As [`Api::borrowed_shape`], for runtimes without that function: three allocations.
    fn copied_shape<'a>(self, value: *const OrtValue) -> Result<(c_int, Cow<'a, [i64]>), Failure> {
        let mut info = ptr::null_mut();
        // SAFETY: `value` is a tensor; `info` takes a pointer.
        checked(unsafe { ((*self.table).GetTensorTypeAndShape)(value, &mut info) })?;
        let info = Info { api: self, info };
        let mut element: c_int = 0;
        let type_ = (&raw mut element).cast::<ElementType>();
        // SAFETY: `info` exists until it is dropped. A C enum has the size of `c_int`.
        checked(unsafe { ((*self.table).GetTensorElementType)(info.info, type_) })?;
        let mut rank = 0;
        // SAFETY: `info` exists until it is dropped.
        checked(unsafe { ((*self.table).GetDimensionsCount)(info.info, &mut rank) })?;
        let mut shape = vec![0; rank];
        // SAFETY: as above; `shape` takes `rank` numbers.
        checked(unsafe { ((*self.table).GetDimensions)(info.info, shape.as_mut_ptr(), rank) })?;
        Ok((element, Cow::Owned(shape)))
    }
}
