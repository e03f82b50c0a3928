//! Damaged Parquet files, and files with false claims.

use std::env;
use std::process::Command;

use ::parquet::file::properties::WriterProperties;
use nonfinite_check::FileFormat;

use crate::damaged;
use crate::parquet::{lists, report};
use crate::varint::varint;

pub(super) fn zigzag(value: i32) -> Vec<u8> {
    varint(u64::from(((value << 1) ^ (value >> 31)) as u32))
}

/// A required element of a schema, with this name and this number of members.
pub(super) fn group(name: &str, members: i32) -> Vec<u8> {
    let name = [&varint(name.len() as u64)[..], name.as_bytes()].concat();
    [b"\x35\0\x18", &name[..], b"\x15", &zigzag(members), b"\0"].concat()
}

/// A required column of floats.
pub(super) fn leaf(name: &str) -> Vec<u8> {
    let name = [&varint(name.len() as u64)[..], name.as_bytes()].concat();
    [b"\x15\x08\x25\0\x18", &name[..], b"\0"].concat()
}

/// A file without rows, of these elements.
fn schema(elements: &[Vec<u8>]) -> Vec<u8> {
    let count = varint(elements.len() as u64);
    let footer =
        [b"\x15\x02\x19\xFC", &count[..], &elements.concat(), b"\x16\0\x19\x0C\0"].concat();
    [b"PAR1", &footer[..], &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn files_that_lie() {
    let refused = |bytes: &[u8], message| crate::refused(bytes, FileFormat::PARQUET, message);
    let good = lists(1.0, WriterProperties::builder().build());
    assert!(!report(&good).is_bad());
    refused(b"PAR1", "does not end with its footer");
    refused(b"PAR1\xFF\xFF\xFF\xFFPAR1", "does not end with its footer");
    refused(b"PAR1\0\0\0\0PAR1", "a schema that is not whole");
    refused(b"PAR1\x15\x02\x04\0\0\0PARE", "encrypted");
    refused(&good[..good.len() - 1], "does not end with its footer");
    // A row group without columns.
    let elements = [group("", 1), leaf("x")].concat();
    let footer = [b"\x15\x02\x19\x2C", &elements[..], b"\x16\0\x19\x1C\0\0"].concat();
    let file = [b"PAR1", &footer[..], &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat();
    refused(&file, "bad Parquet footer");
    assert_eq!(report(&schema(&[group("", 0)])).tensors, []);
    assert_eq!(report(&schema(&[group("", 1), leaf("x")])).tensors.len(), 1);
    for elements in [
        vec![],
        vec![group("", i32::MAX)],
        vec![group("", -1)],
        vec![group("", 2), leaf("x")],
        vec![group("", 1), leaf("x"), leaf("y")],
        vec![group("", 1), group("g", 1)],
    ] {
        refused(&schema(&elements), "a schema that is not whole");
    }
    // The header of the first page: kind, then the two lengths, each a byte in this small file.
    let page = 4;
    assert_eq!((good[page], good[page + 2]), (0x15, 0x15), "a field of an integer, and the next");
    let mut bytes = good.clone();
    bytes[page + 1] = 8;
    refused(&bytes, "unknown kind");
    let mut bytes = good;
    bytes[page + 3] ^= 2;
    refused(&bytes, "tensor \"l.list.element\"");
}

/// The decoder of footers calls itself for every level, and a stack that overflows ends the
/// process.
#[test]
fn groups_nested_too_deeply() {
    let nested = |depth: usize| {
        let mut elements = vec![group("g", 1); depth];
        elements.push(leaf("x"));
        schema(&elements)
    };
    let tensors = report(&nested(64)).tensors;
    assert_eq!(tensors[0].name.as_deref(), Some(&*("g.".repeat(63) + "x")));
    for depth in [65, 100_000] {
        crate::refused(&nested(depth), FileFormat::PARQUET, "nested too deeply");
    }
}

/// The path of each column has the names of all groups above it.
#[test]
fn names_that_grow() {
    let wide = |name: &str, count: usize| {
        let mut elements = vec![group("", 1), group(name, count as i32)];
        elements.resize(count + 2, leaf("x"));
        schema(&elements)
    };
    assert_eq!(report(&wide("group", 2000)).tensors.len(), 2000);
    crate::refused(
        &wide(&"a".repeat(200_000), 2000),
        FileFormat::PARQUET,
        "names that are far longer",
    );
    // Also of empty ones, since each has a length and a place.
    let mut elements = vec![group("", 1); 64];
    elements[63] = group("", 2000);
    elements.resize(2064, leaf(""));
    crate::refused(&schema(&elements), FileFormat::PARQUET, "names that are far longer");
}

/// Fields of a struct of Thrift: number, kind and value of each, and its end.
fn fields(fields: &[(u8, u8, &[u8])]) -> Vec<u8> {
    let mut last = 0;
    let mut bytes = Vec::new();
    for &(number, kind, value) in fields {
        bytes.push((number - last) << 4 | kind);
        bytes.extend(value);
        last = number;
    }
    bytes.push(0);
    bytes
}

/// A field of another kind than that of the format could mean something else to another reader.
#[test]
fn kinds_of_fields() {
    const I32: u8 = 5;
    const I64: u8 = 6;
    let file =
        |footer: &[u8]| [b"PAR1", footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat();
    let refused = |footer: &[u8]| {
        crate::refused(&file(footer), FileFormat::PARQUET, "a schema that is not whole");
    };
    let of = |elements: &[Vec<u8>]| {
        [&[(elements.len() as u8) << 4 | 12], &elements.concat()[..]].concat()
    };
    let good = |elements: &[u8]| -> Vec<(u8, u8, Vec<u8>)> {
        vec![
            (1, I32, vec![2]),
            (2, 9, elements.to_vec()),
            (3, I64, vec![0]),
            (4, 9, vec![0x0C]),
            (5, 9, vec![0x0C]),
            (6, 8, vec![1, b'w']),
        ]
    };
    let written = |all: &[(u8, u8, Vec<u8>)]| {
        let all = all.iter().map(|(number, kind, value)| (*number, *kind, &value[..]));
        fields(&all.collect::<Vec<_>>())
    };
    let elements = of(&[group("", 1), leaf("x")]);
    assert_eq!(report(&file(&written(&good(&elements)))).tensors.len(), 1);
    for number in 1..=9 {
        let kind = if number == 3 { I32 } else { I64 };
        let mut others = good(&elements);
        others.retain(|field| field.0 != number);
        let at = others.partition_point(|field| field.0 < number);
        others.insert(at, (number, kind, vec![0]));
        refused(&written(&others));
    }
    for number in [1, 2, 3, 5, 6, 7, 8, 9, 10] {
        let mut column: Vec<(u8, u8, &[u8])> =
            vec![(1, I32, &[8]), (3, I32, &[0]), (4, 8, b"\x01x")];
        column.retain(|field| field.0 != number);
        let at = column.partition_point(|field| field.0 < number);
        column.insert(at, (number, I64, &[0]));
        refused(&written(&good(&of(&[group("", 1), fields(&column)]))));
    }
    // 64 KiB of names are never too many.
    let mut elements = vec![group("", 1), group(&"g".repeat(2000), 100)];
    elements.resize(102, leaf("x"));
    assert_eq!(report(&schema(&elements)).tensors.len(), 100);
}

#[test]
fn damaged_files() {
    damaged(&lists(f32::NAN, WriterProperties::builder().build()), FileFormat::PARQUET);
}

/// The crate `parquet` panics over a page of indices without a dictionary. The panic is an error of
/// the column, and is not printed. The check runs in a process of its own, to see all that is
/// printed.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn panics_are_silent() {
    const CHILD: &str = "NONFINITE_PANICS_ARE_SILENT";
    if env::var_os(CHILD).is_some() {
        let mut body = crate::bounds::page(1, 4, &[1, 2, 1, 0]);
        let encoding = body.len() - 4 - 7;
        assert_eq!(body[encoding - 1..encoding + 1], [0x15, 0]);
        // RLE_DICTIONARY.
        body[encoding] = 8 << 1;
        let length = body.len() as u64;
        let chunk = crate::bounds::Chunk { values: 1, at: 4, length, ..Default::default() };
        let file = chunk.file(&body, &leaf("x"));
        return crate::refused(&file, FileFormat::PARQUET, "its decoder gave up");
    }
    let mut child = Command::new(env::current_exe().expect("a test"));
    child.args(["--exact", "parquet_lies::panics_are_silent", "--nocapture"]).env(CHILD, "1");
    let output = child.output().expect("this test again");
    let printed =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success() && printed[0].contains("1 passed"), "{printed:?}");
    assert!(!printed.concat().contains("panicked"), "{printed:?}");
}
