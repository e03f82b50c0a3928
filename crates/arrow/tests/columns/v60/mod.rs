//! The tests with arrow 60.

use nonfinite_arrow::arrow_60::Column;
use {
    arrow_array_60 as arrow_array, arrow_buffer_60 as arrow_buffer, arrow_schema_60 as arrow_schema,
};

#[path = "../cases.rs"]
mod cases;
#[path = "../oracle.rs"]
mod oracle;
#[path = "../random.rs"]
mod random;
