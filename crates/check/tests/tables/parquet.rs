use std::sync::Arc;

use nonfinite_check::{Error, FileFormat, LookedAt, Options, Report, check_bytes};
use parquet::basic::Encoding;
use parquet::data_type::{
    ByteArray, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::bounds::{self, Chunk, page};
use crate::parquet_lies::leaf;
use crate::varint::varint;
use crate::{DTYPES, Dtype, GROUPS, PLACES, Watch, assert_one, is_null};

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

/// pyarrow writes a dictionary of no values for a group of no rows, and says that its data page
/// begins at byte 0. The groups around it are read.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn groups_without_rows() {
    // The header of a dictionary page: kind 2, lengths, and no values, which are plain.
    let dictionary = b"\x15\x04\x15\0\x15\0\x4C\x15\0\x15\0\0\0";
    let number = |value: f32| page(1, 4, &value.to_le_bytes());
    let pages = [number(1.0), dictionary.to_vec(), number(f32::NAN)];
    let [first, second, third] = pages.each_ref().map(|page| page.len() as u64);
    let file = |rows: u64| {
        let one = |at, length| Chunk { values: 1, at, length, ..Chunk::default() };
        let dictionary = Some(4 + first);
        let empty = Chunk { values: rows, length: second, dictionary, ..Chunk::default() };
        let groups = [(one(4, first), 1), (empty, rows), (one(4 + first + second, third), 1)];
        bounds::file(&groups, &pages.concat(), &leaf("x"))
    };
    let tensor = report(&file(0)).tensors.remove(0);
    assert_eq!((&tensor.shape[..], tensor.elements), (&[2][..], 2));
    assert_one(&tensor, 0, &[1], 0x7FC0_0000, "the group behind the empty one");
    // Rows that have no pages are missed.
    crate::refused(&file(1), FileFormat::PARQUET, "tensor \"x\"");
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
    assert!(watch.asked() > 10, "asked {} times", watch.asked());
    let (watch, options) = Watch::new(3);
    let stopped = check_bytes(&bytes, FileFormat::PARQUET, &options);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert_eq!(watch.asked(), 4);
}

/// A few hundred bytes that claim nineteen billion nulls: refused by default, with the claimed
/// number.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn claims_are_bounded() {
    let (pages, count) = (9, i32::MAX);
    let levels = [varint(u64::from(count as u32) << 1), vec![0]].concat();
    let levels = [&(levels.len() as u32).to_le_bytes()[..], &levels].concat();
    let data = page(count, levels.len() as i32, &levels).repeat(pages);
    let (values, length) = (pages as u64 * count as u64, data.len() as u64);
    let chunk = Chunk { values, at: 4, length, ..Chunk::default() };
    let file = chunk.file(&data, b"\x15\x08\x25\x02\x18\x01x\0");
    assert!(file.len() < 500, "{} bytes", file.len());

    let claimed = pages as u64 * count as u64 * 4;
    match check_bytes(&file, FileFormat::PARQUET, &Options::default()) {
        Err(Error::Expansion { decoded, file: length, most }) => {
            assert_eq!((decoded, length, most), (claimed, file.len() as u64, 64 << 30));
        }
        other => panic!("{other:?}"),
    }
    // Just enough; and no bound. It is begun then.
    for most in [claimed, u64::MAX] {
        let (watch, options) = Watch::new(3);
        let stopped =
            check_bytes(&file, FileFormat::PARQUET, &Options { max_bytes: Some(most), ..options });
        assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
        assert_eq!((watch.started(), watch.asked()), (claimed, 4));
    }
    let refused = check_bytes(
        &file,
        FileFormat::PARQUET,
        &Options { max_bytes: Some(claimed - 1), ..Options::default() },
    );
    assert!(matches!(refused, Err(Error::Expansion { .. })), "{refused:?}");
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

/// An encoding of halves whose decoder trusts what it reads.
#[test]
fn encodings_that_are_not_read() {
    let encoding = Encoding::DELTA_BYTE_ARRAY;
    let properties =
        WriterProperties::builder().set_dictionary_enabled(false).set_encoding(encoding).build();
    let values = [ByteArray::from(vec![0, 0x7E]).into()];
    let column =
        Column::<FixedLenByteArrayType> { values: &values, definition: None, repetition: None };
    let schema = "message table { required fixed_len_byte_array(2) x (FLOAT16); }";
    let report = report(&write(schema, properties, &[column]));
    let looked_at = &report.tensors[0].looked_at;
    assert!(
        matches!(looked_at, LookedAt::Unreadable(why) if why.cause().contains("DELTA_BYTE_ARRAY")),
        "{looked_at:?}"
    );
}
