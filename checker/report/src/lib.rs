//! What is said about checked files: one HTML page, lines, a summary, and the exit status. The
//! check is in `nonfinite_check`.
//!
//! The feature `files` adds the search for files and a progress bar. A browser has neither.
#![forbid(unsafe_code)]

pub mod html;
#[cfg(feature = "files")]
pub mod inputs;
pub mod lines;
pub mod linted;
pub mod natural;
#[cfg(feature = "files")]
pub mod progress;
pub mod searched;
pub mod status;
pub mod summary;
