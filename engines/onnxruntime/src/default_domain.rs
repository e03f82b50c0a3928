//! `IsNaN` and `IsInf` of ONNX's own domain for ONNX Runtime, for models as they are: the runtime
//! takes these operators instead of its own.
//!
//! The runtime loads this library by `SessionOptions::RegisterCustomOpsLibrary` and calls
//! [`RegisterCustomOps`].

mod api;
mod declared;
mod domain;
mod kernel;
mod operator;
mod register;

use std::ffi::c_int;

use nonfinite::Predicate;
use nonfinite_ops::onnx::{DataType, IsInf, IsNan, Version};
use ort_sys::OrtCustomOpDomain;

use crate::api::{Api, Failure};
use crate::domain::is_inf;
use crate::operator::Declared;
pub use crate::register::RegisterCustomOps;

/// One less than the first opset with the operator, so that no kernel of the runtime matches our
/// nodes by version. When the runtime folds constants, it looks at its own kernels only. A kernel
/// that matched by version, with other names for its types, would make the runtime refuse the
/// model.
fn since(versions: &[Version]) -> c_int {
    versions.first().map_or(1, |oldest| oldest.since_version() as c_int - 1)
}

/// The domains that this library registers. No operator of ONNX takes float8e8m0.
fn domains(api: Api) -> Result<Vec<*mut OrtCustomOpDomain>, Failure> {
    let nan = since(IsNan::VERSIONS);
    let operators = [
        Declared { name: c"IsNaN", since: nan, asks: |_, _| Ok(Predicate::Nan) },
        Declared { name: c"IsInf", since: since(IsInf::VERSIONS), asks: is_inf },
    ];
    let types = declared::types_of(api.minor()).filter(|x| *x != DataType::Float8E8M0);
    Ok(vec![domain::domain(api, c"", &operators, types)?])
}
