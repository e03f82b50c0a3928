//! The parts of the command `nonfinite` that are not the check itself: arguments, files to check,
//! and what it prints.
#![forbid(unsafe_code)]

pub mod args;
pub mod fix;
pub mod html;
pub mod inputs;
pub mod interrupt;
pub mod map;
pub mod progress;
pub mod report;
pub mod table;
