//! Protocol buffers: the fields of a message, one after the other. Reads keys and lengths, passes
//! over bytes, and verifies each length.

use std::cell::RefCell;
use std::ops::Range;

use crate::model::ranges::ReadAhead;
use crate::model::{ReadAt, source, span};

/// An error in a message: the byte of the file, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bad protocol buffer: at byte {at} {why}")]
pub(crate) struct Malformed {
    /// The byte of the file.
    pub(crate) at: u64,
    /// The reason.
    pub(crate) why: &'static str,
}

/// A file of messages, which several walks read.
pub(crate) struct File<'a>(RefCell<ReadAhead<'a>>);

impl<'a> File<'a> {
    pub(crate) fn new(source: &'a dyn ReadAt) -> Self {
        Self(RefCell::new(ReadAhead::new(source)))
    }

    /// Passes the bytes of a range to a function.
    pub(crate) fn see<T>(
        &self,
        range: Range<u64>,
        see: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Malformed> {
        let at = range.start;
        let unread = |_| Malformed { at, why: "the file cannot be read" };
        self.0.borrow_mut().get(range).map(see).map_err(unread)
    }

    /// The text in a range.
    pub(crate) fn text(&self, range: Range<u64>) -> Result<String, Malformed> {
        self.see(range, source::text)
    }
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A number of variable length.
    Varint(u64),
    /// Four or eight bytes of the file.
    Fixed(Range<u64>),
    /// Bytes of the file: text, a message or packed numbers.
    Bytes(Range<u64>),
}

/// The fields of the message in a range of a file.
pub(crate) struct Fields<'w, 'a> {
    file: &'w File<'a>,
    rest: Range<u64>,
    /// The end of a field that ends behind its message, after that error.
    pub(crate) end: Option<u64>,
}

impl<'w, 'a> Fields<'w, 'a> {
    /// The range must be within the file.
    pub(crate) fn new(file: &'w File<'a>, message: Range<u64>) -> Self {
        Self { file, rest: message, end: None }
    }

    /// The next number of variable length. None at the end.
    pub(crate) fn varint(&mut self) -> Result<Option<u64>, Malformed> {
        let Range { start, end } = self.rest;
        if start == end {
            return Ok(None);
        }
        let number = |bytes: &[u8]| {
            let mut value = 0;
            for (i, &byte) in bytes.iter().enumerate() {
                // Bits beyond 64 are dropped, as other readers do.
                value |= u64::from(byte & 0x7F) << (7 * i);
                if byte < 0x80 {
                    return Some((value, i as u64 + 1));
                }
            }
            None
        };
        match self.file.see(start..end.min(start + 10), number)? {
            Some((value, length)) => {
                self.rest.start = start + length;
                Ok(Some(value))
            }
            None if end - start < 10 => Err(Malformed { at: start, why: "a number is cut off" }),
            None => Err(Malformed { at: start, why: "a number is too long" }),
        }
    }

    fn take(&mut self, length: u64) -> Result<Range<u64>, Malformed> {
        let start = self.rest.start;
        if length > span(&self.rest) {
            self.end = Some(length.saturating_add(start));
            return Err(Malformed { at: start, why: "a field ends behind its message" });
        }
        self.rest.start = start + length;
        Ok(start..start + length)
    }

    fn field(&mut self) -> Result<Option<(u64, Value)>, Malformed> {
        let at = self.rest.start;
        let Some(key) = self.varint()? else { return Ok(None) };
        let value = match key & 7 {
            0 => match self.varint()? {
                Some(number) => Value::Varint(number),
                None => return Err(Malformed { at, why: "a number is missing" }),
            },
            1 => Value::Fixed(self.take(8)?),
            2 => match self.varint()? {
                Some(length) => Value::Bytes(self.take(length)?),
                None => return Err(Malformed { at, why: "a length is missing" }),
            },
            5 => Value::Fixed(self.take(4)?),
            _ => return Err(Malformed { at, why: "no such kind of field" }),
        };
        match key >> 3 {
            0 => Err(Malformed { at, why: "field number 0" }),
            number => Ok(Some((number, value))),
        }
    }
}

impl Iterator for Fields<'_, '_> {
    type Item = Result<(u64, Value), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.field().transpose();
        if let Some(Err(_)) = next {
            self.rest.start = self.rest.end;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(file: &[u8]) -> Result<Vec<(u64, Value)>, Malformed> {
        Fields::new(&File::new(&file), 0..file.length()).collect()
    }

    #[test]
    fn kinds_of_fields() {
        // The example of the encoding's documentation: field 1 is 150; then text, four and eight
        // bytes.
        let file =
            b"\x08\x96\x01\x12\x02hi\x1D\x01\x02\x03\x04\x21\x01\x02\x03\x04\x05\x06\x07\x08";
        let fields = all(file).unwrap();
        let want = [
            (1, Value::Varint(150)),
            (2, Value::Bytes(5..7)),
            (3, Value::Fixed(8..12)),
            (4, Value::Fixed(13..21)),
        ];
        assert_eq!(fields, want);
        assert_eq!(all(b"").unwrap(), []);
        let most = b"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01";
        assert_eq!(all(most).unwrap(), [(1, Value::Varint(u64::MAX))]);
    }

    #[test]
    fn malformed() {
        for (file, at) in [
            (&b"\x08"[..], 0),
            (b"\x08\x96", 1),
            (b"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 1),
            (b"\x12\x03hi", 2),
            (b"\x12", 0),
            (b"\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 11),
            (b"\x0B\x0C", 0),
            (b"\x00\x01", 0),
            (b"\x1D\x01\x02\x03", 1),
        ] {
            assert_eq!(all(file).unwrap_err().at, at, "{file:x?}");
        }
    }
}
