//! What all operators declare: element types, one required input and output, the CPU.
#![expect(unsafe_code, reason = "ONNX Runtime calls these functions")]

use std::ffi::{c_char, c_int};

use nonfinite::Format;
use ort_sys::{
    ONNXTensorElementDataType as ElementType, OrtCustomOp, OrtCustomOpInputOutputCharacteristic,
    OrtMemType,
};

use crate::api::API_VERSION;

/// The element types of IsNaN-20 and IsInf-20 of ONNX, as the C interface numbers them.
const TYPES: [(c_int, Format); 8] = [
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT as c_int, Format::F32),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE as c_int, Format::F64),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 as c_int, Format::F16),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 as c_int, Format::Bf16),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN as c_int, Format::F8E4M3Fn),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ as c_int, Format::F8E4M3FnUz),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2 as c_int, Format::F8E5M2),
    (ElementType::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ as c_int, Format::F8E5M2FnUz),
];

/// float8e8m0, which `ort_sys` does not know yet.
const E8M0: (c_int, Format) = (26, Format::F8E8M0Fnu);

/// The first minor version of the runtime whose custom operators can take float8e8m0. Older ones
/// take the number 26 for int2, which has this number in ONNX.
const E8M0_MINOR: u32 = 31;

/// The element types of floating-point numbers that tensors of the runtime 1.`minor` can have, as
/// the C interface numbers them, and their formats.
pub(crate) fn types(minor: u32) -> impl Iterator<Item = (c_int, Format)> {
    TYPES.into_iter().chain((minor >= E8M0_MINOR).then_some(E8M0))
}

/// The fields that the operators share: one input and one output, both required, on the CPU. `Sink`
/// has another number of outputs.
pub(crate) const DECLARED: OrtCustomOp = OrtCustomOp {
    version: API_VERSION,
    CreateKernel: None,
    GetName: None,
    GetExecutionProviderType: Some(get_execution_provider_type),
    GetInputType: None,
    GetInputTypeCount: Some(one),
    GetOutputType: None,
    GetOutputTypeCount: Some(one),
    KernelCompute: None,
    KernelDestroy: None,
    GetInputCharacteristic: Some(required),
    GetOutputCharacteristic: Some(required),
    GetInputMemoryType: Some(get_input_memory_type),
    GetVariadicInputMinArity: Some(no),
    GetVariadicInputHomogeneity: Some(no),
    GetVariadicOutputMinArity: Some(no),
    GetVariadicOutputHomogeneity: Some(no),
    CreateKernelV2: None,
    KernelComputeV2: None,
    InferOutputShapeFn: None,
    GetStartVersion: None,
    GetEndVersion: Some(last_version),
    // Later than `API_VERSION`.
    GetMayInplace: None,
    ReleaseMayInplace: None,
    GetAliasMap: None,
    ReleaseAliasMap: None,
};

unsafe extern "system" fn get_execution_provider_type(_: *const OrtCustomOp) -> *const c_char {
    c"CPUExecutionProvider".as_ptr()
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

unsafe extern "system" fn last_version(_: *const OrtCustomOp) -> c_int {
    c_int::MAX
}
