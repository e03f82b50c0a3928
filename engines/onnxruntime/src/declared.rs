//! What all operators declare: element types, one required input and output, the CPU.
#![expect(unsafe_code, reason = "ONNX Runtime calls these functions")]

use std::ffi::{c_char, c_int};

use nonfinite_ops::onnx::{DataType, IsNan};
use ort_sys::{OrtCustomOp, OrtCustomOpInputOutputCharacteristic, OrtMemType};

use crate::api::API_VERSION;

/// The number of float8e8m0 in the C interface of the runtime. All other floating-point types have
/// the number that ONNX gives them.
const E8M0: c_int = 26;

/// The first minor version of the runtime whose custom operators can take float8e8m0. Older ones
/// take the number 26 for int2, which has this number in ONNX.
const E8M0_MINOR: u32 = 31;

/// The element types of floating-point numbers that tensors of the runtime 1.`minor` can have:
/// those of the newest IsNaN of ONNX, and float8e8m0.
pub(crate) fn types_of(minor: u32) -> impl Iterator<Item = DataType> + Clone {
    let newest = IsNan::newest().version().types();
    newest.iter().copied().chain((minor >= E8M0_MINOR).then_some(DataType::Float8E8M0))
}

/// The number of an element type in the C interface.
pub(crate) fn number(data_type: DataType) -> c_int {
    if data_type == DataType::Float8E8M0 { E8M0 } else { data_type.code() }
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
