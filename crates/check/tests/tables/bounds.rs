//! Bounds of the readers of tables.

use arrow_ipc as fb;
use flatbuffers::FlatBufferBuilder;
use nonfinite_check::{FileFormat, LookedAt, Options, check_bytes};

use crate::parquet_lies::{group, leaf, zigzag};
use crate::varint::varint;
use crate::write::{Form, Kind, Message, Node, field};
use crate::{assert_one, refused};

/// What the footer says of the only chunk of a file.
#[derive(Clone, Copy, Default)]
pub(super) struct Chunk {
    pub(super) values: u64,
    /// Where the data pages begin.
    pub(super) at: u64,
    pub(super) length: u64,
    pub(super) dictionary: Option<u64>,
    /// The codec: 0 is none, 1 is Snappy.
    pub(super) codec: u8,
}

fn long(value: u64) -> Vec<u8> {
    varint(value << 1)
}

impl Chunk {
    /// ColumnMetaData of a plain column `x` of floats.
    fn description(self) -> Vec<u8> {
        let mut bytes = b"\x15\x08\x19\x15\x06\x19\x18\x01x\x15".to_vec();
        bytes.push(self.codec << 1);
        let mut last = 4;
        let fields = [
            (5, Some(self.values)),
            (6, Some(self.length)),
            (7, Some(self.length)),
            (9, Some(self.at)),
            (11, self.dictionary),
        ];
        for (field, value) in fields {
            let Some(value) = value else { continue };
            // The step to the field, and the kind of an i64.
            bytes.push((field - last) << 4 | 6);
            bytes.extend(long(value));
            last = field;
        }
        bytes.push(0);
        bytes
    }

    /// A file of these bytes and one row group. `column` is the element of the schema.
    pub(super) fn file(self, body: &[u8], column: &[u8]) -> Vec<u8> {
        file(&[(self, self.values)], body, column)
    }

    /// A file of these bytes and of this number of row groups with this number of rows, all of
    /// which have this chunk.
    pub(super) fn groups(self, groups: usize, rows: u64, body: &[u8], column: &[u8]) -> Vec<u8> {
        file(&vec![(self, rows); groups], body, column)
    }
}

/// A file of these bytes and of row groups of a chunk each, with their numbers of rows.
pub(super) fn file(groups: &[(Chunk, u64)], body: &[u8], column: &[u8]) -> Vec<u8> {
    let all = long(groups.iter().map(|(_, rows)| rows).sum());
    let row_group = |(chunk, rows): &(Chunk, u64)| {
        let (size, rows) = (long(chunk.length), long(*rows));
        let chunk = [b"\x26\x08\x1C", &chunk.description()[..], b"\0"].concat();
        [b"\x19\x1C", &chunk[..], b"\x16", &size, b"\x16", &rows, b"\0"].concat()
    };
    let row_groups: Vec<u8> = groups.iter().flat_map(row_group).collect();
    let schema = [b"\x15\x02\x19\x2C", &group("", 1)[..], column].concat();
    let groups = [&[(groups.len() as u8) << 4 | 0xC][..], &row_groups].concat();
    let footer = [&schema[..], b"\x16", &all, b"\x19", &groups, b"\0"].concat();
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", body, &footer, &length, b"PAR1"].concat()
}

/// A page of plain values, with lengths that its header claims.
pub(super) fn page(values: i32, claimed: i32, data: &[u8]) -> Vec<u8> {
    let lengths = [b"\x15\0\x15", &zigzag(claimed)[..], b"\x15", &zigzag(data.len() as i32)];
    let header =
        [&lengths.concat()[..], b"\x2C\x15", &zigzag(values), b"\x15\0\x15\x06\x15\x06\0\0"];
    [&header.concat()[..], data].concat()
}

/// A page is decompressed into memory, at most 256 MiB of it.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn lengths_of_pages() {
    for (claimed, message) in [(0, "another length"), (1, "a page of 268435457 bytes")] {
        let body = page(1, (256 << 20) + claimed, &[0; 4]);
        let chunk = Chunk { values: 1, at: 4, length: body.len() as u64, ..Chunk::default() };
        refused(&chunk.file(&body, &leaf("x")), FileFormat::PARQUET, message);
    }
}

/// All levels of a page of lists are in memory.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn values_of_pages_of_lists() {
    let most = 16 << 20;
    for (values, message) in [(most, "tensor \"x\""), (most + 1, "16777217 values in lists")] {
        let body = page(values, 4, &[0; 4]);
        let (values, length) = (values as u64, body.len() as u64);
        let chunk = Chunk { values, at: 4, length, ..Chunk::default() };
        // A repeated column.
        let column = b"\x15\x08\x25\x04\x18\x01x\0";
        let options = Options { max_bytes: Some(u64::MAX), ..Options::default() };
        let error = check_bytes(&chunk.file(&body, column), FileFormat::PARQUET, &options);
        let error = error.expect_err("a page without levels").to_string();
        assert!(error.contains(message), "{error}");
        assert_eq!(error.contains("values in lists"), values > most as u64, "{error}");
    }
}

/// Pages of version 2: levels without compression, and values with or without. An index page is
/// passed over.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn pages_of_version_2() {
    // Ten values, a null, and a NaN, as runs of levels: a length and the level.
    let levels = [10 << 1, 1, 1 << 1, 0, 1 << 1, 1];
    let values = [&[1.0; 10][..], &[f32::NAN]].concat();
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let packed = snap::raw::Encoder::new().compress_vec(&values).expect("short data");
    let uncompressed = (levels.len() + values.len()) as i32;
    for (codec, data, flag) in [
        (1, &packed, &b""[..]),
        (1, &packed, b"\x11"),
        (1, &values, b"\x12"),
        (0, &values, b""),
        (0, &values, b"\x11"),
    ] {
        let header = [
            b"\x15\x06\x15",
            &zigzag(uncompressed)[..],
            b"\x15",
            &zigzag((levels.len() + data.len()) as i32),
            // Values, nulls, rows, encoding, lengths of definition and repetition levels.
            b"\x5C\x15\x18\x15\x02\x15\x18\x15\0\x15\x0C\x15\0",
            flag,
            b"\0\0",
        ];
        let index = b"\x15\x02\x15\x06\x15\x06\0abc";
        let body = [&index[..], &header.concat(), &levels, data].concat();
        let length = body.len() as u64;
        let chunk = Chunk { values: 12, at: 4, length, codec, ..Chunk::default() };
        let column = b"\x15\x08\x25\x02\x18\x01x\0";
        let report = crate::report(&chunk.file(&body, column), FileFormat::PARQUET);
        assert!(report.is_complete(), "{report:?}");
        assert_one(&report.tensors[0], 0, &[11], 0x7FC0_0000, "version 2");
    }
}

/// Many fields of a schema can be one table. What they seem to take together is bounded by the
/// length of the metadata.
#[test]
fn tables_that_are_shared() {
    let schema = |times: usize| {
        let mut builder = FlatBufferBuilder::new();
        let name = Some(builder.create_string(&"x".repeat(1000)));
        let number = fb::FloatingPointArgs { precision: fb::Precision::SINGLE };
        let number = fb::FloatingPoint::create(&mut builder, &number).as_union_value();
        let children = Some(builder.create_vector::<flatbuffers::ForwardsUOffset<fb::Field>>(&[]));
        let field = fb::FieldArgs {
            name,
            type_type: fb::Type::FloatingPoint,
            type_: Some(number),
            children,
            ..fb::FieldArgs::default()
        };
        let field = fb::Field::create(&mut builder, &field);
        let fields = Some(builder.create_vector(&vec![field; times]));
        let schema =
            fb::Schema::create(&mut builder, &fb::SchemaArgs { fields, ..Default::default() });
        let message = fb::MessageArgs {
            version: fb::MetadataVersion::V5,
            header_type: fb::MessageHeader::Schema,
            header: Some(schema.as_union_value()),
            ..fb::MessageArgs::default()
        };
        let message = fb::Message::create(&mut builder, &message);
        builder.finish(message, None);
        let mut metadata = builder.finished_data().to_vec();
        metadata.resize(metadata.len().next_multiple_of(8), 0);
        let length = (metadata.len() as u32).to_le_bytes();
        [b"\xFF\xFF\xFF\xFF", &length[..], &metadata, b"\xFF\xFF\xFF\xFF\0\0\0\0"].concat()
    };
    let good = check_bytes(&schema(10), FileFormat::ARROW, &Options::default());
    assert_eq!(good.expect("ten columns").tensors.len(), 10);
    refused(&schema(50), FileFormat::ARROW, "Apparent size");
}

/// Chunks that share bytes are together longer than the file.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn chunks_that_are_shared() {
    let body = page(1000, 4000, &[0; 4000]);
    let chunk = Chunk { values: 1000, at: 4, length: body.len() as u64, ..Chunk::default() };
    let one = crate::report(&chunk.groups(1, 1000, &body, &leaf("x")), FileFormat::PARQUET);
    assert!(one.is_complete() && !one.is_bad());
    for groups in [2, 14] {
        let file = chunk.groups(groups, 1000, &body, &leaf("x"));
        refused(&file, FileFormat::PARQUET, "overlap");
    }
}

/// Claims of a chunk that its pages contradict: they are never clean.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn claims_of_chunks() {
    let body = page(1, 4, &f32::NAN.to_le_bytes());
    let chunk = Chunk { values: 1, at: 4, length: body.len() as u64, ..Chunk::default() };
    let refused = |file: &[u8], message| refused(file, FileFormat::PARQUET, message);
    // Values without rows, and rows without values.
    refused(&chunk.groups(1, 0, &body, &leaf("x")), "tensor \"x\"");
    refused(&Chunk { values: 0, ..chunk }.groups(1, 1, &body, &leaf("x")), "tensor \"x\"");
    // More bytes than can be addressed.
    refused(&Chunk { values: 1 << 61, ..chunk }.file(&body, &leaf("x")), "number of values");
    // An offset of 0 is that of no dictionary.
    let without = Chunk { dictionary: Some(0), ..chunk }.file(&body, &leaf("x"));
    let report = crate::report(&without, FileFormat::PARQUET);
    assert_one(&report.tensors[0], 0, &[0], 0x7FC0_0000, "no dictionary");
    // Two bytes that are no float16.
    let bytes = b"\x15\x0E\x15\x04\x15\0\x18\x01x\0";
    let report = crate::report(&chunk.file(&body, bytes), FileFormat::PARQUET);
    assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat);
}

/// A frame of Zstandard may ask for a window of 32 MiB of memory.
#[test]
fn windows_of_zstd() {
    let file = |window: u8| {
        let data = f32::NAN.to_le_bytes();
        // The magic number, a header that has nothing but the window, and one block as it is, the
        // last one: its length is in the upper 21 bits of 24.
        let block = [data.len() as u8 * 8 + 1, 0, 0];
        let frame = [b"\x28\xB5\x2F\xFD\0", &[window][..], &block, &data].concat();
        let buffer = [&4i64.to_le_bytes()[..], &frame].concat();
        let form = Form { codec: Some(fb::CompressionType::ZSTD), ..Form::plain(true) };
        let node = Node { length: 1, nulls: 0, buffers: vec![vec![], buffer] };
        let fields = [field("x", Kind::Float(fb::Precision::SINGLE))];
        form.arrow(&fields, &[Message::Batch(1, vec![node])])
    };
    // The upper 5 bits are the power of two, from 10 on; the lower 3 add eighths.
    let [fits, next, larger] = [15 << 3, 15 << 3 | 1, 16 << 3];
    let report = crate::report(&file(fits), FileFormat::ARROW);
    assert_one(&report.tensors[0], 0, &[0], 0x7FC0_0000, "32 MiB");
    for window in [next, larger] {
        refused(&file(window), FileFormat::ARROW, "indow");
    }
}
