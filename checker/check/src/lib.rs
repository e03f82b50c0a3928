#![doc = include_str!("../README.md")]
//!
//! # Words
//!
//! - A **piece** is a range of the bytes of a tensor that is scanned at once.
//! - A **tally** is what a scan finds in a piece, a tensor or a file: how many numbers of each kind
//!   there are, and the first of each.
//! - A **description** ([`Description`]) is what a file says about a tensor, without its numbers.
//! - A **report** is what a check says about a file ([`Report`]) or a tensor ([`TensorReport`]):
//!   its description and the result of its tally.
//! - A tensor is **looked at** ([`LookedAt`]) if the scan reads its numbers.
//!
//! # Modules
//!
//! Each module uses only those above it. `ci/layers` reads this list and checks it:
//!
//! 1. `sync`: threads and locks;
//! 2. `model`: files, tensors, numbers, errors;
//! 3. [`containers`]: zip archives, protocol buffers and compression, which several formats share;
//! 4. [`formats`]: a reader for each file format, and their table;
//! 5. [`policy`]: which numbers are bad;
//! 6. `options`: how to check, in [`Options`];
//! 7. `remote`: files of servers;
//! 8. `input`: opens a file by its path or URL;
//! 9. `places`: where bad numbers lie, in [`Places`];
//! 10. `scan`: looks at the tensors with several threads;
//! 11. `report`: what was found in a file, in [`Report`];
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
