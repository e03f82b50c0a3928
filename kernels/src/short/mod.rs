//! Inputs of fewer than 64 bytes are answered where they are asked: no backend is looked up, and a
//! rule that the caller knows is a constant here.
//!
//! ```text
//! x86, AArch64     registers of 16 bytes, which every CPU of the target has
//! others           element by element
//! ```

#[cfg(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
))]
mod registers;

#[cfg(not(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
)))]
pub(crate) use crate::scalar::each::{any, count, mask, word as bits};
#[cfg(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
))]
pub(crate) use registers::{any, bits, count, mask};
