//! Not(Or(IsNaN, IsInf)) as one operator.

use nonfinite::Predicate;

use super::{IsInf, IsNan, Version};
use crate::operator::sealed::Sealed;
use crate::{Operator, Signature};

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
        (is_inf.predicate() == Predicate::Inf)
            .then_some(Self(narrower(is_inf.version(), is_nan.version())))
    }

    /// The version of the node that determines the types.
    #[must_use]
    pub fn version(&self) -> Version {
        self.0
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
