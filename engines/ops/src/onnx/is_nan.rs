//! IsNaN.

use nonfinite::Predicate;

use super::version::{FLOATS_9, FLOATS_13, FLOATS_20};
use super::{Attribute, AttributeError, Error, Version, attribute};
use crate::operator::sealed::Sealed;
use crate::{Operator, Signature};

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

    /// The newest version. See [`IsInf::newest`](super::IsInf::newest).
    #[must_use]
    pub fn newest() -> Self {
        Self(Self::VERSIONS[Self::VERSIONS.len() - 1])
    }

    /// The operator of a node with these attributes, of which IsNaN has none.
    ///
    /// # Errors
    /// [`AttributeError`] names the first attribute.
    pub fn with_attributes<'a>(
        self,
        attributes: impl IntoIterator<Item = Attribute<'a>>,
    ) -> Result<Self, AttributeError<'a>> {
        attribute::set(self.0, [], attributes).map(|()| self)
    }

    /// The version of the operator.
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
