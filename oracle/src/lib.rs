//! What tests, fuzz targets and sweeps hold the answers of `nonfinite` against, in one place.
//!
//! [`kind()`] tells what an element is: it asks the standard library for `f32` and `f64`, the crate
//! `half` for `f16` and `bf16`, and literal lists of codes for the formats of a byte (the tables of
//! ml_dtypes). No mask, bound or table of the crate under test is in it. [`check()`] compares all
//! sinks of a [`Subject`] with it: of a backend, or of an implementation that is known to be wrong,
//! which it must then refuse. [`check_nulls()`] does the same for elements of which some are null.
#![forbid(unsafe_code)]

mod check;
mod kind;
mod nulls;
mod stats;

pub use check::{
    CANARY, Subject, backends, check, check_bits, check_census, check_mask, check_searches, kinds,
    require,
};
pub use kind::{Kind, edges, holds, kind, read, write};
pub use nulls::{NullSubject, Nullable, bitmap, check_null_census, check_nulls, check_nulls_of};
pub use stats::{Above, Number, Summary, check_above, check_stats, summary, thresholds, value};
