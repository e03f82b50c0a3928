//! Exit statuses.

/// Everything is finite or allowed, or the work is done.
pub const CLEAN: u8 = 0;
/// A tensor is bad.
pub const FOUND: u8 = 1;
/// A file or a tensor was not looked at or could not be checked, or the usage is wrong.
pub const FAILED: u8 = 2;
