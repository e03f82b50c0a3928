//! The command `nonfinite`: its arguments, its output, and how it ends. The check is in
//! `nonfinite_check`, and what is said about files in `nonfinite_report`.
#![forbid(unsafe_code)]

pub mod command;
pub mod status;
