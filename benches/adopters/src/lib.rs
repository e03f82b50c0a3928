//! What the program times, and how. A library, so that a build with few adopters has no dead code.

pub mod adopters;
pub mod data;
pub mod ours;
pub mod report;
pub mod task;
