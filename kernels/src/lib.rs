//! The SIMD kernels of the crate `nonfinite`, which is what you want unless you write another front
//! end.
//!
//! A kernel asks one question of every element of a tensor, a [`Rule`]: [`mask`], [`bits`],
//! [`position`], [`count`], [`occurrences`] or [`census`]. Elements have 8, 16, 32 or 64 bits and
//! stand at any byte address, in the byte order of the machine; what a floating-point format makes
//! of them is not known here. No floating-point instruction touches them, except in [`scale()`].
//! Kernels allocate nothing, take no lock, and read and write nothing outside the slices; only the
//! first choice of a backend reads `NONFINITE_BACKEND`, once.
//!
//! Without the feature `std` the crate is `no_std`, and [`Backend::activate`] takes the place of
//! the environment variable `NONFINITE_BACKEND`.
#![no_std]

#[cfg(any(feature = "std", test))]
extern crate std;

#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
mod avx2;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
mod avx512;
mod backend;
mod bytes;
mod cache;
mod census;
#[cfg(feature = "replace")]
mod codes;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod cpuid;
mod either;
mod entry;
#[cfg(feature = "scale")]
mod float;
mod lane;
mod loops;
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
mod neon;
mod out;
mod plain;
#[cfg(any(
    feature = "portable",
    not(any(
        all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    ))
))]
mod portable;
#[cfg(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
))]
mod registers;
#[cfg(feature = "replace")]
mod replace;
mod rule;
mod scalar;
#[cfg(feature = "scale")]
mod scale;
mod simd;
mod stream;
#[cfg(feature = "views")]
pub mod strided;

pub use backend::Backend;
pub use bytes::{bits, census, count, mask, mask_streamed, mask_uninit, occurrences, position};
#[cfg(feature = "replace")]
pub use bytes::{replace, replace_into};
pub use census::{Census, Occurrences};
#[cfg(feature = "replace")]
pub use codes::Values;
pub use lane::Lane;
pub use out::MaskOut;
pub use plain::{
    Bits, F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E3M4, F8E4M3, F8E4M3B11FnUz, F8E4M3Fn, F8E4M3FnUz,
    F8E5M2, F8E5M2FnUz, F8E8M0Fnu, bytes, bytes_mut,
};
pub use rule::{Comparison, Rule};
#[cfg(feature = "scale")]
pub use scale::{Float, scale};
pub use stream::streams;

/// The entries for elements whose width the caller knows: only the loops of that width are linked.
pub mod typed {
    pub use crate::entry::{
        bits, census, count, mask, mask_streamed, mask_uninit, occurrences, position,
    };
    #[cfg(feature = "replace")]
    pub use crate::replace::{replace, replace_into};
}
