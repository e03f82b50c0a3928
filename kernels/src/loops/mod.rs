//! The loops, one module for each question. A loop with vector instructions is compiled once for
//! each instruction set and width, and what only calls loops once in all.

pub(crate) mod bits;
pub(crate) mod census;
pub(crate) mod count;
#[cfg(feature = "stats")]
pub(crate) mod driver;
pub(crate) mod mask;
#[cfg(feature = "stats")]
pub(crate) mod nulls;
pub(crate) mod position;
#[cfg(feature = "replace")]
pub(crate) mod replace;
#[cfg(feature = "scale")]
pub(crate) mod scale;
mod skip;
#[cfg(feature = "stats")]
pub(crate) mod stats;
#[cfg(feature = "validity")]
pub(crate) mod valid;
