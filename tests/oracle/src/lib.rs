//! The oracle that tests, fuzz targets and sweeps compare the answers of `nonfinite` with.
//!
//! [`kind()`] returns the kind of an element: from the standard library for `f32` and `f64`, from
//! the crate `half` for `f16` and `bf16`, and from literal lists of codes for the formats of a byte
//! (the tables of ml_dtypes). It uses no mask, bound or table of the crate under test. [`Expected`]
//! has the right answers for a tensor, by loops over its elements. [`check()`] compares a view with
//! them, whatever its backend, layout, threads or nulls. The answers go to [`Outputs`], between
//! canaries or guard pages.

mod backends;
mod check;
mod expected;
mod kind;
mod layout;
mod outputs;
mod replace;
mod stats;
mod subject;

pub use backends::{backends, exhaustive, require};
pub use check::{check, check_elements, check_view};
pub use expected::{Asked, Expected, Question};
pub use kind::{Kind, bitmap, edges, holds, kind, mixed, read, write};
pub use layout::Layout;
pub use outputs::{CANARY, Framed, Outputs};
pub use replace::check_replacing;
pub use stats::{Number, Summary, exceeds, has_thresholds, summary, thresholds, value};
pub use subject::{Subject, subjects};
