//! The part of Thrift's compact protocol that page headers and the schema need: structs of integers
//! and booleans, and lists of structs. All other values are skipped. The reader of the crate
//! `parquet` is private.

/// A value of a field.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Number(i64),
    Bool(bool),
    /// A struct. Its fields come next.
    Struct,
    /// A list with the number and the kind of its elements, which come next.
    List(u8, u64),
    /// Another value of this kind, which comes next.
    Other,
}

// Kinds of values.
pub(super) const I32: u8 = 5;
pub(super) const I64: u8 = 6;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Receives the number, the kind and the value of each field. Returns whether it has read the value
/// that comes next.
type OfField<'a> = dyn FnMut(&mut Thrift<'_>, i64, u8, Value) -> Option<bool> + 'a;

/// The bytes that are not read yet.
pub(super) struct Thrift<'a> {
    pub(super) rest: &'a [u8],
}

/// The deepest nesting of structs and lists. Statistics in a header have two levels.
const MAX_DEPTH: usize = 16;

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    /// An integer of variable length: seven bits in each byte, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Skips bytes or text; returns their length.
    pub(super) fn binary(&mut self) -> Option<usize> {
        let length = self.varint()?;
        self.skip(length)?;
        usize::try_from(length).ok()
    }

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads a struct.
    pub(super) fn fields(&mut self, field: &mut OfField<'_>) -> Option<()> {
        self.fields_at(0, field)
    }

    fn fields_at(&mut self, depth: usize, field: &mut OfField<'_>) -> Option<()> {
        let mut number = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            number = match head >> 4 {
                0 => self.zigzag()?,
                step => number + i64::from(step),
            };
            // A larger number could mean another field to a reader that truncates it.
            i16::try_from(number).ok()?;
            let kind = head & 0xF;
            let (value, read) = match kind {
                1 | 2 => (Value::Bool(kind == 1), true),
                4..=I64 => (Value::Number(self.zigzag()?), true),
                LIST | 10 => {
                    let (element, count) = self.list()?;
                    (Value::List(element, count), false)
                }
                STRUCT => (Value::Struct, false),
                _ => (Value::Other, false),
            };
            if field(self, number, kind, value)? || read {
                continue;
            }
            match value {
                Value::List(element, count) => self.elements(element, count, depth)?,
                _ => self.value(kind, depth)?,
            }
        }
    }

    /// The kind and the number of the elements of a list.
    fn list(&mut self) -> Option<(u8, u64)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        Some((head & 0xF, count))
    }

    /// Every element takes at least one byte, so the loop ends with the bytes.
    fn elements(&mut self, kind: u8, count: u64, depth: usize) -> Option<()> {
        (0..count).try_for_each(|_| self.value(kind, depth + 1))
    }

    /// Skips a value. A boolean in a list takes a byte.
    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth == MAX_DEPTH {
            return None;
        }
        match kind {
            1..=3 => self.skip(1),
            4..=I64 => self.varint().map(drop),
            7 => self.skip(8),
            BINARY => self.binary().map(drop),
            LIST | 10 => {
                let (element, count) = self.list()?;
                self.elements(element, count, depth)
            }
            11 => {
                let count = self.varint()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.value(kinds >> 4, depth + 1)?;
                    self.value(kinds & 0xF, depth + 1)
                })
            }
            STRUCT => self.fields_at(depth + 1, &mut |_, _, _, _| Some(false)),
            _ => None,
        }
    }
}
