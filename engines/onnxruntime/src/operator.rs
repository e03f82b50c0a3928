//! The operators for the runtime: one for each name and element type.
#![expect(unsafe_code, reason = "ONNX Runtime calls these functions")]

use std::ffi::{CStr, c_char, c_int};

use nonfinite::Format;
use ort_sys::{ONNXTensorElementDataType as ElementType, OrtCustomOp};

use crate::api::Api;
use crate::declared::{DECLARED, types};
use crate::kernel;

/// The question of an operator.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "the library for ONNX's own domain has no IsFinite")]
pub(crate) enum Question {
    Nan,
    Inf,
    Finite,
}

/// A domain of operators.
pub(crate) struct Domain {
    /// As nodes name the domain. Empty: ONNX's own.
    pub(crate) name: &'static CStr,
    pub(crate) operators: &'static [Declared],
    /// Whether the operators take float8e8m0 where the runtime can.
    pub(crate) e8m0: bool,
}

/// An operator of a domain, of any element type.
pub(crate) struct Declared {
    pub(crate) question: Question,
    pub(crate) name: &'static CStr,
    /// The first version of the domain in which nodes may use this operator.
    pub(crate) since: c_int,
}

/// An operator: the description for the runtime, and our data, which each call gets back.
#[repr(C)]
pub(crate) struct Operator {
    /// First, so that a pointer to the operator is a pointer to this.
    declared: OrtCustomOp,
    name: &'static CStr,
    since: c_int,
    element: c_int,
    pub(crate) api: Api,
    pub(crate) question: Question,
    pub(crate) format: Format,
}

impl Operator {
    /// All operators of a domain. They live forever.
    pub(crate) fn all(domain: &Domain, api: Api) -> impl Iterator<Item = &'static Self> {
        domain.operators.iter().flat_map(move |declared| {
            types(api.minor())
                .filter(|(_, format)| domain.e8m0 || *format != Format::F8E8M0Fnu)
                .map(move |(element, format)| {
                    &*Box::leak(Box::new(Self::new(declared, element, format, api)))
                })
        })
    }

    fn new(operator: &Declared, element: c_int, format: Format, api: Api) -> Self {
        // SAFETY: the C enum has the size of `c_int`, and only the runtime calls this function.
        let get_input_type = unsafe {
            std::mem::transmute::<InputTypeFn<c_int>, InputTypeFn<ElementType>>(get_input_type)
        };
        let declared = OrtCustomOp {
            GetName: Some(get_name),
            GetInputType: Some(get_input_type),
            GetOutputType: Some(get_output_type),
            KernelDestroy: Some(kernel::destroy),
            CreateKernelV2: Some(kernel::create),
            KernelComputeV2: Some(kernel::compute),
            InferOutputShapeFn: Some(kernel::infer),
            GetStartVersion: Some(first_version),
            ..DECLARED
        };
        let Declared { question, name, since } = *operator;
        Self { declared, name, since, element, api, question, format }
    }

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

type InputTypeFn<T> = unsafe extern "system" fn(*const OrtCustomOp, usize) -> T;

unsafe extern "system" fn get_name(op: *const OrtCustomOp) -> *const c_char {
    // SAFETY: the runtime calls us with the operator that it was given.
    unsafe { Operator::of(op) }.name.as_ptr()
}

unsafe extern "system" fn get_input_type(op: *const OrtCustomOp, _: usize) -> c_int {
    // SAFETY: the runtime calls us with the operator that it was given.
    unsafe { Operator::of(op) }.element
}

unsafe extern "system" fn get_output_type(_: *const OrtCustomOp, _: usize) -> ElementType {
    ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL
}

unsafe extern "system" fn first_version(op: *const OrtCustomOp) -> c_int {
    // SAFETY: the runtime calls us with the operator that it was given.
    unsafe { Operator::of(op) }.since
}
