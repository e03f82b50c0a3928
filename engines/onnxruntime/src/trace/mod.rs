//! The trace: an operator that looks at a tensor, and the table into which the operator writes.
//!
//! `Sink` of the domain `nonfinite.trace` has one input of any tensor type and no output. A program
//! that wants to know which node of a model makes the first NaN
//!
//! 1. opens a table ([`nonfinite_trace_open`]),
//! 2. adds a sink behind each node, with the attributes `table` (the id of the table) and `number`
//!    (the row of the table),
//! 3. runs the model, and
//! 4. reads the rows ([`nonfinite_trace_rows`]) and the calls that saw a NaN or an infinity
//!    ([`nonfinite_trace_events`]).
//!
//! The table belongs to this library. The program reads copies.

mod exported;
mod look;
mod runtime;
mod sink;
mod table;

pub use exported::{
    nonfinite_trace_close, nonfinite_trace_events, nonfinite_trace_look, nonfinite_trace_open,
    nonfinite_trace_reset, nonfinite_trace_rows, nonfinite_trace_version,
};
pub(crate) use sink::operators;
