//! The header of a .npy file: the literal of a dictionary.

use super::dtype::Dtype;
use super::{Error, MAX_RANK, RANK, TOO_LARGE, bad};

/// Why a structured array is not read.
const STRUCTURED: &str = "a structured dtype, which is not read: save each field as its own array";

/// The header of an array: its dtype, whether the first index runs fastest, and its shape.
pub(super) type Header = (Dtype, bool, Vec<u64>);

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
            Some(b'[') => Err(Error::Dtype(STRUCTURED.to_owned())),
            Some(b'(') => self.fail("a dtype that is no array"),
            _ => Dtype::new(self.string()?),
        }
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
    fn shape(&mut self) -> Result<Vec<u64>, Error> {
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

    fn integer(&mut self) -> Result<u64, Error> {
        if self.take(b'-') {
            return Err(bad("bad .npy header: negative dimension"));
        }
        let start = self.at;
        let mut value = 0u64;
        while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            let next =
                value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit - b'0')));
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

    /// Reads a string without escapes: no dtype and no key has one.
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
