//! The operators for the runtime: one for each name and element type.
#![expect(unsafe_code, reason = "ONNX Runtime calls these functions")]

use std::ffi::{CStr, c_char, c_int};

use nonfinite::Format;
use ort_sys::{ONNXTensorElementDataType as ElementType, OrtCustomOp};

use crate::api::Api;
use crate::declared::{DECLARED, types};
use crate::kernel;
use crate::operator::{Operator, Question};

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

impl Domain {
    /// All operators. They live forever.
    pub(crate) fn all(&self, api: Api) -> impl Iterator<Item = &'static Operator> {
        self.operators.iter().flat_map(move |declared| {
            types(api.minor()).filter(|(_, format)| self.e8m0 || *format != Format::F8E8M0Fnu).map(
                move |(element, format)| {
                    &*Box::leak(Box::new(declared.operator(element, format, api)))
                },
            )
        })
    }
}

impl Declared {
    fn operator(&self, element: c_int, format: Format, api: Api) -> Operator {
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
        let Self { question, name, since } = *self;
        Operator { declared, name, since, element, api, question, format }
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
