//! Names of a bounded length.

use core::fmt;

/// The beginning of a text: as many whole characters as `ROOM` bytes hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Beginning<const ROOM: usize> {
    bytes: [u8; ROOM],
    /// Bytes of the beginning.
    shown: usize,
    /// Bytes of the whole text.
    len: usize,
}

impl<const ROOM: usize> Beginning<ROOM> {
    pub(crate) fn new(text: &str) -> Self {
        let most = text.len().min(ROOM);
        let shown = (0..=most).rfind(|&end| text.is_char_boundary(end)).unwrap_or(0);
        let mut bytes = [0; ROOM];
        bytes[..shown].copy_from_slice(&text.as_bytes()[..shown]);
        Self { bytes, shown, len: text.len() }
    }

    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.shown]).unwrap_or_default()
    }

    /// What a message writes after the beginning.
    pub(crate) fn dots(&self) -> &'static str {
        if self.len > self.shown { "..." } else { "" }
    }
}

impl<const ROOM: usize> fmt::Debug for Beginning<ROOM> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.as_str(), self.dots())
    }
}

/// An unknown name of a [`crate::Format`] or a [`crate::Predicate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UnknownName {
    kind: &'static str,
    name: Beginning<40>,
    known: &'static str,
}

impl UnknownName {
    /// `known` lists the names.
    pub(crate) fn new(kind: &'static str, name: &str, known: &'static str) -> Self {
        Self { kind, name: Beginning::new(name), known }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, known } = self;
        write!(f, "no {kind} has the name {name:?}; names are {known}")
    }
}

impl core::error::Error for UnknownName {}
