#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "std")]
extern crate std;

mod backend;
mod element;
#[cfg(any(feature = "replace", feature = "scale"))]
mod element_mut;
mod error;
mod format;
mod predicate;
#[cfg(feature = "replace")]
mod replace;
#[cfg(feature = "scale")]
pub mod scale;
mod slice;
mod view;

pub use backend::{BackendInfo, backends};
pub use element::{
    Element, Elements, F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E3M4, F8E4M3, F8E4M3B11FnUz, F8E4M3Fn,
    F8E4M3FnUz, F8E5M2, F8E5M2FnUz, F8E8M0Fnu,
};
#[cfg(any(feature = "replace", feature = "scale"))]
pub use element_mut::ElementsMut;
pub use error::{Error, UnknownName};
pub use format::Format;
pub use nonfinite_kernels::{Backend, Census, MaskOut, Occurrences};
pub use predicate::Predicate;
#[cfg(feature = "replace")]
pub use replace::{Replacement, replace_non_finite, replace_non_finite_into};
pub use slice::{
    all, all_finite, any, any_nan, bits, bits_at, census, count, is_finite, is_inf, is_nan, mask,
    mask_uninit, position,
};
#[cfg(feature = "views")]
pub use slice::{any_rows, count_rows};
#[cfg(feature = "views")]
pub use view::{MaskView, Rows};
pub use view::{Positions, TensorView};
