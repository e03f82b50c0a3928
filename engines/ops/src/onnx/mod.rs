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

pub use attribute::{Attribute, AttributeError, AttributeRule};
pub use data_type::DataType;
pub use error::Error;

use nonfinite::Predicate;

use crate::operator::sealed::Sealed;
use crate::{Error as AnyError, Operator, Signature, StandardType, Storage};

/// One version of an operator: its first opset, and its type list T1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    op: &'static str,
    since: u32,
    types: &'static [DataType],
}

const FLOATS_9: &[DataType] = &[DataType::Float16, DataType::Float, DataType::Double];
const FLOATS_10: &[DataType] = &[DataType::Float, DataType::Double];
const FLOATS_13: &[DataType] =
    &[DataType::Float16, DataType::Float, DataType::Double, DataType::Bfloat16];
const FLOATS_20: &[DataType] = &[
    DataType::Float16,
    DataType::Float,
    DataType::Double,
    DataType::Bfloat16,
    DataType::Float8E4M3Fn,
    DataType::Float8E4M3FnUz,
    DataType::Float8E5M2,
    DataType::Float8E5M2FnUz,
];

impl Version {
    /// The newest of `versions` in `opset`.
    fn select(versions: &[Self], opset: u32) -> Result<Self, Error> {
        let oldest = &versions[0];
        let missing = Error::Opset { op: oldest.op, opset, first: oldest.since };
        versions.iter().rev().find(|version| version.since <= opset).copied().ok_or(missing)
    }

    /// The first opset with this version.
    #[must_use]
    pub fn since_version(&self) -> u32 {
        self.since
    }

    /// The types of T1, the input.
    #[must_use]
    pub fn types(&self) -> &'static [DataType] {
        self.types
    }
}

impl Sealed for Version {}

impl Signature for Version {
    fn name(&self) -> &'static str {
        self.op
    }

    fn version(&self) -> Option<u32> {
        Some(self.since)
    }

    fn output_type(&self) -> StandardType {
        DataType::Bool.into()
    }

    fn storage(&self, element_type: StandardType) -> Result<Storage, AnyError> {
        let Self { op, since: since_version, types: allowed } = *self;
        let StandardType::Onnx(data_type) = element_type else {
            return Err(AnyError::Standard { op, standard: "ONNX", element_type });
        };
        match data_type.format() {
            Some(format) if allowed.contains(&data_type) => Ok(Storage::Whole(format)),
            _ => Err(Error::Type { op, since_version, data_type, allowed }.into()),
        }
    }
}

/// IsNaN: which elements are NaN (onnx docs/Operators.md, "IsNaN"). No attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsNan(Version);

impl IsNan {
    /// All versions, oldest first.
    pub const VERSIONS: &'static [Version] = &[
        Version { op: "IsNaN", since: 9, types: FLOATS_9 },
        Version { op: "IsNaN", since: 13, types: FLOATS_13 },
        Version { op: "IsNaN", since: 20, types: FLOATS_20 },
    ];

    /// The version for a model of this opset: the newest version that is not newer than the opset.
    /// For an unknown newer opset, this is IsNaN-20.
    ///
    /// # Errors
    /// [`Error::Opset`] below 9.
    pub fn for_opset(opset: u32) -> Result<Self, Error> {
        Version::select(Self::VERSIONS, opset).map(Self)
    }

    /// The version of the operator.
    #[must_use]
    pub fn version(&self) -> Version {
        self.0
    }
}

/// IsInf: which elements are infinities with the signs of the attributes (onnx docs/Operators.md,
/// "IsInf").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsInf {
    version: Version,
    /// Attribute `detect_negative`, default 1: whether -Inf gives true. Any value except 0 is on,
    /// as in onnxruntime.
    pub detect_negative: i64,
    /// Attribute `detect_positive`, default 1: whether +Inf gives true. Any value except 0 is on.
    /// With both off all results are false.
    pub detect_positive: i64,
}

impl IsInf {
    /// All versions, oldest first.
    pub const VERSIONS: &'static [Version] = &[
        Version { op: "IsInf", since: 10, types: FLOATS_10 },
        Version { op: "IsInf", since: 20, types: FLOATS_20 },
    ];

    /// The names of the attributes, the same in all versions.
    pub const ATTRIBUTES: [&'static str; 2] = ["detect_negative", "detect_positive"];

    /// The version for a model of this opset, with default attributes; see [`IsNan::for_opset`].
    ///
    /// # Errors
    /// [`Error::Opset`] below 10.
    pub fn for_opset(opset: u32) -> Result<Self, Error> {
        Ok(Self { version: Version::select(Self::VERSIONS, opset)?, ..Self::newest() })
    }

    /// The newest version, with default attributes: what an engine takes whose operator does not
    /// depend on the opset.
    #[must_use]
    pub fn newest() -> Self {
        let version = Self::VERSIONS[Self::VERSIONS.len() - 1];
        Self { version, detect_negative: 1, detect_positive: 1 }
    }

    /// Sets the attribute `detect_negative`.
    #[must_use]
    pub fn with_detect_negative(self, detect_negative: i64) -> Self {
        Self { detect_negative, ..self }
    }

    /// Sets the attribute `detect_positive`.
    #[must_use]
    pub fn with_detect_positive(self, detect_positive: i64) -> Self {
        Self { detect_positive, ..self }
    }

    /// Sets the attributes of a node, in any order.
    ///
    /// # Errors
    /// [`AttributeError`] if an attribute is unknown, is not an INT, or occurs twice.
    pub fn with_attributes<'a>(
        mut self,
        attributes: impl IntoIterator<Item = Attribute<'a>>,
    ) -> Result<Self, AttributeError<'a>> {
        let mut seen = [false; 2];
        for attribute in attributes {
            let refuse = |rule| AttributeError {
                op: self.version.op,
                since_version: self.version.since,
                name: attribute.name,
                rule,
            };
            let index = Self::ATTRIBUTES.iter().position(|name| *name == attribute.name);
            let index = index.ok_or(refuse(AttributeRule::Unknown))?;
            if attribute.attribute_type != Attribute::INT {
                return Err(refuse(AttributeRule::NotInt { found: attribute.attribute_type }));
            }
            if core::mem::replace(&mut seen[index], true) {
                return Err(refuse(AttributeRule::Repeated));
            }
            *[&mut self.detect_negative, &mut self.detect_positive][index] = attribute.i;
        }
        Ok(self)
    }

    /// The version of the operator.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }
}

/// The subgraph Not(Or(IsNaN(x), IsInf(x))) as one operator: which elements are finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsFinite(Version);

impl IsFinite {
    /// The two nodes as one operator. `None` if `is_inf` ignores a sign, since the answers would
    /// differ. Accepts the types that both nodes accept. Errors name the node with fewer types.
    #[must_use]
    pub fn fuse(is_nan: IsNan, is_inf: IsInf) -> Option<Self> {
        // Of any two type lists of these operators, one contains the other.
        let narrower = |a: Version, b: Version| if a.types.len() <= b.types.len() { a } else { b };
        (is_inf.predicate() == Predicate::Inf).then_some(Self(narrower(is_inf.version, is_nan.0)))
    }

    /// The version of the node that determines the types.
    #[must_use]
    pub fn version(&self) -> Version {
        self.0
    }
}

impl Sealed for IsNan {}

impl Operator for IsNan {
    fn signature(&self) -> &dyn Signature {
        &self.0
    }

    fn predicate(&self) -> Predicate {
        Predicate::Nan
    }
}

impl Sealed for IsInf {}

impl Operator for IsInf {
    fn signature(&self) -> &dyn Signature {
        &self.version
    }

    fn predicate(&self) -> Predicate {
        Predicate::inf(self.detect_negative != 0, self.detect_positive != 0)
    }
}

impl Sealed for IsFinite {}

impl Operator for IsFinite {
    fn signature(&self) -> &dyn Signature {
        &self.0
    }

    fn predicate(&self) -> Predicate {
        Predicate::Finite
    }

    fn name(&self) -> &'static str {
        "Not(Or(IsNaN, IsInf))"
    }
}
