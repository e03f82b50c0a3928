//! The dtypes of numpy: what the elements of an array are.

use nonfinite::Format;

use super::Error;
use crate::model::{ByteOrder, Content};

/// The type of the elements of an array.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dtype {
    /// The type as the header spells it.
    pub(super) name: String,
    /// Bytes of an element.
    pub(super) size: u64,
    pub(super) content: Content,
}

impl Dtype {
    /// Parses a dtype.
    pub(super) fn new(descr: &str) -> Result<Self, Error> {
        let (size, content) = content(descr)?;
        Ok(Self { name: descr.to_owned(), size, content })
    }
}

/// The names of scalar types, and the dtypes that numpy writes for them on most systems.
const NAMES: [(&str, &str); 44] = [
    ("float16", "f2"),
    ("float32", "f4"),
    ("float64", "f8"),
    ("half", "f2"),
    ("single", "f4"),
    ("double", "f8"),
    ("float", "f8"),
    ("complex64", "c8"),
    ("complex128", "c16"),
    ("csingle", "c8"),
    ("cdouble", "c16"),
    ("complex", "c16"),
    ("bool", "b1"),
    ("int8", "i1"),
    ("int16", "i2"),
    ("int32", "i4"),
    ("int64", "i8"),
    ("uint8", "u1"),
    ("uint16", "u2"),
    ("uint32", "u4"),
    ("uint64", "u8"),
    ("byte", "i1"),
    ("ubyte", "u1"),
    ("short", "i2"),
    ("ushort", "u2"),
    ("intc", "i4"),
    ("uintc", "u4"),
    ("int", "i8"),
    ("uint", "u8"),
    ("longlong", "i8"),
    ("ulonglong", "u8"),
    // The other names may follow a byte order.
    ("e", "f2"),
    ("f", "f4"),
    ("d", "f8"),
    ("F", "c8"),
    ("D", "c16"),
    ("?", "b1"),
    ("b", "i1"),
    ("B", "u1"),
    ("h", "i2"),
    ("H", "u2"),
    ("i", "i4"),
    ("I", "u4"),
    ("q", "i8"),
];

/// The byte order at the beginning of a dtype, and the rest. Without a byte order, and for `=` and
/// `|`, numbers have that of the machine, as in numpy.
fn byte_order(descr: &str) -> (Option<ByteOrder>, &str) {
    match descr.split_at_checked(1) {
        Some(("<", rest)) => (Some(ByteOrder::Little), rest),
        Some((">", rest)) => (Some(ByteOrder::Big), rest),
        Some(("=" | "|", rest)) => (Some(ByteOrder::NATIVE), rest),
        Some(_) | None => (None, descr),
    }
}

fn is_number(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Raw bytes. numpy saves the dtypes of `ml_dtypes` as raw bytes, and the file does not name them.
fn raw(descr: &str, size: u64) -> Content {
    let view = match size {
        1 => "array.view(DTYPE), such as array.view(ml_dtypes.float8_e4m3fn),",
        2 => "array.view(ml_dtypes.bfloat16)",
        _ => "array.view(DTYPE)",
    };
    let why = "is raw bytes, as numpy saves bf16 and fp8: load the array with numpy, and pass";
    Content::Unreadable(format!("dtype '{descr}' {why} {view} to nonfinite.all_finite").into())
}

/// The size of an element, and its content.
pub(crate) fn content(descr: &str) -> Result<(u64, Content), Error> {
    let unsupported = || Error::Dtype(format!("dtype '{descr}' is not supported"));
    let (order, rest) = byte_order(descr);
    let named =
        NAMES.iter().find(|(name, _)| *name == rest && (order.is_none() || name.len() == 1));
    let code = named.map_or(rest, |(_, code)| code);
    let order = order.unwrap_or(ByteOrder::NATIVE);
    let floats = |format: Format, parts| {
        Ok(((format.size_in_bytes() * parts) as u64, Content::Floats { format, parts, order }))
    };
    let other = |count: &str, unit: u64| {
        let count = if is_number(count) { count.parse::<u64>().ok() } else { None };
        let size = count.and_then(|count| count.checked_mul(unit)).ok_or_else(unsupported)?;
        Ok((size, Content::NotFloat))
    };
    let (kind, size) = code.split_at_checked(1).ok_or_else(unsupported)?;
    match (kind, size) {
        ("f", "2") => floats(Format::F16, 1),
        ("f", "4") => floats(Format::F32, 1),
        ("f", "8") => floats(Format::F64, 1),
        ("c", "8") => floats(Format::F32, 2),
        ("c", "16") => floats(Format::F64, 2),
        ("b", "1") | ("i" | "u", "1" | "2" | "4" | "8") | ("S", _) => other(size, 1),
        ("U", _) => other(size, 4),
        // Times carry a unit, as in `<M8[ns]`.
        ("M" | "m", _) if size == "8" || size.starts_with("8[") => other("8", 1),
        ("V", size) => {
            let size = size.parse().map_err(|_| unsupported())?;
            Ok((size, raw(descr, size)))
        }
        ("f", "1") => {
            let why =
                "is float8_e5m2 of ml_dtypes, which numpy cannot load: save it as safetensors";
            Ok((1, Content::Unreadable(format!("dtype '{descr}' {why}").into())))
        }
        ("O", _) => Err(Error::Dtype("pickled Python objects are not supported".to_owned())),
        _ => Err(unsupported()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that numpy 2.4 accepts on x86-64, each with the byte order and the code of the dtype.
    #[test]
    fn names_of_numpy() {
        let code = |descr| content(descr).map(|(_, content)| content);
        for (descr, format, parts, order) in [
            ("=f4", Format::F32, 1, ByteOrder::NATIVE),
            ("|f4", Format::F32, 1, ByteOrder::NATIVE),
            ("f4", Format::F32, 1, ByteOrder::NATIVE),
            ("f", Format::F32, 1, ByteOrder::NATIVE),
            ("<f", Format::F32, 1, ByteOrder::Little),
            (">d", Format::F64, 1, ByteOrder::Big),
            ("float", Format::F64, 1, ByteOrder::NATIVE),
            ("half", Format::F16, 1, ByteOrder::NATIVE),
            ("float32", Format::F32, 1, ByteOrder::NATIVE),
            ("=c8", Format::F32, 2, ByteOrder::NATIVE),
            ("complex", Format::F64, 2, ByteOrder::NATIVE),
            ("D", Format::F64, 2, ByteOrder::NATIVE),
        ] {
            assert_eq!(code(descr), Ok(Content::Floats { format, parts, order }), "{descr}");
        }
        for (descr, size) in [("?", 1), ("bool", 1), ("int", 8), ("b", 1), ("<H", 2), ("uint", 8)] {
            assert_eq!(content(descr), Ok((size, Content::NotFloat)), "{descr}");
        }
        for descr in ["<float32", "f8 ", "Float64", "float8", "", "<", "=", "3f4", "g"] {
            assert!(matches!(code(descr), Err(Error::Dtype(_))), "{descr}");
        }
    }
}
