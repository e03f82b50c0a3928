//! `IsNaN` and `IsInf` of ONNX's own domain for ONNX Runtime, for models as they are: the runtime
//! takes these operators instead of its own.
//!
//! The runtime loads this library by `SessionOptions::RegisterCustomOpsLibrary` and calls
//! [`RegisterCustomOps`].

mod api;
mod kernel;
mod operator;
mod register;

use crate::operator::{Declared, Domain, Question};
pub use crate::register::RegisterCustomOps;

/// What this library registers. ONNX added IsNaN in opset 9 and IsInf in opset 10. The numbers here
/// are one less: where the runtime looks beyond custom operators (to fold constants, or to ask other
/// execution providers), its own kernels must not match our nodes by version. They name their types
/// in another way, and the runtime would refuse the model.
const DOMAIN: Domain = Domain {
    name: c"",
    operators: &[
        Declared { question: Question::Nan, name: c"IsNaN", since: 8 },
        Declared { question: Question::Inf, name: c"IsInf", since: 9 },
    ],
    // In neither operator of ONNX.
    e8m0: false,
};
