//! The header of a .npy file: the literal of a dictionary.

use super::dtype::{Dtype, Field};
use super::{DEEP, Error, MAX_RANK, RANK, TOO_LARGE, bad};
use crate::model::source;

/// The deepest nesting of records.
pub(super) const MAX_DEPTH: usize = 32;

/// A record while it is read.
#[derive(Default)]
struct Record {
    fields: Vec<Field>,
    /// The offset of the next field.
    end: usize,
    /// Bytes of the names and axes of all fields, including the names of the records around them.
    names: usize,
}

impl Record {
    /// Adds an array of records, or one record if the shape is empty.
    fn add(&mut self, inner: Self, shape: &[usize]) -> Result<(), Error> {
        let mut stride = inner.end;
        let mut axes = Vec::new();
        for &extent in shape.iter().rev() {
            axes.push((extent, stride));
            stride = stride.checked_mul(extent).ok_or_else(|| bad(TOO_LARGE))?;
        }
        axes.reverse();
        for mut field in inner.fields {
            if axes.len() + field.axes.len() > MAX_RANK {
                return Err(bad(RANK));
            }
            // The offset is within the record, and the length of the record is counted below.
            field.offset = field.offset.saturating_add(self.end);
            field.axes.splice(0..0, axes.iter().copied());
            self.names += size_of_val(&axes[..]);
            self.fields.push(field);
        }
        self.end = self.end.checked_add(stride).ok_or_else(|| bad(TOO_LARGE))?;
        Ok(())
    }
}

/// The header of an array: its dtype, whether the first index runs fastest, and its shape.
pub(super) type Header = (Dtype, bool, Vec<usize>);

/// Reads the dictionary of a header.
pub(super) struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Reads `descr`, `fortran_order` and `shape`. Only white space may follow.
    pub(super) fn dictionary(mut self) -> Result<Header, Error> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect(b'{', "'{'")?;
        while !self.take(b'}') {
            let start = self.at;
            let key = self.string()?;
            self.expect(b':', "':'")?;
            match key {
                "descr" => set(&mut descr, "descr", self.descr()?)?,
                "fortran_order" => set(&mut fortran_order, "fortran_order", self.boolean()?)?,
                "shape" => set(&mut shape, "shape", self.shape()?)?,
                _ => {
                    self.at = start;
                    return self.fail("'descr', 'fortran_order' or 'shape'");
                }
            }
            if !self.take(b',') {
                self.expect(b'}', "',' or '}'")?;
                break;
            }
        }
        self.space();
        if self.at != self.text.len() {
            return self.fail("nothing but space");
        }
        let missing = |key| move || bad(format!("bad .npy header: '{key}' is missing"));
        let descr = descr.ok_or_else(missing("descr"))?;
        let fortran_order = fortran_order.ok_or_else(missing("fortran_order"))?;
        Ok((descr, fortran_order, shape.ok_or_else(missing("shape"))?))
    }

    fn descr(&mut self) -> Result<Dtype, Error> {
        match self.peek() {
            Some(b'[') => {
                let mut record = Record::default();
                self.fields(&mut record, "", 0)?;
                Ok(Dtype::Record { size: record.end, fields: record.fields })
            }
            Some(b'(') => self.fail("a dtype that is no array"),
            _ => Dtype::plain(self.string()?),
        }
    }

    /// Reads a list of fields. Their names get this prefix.
    fn fields(&mut self, record: &mut Record, prefix: &str, depth: usize) -> Result<(), Error> {
        if depth == MAX_DEPTH {
            return Err(bad(DEEP));
        }
        self.expect(b'[', "'['")?;
        while !self.take(b']') {
            self.field(record, prefix, depth)?;
            if !self.take(b',') {
                self.expect(b']', "',' or ']'")?;
                break;
            }
        }
        Ok(())
    }

    /// Reads `(name, dtype)` or `(name, dtype, shape)`. The name may be a pair of a title and a
    /// name. A field without a name is a gap.
    fn field(&mut self, record: &mut Record, prefix: &str, depth: usize) -> Result<(), Error> {
        self.expect(b'(', "'('")?;
        let name = if self.take(b'(') {
            self.name()?;
            self.expect(b',', "','")?;
            let name = self.name()?;
            self.expect(b')', "')'")?;
            name
        } else {
            self.name()?
        };
        self.expect(b',', "','")?;
        let mut inner = Record { names: record.names, ..Record::default() };
        if self.peek() == Some(b'[') {
            inner.names += prefix.len() + name.len();
            self.fields(&mut inner, &format!("{prefix}{name}."), depth + 1)?;
        } else if let Dtype::Plain { name: dtype, size, content } = Dtype::field(self.string()?)? {
            inner.end = size;
            let is_gap = name.is_empty() && dtype.contains('V');
            if !is_gap {
                let name = format!("{prefix}{name}");
                inner.names += name.len();
                let (offset, axes) = (0, Vec::new());
                inner.fields.push(Field { name, dtype, content, size, offset, axes });
            }
        }
        // The name of a record is repeated in each of its fields.
        record.names = inner.names;
        if record.names > self.text.len().saturating_mul(MAX_DEPTH) {
            return Err(bad(DEEP));
        }
        let mut shape = Vec::new();
        if self.take(b',') && self.peek() != Some(b')') {
            shape = match self.peek() {
                Some(b'(') => self.shape()?,
                _ => vec![self.integer()?],
            };
            self.take(b',');
        }
        self.expect(b')', "')'")?;
        record.add(inner, &shape)
    }

    /// The name of a field, with spaces and escapes as they are written.
    fn name(&mut self) -> Result<String, Error> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else { return self.fail("a string") };
        let start = self.at + 1;
        let mut end = start;
        loop {
            match self.text.get(end) {
                Some(&byte) if byte == quote => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return self.fail("a string that ends"),
            }
        }
        self.at = end + 1;
        Ok(source::text(&self.text[start..end]))
    }

    fn boolean(&mut self) -> Result<bool, Error> {
        self.space();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        self.fail("True or False")
    }

    /// Reads a tuple of integers. As in Python, a single integer needs a comma.
    fn shape(&mut self) -> Result<Vec<usize>, Error> {
        let mut shape = Vec::new();
        self.expect(b'(', "'('")?;
        while !self.take(b')') {
            if shape.len() == MAX_RANK {
                return Err(bad(RANK));
            }
            shape.push(self.integer()?);
            if !self.take(b',') {
                self.expect(b')', "',' or ')'")?;
                if shape.len() == 1 {
                    return self.fail("',' in a tuple of one");
                }
                break;
            }
        }
        Ok(shape)
    }

    fn integer(&mut self) -> Result<usize, Error> {
        if self.take(b'-') {
            return Err(bad("bad .npy header: negative dimension"));
        }
        let start = self.at;
        let mut value = 0usize;
        while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            let next = value
                .checked_mul(10)
                .and_then(|value| value.checked_add(usize::from(digit - b'0')));
            value = next.ok_or_else(|| bad(TOO_LARGE))?;
            self.at += 1;
        }
        if self.at == start {
            return self.fail("an integer");
        }
        // Python 2 marked long integers.
        if self.text.get(self.at) == Some(&b'L') {
            self.at += 1;
        }
        Ok(value)
    }

    /// Reads a string without escapes: numpy needs escapes only in names of fields.
    fn string(&mut self) -> Result<&'a str, Error> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else { return self.fail("a string") };
        let rest = &self.text[self.at + 1..];
        let Some(length) = rest.iter().position(|&byte| byte == quote) else {
            return self.fail("a string that ends");
        };
        match std::str::from_utf8(&rest[..length]) {
            Ok(string) if string.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') => {
                self.at += length + 2;
                Ok(string)
            }
            _ => self.fail("a string of plain characters"),
        }
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_ascii_start().len();
    }

    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Error> {
        if self.take(byte) { Ok(()) } else { self.fail(expected) }
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, Error> {
        let at = self.at;
        let why = format!("bad .npy header: expected {expected} at byte {at} of the dictionary");
        Err(bad(why))
    }
}

fn set<T>(slot: &mut Option<T>, key: &'static str, value: T) -> Result<(), Error> {
    match slot.replace(value) {
        Some(_) => Err(bad(format!("bad .npy header: '{key}' is there twice"))),
        None => Ok(()),
    }
}
