#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "ndarray")]
extern crate alloc;

mod backend;
pub mod bytes;
mod element;
mod error;
mod format;
#[cfg(feature = "ndarray")]
pub mod ndarray;
#[cfg(feature = "rayon")]
pub mod par;
mod predicate;
#[cfg(feature = "replace")]
mod replace;
#[cfg(feature = "views")]
mod rows;
#[cfg(feature = "scale")]
pub mod scale;
mod slice;
#[cfg(feature = "views")]
mod strided;
#[cfg(feature = "views")]
mod view;

pub use backend::{Backend, BackendInfo, backends};
pub use element::{
    Element, Elements, ElementsMut, F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E3M4, F8E4M3, F8E4M3B11FnUz,
    F8E4M3Fn, F8E4M3FnUz, F8E5M2, F8E5M2FnUz, F8E8M0Fnu,
};
pub use error::Error;
pub use format::Format;
pub use nonfinite_kernels::{Census, MaskOut, Occurrences};
pub use predicate::Predicate;
#[cfg(feature = "replace")]
pub use replace::{Replacement, replace_non_finite, replace_non_finite_into};
#[cfg(feature = "views")]
pub use rows::{any_rows, census_rows, count_rows, position_rows};
pub use slice::{
    all, any, bits, bits_at, census, count, is_finite, is_inf, is_nan, mask, mask_uninit, position,
};
#[cfg(feature = "views")]
pub use view::{TensorView, TensorViewMut, ViewError};
