//! The operators for the runtime: one for each name and element type.
#![expect(unsafe_code, reason = "ONNX Runtime calls these functions")]

use std::ffi::{CStr, c_char, c_int};
use std::sync::LazyLock;

use nonfinite::Format;
use ort_sys::{
    ONNXTensorElementDataType as ElementType, OrtCustomOp, OrtCustomOpInputOutputCharacteristic,
    OrtMemType,
};

use crate::{API_VERSION, kernel};

/// The question of an operator.
#[derive(Clone, Copy)]
pub(crate) enum Question {
    Nan,
    Inf,
    Finite,
}

const QUESTIONS: [(Question, &CStr); 3] =
    [(Question::Nan, c"IsNaN"), (Question::Inf, c"IsInf"), (Question::Finite, c"IsFinite")];

/// The element types that a runtime of our version of the interface can carry, and their formats.
const TYPES: [(ElementType, Format); 8] = [
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, Format::F32),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, Format::F64),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, Format::F16),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, Format::Bf16),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, Format::F8E4M3Fn),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, Format::F8E4M3FnUz),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, Format::F8E5M2),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, Format::F8E5M2FnUz),
];

/// An operator: the description for the runtime, and our data, which each call gets back.
#[repr(C)]
pub(crate) struct Operator {
    /// First, so that a pointer to the operator is a pointer to this.
    declared: OrtCustomOp,
    name: &'static CStr,
    element: ElementType,
    pub(crate) question: Question,
    pub(crate) format: Format,
}

impl Operator {
    /// All of them. They live forever.
    pub(crate) fn all() -> &'static [Self] {
        static ALL: LazyLock<Vec<Operator>> = LazyLock::new(|| {
            let of = |(question, name)| {
                TYPES.map(|(element, format)| Operator::new(question, name, element, format))
            };
            QUESTIONS.into_iter().flat_map(of).collect()
        });
        &ALL
    }

    fn new(question: Question, name: &'static CStr, element: ElementType, format: Format) -> Self {
        let declared = OrtCustomOp {
            version: API_VERSION,
            CreateKernel: None,
            GetName: Some(get_name),
            GetExecutionProviderType: Some(get_execution_provider_type),
            GetInputType: Some(get_input_type),
            GetInputTypeCount: Some(one),
            GetOutputType: Some(get_output_type),
            GetOutputTypeCount: Some(one),
            KernelCompute: None,
            KernelDestroy: Some(kernel::destroy),
            GetInputCharacteristic: Some(required),
            GetOutputCharacteristic: Some(required),
            GetInputMemoryType: Some(get_input_memory_type),
            GetVariadicInputMinArity: Some(no),
            GetVariadicInputHomogeneity: Some(no),
            GetVariadicOutputMinArity: Some(no),
            GetVariadicOutputHomogeneity: Some(no),
            CreateKernelV2: Some(kernel::create),
            KernelComputeV2: Some(kernel::compute),
            InferOutputShapeFn: Some(kernel::infer),
            GetStartVersion: Some(first_version),
            GetEndVersion: Some(last_version),
        };
        Self { declared, name, element, question, format }
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

unsafe extern "system" fn get_name(op: *const OrtCustomOp) -> *const c_char {
    // SAFETY: the runtime calls us with the operator that it was given.
    unsafe { Operator::of(op) }.name.as_ptr()
}

unsafe extern "system" fn get_execution_provider_type(_: *const OrtCustomOp) -> *const c_char {
    c"CPUExecutionProvider".as_ptr()
}

unsafe extern "system" fn get_input_type(op: *const OrtCustomOp, _: usize) -> ElementType {
    // SAFETY: the runtime calls us with the operator that it was given.
    unsafe { Operator::of(op) }.element
}

unsafe extern "system" fn get_output_type(_: *const OrtCustomOp, _: usize) -> ElementType {
    ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL
}

unsafe extern "system" fn one(_: *const OrtCustomOp) -> usize {
    1
}

unsafe extern "system" fn required(
    _: *const OrtCustomOp,
    _: usize,
) -> OrtCustomOpInputOutputCharacteristic {
    OrtCustomOpInputOutputCharacteristic::INPUT_OUTPUT_REQUIRED
}

unsafe extern "system" fn get_input_memory_type(_: *const OrtCustomOp, _: usize) -> OrtMemType {
    OrtMemType::OrtMemTypeDefault
}

unsafe extern "system" fn no(_: *const OrtCustomOp) -> c_int {
    0
}

unsafe extern "system" fn first_version(_: *const OrtCustomOp) -> c_int {
    1
}

unsafe extern "system" fn last_version(_: *const OrtCustomOp) -> c_int {
    c_int::MAX
}
