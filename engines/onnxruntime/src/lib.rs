//! Custom operators for ONNX Runtime, in the domain `nonfinite`: `IsNaN`, `IsInf` (attributes
//! `detect_negative` and `detect_positive` as ONNX IsInf-20 has them) and `IsFinite`. One input of
//! any shape, one output of the same shape, bool.
//!
//! In the domain `nonfinite.trace`: `Sink`, which looks at a tensor for `nonfinite.trace_onnx` of
//! the Python package `nonfinite` (`src/trace/mod.rs`).
//!
//! The runtime loads this library by `SessionOptions::RegisterCustomOpsLibrary` and calls
//! [`RegisterCustomOps`].

mod api;
mod kernel;
mod operator;
mod register;
mod trace;

use ort_sys::OrtCustomOpDomain;

use crate::api::{Api, Failure};
use crate::operator::{Declared, Domain, Operator, Question};
pub use crate::register::RegisterCustomOps;
pub use crate::trace::{
    nonfinite_trace_close, nonfinite_trace_events, nonfinite_trace_look, nonfinite_trace_open,
    nonfinite_trace_reset, nonfinite_trace_rows, nonfinite_trace_version,
};

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
    let ours = Operator::all(&DOMAIN, api).map(Operator::as_custom_op);
    Ok(vec![
        register::domain(api, DOMAIN.name, ours)?,
        register::domain(api, c"nonfinite.trace", trace::operators(api))?,
    ])
}
