//! ONNX, domain `ai.onnx`: IsNaN 9, 13, 20 and IsInf 10, 20 (docs/Operators.md and
//! docs/Changelog.md of onnx/onnx), and the subgraph Not(Or(IsNaN, IsInf)) as one operator, since
//! ONNX has no IsFinite.
//!
//! The opset of the model determines the version of an operator, as in a runtime: the newest
//! version that is not newer than the opset.
//!
//! ```
//! use nonfinite_ops::onnx::{DataType, IsInf, IsNan};
//! use nonfinite_ops::{Dense, Operator};
//!
//! let op = IsNan::for_opset(17)?;
//! assert_eq!(op.version().since_version(), 13);
//! let x = [3.0f32, f32::NAN, 4.0, f32::NAN];
//! let mut y = [false; 4];
//! op.run(Dense::new(DataType::Float, &[2, 2], &x[..]), (&mut y[..]).into())?;
//! assert_eq!(y, [false, true, false, true]);
//!
//! let refused = IsInf::for_opset(19)?.infer(DataType::Float16.into()).unwrap_err();
//! let text = "Type 'tensor(float16)' of input parameter (X) of operator (IsInf) is invalid";
//! assert!(refused.to_string().starts_with(text));
//! # Ok::<(), nonfinite_ops::Error>(())
//! ```

mod attribute;
mod data_type;
mod error;
mod is_finite;
mod is_inf;
mod is_nan;
mod version;

pub use attribute::{Attribute, AttributeError, AttributeRule};
pub use data_type::DataType;
pub use error::Error;
pub use is_finite::IsFinite;
pub use is_inf::IsInf;
pub use is_nan::IsNan;
pub use version::Version;
