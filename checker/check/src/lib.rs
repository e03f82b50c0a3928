#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Each module uses only those above it. `ci/layers` reads this list and checks it:
//!
//! 1. `sync`: threads and locks;
//! 2. `model`: files, tensors, numbers, errors;
//! 3. [`containers`]: zip archives, protocol buffers and compression, which several formats share;
//! 4. [`formats`]: a reader for each file format, and their table;
//! 5. [`policy`]: which findings are bad;
//! 6. `options`: how to check, in [`Options`];
//! 7. `remote`: files of servers;
//! 8. `input`: opens a file by its path or URL;
//! 9. `places`: where bad numbers lie, in [`Places`];
//! 10. `scan`: looks at the tensors with several threads;
//! 11. `report`: the findings in a file, in [`Report`];
//! 12. `totals`: sums over files, in [`Totals`];
//! 13. [`json`]: both for programs;
//! 14. `check`: [`check_file`], [`check_url`], [`check_bytes`], [`check_source`] and
//!     [`check_stream`];
//! 15. [`distributed`]: the same check by several processes;
//! 16. [`work`]: the same check in pieces, for a page;
//! 17. [`lint`]: rules about whole models.

mod check;
pub mod containers;
pub mod distributed;
pub mod formats;
mod input;
pub mod json;
pub mod lint;
mod model;
mod options;
mod places;
pub mod policy;
mod remote;
mod report;
mod scan;
mod sync;
mod totals;
pub mod work;

pub use check::{check_bytes, check_file, check_source, check_stream, check_url};
pub use model::{
    ByKind, Description, Error, Extreme, FileFormat, First, KindReport, Kinds, Large, Opener,
    ReadAt, Reads, Reason, Source, Stats, Storage, open_files_by, rounded,
};
pub use options::{Observer, Options};
pub use places::{AxisPlaces, Lit, Map, Places, Steps};
pub use policy::Allow;
pub use remote::{is_url, list_url};
pub use report::{LookedAt, Report, TensorReport};
pub use totals::{TotalStats, Totals};
