//! Columns of arrow 60.

use {
    arrow_array_60 as arrow_array, arrow_buffer_60 as arrow_buffer, arrow_schema_60 as arrow_schema,
};

// The source is the same for all versions. It finds the crates of its version in this module.
#[path = "../column/mod.rs"]
mod column;

pub use column::{Column, Values};
