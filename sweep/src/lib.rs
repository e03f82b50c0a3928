//! Sweeps of all patterns of `f32`, and of structured and random ones of `f64`, on every backend,
//! against the methods of the standard library.
//!
//! A pattern is known by its index, so that a sweep can stop and go on, or be done in parts.
//! [`Block::check`] holds [`LEN`] of them against the oracle at a time.
#![forbid(unsafe_code)]

mod block;
mod patterns;

pub use block::{Block, LEN};
pub use patterns::{AllF32, Patterns, RandomF64, StructuredF64};
