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

#[cfg(test)]
mod tests {
    use super::*;

    /// The number and value of each integer of a struct, and the bytes behind the struct.
    fn integers(bytes: &[u8]) -> Option<(Vec<(i64, i64)>, usize)> {
        let (mut thrift, mut found) = (Thrift { rest: bytes }, Vec::new());
        thrift.fields(&mut |_, field, _, value| {
            if let Value::Number(number) = value {
                found.push((field, number));
            }
            Some(false)
        })?;
        Some((found, thrift.rest.len()))
    }

    /// A value of each kind, as an element of a list.
    const VALUES: [(u8, &[u8]); 14] = [
        (1, &[1]),
        (2, &[2]),
        (3, &[0x80]),
        (4, &[0x80, 1]),
        (I32, &[0xFF, 0xFF, 3]),
        (I64, &[5]),
        (7, &[0xFF; 8]),
        (BINARY, &[3, b'a', b'b', b'c']),
        (LIST, &[0x25, 2, 4]),
        (10, &[0x18, 1, b'a']),
        (11, &[0]),
        (11, &[2, 0x81, 1, b'a', 1, 1, b'b', 2]),
        (STRUCT, &[0]),
        (STRUCT, &[0x15, 2, 0]),
    ];

    /// Every kind is skipped in full: the integer behind a value is found.
    #[test]
    fn values_are_skipped() {
        let behind = [0x15, 6, 0, 0xEE, 0xEE];
        for (kind, value) in VALUES {
            for count in [0, 1, 3, 20u8] {
                let head = match count {
                    20 => vec![0x19, 0xF0 | kind, count],
                    _ => vec![0x19, count << 4 | kind],
                };
                let list = [&head[..], &value.repeat(count.into()), &behind].concat();
                assert_eq!(integers(&list), Some((vec![(2, 3)], 2)), "{kind}: {list:?}");
            }
            // As a field. A boolean field has no value, and integers are values of their own.
            if kind >= 7 {
                let field = [&[0x10 | kind][..], value, &behind].concat();
                assert_eq!(integers(&field), Some((vec![(2, 3)], 2)), "{kind}: {field:?}");
            }
            // As the key and as the value of a map, beside a value of another length.
            let other = [1, b'x'];
            let key = [&[0x1B, 1, kind << 4 | BINARY][..], value, &other, &behind].concat();
            let mapped = [&[0x1B, 1, BINARY << 4 | kind][..], &other, value, &behind].concat();
            assert_eq!(integers(&key), Some((vec![(2, 3)], 2)), "{kind}");
            assert_eq!(integers(&mapped), Some((vec![(2, 3)], 2)), "{kind}");
            // Bytes that end too early.
            for end in 0..key.len() - 2 {
                assert_eq!(integers(&key[..end]), None, "{kind}: {end}");
            }
        }
        for kind in [0, 13, 15] {
            assert_eq!(integers(&[0x19, 0x10 | kind, 1, 0]), None, "{kind}");
        }
    }

    #[test]
    fn numbers_of_fields() {
        assert_eq!(integers(&[0x05, 0xFE, 0xFF, 3, 7, 0]), Some((vec![(32767, -4)], 0)));
        assert_eq!(integers(&[0x05, 0x80, 0x80, 4, 7, 0]), None);
        assert_eq!(integers(&[0x11, 0x22, 0x15, 1, 0]), Some((vec![(4, -1)], 0)));
    }

    /// The reader calls itself for every level of lists, maps and structs.
    #[test]
    fn nesting_is_bounded() {
        let lists = |depth| [&[0x19][..], &[0x19].repeat(depth), &[0x05, 0]].concat();
        let maps = |depth, kinds| {
            let other: &[u8] = if kinds == 0xB1 { &[1] } else { &[] };
            let before: &[u8] = if kinds == 0x1B { &[1] } else { &[] };
            let start = [&[1, kinds][..], before].concat().repeat(depth);
            [&[0x1B][..], &start, &[0], &other.repeat(depth), &[0]].concat()
        };
        let structs = |depth| [[0x1C].repeat(depth + 1), vec![0; depth + 2]].concat();
        for (depth, is_read) in
            [(1, true), (MAX_DEPTH - 1, true), (MAX_DEPTH, false), (100_000, false)]
        {
            for bytes in [lists(depth), maps(depth, 0xB1), maps(depth, 0x1B), structs(depth)] {
                assert_eq!(integers(&bytes).is_some(), is_read, "{depth}: {:?}", &bytes[..3]);
            }
        }
    }
}
