//! Sweeps of all patterns of `f32`, and of structured and random ones of `f64`, on every backend,
//! against the oracle, which takes the methods of the standard library.
//!
//! Patterns have indices, so that a sweep can be interrupted and continued, or divided into parts.
//! [`Block::check`] compares [`LEN`] patterns with the oracle at a time.
#![forbid(unsafe_code)]

mod block;
mod patterns;

pub use block::{Block, LEN};
pub use patterns::{AllF32, Patterns, RandomF64, StructuredF64};
