//! The functions of the C interface, called as from C.
#![expect(unsafe_code, reason = "functions are called as C calls them")]

mod answers;
mod common;
mod errors;
mod nulls;
mod views;

use nonfinite_oracle as oracle;
