//! Why numbers were not looked at.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why numbers were not looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The bytes are a part of the file and no tensor, such as a member of an archive: why they
    /// are not read.
    Part(String),
    /// Any other reason.
    Other(String),
}

impl Reason {
    /// Whether the bytes are no tensor, but another part of the file.
    #[must_use]
    pub const fn is_of_part(&self) -> bool {
        matches!(self, Self::Part(_))
    }

    /// The reason as text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Part(why) | Self::Other(why) => why,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl From<String> for Reason {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl From<&str> for Reason {
    fn from(why: &str) -> Self {
        Self::Other(why.to_owned())
    }
}
