//! The oracle that tests, fuzz targets and sweeps compare the answers of `nonfinite` with.
//!
//! [`kind()`] returns the kind of an element: from the standard library for `f32` and `f64`, from
//! the crate `half` for `f16` and `bf16`, and from literal lists of codes for the formats of a byte
//! (the tables of ml_dtypes). It uses no mask, bound or table of the crate under test. [`check()`]
//! compares all sinks of a [`Subject`] with these kinds. A subject is a backend, or an
//! implementation that is known to be wrong and must be refused. [`check_nulls()`] does the same
//! for elements with nulls.
#![forbid(unsafe_code)]

mod check;
mod kind;
mod nulls;
mod stats;
mod subject;

pub use check::{
    CANARY, backends, check, check_above, check_bits, check_census, check_mask, check_searches,
    check_stats, kinds, require,
};
pub use kind::{Kind, edges, holds, kind, read, write};
pub use nulls::{
    NullSubject, Nullable, bitmap, check_null_census, check_null_stats, check_nulls, check_nulls_of,
};
pub use stats::{Above, Number, Summary, summary, summary_of_valid, thresholds, value};
pub use subject::Subject;
