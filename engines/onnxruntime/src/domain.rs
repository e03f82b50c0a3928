//! The operators for the runtime: one for each name and element type.
#![expect(unsafe_code, reason = "ONNX Runtime calls these functions")]

use std::ffi::{CStr, c_char, c_int};

use nonfinite::Predicate;
use nonfinite_ops::Operator as _;
use nonfinite_ops::onnx::{Attribute, DataType, IsInf};
use ort_sys::{
    ONNXTensorElementDataType as ElementType, OrtCustomOp, OrtCustomOpDomain, OrtKernelInfo,
};

use crate::api::{Api, Failure};
use crate::declared::{DECLARED, number};
use crate::operator::{Declared, Operator};
use crate::{kernel, register};

/// Makes a domain with these operators for these element types. The operators live forever.
pub(crate) fn domain(
    api: Api,
    name: &CStr,
    operators: &[Declared],
    types: impl Iterator<Item = DataType> + Clone,
) -> Result<*mut OrtCustomOpDomain, Failure> {
    // SAFETY: the C enum has the size of `c_int`, and only the runtime calls this function.
    let get_input_type = unsafe {
        std::mem::transmute::<InputTypeFn<c_int>, InputTypeFn<ElementType>>(get_input_type)
    };
    let description = OrtCustomOp {
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
    let operators = operators.iter().flat_map(|&declared| {
        let typed = types.clone().filter_map(|data_type| Some((data_type, data_type.format()?)));
        typed.map(move |(data_type, format)| {
            let element = number(data_type);
            let made = Operator { description, declared, element, format, api };
            (&raw const *Box::leak(Box::new(made))).cast()
        })
    });
    register::domain(api, name, operators)
}

/// What a node IsInf asks, with its attributes.
pub(crate) fn is_inf(api: Api, info: *const OrtKernelInfo) -> Result<Predicate, Failure> {
    let mut given = Vec::new();
    for name in IsInf::ATTRIBUTES {
        given.extend(api.attribute(info, name)?.map(|value| Attribute::int(name, value)));
    }
    let node = IsInf::newest().with_attributes(given).map_err(|error| api.invalid(&error))?;
    Ok(node.predicate())
}

type InputTypeFn<T> = unsafe extern "system" fn(*const OrtCustomOp, usize) -> T;

unsafe extern "system" fn get_name(op: *const OrtCustomOp) -> *const c_char {
    // SAFETY: the runtime calls us with the operator that it was given.
    unsafe { Operator::of(op) }.declared.name.as_ptr()
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
    unsafe { Operator::of(op) }.declared.since
}
