//! An operator for ONNX Runtime, in the domain `nonfinite.trace`: `Sink`, which looks at a tensor
//! for `nonfinite.trace_onnx` of the Python package `nonfinite` (`src/trace/mod.rs`).
//!
//! The runtime loads this library by `SessionOptions::RegisterCustomOpsLibrary` and calls
//! [`RegisterCustomOps`].

mod api;
mod declared;
mod register;
mod trace;

use ort_sys::OrtCustomOpDomain;

use crate::api::{Api, Failure};
pub use crate::register::RegisterCustomOps;
pub use crate::trace::{
    nonfinite_trace_close, nonfinite_trace_events, nonfinite_trace_look, nonfinite_trace_open,
    nonfinite_trace_reset, nonfinite_trace_rows, nonfinite_trace_version,
};

/// The domains that this library registers.
fn domains(api: Api) -> Result<Vec<*mut OrtCustomOpDomain>, Failure> {
    Ok(vec![register::domain(api, c"nonfinite.trace", trace::operators(api))?])
}
