//! The C interface of `nonfinite`, for C, C++ and all languages that call C. `include/nonfinite.h`
//! is generated from this crate, so the documentation here is that of the header. Rust programs use
//! the crate `nonfinite`.
//!
//! Every pointer gets all possible checks before it is used. Errors are a [`Status`]. No function
//! allocates memory, so the crate needs neither `std` nor `alloc`. It needs `getenv` of the C
//! library.
//!
//! The crate `library/` beside this one makes the shared library and the static archive.

#![no_std]

#[cfg(test)]
extern crate std;

mod backend;
mod codes;
mod ffi;
mod flat;
mod query;
mod stats;
mod status;
mod tensor;
mod view;

pub use codes::*;
pub use flat::*;
pub use query::*;
pub use stats::*;
pub use status::*;
pub use tensor::View;
pub use view::*;
