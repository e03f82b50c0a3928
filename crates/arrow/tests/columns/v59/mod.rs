//! The tests with arrow 59.

use nonfinite_arrow::arrow_59::Column;
use {
    arrow_array_59 as arrow_array, arrow_buffer_59 as arrow_buffer, arrow_schema_59 as arrow_schema,
};

#[path = "../cases.rs"]
mod cases;
#[path = "../oracle.rs"]
mod oracle;
#[path = "../random.rs"]
mod random;
