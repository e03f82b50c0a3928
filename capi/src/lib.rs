//! The C interface of `nonfinite`, for C, C++ and whatever calls C. `include/nonfinite.h` is made
//! of this crate, so the documentation of its items is that of the header; Rust programs use the
//! crate `nonfinite`.
//!
//! Every pointer is checked for what can be checked before it is used, errors are a [`Status`], and
//! a panic, which would be a mistake in this crate, ends at the border as [`NF_ERR_INTERNAL`].

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
