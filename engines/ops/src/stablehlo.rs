//! StableHLO `is_finite` (docs/spec.md, "is_finite"). There is no is_nan and no is_inf.
//!
//! ```
//! use nonfinite_ops::stablehlo::{ElementType, IsFinite};
//! use nonfinite_ops::{Dense, Operator};
//!
//! let mut out = [false; 3];
//! let x = [f64::NEG_INFINITY, -0.0, f64::NAN];
//! IsFinite.run(Dense::new(ElementType::F64, &[3], &x[..]), (&mut out[..]).into())?;
//! assert_eq!(out, [false, true, false]);
//! # Ok::<(), nonfinite_ops::Error>(())
//! ```

use core::fmt;
use core::str::FromStr;

use nonfinite::{Format, Predicate};

use crate::operator::sealed::Sealed;
use crate::table::{self, types};
use crate::{Error as AnyError, Operator, Signature, StandardType, Storage, Unknown};

types! {
    /// The element types of StableHLO tensors (docs/spec.md, "Types"). Quantized types are divided
    /// by the number of their scales.
    ///
    /// Names are the spellings in MLIR. Elements of 4 and 6 bits take a byte each, as in XLA's host
    /// memory.
    ElementType: ();
    F4E2M1Fn, "f4E2M1FN", Some(Format::F4E2M1Fn);
    F6E2M3Fn, "f6E2M3FN", Some(Format::F6E2M3Fn);
    F6E3M2Fn, "f6E3M2FN", Some(Format::F6E3M2Fn);
    F8E3M4, "f8E3M4", Some(Format::F8E3M4);
    F8E4M3, "f8E4M3", Some(Format::F8E4M3);
    F8E4M3B11FnUz, "f8E4M3B11FNUZ", Some(Format::F8E4M3B11FnUz);
    F8E4M3Fn, "f8E4M3FN", Some(Format::F8E4M3Fn);
    F8E4M3FnUz, "f8E4M3FNUZ", Some(Format::F8E4M3FnUz);
    F8E5M2, "f8E5M2", Some(Format::F8E5M2);
    F8E5M2FnUz, "f8E5M2FNUZ", Some(Format::F8E5M2FnUz);
    F8E8M0Fnu, "f8E8M0FNU", Some(Format::F8E8M0Fnu);
    Bf16, "bf16", Some(Format::Bf16);
    F16, "f16", Some(Format::F16);
    F32, "f32", Some(Format::F32);
    F64, "f64", Some(Format::F64);
    Boolean, "i1", None;
    Si2, "i2", None;
    Si4, "i4", None;
    Si8, "i8", None;
    Si16, "i16", None;
    Si32, "i32", None;
    Si64, "i64", None;
    Ui2, "ui2", None;
    Ui4, "ui4", None;
    Ui8, "ui8", None;
    Ui16, "ui16", None;
    Ui32, "ui32", None;
    Ui64, "ui64", None;
    ComplexF32, "complex<f32>", None;
    ComplexF64, "complex<f64>", None;
    /// `!quant.uniform` with one scale.
    PerTensorQuantized, "per-tensor !quant.uniform", None;
    /// `!quant.uniform` with scales along an axis.
    PerAxisQuantized, "per-axis !quant.uniform", None;
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Accepts [`ElementType::name`], in exactly this spelling.
impl FromStr for ElementType {
    type Err = Unknown;

    fn from_str(name: &str) -> Result<Self, Unknown> {
        table::named(Self::TABLE, |row| row.1 == name, ("StableHLO", "element type"), name)
    }
}

/// Why `is_finite` refuses. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The operand is not a tensor of floating-point or per-tensor quantized type (constraint I1).
    ElementType(ElementType),
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
        }
    }
}

impl core::error::Error for Error {}

const NAME: &str = "stablehlo.is_finite";

/// The type list: floating point, and per-tensor quantized. Quantized elements are integers and so
/// always finite, and their bytes are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraints;

impl Sealed for Constraints {}

impl Signature for Constraints {
    fn name(&self) -> &'static str {
        NAME
    }

    fn output_type(&self) -> StandardType {
        ElementType::Boolean.into()
    }

    fn storage(&self, element_type: StandardType) -> Result<Storage, AnyError> {
        let StandardType::StableHlo(element_type) = element_type else {
            return Err(AnyError::Standard { op: NAME, standard: "StableHLO", element_type });
        };
        match (element_type, element_type.format()) {
            (ElementType::PerTensorQuantized, _) => Ok(Storage::Finite),
            (_, Some(format)) => Ok(Storage::Whole(format)),
            (_, None) => Err(Error::ElementType(element_type).into()),
        }
    }
}

/// `stablehlo.is_finite`: which elements are neither NaN nor infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IsFinite;

impl Sealed for IsFinite {}

impl Operator for IsFinite {
    fn signature(&self) -> &dyn Signature {
        &Constraints
    }

    fn predicate(&self) -> Predicate {
        Predicate::Finite
    }
}
