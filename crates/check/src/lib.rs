#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Each module uses only those above it:
//!
//! 1. `model`: files, tensors, numbers, findings, errors;
//! 2. [`containers`]: zip archives, protocol buffers and compression, which several formats share;
//! 3. [`formats`]: a reader for each file format, and their table;
//! 4. [`policy`], `raw` and [`Options`]: which findings are bad, the formats of raw elements, and
//!    how to check;
//! 5. [`Places`], and the scan, which looks at the tensors with several threads;
//! 6. [`Report`], [`Totals`] and [`json`]: the findings for people and for programs;
//! 7. [`check_file`], [`check_bytes`], [`check_source`] and [`check_stream`];
//! 8. [`work`]: the same check in pieces, for a cluster;
//! 9. [`lint`]: rules about whole models.

mod check;
pub mod containers;
pub mod formats;
pub mod json;
pub mod lint;
mod model;
mod options;
mod places;
pub mod policy;
mod raw;
mod remote;
mod report;
mod scan;
mod totals;
pub mod work;

pub use check::{check_bytes, check_file, check_source, check_stream};
pub use model::{
    Asks, ByKind, Error, Extreme, FileFormat, Finding, First, Kinds, Large, Origin, ReadAt, Reason,
    Shared, Source, Stats, rounded,
};
pub use options::{Observer, Options};
pub use places::{AxisPlaces, Lit, Map, Places, Steps};
pub use policy::Allow;
pub use raw::{Of, TakenAs, TakenAsError};
pub use remote::{is_url, list_url};
pub use report::{LookedAt, Report, TensorReport};
pub use totals::{TotalStats, Totals};
pub use work::check_url;
