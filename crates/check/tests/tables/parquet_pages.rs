//! Parquet: groups of many rows, lists that go on in the next page, and each compression.

use std::io::Write;

use nonfinite_check::FileFormat;
use parquet::data_type::FloatType;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use crate::bounds::{Chunk, page};
use crate::parquet::{Column, LISTS, report, write};
use crate::parquet_lies::{leaf, zigzag};
use crate::{assert_one, refused};

/// More rows than are decoded at a time, in two groups. The kinds come in any order.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn rows_of_large_groups() {
    const ROWS: usize = 40_000;
    let is_null = |row: usize| row % 7 == 3;
    let pairs = [(0, 39_999), (16_383, 16_384), (16_388, 16_385), (20_000, 30), (39_998, 32_769)];
    for (nan, infinity) in pairs {
        let number = |row: usize| match row {
            _ if row == nan => f32::NAN,
            _ if row == infinity => f32::INFINITY,
            _ => 1.0,
        };
        let required: Vec<f32> = (0..ROWS).map(number).collect();
        let there = (0..ROWS).filter(|&row| !is_null(row) || row == nan || row == infinity);
        let optional: Vec<f32> = there.clone().map(number).collect();
        let mut levels = vec![0i16; ROWS];
        there.for_each(|row| levels[row] = 1);
        let plain = Column { values: &required, definition: None, repetition: None };
        let nulls = Column { values: &optional, definition: Some(&levels), repetition: None };
        let properties = || {
            let builder = WriterProperties::builder();
            builder.set_column_dictionary_enabled(ColumnPath::from("x"), false).build()
        };
        for (schema, column) in [("required", plain), ("optional", nulls)] {
            let schema = format!("message table {{ {schema} float x; }}");
            let first = [1.0f32; 5];
            let ones = column.definition.map(|_| &[1i16; 5][..]);
            let first = Column { values: &first, definition: ones, repetition: None };
            let file = write::<FloatType>(&schema, properties(), &[first, column]);
            let found = report(&file).tensors.remove(0).found;
            let first = |finding: nonfinite_check::Finding| {
                (finding.count, finding.first.expect("one").coordinate)
            };
            let found = (first(found.nan), first(found.pos_inf));
            assert_eq!(found, ((1, vec![nan + 5]), (1, vec![infinity + 5])), "{schema}");
        }
    }
}

/// Lists of three elements, of which one is null, over several pages.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn rows_of_many_lists() {
    const COUNT: usize = 1000;
    let definition: Vec<i16> = [3, 2, 3].repeat(COUNT);
    let repetition: Vec<i16> = [0, 1, 1].repeat(COUNT);
    for (nan, infinity) in [(0, 1999), (1998, 1), (1000, 1001), (1001, 998)] {
        let mut values = vec![1.0f32; 2 * COUNT];
        (values[nan], values[infinity]) = (f32::NAN, f32::INFINITY);
        let column = Column::<FloatType> {
            values: &values,
            definition: Some(&definition),
            repetition: Some(&repetition),
        };
        let properties = WriterProperties::builder().set_data_page_row_count_limit(300);
        let file = write(LISTS, properties.set_write_batch_size(64).build(), &[column]);
        let found = report(&file).tensors.remove(0).found;
        let row = |finding: nonfinite_check::Finding| finding.first.expect("one").coordinate;
        assert_eq!((row(found.nan), row(found.pos_inf)), (vec![nan / 2], vec![infinity / 2]));
    }
}

/// A list may go on in the next page. The first page of a chunk begins a list.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn lists_over_pages() {
    let column = b"\x15\x08\x25\x04\x18\x01x\0";
    let levels = |runs: &[u8]| [&(runs.len() as u32).to_le_bytes()[..], runs].concat();
    let part = |repetition: &[u8], numbers: [f32; 2]| {
        let numbers = numbers.map(f32::to_le_bytes).concat();
        let data = [levels(repetition), levels(&[2 << 1, 1]), numbers].concat();
        page(2, data.len() as i32, &data)
    };
    let begin = part(&[1 << 1, 0, 1 << 1, 1], [1.0, 2.0]);
    let go_on = part(&[2 << 1, 1], [3.0, f32::NAN]);
    let file = |pages: &[&[u8]], rows| {
        let (body, values) = (pages.concat(), 2 * pages.len() as u64);
        let chunk = Chunk { values, at: 4, length: body.len() as u64, ..Chunk::default() };
        chunk.groups(1, rows, &body, column)
    };
    let tensor = report(&file(&[&begin, &go_on], 1)).tensors.remove(0);
    assert_one(&tensor, 0, &[0], 0x7FC0_0000, "one list");
    let tensor = report(&file(&[&begin, &begin, &go_on], 2)).tensors.remove(0);
    assert_one(&tensor, 0, &[1], 0x7FC0_0000, "two lists");
    let refused = |file: &[u8]| refused(file, FileFormat::PARQUET, "rows than its footer says");
    refused(&file(&[&go_on], 0));
    refused(&file(&[&go_on, &begin], 1));
    refused(&file(&[&begin, &go_on], 2));
}

/// Levels in packed bits are refused, and so is any encoding other than runs: read as runs or from
/// the lowest bit on, the numbers below would be nulls. A column without levels may say anything.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn levels_that_are_no_runs() {
    let numbers = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    // Two levels, 1 and 1, or 0 and 1, from the highest bit on.
    let ones = [0b1100_0000];
    let list = [0b0100_0000];
    let runs = [&4u32.to_le_bytes()[..], &[1 << 1, 0, 1 << 1, 1]].concat();
    let [required, optional, repeated] =
        [0, 2, 4].map(|kind| [0x15, 8, 0x25, kind, 0x18, 1, b'x', 0]);
    let file = |column: &[u8], levels: &[u8], [definition, repetition]: [i32; 2]| {
        let data = [levels, &numbers].concat();
        let length = zigzag(data.len() as i32);
        let header = [
            b"\x15\0\x15",
            &length[..],
            b"\x15",
            &length,
            b"\x2C\x15\x04\x15\0\x15",
            &zigzag(definition),
            b"\x15",
            &zigzag(repetition),
            b"\0\0",
        ];
        let body = [&header.concat()[..], &data].concat();
        let chunk = Chunk { values: 2, at: 4, length: body.len() as u64, ..Chunk::default() };
        let rows = if column == repeated { 1 } else { 2 };
        chunk.groups(1, rows, &body, column)
    };
    for encodings in [[3, 3], [4, 4], [0, 0], [4, 3]] {
        let tensor = report(&file(&required, &[], encodings)).tensors.remove(0);
        assert_one(&tensor, 0, &[1], 0x7FC0_0000, "no levels");
    }
    // The encoding of lists says nothing where there are none.
    let one = [&2u32.to_le_bytes()[..], &[2 << 1, 1]].concat();
    for encodings in [[3, 3], [3, 4], [3, 0]] {
        let tensor = report(&file(&optional, &one, encodings)).tensors.remove(0);
        assert_one(&tensor, 0, &[1], 0x7FC0_0000, "levels of nulls");
    }
    let refused = |file: &[u8], message| refused(file, FileFormat::PARQUET, message);
    refused(&file(&optional, &ones, [4, 4]), "encoding 4 of levels");
    refused(&file(&optional, &one, [0, 3]), "encoding 0 of levels");
    let both = [&runs[..], &one].concat();
    let tensor = report(&file(&repeated, &both, [3, 3])).tensors.remove(0);
    assert_one(&tensor, 0, &[0], 0x7FC0_0000, "a list");
    refused(&file(&repeated, &[&list[..], &one].concat(), [3, 4]), "encoding 4 of levels");
    refused(&file(&repeated, &[&runs[..], &ones].concat(), [4, 3]), "encoding 4 of levels");
}

/// Compresses a page.
type Codec<'c> = &'c dyn Fn(&[u8]) -> Vec<u8>;

/// Pages of each compression: whole, shorter than their header says, and longer.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn compressed_pages() {
    let data = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let gzip = |data: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    };
    let zstd = |data: &[u8]| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        ruzstd::encoding::compress_to_vec(data, level)
    };
    let snappy = |data: &[u8]| snap::raw::Encoder::new().compress_vec(data).expect("short");
    let none = |data: &[u8]| data.to_vec();
    let codecs: [(u8, Codec<'_>); 5] = [
        (0, &none),
        (1, &snappy),
        (2, &gzip),
        (6, &zstd),
        (7, &|data| lz4_flex::block::compress(data)),
    ];
    for (codec, compress) in codecs {
        let file = |data: &[u8]| {
            let body = page(2, 8, &compress(data));
            let length = body.len() as u64;
            Chunk { values: 2, at: 4, length, codec, ..Chunk::default() }.file(&body, &leaf("x"))
        };
        let tensor = report(&file(&data)).tensors.remove(0);
        assert_one(&tensor, 0, &[1], 0x7FC0_0000, "compressed");
        for other in [&data[..7], &[&data[..], &[0]].concat()] {
            refused(&file(other), FileFormat::PARQUET, "tensor \"x\"");
        }
    }
}

/// A page of nulls only has no data to decompress.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn pages_of_nulls() {
    let levels = [3 << 1, 0];
    // Three values, three nulls, three rows, plain, and the length of the levels.
    let fields = [b"\x5C\x15\x06\x15\x06\x15\x06\x15\0\x15", &zigzag(2)[..], b"\x15\0\0\0"];
    let length = zigzag(levels.len() as i32);
    let header = [b"\x15\x06\x15", &length[..], b"\x15", &length, &fields.concat()].concat();
    let body = [&header[..], &levels].concat();
    let length = body.len() as u64;
    let chunk = Chunk { values: 3, at: 4, length, codec: 1, ..Chunk::default() };
    let report = report(&chunk.file(&body, b"\x15\x08\x25\x02\x18\x01x\0"));
    assert!(report.is_complete() && !report.is_bad());
    assert_eq!(report.tensors[0].shape, [3]);
}

/// Levels of version 2 are not compressed: those of lists, and those of nulls.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn compressed_lists_of_version_2() {
    // A row of two elements. The levels of lists come first.
    let (repetition, definition) = ([1 << 1, 0, 1 << 1, 1], [2 << 1, 1]);
    let values = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let packed = snap::raw::Encoder::new().compress_vec(&values).expect("short data");
    let length = |data: &[u8]| zigzag((6 + data.len()) as i32);
    // Two values, no nulls, one row, plain, and the lengths of the levels.
    let fields = b"\x5C\x15\x04\x15\0\x15\x02\x15\0\x15\x04\x15\x08\0\0";
    let header = [b"\x15\x06\x15", &length(&values)[..], b"\x15", &length(&packed), fields];
    let body = [&header.concat()[..], &repetition, &definition, &packed].concat();
    let length = body.len() as u64;
    let chunk = Chunk { values: 2, at: 4, length, codec: 1, ..Chunk::default() };
    let tensor =
        report(&chunk.groups(1, 1, &body, b"\x15\x08\x25\x04\x18\x01x\0")).tensors.remove(0);
    assert_one(&tensor, 0, &[0], 0x7FC0_0000, "a list");
}

/// Dictionaries of both encodings, and one that has fewer values than it says.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn dictionaries() {
    let values = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let file = |claimed: i32, encoding: i32| {
        let lengths = |data: &[u8]| {
            let length = zigzag(data.len() as i32);
            [b"\x15", &length[..], b"\x15", &length].concat()
        };
        let (claimed, dictionary) = (zigzag(claimed), b"\x15\x04");
        let plain = if encoding == 2 { b"\x15\x04" } else { b"\x15\0" };
        let fields = [b"\x4C\x15", &claimed[..], plain, b"\0\0"].concat();
        let dictionary = [&dictionary[..], &lengths(&values), &fields, &values].concat();
        // One bit for each index: two runs of one.
        let indices = [1, 1 << 1, 0, 1 << 1, 1];
        let encoding = zigzag(encoding);
        let fields = [b"\x2C\x15\x04\x15", &encoding[..], b"\x15\x06\x15\x06\0\0"].concat();
        let data = [b"\x15\0", &lengths(&indices)[..], &fields, &indices].concat();
        let body = [&dictionary[..], &data].concat();
        let (length, at) = (body.len() as u64, 4 + dictionary.len() as u64);
        let dictionary = Some(4);
        Chunk { values: 2, at, length, dictionary, ..Chunk::default() }.file(&body, &leaf("x"))
    };
    for encoding in [2, 8] {
        let tensor = report(&file(2, encoding)).tensors.remove(0);
        assert_one(&tensor, 0, &[1], 0x7FC0_0000, "a dictionary");
        let message = "a dictionary of more values than it has";
        refused(&file(3, encoding), FileFormat::PARQUET, message);
    }
}
