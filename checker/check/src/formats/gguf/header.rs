//! The header of a GGUF file: its metadata, and how its fields are read.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use nonfinite::Format;

use crate::model::reader::Refused;
use crate::model::{ByteOrder, Content, Data, Tensor, source};

/// The metadata that the check needs.
pub(super) struct Metadata {
    pub(super) alignment: u64,
    /// The floats and arrays of floats.
    pub(super) floats: Vec<Tensor>,
    /// The files of the model.
    pub(super) parts: u64,
    /// Whole numbers by key, and the lengths of arrays by key and `[]`.
    pub(super) counts: BTreeMap<String, u64>,
}

impl Metadata {
    /// Reads a key and its value.
    pub(super) fn read(&mut self, header: &mut Header<'_>) -> Result<(), Refused> {
        let key = header.string("metadata")?;
        let kind = header.u32("metadata")?;
        if key == *b"general.alignment" {
            let value = if kind == UINT32 { u64::from(header.u32("metadata")?) } else { 0 };
            if !value.is_power_of_two() {
                let why = "general.alignment is no power of two of 32 bits";
                return Err(format!("bad GGUF header: {why}").into());
            }
            self.alignment = value;
            return Ok(());
        }
        if key == *b"split.count" && kind == UINT16 {
            let bytes = header.take("metadata")?;
            self.parts = u16::from_le_bytes(bytes).into();
            return Ok(());
        }
        let (kind, count) = match kind {
            ARRAY => {
                let kind = header.u32("metadata")?;
                (kind, Some(header.u64("metadata")?))
            }
            _ => (kind, None),
        };
        let Some((dtype, format)) = float(kind) else {
            if let (UINT32, None) = (kind, count) {
                let number = header.u32("metadata")?.into();
                self.counts.insert(source::text(&key), number);
                return Ok(());
            }
            self.counts.extend(count.map(|count| (source::text(&key) + "[]", count)));
            return header.values(kind, count, &mut io::sink());
        };
        let mut values = Vec::new();
        header.values(kind, count, &mut values)?;
        let name = format!("metadata.{}", source::text(&key));
        let shape = count.into_iter().collect();
        let content = Content::Floats { format, parts: 1, order: header.order };
        self.floats.push(Tensor::new(name, dtype, shape, content, Data::Owned(values)));
        Ok(())
    }
}

/// The name and the format of a type of values that are floats.
fn float(kind: u32) -> Option<(&'static str, Format)> {
    match kind {
        FLOAT32 => Some(("F32", Format::F32)),
        FLOAT64 => Some(("F64", Format::F64)),
        _ => None,
    }
}

// Types of metadata values without a fixed size, or with a meaning for the check.
const UINT16: u32 = 2;
const UINT32: u32 = 4;
const FLOAT32: u32 = 6;
const FLOAT64: u32 = 12;
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// Bytes of a metadata value of a type with a fixed size.
fn value_size(kind: u32) -> Result<u64, Refused> {
    match kind {
        0 | 1 | 7 => Ok(1),
        UINT16 | 3 => Ok(2),
        UINT32 | 5 | FLOAT32 => Ok(4),
        10 | 11 | FLOAT64 => Ok(8),
        _ => Err(format!("bad GGUF header: type {kind} of a value is not known").into()),
    }
}

fn cut(what: &str) -> Refused {
    format!("truncated: the file ends before its {what} does").into()
}

fn unread(error: io::Error) -> Refused {
    format!("the GGUF header cannot be read: {error}").into()
}

/// A reader of the header.
pub(super) struct Header<'a> {
    pub(super) stream: &'a mut dyn Read,
    /// Bytes read so far.
    pub(super) read: u64,
    pub(super) order: ByteOrder,
}

impl Header<'_> {
    /// The bytes of a number, the least significant byte first.
    pub(super) fn take<const SIZE: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[u8; SIZE], Refused> {
        let mut bytes = [0; SIZE];
        self.stream.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => cut(what),
            _ => unread(error),
        })?;
        self.read += SIZE as u64;
        if self.order == ByteOrder::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, Refused> {
        self.take(what).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, Refused> {
        self.take(what).map(u64::from_le_bytes)
    }

    /// Reads `length` bytes into `out`, which grows with the bytes that are there.
    fn copy(
        &mut self,
        length: u64,
        what: &'static str,
        out: &mut dyn Write,
    ) -> Result<(), Refused> {
        let copied = io::copy(&mut self.stream.take(length), &mut { out });
        let copied = copied.map_err(unread)?;
        self.read += copied;
        if copied == length { Ok(()) } else { Err(cut(what)) }
    }

    pub(super) fn string(&mut self, what: &'static str) -> Result<Vec<u8>, Refused> {
        let length = self.u64(what)?;
        let mut string = Vec::new();
        self.copy(length, what, &mut string)?;
        Ok(string)
    }

    /// Copies a value, or an array of `count` values. Skips texts.
    fn values(
        &mut self,
        kind: u32,
        count: Option<u64>,
        out: &mut dyn Write,
    ) -> Result<(), Refused> {
        match kind {
            // Each text takes bytes, so the loop ends with the file at the latest.
            STRING => (0..count.unwrap_or(1)).try_for_each(|_| self.string("metadata").map(drop)),
            ARRAY => Err("bad GGUF header: an array of arrays".into()),
            _ => {
                let length = value_size(kind)?.checked_mul(count.unwrap_or(1));
                let length = length.ok_or_else(|| cut("metadata"))?;
                self.copy(length, "metadata", out)
            }
        }
    }
}
