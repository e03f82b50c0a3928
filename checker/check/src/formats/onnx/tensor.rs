//! TensorProto: a tensor of an ONNX model, and where its data is.

use std::ops::Range;
use std::sync::Arc;

use nonfinite::Format;

use super::{bad, once};
use crate::containers::protobuf::{Fields, File, Malformed, Value};
use crate::model::reader::{Refused, truncated};
use crate::model::{ByteOrder, Content, Data, ReadAt, Tensor, span};

/// Opens a file of external data by its name.
type Open<'a> = dyn FnMut(&str) -> Result<Arc<dyn ReadAt>, Refused> + 'a;

/// The field that holds the numbers of a tensor without `raw_data`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    /// `float_data`, four bytes each.
    Float,
    /// `double_data`, eight bytes each.
    Double,
    /// `int32_data`. Each integer holds the bits of a number.
    Int32,
    /// Another field, for elements that are not floats.
    Other,
}

// Types of integers that have one byte each.
const UINT8: u64 = 2;
const INT8: u64 = 3;

/// TensorProto.DataType: each number, and its name.
#[rustfmt::skip]
const TYPES: [(u64, &str); 28] = [
    (1, "float"), (UINT8, "uint8"), (INT8, "int8"), (4, "uint16"), (5, "int16"), (6, "int32"),
    (7, "int64"), (8, "string"), (9, "bool"), (10, "float16"), (11, "double"), (12, "uint32"),
    (13, "uint64"), (14, "complex64"), (15, "complex128"), (16, "bfloat16"),
    (17, "float8e4m3fn"), (18, "float8e4m3fnuz"), (19, "float8e5m2"), (20, "float8e5m2fnuz"),
    (21, "uint4"), (22, "int4"), (23, "float4e2m1"), (24, "float8e8m0"), (25, "uint2"),
    (26, "int2"), (27, "float6e2m3"), (28, "float6e3m2"),
];

/// The name, the content and the field of a type. None for an unknown number.
fn data_type(code: u64) -> Option<(&'static str, Content, Field)> {
    let (_, name) = TYPES.iter().find(|(known, _)| *known == code)?;
    let content = Content::named(name, ByteOrder::Little).unwrap_or(Content::NotFloat);
    let field = match content {
        Content::Floats { format: Format::F32, .. } => Field::Float,
        Content::Floats { format: Format::F64, .. } => Field::Double,
        Content::Floats { .. } => Field::Int32,
        _ => Field::Other,
    };
    Some((name, content, field))
}

/// Numbers of a repeated field: packed in one piece of the file, as writers have them, or put
/// together.
#[derive(Default)]
pub(super) struct Numbers {
    pieces: usize,
    range: Range<u64>,
    copied: Vec<u8>,
}

impl Numbers {
    /// Adds numbers of fixed width, one or packed.
    pub(super) fn push(&mut self, file: &File<'_>, value: Value) -> Result<(), Malformed> {
        let (Value::Fixed(range) | Value::Bytes(range)) = value else { return Ok(()) };
        self.pieces += 1;
        if self.pieces == 1 {
            self.range = range;
            return Ok(());
        }
        let first = (self.pieces == 2).then(|| self.range.clone());
        for range in first.into_iter().chain([range]) {
            file.see(range, |bytes| self.copied.extend_from_slice(bytes))?;
        }
        Ok(())
    }

    /// Adds the low bits of numbers of variable length, one or packed, as little-endian bytes.
    fn push_bits(&mut self, file: &File<'_>, value: Value, size: usize) -> Result<(), Malformed> {
        self.pieces = 2;
        match value {
            Value::Varint(bits) => self.copied.extend_from_slice(&bits.to_le_bytes()[..size]),
            Value::Fixed(_) => {}
            Value::Bytes(range) => {
                let mut numbers = Fields::new(file, range);
                while let Some(bits) = numbers.varint()? {
                    self.copied.extend_from_slice(&bits.to_le_bytes()[..size]);
                }
            }
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The length in bytes.
    fn len(&self) -> u64 {
        if self.pieces < 2 { span(&self.range) } else { self.copied.len() as u64 }
    }

    fn data(self) -> Data {
        if self.pieces < 2 { Data::Input(self.range) } else { Data::Owned(self.copied) }
    }

    /// The numbers as a tensor of f32: one number, or a list.
    pub(super) fn tensor(self, name: String, scalar: bool) -> Result<Tensor, Refused> {
        let elements = self.len() / 4;
        let wants = if scalar { 4 } else { 4 * elements };
        if self.len() != wants {
            return Err(of_tensor(&name, length(self.len(), wants)));
        }
        let shape = if scalar { Vec::new() } else { vec![elements] };
        let content = Content::Floats { format: Format::F32, parts: 1, order: ByteOrder::Little };
        Ok(Tensor::new(name, "float", shape, content, self.data()))
    }
}

fn of_tensor(name: &str, why: String) -> Refused {
    bad(format_args!("tensor {name:?}: {why}"))
}

fn length(has: u64, wants: u64) -> String {
    format!("{has} bytes or numbers of data, where shape and type ask for {wants}")
}

/// The fields of a TensorProto.
#[derive(Default)]
pub(super) struct Proto {
    pub(super) name: String,
    dims: Vec<i64>,
    data_type: u64,
    raw: Option<Range<u64>>,
    float: Numbers,
    double: Numbers,
    /// Kept encoded, since their width depends on the type, which may come later in the message.
    int32: Vec<Value>,
    segment: bool,
    external: bool,
    /// The keys and values that describe external data.
    entries: Vec<(String, String)>,
}

impl Proto {
    pub(super) fn read(file: &File<'_>, message: Range<u64>) -> Result<Self, Malformed> {
        let mut proto = Self::default();
        for field in Fields::new(file, message) {
            match field? {
                (1, Value::Varint(extent)) => proto.dims.push(extent.cast_signed()),
                (1, Value::Bytes(packed)) => {
                    let mut extents = Fields::new(file, packed);
                    while let Some(extent) = extents.varint()? {
                        proto.dims.push(extent.cast_signed());
                    }
                }
                (2, Value::Varint(code)) => proto.data_type = code,
                (3, _) => proto.segment = true,
                (4, value) => proto.float.push(file, value)?,
                (5, value) => proto.int32.push(value),
                (8, Value::Bytes(range)) => proto.name = file.text(range)?,
                (9, Value::Bytes(range)) => once(&mut proto.raw, range)?,
                (10, value) => proto.double.push(file, value)?,
                (13, Value::Bytes(entry)) => {
                    let at = entry.start;
                    let mut pair = (String::new(), String::new());
                    for field in Fields::new(file, entry) {
                        match field? {
                            (1, Value::Bytes(range)) => pair.0 = file.text(range)?,
                            (2, Value::Bytes(range)) => pair.1 = file.text(range)?,
                            _ => {}
                        }
                    }
                    // Others are not read.
                    if matches!(&*pair.0, "location" | "offset" | "length") {
                        // Other readers take the last one.
                        if proto.entries.iter().any(|(key, _)| *key == pair.0) {
                            let why = "a key of external data occurs twice";
                            return Err(Malformed { at, why });
                        }
                        proto.entries.push(pair);
                    }
                }
                (14, Value::Varint(location)) => proto.external = location == 1,
                _ => {}
            }
        }
        Ok(proto)
    }

    fn entry(&self, wanted: &str) -> Option<&str> {
        let (_, value) = self.entries.iter().find(|(key, _)| key == wanted)?;
        Some(value)
    }

    /// The tensor. `open` opens a file of external data.
    pub(super) fn tensor(self, file: &File<'_>, open: &mut Open<'_>) -> Result<Tensor, Refused> {
        let name = self.name.clone();
        let bad = |why: String| of_tensor(&name, why);
        let bad_shape = || bad("a shape that cannot be".to_owned());
        let shape: Option<Vec<u64>> =
            self.dims.iter().map(|&extent| u64::try_from(extent).ok()).collect();
        let shape = shape.ok_or_else(bad_shape)?;
        let (dtype, content, field) = match data_type(self.data_type) {
            Some((dtype, _, _)) if self.segment => (
                dtype.to_owned(),
                Content::Unreadable("a segment of a tensor".into()),
                Field::Other,
            ),
            Some((dtype, content, field)) => (dtype.to_owned(), content, field),
            None => {
                let dtype = format!("type {}", self.data_type);
                (dtype, Content::Unreadable("a type that is not known".into()), Field::Other)
            }
        };
        let product = shape
            .iter()
            .try_fold(content.unit() as u64, |product, &extent| product.checked_mul(extent));
        let wants = product.filter(|&bytes| bytes <= i64::MAX as u64).ok_or_else(bad_shape)?;
        let data = match content {
            Content::Floats { format, .. } => {
                let data = match self.external {
                    true => self.external(wants, open)?,
                    false => self.inside(file, field, format.size_in_bytes())?,
                };
                if data.length() != wants {
                    return Err(bad(length(data.length(), wants)));
                }
                data
            }
            // Bytes may hold numbers of 8 bits, if the user says so. The data of other integers is
            // not needed.
            Content::NotFloat if matches!(self.data_type, UINT8 | INT8) => {
                let bytes = match self.external {
                    true => self.external(wants, open).ok(),
                    false => Some(self.inside(file, Field::Int32, 1)?),
                };
                let whole = bytes.filter(|bytes| bytes.length() == wants);
                whole.unwrap_or_else(|| Data::Owned(Vec::new()))
            }
            _ => self.not_needed(open),
        };
        Ok(Tensor::new(name, dtype, shape, content, data))
    }

    /// Empty data, since the check does not look at these elements. The data still names the
    /// external file, so that `other_files` lists the file. The file may be missing.
    fn not_needed(&self, open: &mut Open<'_>) -> Data {
        let location = self.entry("location").filter(|_| self.external);
        match location.map(open) {
            Some(Ok(source)) => Data::Other { source, range: 0..0 },
            Some(Err(_)) | None => Data::Owned(Vec::new()),
        }
    }

    /// The data, from the model itself.
    fn inside(self, file: &File<'_>, field: Field, size: usize) -> Result<Data, Malformed> {
        if let Some(raw) = self.raw {
            return Ok(Data::Input(raw));
        }
        let numbers = match field {
            Field::Float => self.float,
            Field::Double => self.double,
            Field::Int32 => {
                let mut numbers = Numbers::default();
                for value in self.int32 {
                    numbers.push_bits(file, value, size)?;
                }
                numbers
            }
            Field::Other => Numbers::default(),
        };
        Ok(numbers.data())
    }

    /// The data, from a file beside the model.
    fn external(self, wants: u64, open: &mut Open<'_>) -> Result<Data, Refused> {
        let bad = |why: String| of_tensor(&self.name, why);
        let bad_key = |key| bad(format!("external data with a bad {key}"));
        let number = |key: &'static str| match self.entry(key) {
            Some(value) => value.parse::<u64>().map(Some).map_err(|_| bad_key(key)),
            None => Ok(None),
        };
        let location = self.entry("location").ok_or_else(|| bad_key("location"))?;
        let offset = number("offset")?.unwrap_or(0);
        let length = number("length")?.unwrap_or(wants);
        let source = open(location)?;
        let file = source.length();
        let end = offset.saturating_add(length);
        if end > file {
            let why = format!("external data ends at byte {end}, its file has {file}");
            return Err(bad(truncated(file, end, why)));
        }
        Ok(Data::Other { range: offset..end, source })
    }
}
