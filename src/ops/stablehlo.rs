//! StableHLO `is_finite` (docs/spec.md, "is_finite"). There is no is_nan and no is_inf.
//!
//! ```
//! use nonfinite::ops::stablehlo::{ElementType, IsFinite};
//! use nonfinite::ops::{Dense, Operator};
//!
//! let mut out = [false; 3];
//! let x = [f64::NEG_INFINITY, -0.0, f64::NAN];
//! IsFinite.run(Dense::new(ElementType::F64, &[3], &x[..]), &mut out[..])?;
//! assert_eq!(out, [false, true, false]);
//! # Ok::<(), nonfinite::ops::stablehlo::Error>(())
//! ```

use core::fmt;
use core::str::FromStr;

use crate::ops::{DenseError, Operator, Signature, Storage};
use crate::{Format, Predicate};

/// The element types of StableHLO tensors (docs/spec.md, "Types"), with quantized ones by the
/// number of their scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of the standard")]
pub enum ElementType {
    F4E2M1Fn,
    F6E2M3Fn,
    F6E3M2Fn,
    F8E3M4,
    F8E4M3,
    F8E4M3B11FnUz,
    F8E4M3Fn,
    F8E4M3FnUz,
    F8E5M2,
    F8E5M2FnUz,
    F8E8M0Fnu,
    Bf16,
    F16,
    F32,
    F64,
    Boolean,
    Si2,
    Si4,
    Si8,
    Si16,
    Si32,
    Si64,
    Ui2,
    Ui4,
    Ui8,
    Ui16,
    Ui32,
    Ui64,
    ComplexF32,
    ComplexF64,
    /// `!quant.uniform` with one scale.
    PerTensorQuantized,
    /// `!quant.uniform` with scales along an axis.
    PerAxisQuantized,
}

/// The type, its spelling in MLIR, and how its bits are read.
struct Row(ElementType, &'static str, Option<Format>);

/// In the order of the enum.
#[rustfmt::skip]
const TABLE: [Row; 32] = [
    Row(ElementType::F4E2M1Fn, "f4E2M1FN", Some(Format::F4E2M1Fn)),
    Row(ElementType::F6E2M3Fn, "f6E2M3FN", Some(Format::F6E2M3Fn)),
    Row(ElementType::F6E3M2Fn, "f6E3M2FN", Some(Format::F6E3M2Fn)),
    Row(ElementType::F8E3M4, "f8E3M4", Some(Format::F8E3M4)),
    Row(ElementType::F8E4M3, "f8E4M3", Some(Format::F8E4M3)),
    Row(ElementType::F8E4M3B11FnUz, "f8E4M3B11FNUZ", Some(Format::F8E4M3B11FnUz)),
    Row(ElementType::F8E4M3Fn, "f8E4M3FN", Some(Format::F8E4M3Fn)),
    Row(ElementType::F8E4M3FnUz, "f8E4M3FNUZ", Some(Format::F8E4M3FnUz)),
    Row(ElementType::F8E5M2, "f8E5M2", Some(Format::F8E5M2)),
    Row(ElementType::F8E5M2FnUz, "f8E5M2FNUZ", Some(Format::F8E5M2FnUz)),
    Row(ElementType::F8E8M0Fnu, "f8E8M0FNU", Some(Format::F8E8M0Fnu)),
    Row(ElementType::Bf16, "bf16", Some(Format::Bf16)),
    Row(ElementType::F16, "f16", Some(Format::F16)),
    Row(ElementType::F32, "f32", Some(Format::F32)),
    Row(ElementType::F64, "f64", Some(Format::F64)),
    Row(ElementType::Boolean, "i1", None),
    Row(ElementType::Si2, "i2", None),
    Row(ElementType::Si4, "i4", None),
    Row(ElementType::Si8, "i8", None),
    Row(ElementType::Si16, "i16", None),
    Row(ElementType::Si32, "i32", None),
    Row(ElementType::Si64, "i64", None),
    Row(ElementType::Ui2, "ui2", None),
    Row(ElementType::Ui4, "ui4", None),
    Row(ElementType::Ui8, "ui8", None),
    Row(ElementType::Ui16, "ui16", None),
    Row(ElementType::Ui32, "ui32", None),
    Row(ElementType::Ui64, "ui64", None),
    Row(ElementType::ComplexF32, "complex<f32>", None),
    Row(ElementType::ComplexF64, "complex<f64>", None),
    Row(ElementType::PerTensorQuantized, "per-tensor !quant.uniform", None),
    Row(ElementType::PerAxisQuantized, "per-axis !quant.uniform", None),
];

impl ElementType {
    /// Every type.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::F4E2M1Fn; TABLE.len()];
        let mut i = 0;
        while i < TABLE.len() {
            assert!(TABLE[i].0 as usize == i, "the table is in the order of the enum");
            all[i] = TABLE[i].0;
            i += 1;
        }
        all
    };

    const fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The spelling in MLIR, such as `f8E4M3FN`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// How the bits of an element are read, for floating-point types. Those of 4 and 6 bits take a
    /// byte each, as XLA has them in host memory.
    #[must_use]
    pub const fn format(self) -> Option<Format> {
        self.row().2
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No element type has this spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnknownElementType;

impl fmt::Display for UnknownElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StableHLO has no element type of this spelling")
    }
}

impl core::error::Error for UnknownElementType {}

/// Takes [`ElementType::name`], as it is.
impl FromStr for ElementType {
    type Err = UnknownElementType;

    fn from_str(name: &str) -> Result<Self, UnknownElementType> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0).ok_or(UnknownElementType)
    }
}

/// Why `is_finite` refuses. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The operand is no tensor of floating-point or per-tensor quantized type (constraint I1).
    ElementType(ElementType),
    /// Input or output do not fit the shape.
    Memory {
        /// The type of the operand.
        element_type: ElementType,
        /// What does not fit.
        error: DenseError,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ElementType(element_type) => {
                write!(
                    f,
                    "{NAME}: operand (I1) must be a tensor of floating-point type or per-tensor "
                )?;
                write!(f, "quantized type, not of {element_type}")
            }
            Self::Memory { element_type, error } => write!(f, "{NAME} of {element_type}: {error}"),
        }
    }
}

impl core::error::Error for Error {}

const NAME: &str = "stablehlo.is_finite";

/// The type list: floating point, and per-tensor quantized, whose elements are integers and so all
/// finite: their bytes are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraints;

impl Signature for Constraints {
    type Type = ElementType;
    type Error = Error;
    const RESULT: ElementType = ElementType::Boolean;

    fn name(&self) -> &'static str {
        NAME
    }

    fn storage(&self, element_type: ElementType) -> Result<Storage, Error> {
        match (element_type, element_type.format()) {
            (ElementType::PerTensorQuantized, _) => Ok(Storage::Finite),
            (_, Some(format)) => Ok(Storage::Whole(format)),
            (_, None) => Err(Error::ElementType(element_type)),
        }
    }

    fn memory_error(&self, element_type: ElementType, error: DenseError) -> Error {
        Error::Memory { element_type, error }
    }
}

/// `stablehlo.is_finite`: which elements are neither NaN nor infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IsFinite;

impl Operator for IsFinite {
    type Signature = Constraints;

    fn signature(&self) -> Constraints {
        Constraints
    }

    fn predicate(&self) -> Predicate {
        Predicate::Finite
    }
}
