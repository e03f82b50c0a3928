//! Shared by the fuzz targets of the readers and of lint.

pub mod beside;
pub mod lint;
pub mod read;
