//! The loops: a file for each question, or for two that belong together. A loop calls no other
//! loop. The entries (`entry.rs`) and the drivers (`drivers.rs`) call the loops of questions;
//! `replace.rs`, `scale.rs`, `stats.rs` and `nulls.rs` call their own.

mod bits;
mod classify;
mod count;
mod find;
mod mask;
mod ones;
mod replace;
mod scale;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
mod sse2;
#[cfg(feature = "stats")]
mod stats;

pub(crate) use bits::Pack;
pub(crate) use classify::{CLASS_BITS, Classify};
pub(crate) use count::Count;
pub(crate) use find::{Clean, Find};
pub(crate) use mask::{FOUR_LINES, Mask, MaskClean};
pub(crate) use ones::Ones;
pub use replace::Values;
pub(crate) use replace::{Codes, Replace};
pub(crate) use scale::{Factor, Multiply};
#[cfg(feature = "stats")]
pub(crate) use stats::{Bounds, FindCode, Given, InRange, Order};
