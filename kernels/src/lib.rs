//! The SIMD kernels of the crate `nonfinite`, which is what you want unless you write another front end.
//!
//! A kernel asks one question of every element of a tensor, a [`Rule`], and gives the answers to a sink: [`mask`],
//! [`bits`], [`position`], [`count`], [`tally`] or [`census`]. Elements are lanes of 8, 16, 32 or 64 bits at any byte
//! address, in the byte order of the machine; what a floating-point format makes of them is not known here. No floating-point
//! instruction touches them, but in [`scale()`]. Kernels allocate nothing, take no lock, and read and write nothing outside the slices; only the first choice of
//! a path reads `NONFINITE_PATH`, once.
//!
//! Without the feature `std` the crate is `no_std`, and [`Path::activate`] takes the place of the environment variable
//! `NONFINITE_PATH`.
#![no_std]

#[cfg(feature = "std")]
extern crate std;

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx2;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx512;
mod cache;
mod drive;
mod isa;
mod lane;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod out;
mod path;
#[cfg(any(
    feature = "portable",
    not(any(
        target_arch = "x86",
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ))
))]
mod portable;
mod replace;
mod rule;
mod scalar;
mod scale;
mod sinks;
mod stream;
pub mod strided;

pub use drive::{Census, Class};
pub use out::MaskOut;
pub use path::Path;
pub use replace::{Values, replace, replace_into};
pub use rule::{Rule, Test};
pub use scale::{Float, scale};
pub use sinks::{bits, census, count, mask, mask_uninit, position, tally};
pub use stream::{mask_streamed, streams};
