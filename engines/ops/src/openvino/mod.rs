//! OpenVINO opset10: IsFinite-10, IsInf-10 and IsNaN-10 (docs.openvino.ai, "Operation Sets",
//! comparison operations). Later opsets have the same operators.
//!
//! Types and shapes are inferred as in OpenVINO: `dynamic` types, dynamic ranks, dynamic and
//! interval dimensions are kept. There are two differences to its CPU plugin (2026.4.1). f64 is
//! compared as f64 here; the plugin converts f64 to f32 first, with clamping, and so calls
//! infinities finite. And fp8 and fp4 are supported here; the plugin refuses to compile them.
//!
//! ```
//! use nonfinite_ops::openvino::{ElementType, IsFinite, IsInf};
//! use nonfinite_ops::{Dense, Dimension, Operator, PartialShape};
//!
//! let dimensions = ["?".parse::<Dimension>()?, "2..4".parse()?, Dimension::fixed(37)];
//! let output = IsFinite.infer_partial_shape(PartialShape::Ranked(&dimensions))?;
//! assert_eq!(output.to_string(), "[?,2..4,37]");
//! assert_eq!(IsFinite.infer(ElementType::F64.into())?, ElementType::Boolean.into());
//!
//! let op = IsInf::default().with_attributes([("detect_negative", "false")])?;
//! let mut out = [0; 3];
//! let x = [f64::INFINITY, f64::NEG_INFINITY, 1e300];
//! op.run(Dense::new(ElementType::F64, &[3], &x[..]), (&mut out[..]).into())?;
//! assert_eq!(out, [1, 0, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attribute;
mod element_type;

use core::fmt;

pub use attribute::{AttributeError, AttributeRule};
pub use element_type::ElementType;

use nonfinite::Predicate;

use crate::operator::sealed::Sealed;
use crate::{Error as AnyError, Operator, Signature, StandardType, Storage};

/// IsFinite-10: which elements are neither NaN nor infinite. No attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IsFinite;

impl IsFinite {
    /// The operator of a layer with these attributes, of which IsFinite has none.
    ///
    /// # Errors
    /// [`AttributeError`] names the first attribute.
    pub fn with_attributes<'a>(
        self,
        attributes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, AttributeError<'a>> {
        attribute::set(IS_FINITE, [], attributes).map(|()| self)
    }
}

/// IsNaN-10: which elements are NaN. No attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IsNan;

impl IsNan {
    /// As [`IsFinite::with_attributes`].
    ///
    /// # Errors
    /// [`AttributeError`] names the first attribute.
    pub fn with_attributes<'a>(
        self,
        attributes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, AttributeError<'a>> {
        attribute::set(IS_NAN, [], attributes).map(|()| self)
    }
}

/// IsInf-10: which elements are infinities with the signs of the attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct IsInf {
    /// Attribute `detect_negative`, default true: whether -Inf gives true.
    pub detect_negative: bool,
    /// Attribute `detect_positive`, default true: whether +Inf gives true. With both off all
    /// results are false.
    pub detect_positive: bool,
}

impl Default for IsInf {
    fn default() -> Self {
        Self { detect_negative: true, detect_positive: true }
    }
}

impl IsInf {
    /// Sets the attribute `detect_negative`.
    #[must_use]
    pub fn with_detect_negative(self, detect_negative: bool) -> Self {
        Self { detect_negative, ..self }
    }

    /// Sets the attribute `detect_positive`.
    #[must_use]
    pub fn with_detect_positive(self, detect_positive: bool) -> Self {
        Self { detect_positive, ..self }
    }

    /// Sets the attributes of the `data` element of an IR file, as text: `true` or `1`, `false` or
    /// `0`, in any case.
    ///
    /// # Errors
    /// [`AttributeError`] for other names and values. (OpenVINO silently ignores such attributes.)
    pub fn with_attributes<'a>(
        mut self,
        attributes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, AttributeError<'a>> {
        let (negative, positive) = (&mut self.detect_negative, &mut self.detect_positive);
        let known = [("detect_negative", negative), ("detect_positive", positive)];
        attribute::set(IS_INF, known, attributes).map(|()| self)
    }
}

/// Why an OpenVINO operator refuses. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The element type is neither a floating-point type nor dynamic. The message contains the
    /// message of OpenVINO.
    ElementType {
        /// The operator.
        op: &'static str,
        /// The type of the input.
        element_type: ElementType,
    },
    /// A tensor of dynamic type cannot be run.
    Dynamic {
        /// The operator.
        op: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The messages of validate_and_infer_types in is_finite.cpp, and in is_inf.cpp and
        // is_nan.cpp.
        const FLOAT: &str = "The element type of the input tensor must be a floating point number";
        match *self {
            Self::ElementType { op: op @ IS_FINITE, element_type } => {
                write!(f, "{op}-10: {FLOAT} or dynamic (got {element_type}).")
            }
            Self::ElementType { op, element_type } => {
                write!(f, "{op}-10: {FLOAT}. It is {element_type}.")
            }
            Self::Dynamic { op } => {
                write!(f, "{op}-10: the element type is dynamic, so the bytes have no meaning")
            }
        }
    }
}

impl core::error::Error for Error {}

const IS_FINITE: &str = "IsFinite";
const IS_INF: &str = "IsInf";
const IS_NAN: &str = "IsNaN";

/// Version 10 of an operator. All three have the same type list: floating-point types and dynamic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version10 {
    op: &'static str,
}

impl Sealed for Version10 {}

impl Signature for Version10 {
    fn name(&self) -> &'static str {
        self.op
    }

    fn version(&self) -> Option<u32> {
        Some(10)
    }

    fn output_type(&self) -> StandardType {
        ElementType::Boolean.into()
    }

    fn storage(&self, element_type: StandardType) -> Result<Storage, AnyError> {
        let Self { op } = *self;
        let StandardType::OpenVino(element_type) = element_type else {
            return Err(AnyError::Standard { op, standard: "OpenVINO", element_type });
        };
        match (element_type, element_type.format()) {
            (ElementType::Dynamic, _) => Err(Error::Dynamic { op }.into()),
            // Two elements in a byte. FP4 has no special codes.
            (ElementType::F4E2M1, _) => Ok(Storage::PackedFinite { bits: element_type.bits() }),
            (_, Some(format)) => Ok(Storage::Whole(format)),
            (_, None) => Err(Error::ElementType { op, element_type }.into()),
        }
    }

    fn check_type(&self, element_type: StandardType) -> Result<(), AnyError> {
        match self.storage(element_type) {
            Ok(_) | Err(AnyError::OpenVino(Error::Dynamic { .. })) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Sealed for IsFinite {}

impl Operator for IsFinite {
    fn signature(&self) -> &dyn Signature {
        &Version10 { op: IS_FINITE }
    }

    fn predicate(&self) -> Predicate {
        Predicate::Finite
    }
}

impl Sealed for IsInf {}

impl Operator for IsInf {
    fn signature(&self) -> &dyn Signature {
        &Version10 { op: IS_INF }
    }

    fn predicate(&self) -> Predicate {
        Predicate::inf(self.detect_negative, self.detect_positive)
    }
}

impl Sealed for IsNan {}

impl Operator for IsNan {
    fn signature(&self) -> &dyn Signature {
        &Version10 { op: IS_NAN }
    }

    fn predicate(&self) -> Predicate {
        Predicate::Nan
    }
}
