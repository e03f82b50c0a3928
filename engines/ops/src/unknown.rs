//! Unknown names and codes.

use core::fmt;

/// A name or a code that a standard does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unknown {
    owner: &'static str,
    kind: &'static str,
    given: Given,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Given {
    Name(Excerpt),
    Code(i64),
}

impl Unknown {
    pub(crate) fn name(owner: &'static str, kind: &'static str, name: &str) -> Self {
        Self { owner, kind, given: Given::Name(Excerpt::new(name)) }
    }

    pub(crate) fn code(owner: &'static str, kind: &'static str, code: impl Into<i64>) -> Self {
        Self { owner, kind, given: Given::Code(code.into()) }
    }
}

/// Such as `ONNX has no data type "f7"` or `DML_FEATURE_LEVEL has no value 0x2200`.
impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { owner, kind, given } = self;
        match given {
            Given::Name(name) => write!(f, "{owner} has no {kind} {name}"),
            Given::Code(code) if *code < 0 => write!(f, "{owner} has no {kind} {code}"),
            Given::Code(code) => write!(f, "{owner} has no {kind} {code:#x}"),
        }
    }
}

impl core::error::Error for Unknown {}

/// The beginning of a text that could not be parsed. At most 47 bytes, so that errors need no
/// allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Excerpt {
    bytes: [u8; Self::MOST],
    /// The number of `bytes` that are used.
    length: u8,
    /// Whether the text was longer.
    cut: bool,
}

impl Excerpt {
    const MOST: usize = 47;

    pub(crate) fn new(text: &str) -> Self {
        let boundary = |&length: &usize| text.is_char_boundary(length);
        let length = (0..=Self::MOST).rev().find(boundary).unwrap_or(0);
        let mut bytes = [0; Self::MOST];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { bytes, length: length as u8, cut: length < text.len() }
    }

    /// The stored part of the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let bytes = &self.bytes[..usize::from(self.length)];
        core::str::from_utf8(bytes).expect("cut between characters")
    }
}

/// Prints the text in quotes, with dots if it was cut.
impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.as_str(), if self.cut { "..." } else { "" })
    }
}

impl fmt::Debug for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
