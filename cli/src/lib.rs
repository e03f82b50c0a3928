//! The parts of the command `nonfinite`: arguments, files to check, the run of a check, and what it
//! prints. The check itself is in `nonfinite_check`.
#![forbid(unsafe_code)]

pub mod args;
pub mod fix;
pub mod html;
pub mod inputs;
pub mod interrupt;
pub mod map;
pub mod progress;
pub mod report;
pub mod run;
pub mod status;
pub mod table;
