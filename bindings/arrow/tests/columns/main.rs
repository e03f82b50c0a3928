//! Columns against a loop over rows that uses arrow's own accessors.

mod cases;
mod oracle;
mod random;
