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
mod by_width;
mod census;
mod drivers;
mod element;
mod entry;
mod isa;
mod leaves;
mod lines;
mod loops;
mod mask_out;
#[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
mod neon;
mod ones;
#[cfg(feature = "stats")]
mod order;
mod packed;
#[cfg(any(
    feature = "portable",
    not(any(
        all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
        all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
    ))
))]
mod portable;
mod product;
mod replace;
mod rule;
mod scalar;
mod scale;
mod short;
mod spread;
#[cfg(feature = "stats")]
mod stats;
pub mod strided;
mod tables;
mod tuning;
mod types;
mod validity;
mod values;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
mod x86;

pub use backend::Backend;
pub use by_width::{any, bits, census, count, mask, mask_uninit, occurrences, position};
pub use census::{Census, Occurrences};
pub use mask_out::MaskOut;
pub use replace::{replace_into_of_bytes as replace_into, replace_of_bytes as replace};
pub use rule::Rule;
pub use scale::{Float, scale};
pub use tables::Lane;
pub use types::{
    Bits, F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E3M4, F8E4M3, F8E4M3B11FnUz, F8E4M3Fn, F8E4M3FnUz,
    F8E5M2, F8E5M2FnUz, F8E8M0Fnu, bytes, bytes_mut,
};
pub use validity::Bitmap;
pub use values::Values;
#[cfg(feature = "stats")]
pub use {
    order::Numbers,
    stats::{Stats, stats_of_bytes as stats, stats_of_valid},
};

/// The entries for elements whose width the caller knows: only the loops of that width are linked.
pub mod typed {
    pub use crate::entry::{any, bits, census, count, mask, mask_uninit, occurrences, position};
    pub use crate::replace::{replace, replace_into};
    #[cfg(feature = "stats")]
    pub use crate::stats::stats;
}
