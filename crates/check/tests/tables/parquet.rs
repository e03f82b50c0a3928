use std::sync::Arc;

use arrow_array::builder::{Float32Builder, MapBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use nonfinite_check::{Error, FileFormat, LookedAt, Options, Report, check_bytes};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{
    ByteArray, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::{DTYPES, Dtype, GROUPS, PLACES, Watch, assert_one, damaged, is_null};

pub(super) fn report(bytes: &[u8]) -> Report {
    crate::report(bytes, FileFormat::PARQUET)
}

/// The values of a column in a row group that are not null, and the levels of all.
pub(super) struct Column<'a, T: DataType> {
    pub(super) values: &'a [T::T],
    pub(super) definition: Option<&'a [i16]>,
    pub(super) repetition: Option<&'a [i16]>,
}

/// A file of one column; each of its row groups may be made of several batches.
pub(super) fn write<T: DataType>(
    schema: &str,
    properties: WriterProperties,
    groups: &[Column<'_, T>],
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).expect("a good schema"));
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    for Column { values, definition, repetition } in groups {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().expect("a column");
        column.typed::<T>().write_batch(values, *definition, *repetition).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Small pages, with and without dictionaries, of both versions.
fn layouts() -> impl Iterator<Item = WriterProperties> {
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    versions.into_iter().flat_map(|version| {
        let builder = || {
            WriterProperties::builder()
                .set_writer_version(version)
                .set_data_page_row_count_limit(100)
        };
        let builder = move || builder().set_write_batch_size(64);
        [
            builder().build(),
            builder().set_dictionary_enabled(false).set_encoding(Encoding::PLAIN).build(),
            builder()
                .set_dictionary_enabled(false)
                .set_encoding(Encoding::BYTE_STREAM_SPLIT)
                .build(),
        ]
    })
}

/// Plants each kind in each place, in every layout.
fn plant<T: DataType>(dtype: &Dtype, kind_of_column: &str, value: impl Fn(u64) -> T::T) {
    let schema = format!("message table {{ optional {kind_of_column}; }}");
    for (kind, place) in (0..3).flat_map(|kind| PLACES.map(|place| (kind, place))) {
        let mut start = 0;
        let groups: Vec<(Vec<T::T>, Vec<i16>)> = GROUPS
            .iter()
            .map(|rows| {
                let rows = start..start + rows;
                start = rows.end;
                let there = rows.clone().filter(|&row| !is_null(row, place));
                let bits = there.map(|row| {
                    if row == place { dtype.codes.special[kind] } else { dtype.codes.finite }
                });
                (
                    bits.map(&value).collect(),
                    rows.map(|row| i16::from(!is_null(row, place))).collect(),
                )
            })
            .collect();
        for properties in layouts() {
            let groups: Vec<_> = groups
                .iter()
                .map(|(values, levels)| Column::<T> {
                    values,
                    definition: Some(levels),
                    repetition: None,
                })
                .collect();
            let tensor = report(&write(&schema, properties, &groups)).tensors.remove(0);
            assert_eq!((tensor.name.as_deref(), &*tensor.dtype), (Some("x"), dtype.parquet));
            assert_eq!((&tensor.shape[..], tensor.elements), (&[crate::ROWS][..], crate::ROWS));
            let context = format!("{}, row {place}", dtype.parquet);
            assert_one(&tensor, kind, &[place], dtype.codes.special[kind], &context);
        }
    }
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn planted() {
    plant::<FloatType>(&DTYPES[1], "float x", |bits| f32::from_bits(bits as u32));
    plant::<DoubleType>(&DTYPES[2], "double x", f64::from_bits);
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn planted_halves() {
    let half = |bits: u64| ByteArray::from((bits as u16).to_le_bytes().to_vec()).into();
    plant::<FixedLenByteArrayType>(&DTYPES[0], "fixed_len_byte_array(2) x (FLOAT16)", half);
}

pub(super) const LISTS: &str =
    "message table { optional group l (LIST) { repeated group list { optional float element; } } }";

/// Two row groups of [1, null], null, [], [1, x].
pub(super) fn lists(last: f32, properties: WriterProperties) -> Vec<u8> {
    let (definition, repetition) = ([3, 2, 0, 1, 3, 3], [0, 1, 0, 0, 0, 1]);
    let values = [[1.0f32; 3], [1.0, 1.0, last]];
    let groups = values.each_ref().map(|values| Column::<FloatType> {
        values,
        definition: Some(&definition),
        repetition: Some(&repetition),
    });
    write(LISTS, properties, &groups)
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn rows_of_lists() {
    for properties in layouts() {
        let tensor = report(&lists(f32::INFINITY, properties)).tensors.remove(0);
        assert_eq!(tensor.name.as_deref(), Some("l.list.element"));
        assert_eq!((&tensor.shape[..], tensor.elements), (&[8][..], 12));
        assert_one(&tensor, 1, &[7], 0x7F80_0000, "lists");
    }
}

/// One of each kind in one run, whose rows are asked for in another order than they lie in.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn rows_are_found_in_any_order() {
    let kinds = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        // Fifty times the rows [null, 1], [], [1, 1, null]; kinds are planted in the last number of
        // rows 5, 74 and 149.
        let definition = [2, 3, 1, 3, 3, 2].repeat(50);
        let repetition = [0, 1, 0, 0, 1, 1].repeat(50);
        let mut values = vec![1.0; 150];
        let places = [5, 74, 149];
        for (place, kind) in places.into_iter().zip(order) {
            values[place] = kinds[kind];
        }
        let group = [Column::<FloatType> {
            values: &values,
            definition: Some(&definition),
            repetition: Some(&repetition),
        }];
        let properties = WriterProperties::builder().build();
        let tensor = report(&write(LISTS, properties, &group)).tensors.remove(0);
        let found = tensor.found.as_ref().into_array();
        for (place, kind) in places.into_iter().zip(order) {
            assert_eq!(
                found[kind].first.as_ref().map(|first| &*first.coordinate),
                Some(&[place][..])
            );
        }
    }
}

/// A few bytes can encode any number of nulls, so the observer must be able to stop the check.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn nulls_can_be_stopped() {
    let definition = vec![0; 200_000];
    let group =
        [Column::<FloatType> { values: &[], definition: Some(&definition), repetition: None }];
    let properties = WriterProperties::builder().set_data_page_row_count_limit(usize::MAX).build();
    let bytes = write("message table { optional float x; }", properties, &group);
    assert!(bytes.len() < 2000, "{} bytes", bytes.len());
    let (watch, options) = Watch::new(usize::MAX);
    check_bytes(&bytes, FileFormat::PARQUET, &options).expect("a good file");
    assert!(watch.asked() > 5, "asked {} times", watch.asked());
    let (watch, options) = Watch::new(3);
    let stopped = check_bytes(&bytes, FileFormat::PARQUET, &options);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert_eq!(watch.asked(), 4);
    // Refused before a look if nulls are more bytes than the bound.
    for (most, is_refused) in [(800_000, false), (799_999, true)] {
        let options = Options { max_bytes: Some(most), ..Options::default() };
        let report = check_bytes(&bytes, FileFormat::PARQUET, &options);
        assert_eq!(matches!(report, Err(Error::Expansion { .. })), is_refused, "{report:?}");
    }
}

/// Where the byte order of the machine is not that of the file, columns of floats are said to be
/// unreadable, and all others are read.
#[test]
fn floats_where_bytes_are_turned() {
    let properties = || WriterProperties::builder().build();
    let floats = Column::<FloatType> { values: &[f32::NAN], definition: None, repetition: None };
    let doubles = Column::<DoubleType> { values: &[f64::NAN], definition: None, repetition: None };
    let halves = [ByteArray::from(vec![0, 0x7E]).into()];
    let halves =
        Column::<FixedLenByteArrayType> { values: &halves, definition: None, repetition: None };
    let reports = [
        report(&write("message table { required float x; }", properties(), &[floats])),
        report(&write("message table { required double x; }", properties(), &[doubles])),
        report(&write(
            "message table { required fixed_len_byte_array(2) x (FLOAT16); }",
            properties(),
            &[halves],
        )),
    ];
    for report in reports {
        let LookedAt::Unreadable(why) = &report.tensors[0].looked_at else {
            assert!(cfg!(target_endian = "little") && report.is_bad(), "{report:?}");
            continue;
        };
        assert!(cfg!(target_endian = "big") && why.cause().contains("big-endian"), "{why}");
        assert!(!report.is_complete() && !report.is_bad(), "{report:?}");
    }
}

#[test]
fn other_columns_are_skipped() {
    let column =
        Column::<Int32Type> { values: &[-1, 0x7FC0_0000], definition: None, repetition: None };
    let properties = WriterProperties::builder().build();
    let report = report(&write("message table { required int32 i; }", properties, &[column]));
    assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat);
    assert_eq!((&*report.tensors[0].dtype, &report.tensors[0].shape[..]), ("INT32", &[2][..]));
    assert!(report.is_complete());
}

/// Halves by deltas of their bytes.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn deltas_of_halves() {
    let encoding = Encoding::DELTA_BYTE_ARRAY;
    let properties =
        WriterProperties::builder().set_dictionary_enabled(false).set_encoding(encoding).build();
    let values = [[0, 0x3C], [1, 0x7E]].map(|bytes| ByteArray::from(bytes.to_vec()).into());
    let column =
        Column::<FixedLenByteArrayType> { values: &values, definition: None, repetition: None };
    let schema = "message table { required fixed_len_byte_array(2) x (FLOAT16); }";
    let report = report(&write(schema, properties, &[column]));
    assert_one(&report.tensors[0], 0, &[1], 0x7E01, "deltas");
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn compressed_pages() {
    let codecs = [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
    ];
    for codec in codecs {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let properties = WriterProperties::builder().set_compression(codec);
            let properties = properties.set_writer_version(version).build();
            let tensor = report(&lists(f32::NAN, properties)).tensors.remove(0);
            assert_one(&tensor, 0, &[7], 0x7FC0_0000, &format!("{codec}"));
        }
    }
}

/// Keys and values of maps, and a column beside them in a struct.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn maps() {
    for (key, value) in [(1.0, f32::NAN), (f32::NAN, 1.0), (1.0, 1.0)] {
        let mut map = MapBuilder::new(None, Float32Builder::new(), Float32Builder::new());
        map.append(false).expect("a null");
        for (key, value) in [(1.0, 1.0), (key, value)] {
            map.keys().append_value(key);
            map.values().append_value(value);
        }
        map.append(true).expect("a map");
        let map: ArrayRef = Arc::new(map.finish());
        let batch = RecordBatch::try_from_iter_with_nullable([("m", map, true)]);
        let batch = batch.expect("a column");
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a file");
        writer.write(&batch).expect("a batch");
        let report = report(&writer.into_inner().expect("the end"));
        for (tensor, (name, value)) in
            report.tensors.iter().zip([("m.entries.key", key), ("m.entries.value", value)])
        {
            assert_eq!(tensor.name.as_deref(), Some(name));
            assert_eq!((&tensor.shape[..], tensor.is_bad()), (&[2][..], value.is_nan()), "{name}");
            if value.is_nan() {
                assert_one(tensor, 0, &[1], 0x7FC0_0000, name);
            }
        }
    }
}

/// The file with these bytes in place of others, which it has once.
fn patched(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut places = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(from));
    let at = places.next().expect("the bytes");
    assert_eq!(places.next(), None, "{from:?} more than once");
    bytes[at..at + to.len()].copy_from_slice(to);
    bytes
}

/// Levels in packed bits are refused: the crate would read numbers as nulls. A footer may name this
/// encoding for levels that are not there.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn levels_in_packed_bits() {
    let properties = || WriterProperties::builder().set_dictionary_enabled(false).build();
    let group =
        |definition| Column::<FloatType> { values: &[1.0, f32::NAN], definition, repetition: None };
    let optional = "message table { optional float x; }";
    let good = write(optional, properties(), &[group(Some(&[1, 1][..]))]);
    // In the footer the encodings PLAIN and RLE, and in the header of the page those of the values,
    // of the nulls and of the lists.
    let named = patched(good, b"\x19\x25\x00\x06", b"\x19\x25\x00\x08");
    assert_one(&report(&named).tensors[0], 0, &[1], 0x7FC0_0000, "named");
    let lists = patched(named.clone(), b"\x15\x00\x15\x06\x15\x06", b"\x15\x00\x15\x06\x15\x08");
    assert_one(&report(&lists).tensors[0], 0, &[1], 0x7FC0_0000, "of lists that are not there");
    let nulls = patched(named, b"\x15\x00\x15\x06\x15\x06", b"\x15\x00\x15\x08\x15\x06");
    crate::refused(&nulls, FileFormat::PARQUET, "tensor \"x\"");
    crate::refused(&nulls, FileFormat::PARQUET, "BIT_PACKED");
    let required = write("message table { required float x; }", properties(), &[group(None)]);
    let named = patched(required, b"\x19\x25\x00\x06", b"\x19\x25\x00\x08");
    assert_one(&report(&named).tensors[0], 0, &[1], 0x7FC0_0000, "no levels");
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn files_that_lie() {
    let column =
        Column::<FloatType> { values: &[1.0, f32::NAN], definition: None, repetition: None };
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let good = write("message table { required float x; }", properties, &[column]);
    let refused = |bytes: &[u8], message| crate::refused(bytes, FileFormat::PARQUET, message);
    refused(b"PAR1", "bad Parquet footer");
    refused(&good[..good.len() - 1], "bad Parquet footer");
    let encrypted = [&good[..good.len() - 4], b"PARE"].concat();
    refused(&encrypted, "bad Parquet footer");
    // The codec of the chunk: none, then Brotli.
    let at = good.windows(4).rposition(|bytes| bytes == b"\x18\x01x\x15").expect("a chunk") + 4;
    let mut brotli = good.clone();
    brotli[at] = 4 << 1;
    let looked_at = report(&brotli).tensors.remove(0).looked_at;
    let LookedAt::Unreadable(why) = looked_at else { panic!("{looked_at:?}") };
    assert!(why.cause().contains("BROTLI"), "{why}");
    // The number of values, which is that of rows.
    let mut fewer = good;
    fewer[at + 2] = 1 << 1;
    refused(&fewer, "has not all rows");
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn damaged_files() {
    for properties in layouts() {
        damaged(&lists(f32::NAN, properties), FileFormat::PARQUET);
    }
}
