//! The SIMD kernels of the crate `nonfinite`. Use that crate, unless you write another front end.
//!
//! A kernel asks one question of every element of a byte slice: [`mask`], [`bits`], [`position`],
//! [`count`](count()), [`occurrences`] or [`census`]. A [`Rule`] says for which elements the answer
//! is yes. A rule is a masked comparison of integers or a constant. Elements have 8, 16, 32 or 64
//! bits and stand at any address, in the byte order of the machine.
//!
//! ```
//! use nonfinite_kernels::{Rule, bytes, count, typed};
//!
//! // NaN in f32: (bits & 7FFF_FFFF) > 7F80_0000.
//! let nan = Rule::greater(4, 0x7FFF_FFFF, 0x7F80_0000);
//! let x = bytes(&[1.0f32, f32::NAN, f32::INFINITY]);
//! assert_eq!(count(None, x, &nan), 1);
//! // With the width as a type, a program links the loops of that width only.
//! assert_eq!(typed::position::<u32>(None, x, &nan), Some(1));
//! ```
//!
//! - Functions of the crate root take the width of an element from the rule; those of [`typed`]
//!   from a type. The module [`strided`] asks tensors with strides.
//! - The first argument is the [`Backend`], or `None` for the active one.
//! - A [`Bitmap`] says which elements are null, as in Apache Arrow.
//! - No floating-point instruction touches elements, except in [`scale()`].
//! - Kernels allocate nothing, take no lock, and read and write nothing outside the slices. Only
//!   the first choice of a backend reads the environment variable `NONFINITE_BACKEND`, once.
//! - Without the feature `std` the crate is `no_std`, and [`Backend::activate`] takes the place of
//!   the environment variable.
//!
//! Each file of `src/loops/` opens with its algorithm.
//! [The design notes](https://github.com/nonfinite/nonfinite/blob/main/docs/DESIGN.md) explain
//! rules, dispatch and tokens.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(any(
        all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    )),
    allow(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "no loop over vectors is compiled for a target without a hand-written backend"
    )
)]

#[cfg(any(feature = "std", test))]
extern crate std;

mod backend;
mod bitmap;
mod bytes;
mod census;
mod dispatch;
mod drivers;
mod element;
mod entry;
mod isa;
mod lines;
mod loops;
mod mask_out;
mod nulls;
#[cfg(feature = "stats")]
mod numbers;
mod packed;
mod plain;
mod question;
mod replace;
mod rule;
mod scale;
mod short;
mod soft_float;
#[cfg(feature = "stats")]
mod stats;
pub mod strided;
mod tuning;
pub mod typed;

/// What this target has.
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
use isa::neon as here;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
use isa::x86 as here;
#[cfg(not(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
)))]
mod here;

pub use backend::Backend;
pub use bitmap::Bitmap;
pub use bytes::{
    Bits, F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E3M4, F8E4M3, F8E4M3B11FnUz, F8E4M3Fn, F8E4M3FnUz,
    F8E5M2, F8E5M2FnUz, F8E8M0Fnu, bytes, bytes_mut,
};
pub use census::{Census, Occurrences};
pub use dispatch::Lane;
pub use entry::{bits, census, count, mask, mask_uninit, occurrences, position};
pub use loops::Values;
pub use mask_out::MaskOut;
pub use replace::{replace, replace_into};
pub use rule::Rule;
pub use scale::{Float, scale};
#[cfg(feature = "stats")]
pub use {
    numbers::Numbers,
    stats::{Stats, stats, stats_of_valid},
};
