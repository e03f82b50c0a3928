//! Custom operators for ONNX Runtime, in the domain `nonfinite`: `IsNaN`, `IsInf` (attributes
//! `detect_negative` and `detect_positive` as ONNX IsInf-20 has them) and `IsFinite`. One input of
//! any shape, one output of the same shape, bool.
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
const DOMAIN: Domain = Domain {
    name: c"nonfinite",
    operators: &[
        Declared { question: Question::Nan, name: c"IsNaN", since: 1 },
        Declared { question: Question::Inf, name: c"IsInf", since: 1 },
        Declared { question: Question::Finite, name: c"IsFinite", since: 1 },
    ],
    e8m0: true,
};

/// The domains that this library registers.
fn domains(api: Api) -> Result<Vec<*mut OrtCustomOpDomain>, Failure> {
    let ours = DOMAIN.all(api).map(Operator::as_custom_op);
    Ok(vec![register::domain(api, DOMAIN.name, ours)?])
}
