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

/// What this library registers: the operators with the versions of opset that ONNX added them in.
const DOMAIN: Domain = Domain {
    name: c"",
    operators: &[
        Declared { question: Question::Nan, name: c"IsNaN", since: 9 },
        Declared { question: Question::Inf, name: c"IsInf", since: 10 },
    ],
    // In neither operator of ONNX.
    e8m0: false,
};
