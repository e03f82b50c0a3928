//! IsInf.

use nonfinite::Predicate;

use super::version::{FLOATS_10, FLOATS_20};
use super::{Attribute, AttributeError, Error, Version, attribute};
use crate::operator::sealed::Sealed;
use crate::{Operator, Signature};

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

    /// The version for a model of this opset, with default attributes. See
    /// [`IsNan::for_opset`](super::IsNan::for_opset).
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
        let [negative, positive] = Self::ATTRIBUTES;
        let places = (&mut self.detect_negative, &mut self.detect_positive);
        let known = [(negative, places.0), (positive, places.1)];
        attribute::set(self.version, known, attributes).map(|()| self)
    }

    /// The version of the operator.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
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
