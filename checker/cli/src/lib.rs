//! The command `nonfinite`: what it prints, and the command itself. The check is in
//! `nonfinite_check`.
//!
//! Without the feature `command`, only what makes reports is there, for programs without a
//! terminal, such as WebAssembly in a browser.
#![forbid(unsafe_code)]

#[cfg(feature = "command")]
pub mod command;
pub mod html;
pub mod natural;
pub mod report;
pub mod searched;
pub mod status;
