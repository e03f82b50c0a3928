//! Attributes as text, from the XML of an IR file.

use core::fmt;

/// OpenVINO's reading of a boolean (src/core/xml_util/src/xml_deserialize_util.cpp).
fn boolean(text: &str) -> Option<bool> {
    let is = |name: &str| text.eq_ignore_ascii_case(name);
    if is("true") || is("1") {
        Some(true)
    } else if is("false") || is("0") {
        Some(false)
    } else {
        None
    }
}

/// Sets the attributes of a layer. `known` has the names, and the places of the values.
pub(super) fn set<'a, const N: usize>(
    op: &'static str,
    mut known: [(&str, &mut bool); N],
    attributes: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), AttributeError<'a>> {
    for (name, value) in attributes {
        let refuse = |rule| AttributeError { op, name, value, rule };
        let place = known.iter_mut().find(|(known, _)| *known == name);
        let (_, place) = place.ok_or(refuse(AttributeRule::Unknown))?;
        **place = boolean(value).ok_or(refuse(AttributeRule::NotBoolean))?;
    }
    Ok(())
}

/// An attribute that the operator does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AttributeError<'a> {
    /// The operator.
    pub op: &'static str,
    /// The name of the attribute.
    pub name: &'a str,
    /// Its text.
    pub value: &'a str,
    /// The reason.
    pub rule: AttributeRule,
}

/// Why an attribute is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttributeRule {
    /// The operator has no attribute of this name.
    Unknown,
    /// The text is no boolean.
    NotBoolean,
}

impl fmt::Display for AttributeError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, name, value, rule } = *self;
        match rule {
            AttributeRule::Unknown => write!(f, "{op}-10 has no attribute {name}"),
            AttributeRule::NotBoolean => {
                write!(
                    f,
                    "{op}-10: attribute {name} is \"{value}\", neither \"true\" nor \"false\""
                )
            }
        }
    }
}

impl core::error::Error for AttributeError<'_> {}
