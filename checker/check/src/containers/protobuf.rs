//! Protocol buffers: the fields of a message, one after the other. Copies nothing, and verifies
//! each length.

use std::ops::Range;

use crate::model::source::part;
use crate::model::span;

/// An error in a message: the byte of the file, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bad protocol buffer: at byte {at} {why}")]
pub(crate) struct Malformed {
    /// The byte of the file.
    pub(crate) at: u64,
    /// The reason.
    pub(crate) why: &'static str,
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
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    file: &'a [u8],
    rest: Range<u64>,
    /// The end of a field that ends behind its message, after that error.
    pub(crate) end: Option<u64>,
}

impl<'a> Fields<'a> {
    /// # Panics
    /// If the range is not within the file.
    pub(crate) fn new(file: &'a [u8], message: Range<u64>) -> Self {
        assert!(message.end <= file.len() as u64, "a message within the file");
        Self { file, rest: message, end: None }
    }

    /// The next number of variable length. None at the end.
    pub(crate) fn varint(&mut self) -> Result<Option<u64>, Malformed> {
        let start = self.rest.start;
        let mut value = 0;
        for (i, &byte) in
            part(self.file, self.rest.clone()).unwrap_or_default().iter().take(10).enumerate()
        {
            // Bits beyond 64 are dropped, as other readers do.
            value |= u64::from(byte & 0x7F) << (7 * i);
            if byte < 0x80 {
                self.rest.start = start + i as u64 + 1;
                return Ok(Some(value));
            }
        }
        match span(&self.rest) {
            0 => Ok(None),
            1..10 => Err(Malformed { at: start, why: "a number is cut off" }),
            _ => Err(Malformed { at: start, why: "a number is too long" }),
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

impl Iterator for Fields<'_> {
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
        Fields::new(file, 0..file.len() as u64).collect()
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
