//! The operators of the standards, by their names, types, shapes, attributes and errors: an engine
//! that implements one of these standards needs to translate nothing.
//!
//! | standard | operators | module |
//! |---|---|---|
//! | ONNX, domain `ai.onnx` | IsNaN 9, 13, 20; IsInf 10, 20; Not(Or(IsNaN, IsInf)) as one | [`onnx`] |
//! | OpenVINO opset10 | IsFinite-10, IsInf-10, IsNaN-10 | [`openvino`] |
//! | DirectML | ELEMENT_WISE_IS_NAN, ELEMENT_WISE_IS_INFINITY | [`directml`] |
//! | WebNN | isNaN, isInfinite | [`webnn`] |
//! | StableHLO | is_finite | [`stablehlo`] |
//!
//! What a standard refuses is refused here with an error that says which operator, which version
//! and which rule, and before anything is written. Results are 1 or 0, one byte each, except for
//! the UINT32 output of DirectML.
//!
//! All except DirectML's work on packed row-major tensors, [`Dense`], and are an [`Operator`].

mod dense;
pub mod directml;
pub mod onnx;
pub mod openvino;
pub mod stablehlo;
pub mod webnn;

pub use dense::{Dense, DenseError, ErrorOf, Operator, Signature, Storage, TypeOf};
