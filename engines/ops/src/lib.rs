#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

mod dense;
pub mod directml;
mod error;
pub mod onnx;
pub mod openvino;
mod operator;
mod shape;
pub mod stablehlo;
mod standard_type;
mod table;
mod unknown;
pub mod webnn;

pub use dense::{Dense, DenseError, Storage};
pub use error::Error;
pub use operator::{Operator, Signature};
pub use shape::{Dimension, DimensionError, PartialShape, ShapeError};
pub use standard_type::StandardType;
pub use unknown::{Excerpt, Unknown};
