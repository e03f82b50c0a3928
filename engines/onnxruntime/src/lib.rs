//! Custom operators for ONNX Runtime.
//!
//! In the domain `nonfinite`: `IsNaN`, `IsInf` (attributes as ONNX IsInf-20 has them) and
//! `IsFinite`. One input of any shape, one output of the same shape, bool. In the domain
//! `nonfinite.trace`: `Sink`, which looks at a tensor for `nonfinite.trace_onnx` of the Python
//! package `nonfinite` (`src/trace/mod.rs`).
//!
//! The runtime loads this library by `SessionOptions::RegisterCustomOpsLibrary` and calls
//! [`RegisterCustomOps`].

mod api;
mod declared;
mod domain;
mod kernel;
mod operator;
mod register;
mod trace;

use nonfinite::Predicate;
use ort_sys::OrtCustomOpDomain;

use crate::api::{Api, Failure};
use crate::domain::is_inf;
use crate::operator::Declared;
pub use crate::register::RegisterCustomOps;
pub use crate::trace::{
    nonfinite_trace_close, nonfinite_trace_events, nonfinite_trace_look, nonfinite_trace_open,
    nonfinite_trace_reset, nonfinite_trace_rows, nonfinite_trace_version,
};

const OPERATORS: [Declared; 3] = [
    Declared { name: c"IsNaN", since: 1, asks: |_, _| Ok(Predicate::Nan) },
    Declared { name: c"IsInf", since: 1, asks: is_inf },
    Declared { name: c"IsFinite", since: 1, asks: |_, _| Ok(Predicate::Finite) },
];

/// The domains that this library registers.
fn domains(api: Api) -> Result<Vec<*mut OrtCustomOpDomain>, Failure> {
    Ok(vec![
        domain::domain(api, c"nonfinite", &OPERATORS, declared::types_of(api.minor()))?,
        register::domain(api, c"nonfinite.trace", trace::operators(api))?,
    ])
}
