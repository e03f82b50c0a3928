//! AttributeProto: the fields that these operators need.

use core::fmt;

use super::Version;

/// An attribute of a node: the fields of `AttributeProto` (onnx.proto) that an integer attribute
/// uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attribute<'a> {
    /// `AttributeProto.name`.
    pub name: &'a str,
    /// `AttributeProto.type`: a code of `AttributeProto.AttributeType`.
    pub attribute_type: i32,
    /// `AttributeProto.i`.
    pub i: i64,
}

impl<'a> Attribute<'a> {
    /// `AttributeProto.INT`.
    pub const INT: i32 = 2;

    /// An attribute with these fields, of any type.
    #[must_use]
    pub fn new(name: &'a str, attribute_type: i32, i: i64) -> Self {
        Self { name, attribute_type, i }
    }

    /// An attribute of type INT.
    #[must_use]
    pub fn int(name: &'a str, i: i64) -> Self {
        Self::new(name, Self::INT, i)
    }
}

/// Sets the attributes of a node. `known` has the names, and the places of the values.
pub(super) fn set<'a, const N: usize>(
    version: Version,
    known: [(&str, &mut i64); N],
    attributes: impl IntoIterator<Item = Attribute<'a>>,
) -> Result<(), AttributeError<'a>> {
    let (op, since_version, mut seen) = (version.op, version.since, [false; N]);
    for Attribute { name, attribute_type, i } in attributes {
        let refuse = |rule| AttributeError { op, since_version, name, rule };
        let index = known.iter().position(|(known, _)| *known == name);
        let index = index.ok_or(refuse(AttributeRule::Unknown))?;
        if attribute_type != Attribute::INT {
            return Err(refuse(AttributeRule::NotInt { found: attribute_type }));
        }
        if core::mem::replace(&mut seen[index], true) {
            return Err(refuse(AttributeRule::Repeated));
        }
        *known[index].1 = i;
    }
    Ok(())
}

/// An attribute that the operator does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AttributeError<'a> {
    /// The operator.
    pub op: &'static str,
    /// Its version.
    pub since_version: u32,
    /// The name of the attribute.
    pub name: &'a str,
    /// The reason.
    pub rule: AttributeRule,
}

/// Why an attribute is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttributeRule {
    /// The operator has no attribute of this name.
    Unknown,
    /// The attribute must be an INT.
    NotInt {
        /// The code of `AttributeProto.AttributeType` that was found.
        found: i32,
    },
    /// The name occurs more than once.
    Repeated,
}

impl fmt::Display for AttributeError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, since_version, name, rule } = *self;
        write!(f, "{op}-{since_version}: ")?;
        match rule {
            AttributeRule::Unknown => write!(f, "Unrecognized attribute: {name} for operator {op}"),
            AttributeRule::NotInt { found } => {
                write!(f, "attribute {name} must be of type INT, not of attribute type {found}")
            }
            AttributeRule::Repeated => write!(f, "attribute {name} is there more than once"),
        }
    }
}

impl core::error::Error for AttributeError<'_> {}
