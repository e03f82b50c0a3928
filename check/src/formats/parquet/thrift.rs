//! As much of Thrift's compact protocol as headers of pages take: structs of integers and booleans, and whatever else there
//! is, to be skipped. `parquet` keeps its own reader of them to itself.

/// A value of a field.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Number(i64),
    Bool(bool),
    /// A struct, of which the fields come next.
    Struct,
}

/// The rest of the bytes.
pub(super) struct Thrift<'a> {
    pub(super) rest: &'a [u8],
}

/// How far structs and lists may be nested: statistics in a header have two levels.
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

    /// An integer of variable length: seven bits a byte, the lowest first.
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

    fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads a struct. `field` gets the number and the value of each field; for a struct it says whether it has read it.
    pub(super) fn fields(
        &mut self,
        field: &mut dyn FnMut(&mut Self, i64, Value) -> Option<bool>,
    ) -> Option<()> {
        self.fields_at(0, field)
    }

    fn fields_at(
        &mut self,
        depth: usize,
        field: &mut dyn FnMut(&mut Self, i64, Value) -> Option<bool>,
    ) -> Option<()> {
        let mut number = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            number = match head >> 4 {
                0 => self.zigzag()?,
                step => number.checked_add(i64::from(step))?,
            };
            match head & 0xF {
                kind @ (1 | 2) => {
                    field(self, number, Value::Bool(kind == 1))?;
                }
                4..=6 => {
                    let value = self.zigzag()?;
                    field(self, number, Value::Number(value))?;
                }
                12 => {
                    if !field(self, number, Value::Struct)? {
                        self.value(12, depth)?;
                    }
                }
                kind => self.value(kind, depth)?,
            }
        }
    }

    /// Skips a value; booleans in lists take a byte.
    fn value(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth == MAX_DEPTH {
            return None;
        }
        match kind {
            1..=3 => self.skip(1),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.varint()?,
                    count => count.into(),
                };
                // Every element takes a byte at least, so this ends with the bytes.
                (0..count).try_for_each(|_| self.value(head & 0xF, depth + 1))
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
            12 => self.fields_at(depth + 1, &mut |_, _, _| Some(false)),
            _ => None,
        }
    }
}
