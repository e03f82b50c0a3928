//! Finds NaN and infinity in whole tensors of floating-point numbers, from f64 to fp8, at the speed
//! of memory.
//!
//! Every question is a comparison of raw bits as integers, with the best instructions that the CPU
//! has: AVX2, AVX-512 or NEON, chosen at run time.
//!
//! ```
//! use nonfinite::{Predicate, TensorView};
//!
//! let logits = [0.5f32, f32::NAN, -1.0, f32::INFINITY, 2.0, 3.0];
//! assert!(!nonfinite::all_finite(&logits));
//!
//! let census = nonfinite::census(&logits);
//! assert_eq!((census.nan.count, census.pos_inf.first), (1, Some(3)));
//!
//! // The same elements as three rows of two.
//! let mut bad = [false; 3];
//! TensorView::shaped(&logits, &[3, 2])?.rows(1)?.any(Predicate::NonFinite, &mut bad)?;
//! assert_eq!(bad, [true, true, false]);
//! # Ok::<(), nonfinite::Error>(())
//! ```
//!
//! # Which function do I call?
//!
//! A [`Predicate`] says what to look for. A question says what to know about the elements for which
//! the predicate holds.
//!
//! | to know | of a typed slice | of any [`TensorView`] |
//! |---|---|---|
//! | is everything finite? | [`all_finite`], [`all`] | the same |
//! | is there a NaN? | [`any_nan`], [`any`] | the same |
//! | which elements are NaN, infinite, finite | [`is_nan`], [`is_infinite`], [`is_finite`] | |
//! | which elements, as one byte each | [`mask`] | [`mask`][view-mask] |
//! | the same, into a strided output | | [`mask_into`](TensorView::mask_into) |
//! | which elements, as one bit each | [`bits`] | [`bits`][view-bits] |
//! | how many | [`count`](count()) | [`count`](TensorView::count) |
//! | where is the first? | [`position`] | [`position`][view-position] |
//! | where are all? | | [`positions`](TensorView::positions) |
//! | the coordinate of an index | | [`coordinate`](TensorView::coordinate) |
//! | NaN, +Inf, -Inf: how many, and the first | [`census`] | [`census`][view-census] |
//! | minimum, maximum, zeros, subnormals | `stats` (feature `stats`) | `TensorView::stats` |
//! | one answer for each row | | [`rows`](TensorView::rows) |
//! | the first bad tensor of a run, and totals | | `Watch` (features `std`, `stats`) |
//! | replace NaN and infinity in place | [`replace_non_finite`] | [`ElementsMut`] |
//! | replace NaN and infinity in a copy | [`replace_non_finite_into`] | [`ElementsMut`] |
//! | multiply gradients, and was one not finite? | [`scale::unscale_and_check`] | [`ElementsMut`] |
//!
//! Every question takes every predicate, also the magnitudes above a threshold
//! (`Predicate::exceeds`, feature `stats`). Every question of a view has a meaning if elements are
//! null: see [`TensorView::with_validity`].
//!
//! [view-mask]: TensorView::mask
//! [view-bits]: TensorView::bits
//! [view-position]: TensorView::position
//! [view-census]: TensorView::census
//!
//! Slices, arrays, vectors, [`Elements`] and arrays of the crate `ndarray` convert into a view
//! without a copy. For bytes whose format is known only at run time, see
//! [`TensorView::from_bytes`]; for strides, [`TensorView::strided`]. [`TensorView::with_backend`]
//! picks a backend. `TensorView::par` (feature `rayon`) uses several threads.
//!
//! # Formats
//!
//! A [`Format`] says how bits are read: `F64`, `F32`, `F16`, `Bf16`, eight formats of 8 bits, FP6
//! and FP4. The [`Element`]s of typed slices are [`f32`], [`f64`], `half::f16`, `half::bf16`, and a
//! type for each small format, such as [`F8E4M3Fn`]. Every format answers every question with every
//! predicate without a threshold. In formats without infinity the predicates of infinity hold for
//! no element.
//!
//! # Features
//!
//! On by default: `std` (`NONFINITE_BACKEND`, and conversions from `Vec`), `half` (its types as
//! elements). Off by default: `rayon` (threads), `ndarray-0_17` (arrays of `ndarray` 0.17 as
//! views), `stats` (statistics and thresholds; with `std` also `Watch`), `portable` (one more
//! backend, for comparison). Without `std` the crate is `no_std` and still detects the CPU.
//!
//! # Backends
//!
//! [`Backend::all`] lists the backends of this build, of `avx512`, `avx2`, `sse2`, `neon`,
//! `portable` and `scalar`. The best one that the CPU has is used. The environment variable
//! `NONFINITE_BACKEND=avx2` picks another one for the whole program, and so does
//! [`Backend::activate`]. If the variable names no backend of this build and CPU, the first call
//! that needs a backend panics and lists the names. Questions about a few elements need none.
//!
//! # Guarantees
//!
//! - Answers are exact for every bit pattern, and the same on every backend.
//! - No floating-point instruction touches the data, except in [`scale`]. Signalling NaNs raise no
//!   flag. Rounding modes, flush-to-zero modes and `-ffast-math` change no answer.
//! - No question allocates memory. But the first call may allocate to read `NONFINITE_BACKEND`, and
//!   `rayon` allocates for its threads.
//! - No byte outside the input is read, and no byte outside the results is written. In packed bits,
//!   the bits around the results stay as they are.
//! - This crate contains no unsafe code. The unsafe code is in `nonfinite-kernels`, which is tested
//!   with guard pages, sanitizers and fuzzing.
//!
//! # Errors and panics
//!
//! Functions of typed slices panic if an output does not have the length that the input asks for.
//! Methods of [`TensorView`], [`ElementsMut`] and their like return an [`Error`], which names the
//! lengths or the dimension. A threshold for elements of another format is an [`Error`] too. A
//! function that returns no `Result` panics then. In all cases nothing is written.
//!
//! [Design](https://github.com/nonfinite/nonfinite/blob/main/docs/DESIGN.md) ·
//! [performance](https://github.com/nonfinite/nonfinite/blob/main/docs/PERFORMANCE.md) ·
//! [changelog](https://github.com/nonfinite/nonfinite/blob/main/CHANGELOG.md)
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "std")]
extern crate std;

mod element;
mod element_mut;
mod error;
mod format;
#[cfg(feature = "stats")]
mod number;
mod predicate;
mod replace;
mod rules;
pub mod scale;
mod slice;
#[cfg(feature = "stats")]
mod stats;
mod text;
mod view;
#[cfg(all(feature = "std", feature = "stats", target_has_atomic = "64"))]
mod watch;

pub use element::{
    Element, Elements, F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E3M4, F8E4M3, F8E4M3B11FnUz, F8E4M3Fn,
    F8E4M3FnUz, F8E5M2, F8E5M2FnUz, F8E8M0Fnu,
};
pub use element_mut::ElementsMut;
pub use error::Error;
pub use format::Format;
pub use nonfinite_kernels::strided::{LayoutError, MaskView};
pub use nonfinite_kernels::{Backend, Census, MaskOut, Occurrences};
#[cfg(feature = "stats")]
pub use number::Threshold;
pub use predicate::Predicate;
pub use replace::{Replacement, replace_non_finite, replace_non_finite_into};
#[cfg(feature = "stats")]
pub use slice::stats;
pub use slice::{
    all, all_finite, any, any_nan, bits, census, count, is_finite, is_infinite, is_nan, mask,
    position,
};
#[cfg(feature = "stats")]
pub use stats::{Extreme, Stats};
pub use text::UnknownName;
pub use view::{Coordinate, Positions, Rows, Strides, TensorView};
#[cfg(all(feature = "std", feature = "stats", target_has_atomic = "64"))]
pub use watch::{BadTensor, Totals, Watch};

/// Tests the examples of README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Tests the examples of the design notes.
#[cfg(doctest)]
#[doc = include_str!("../docs/DESIGN.md")]
struct Design;
