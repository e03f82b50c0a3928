//! The functions of the C interface as C calls them.
#![expect(unsafe_code, reason = "functions are called as C calls them")]

mod answers;
mod common;
mod errors;
mod views;

use nonfinite_oracle as oracle;
