//! The C interface of `nonfinite`, for C, C++ and all languages that call C. `include/nonfinite.h`
//! is generated from this crate, so the documentation here is that of the header. Rust programs use
//! the crate `nonfinite`.
//!
//! Every pointer gets all possible checks before it is used. Errors are a [`Status`]. A panic,
//! which would be a mistake in this crate, is caught and becomes [`NF_ERR_INTERNAL`].

mod codes;
mod exceeds;
mod ffi;
mod flat;
mod query;
mod stats;
mod status;
mod tensor;
mod validity;
mod view;

pub use codes::*;
pub use exceeds::*;
pub use flat::*;
pub use query::*;
pub use stats::*;
pub use status::*;
pub use tensor::View;
pub use validity::*;
pub use view::*;
