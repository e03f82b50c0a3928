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

use ort_sys::OrtCustomOpDomain;

use crate::api::{Api, Failure};
use crate::domain::{Declared, Domain};
use crate::operator::{Operator, Question};
pub use crate::register::RegisterCustomOps;

/// What this library registers.
///
/// ONNX added IsNaN in opset 9 and IsInf in opset 10. The versions here are one less, so that no
/// kernel of the runtime matches our nodes by version. When the runtime folds constants, it looks
/// at its own kernels only. A kernel that matched by version, with other names for its types, would
/// make the runtime refuse the model.
const DOMAIN: Domain = Domain {
    name: c"",
    operators: &[
        Declared { question: Question::Nan, name: c"IsNaN", since: 8 },
        Declared { question: Question::Inf, name: c"IsInf", since: 9 },
    ],
    // In neither operator of ONNX.
    e8m0: false,
};

/// The domains that this library registers.
fn domains(api: Api) -> Result<Vec<*mut OrtCustomOpDomain>, Failure> {
    let ours = DOMAIN.all(api).map(Operator::as_custom_op);
    Ok(vec![register::domain(api, DOMAIN.name, ours)?])
}
