#![doc = include_str!("../README.md")]
#![cfg(target_pointer_width = "64")]

mod driver;
mod error;
mod guard;
mod kernels;
mod kinds;
mod table;

pub use error::Error;
pub use guard::{Found, Guard, Report};
pub use kernels::{Kernels, Rows};
pub use kinds::Kinds;
pub use table::Tensor;
