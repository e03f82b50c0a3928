//! Columns of arrow 59.

use {
    arrow_array_59 as arrow_array, arrow_buffer_59 as arrow_buffer, arrow_schema_59 as arrow_schema,
};

// The source is the same for all versions. It finds the crates of its version in this module.
#[path = "../column/mod.rs"]
mod column;

pub use column::{Column, Values};
