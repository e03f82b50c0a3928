//! The parts of the command `nonfinite` that are not the check itself: what it prints.

pub mod fix;
pub mod report;
