//! The parts of the command `nonfinite`: arguments, files to check, the run of a check, and output.
//! The check itself is in `nonfinite_check`.
//!
//! Without the feature `command`, only what makes reports is there, for programs without a
//! terminal, such as WebAssembly in a browser.
#![forbid(unsafe_code)]

#[cfg(feature = "command")]
pub mod args;
#[cfg(feature = "command")]
pub mod command;
#[cfg(feature = "command")]
pub mod github;
pub mod html;
#[cfg(feature = "command")]
pub mod inputs;
#[cfg(feature = "command")]
pub mod interrupt;
#[cfg(feature = "command")]
pub mod lint;
#[cfg(feature = "command")]
pub mod map;
pub mod natural;
#[cfg(feature = "command")]
pub mod patterns;
#[cfg(feature = "command")]
pub mod progress;
#[cfg(feature = "command")]
pub mod recursive;
pub mod report;
#[cfg(feature = "command")]
pub mod run;
#[cfg(feature = "command")]
pub mod session;
pub mod status;
#[cfg(feature = "command")]
pub mod tensor_table;
#[cfg(feature = "command")]
pub mod terminal;
#[cfg(feature = "command")]
pub mod text_table;
#[cfg(feature = "command")]
pub mod text_width;
pub mod wording;
