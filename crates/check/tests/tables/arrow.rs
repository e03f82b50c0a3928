//! Arrow IPC, as the crate `arrow-ipc` writes it: what this crate adds to its readers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Float32Builder, MapBuilder, StringBuilder};
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeListArray, Float32Array, Float64Array, Int32Array,
    LargeListArray, ListArray, ListViewArray, RecordBatch, RunArray, StringArray, StructArray,
    UnionArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{self as fb, CompressionType};
use arrow_schema::{DataType, Field, UnionFields};
use nonfinite_check::{Error, FileFormat, LookedAt, Options, Report, check_bytes};

use crate::{DTYPES, GROUPS, PLACES, Watch, assert_one, damaged, is_null};

const NAN: f32 = f32::NAN;
const BITS: u64 = 0x7FC0_0000;

pub(super) fn report(bytes: &[u8]) -> Report {
    crate::report(bytes, FileFormat::ARROW)
}

#[track_caller]
fn refused(bytes: &[u8], message: &str) {
    crate::refused(bytes, FileFormat::ARROW, message);
}

/// A file or a stream of these batches.
pub(super) fn write(batches: &[RecordBatch], file: bool, options: IpcWriteOptions) -> Vec<u8> {
    let schema = batches[0].schema();
    let batches = batches.iter().filter(|batch| batch.num_rows() > 0);
    if file {
        let writer = FileWriter::try_new_with_options(Vec::new(), &schema, options);
        let mut writer = writer.expect("a file");
        batches.for_each(|batch| writer.write(batch).expect("a batch"));
        return writer.into_inner().expect("the end");
    }
    let writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options);
    let mut writer = writer.expect("a stream");
    batches.for_each(|batch| writer.write(batch).expect("a batch"));
    writer.into_inner().expect("the end")
}

fn compressed(codec: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(codec).expect("a known codec")
}

/// Files and streams of these batches, with each kind of compression.
fn forms(batches: &[RecordBatch]) -> Vec<Vec<u8>> {
    let codecs = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    let forms = [true, false].map(|file| codecs.map(|codec| (file, codec)));
    forms
        .into_iter()
        .flatten()
        .map(|(file, codec)| write(batches, file, compressed(codec)))
        .collect()
}

pub(super) fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let columns = columns.iter().map(|(name, array)| (*name, Arc::clone(array), true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
}

/// A file of one batch.
pub(super) fn one(columns: &[(&str, ArrayRef)]) -> Vec<u8> {
    write(&[batch(columns)], true, IpcWriteOptions::default())
}

pub(super) fn f32s(values: Vec<f32>) -> ArrayRef {
    Arc::new(Float32Array::from(values))
}

fn item(array: &ArrayRef) -> Arc<Field> {
    Arc::new(Field::new("item", array.data_type().clone(), true))
}

/// Each kind in each type, among nulls whose bytes are NaN.
#[test]
fn planted() {
    for dtype in &DTYPES {
        for (kind, place) in (0..3).flat_map(|kind| PLACES.map(|place| (kind, place))) {
            let bits = |row: usize| match row {
                _ if row == place => dtype.codes.special[kind],
                _ if is_null(row, place) => dtype.codes.special[0],
                _ => dtype.codes.finite,
            };
            let mut start = 0;
            let batches = GROUPS.map(|count| {
                let rows = start..start + count;
                start = rows.end;
                let nulls = rows.clone().map(|row| !is_null(row, place));
                let nulls = Some(NullBuffer::from(nulls.collect::<Vec<_>>()));
                let array: ArrayRef = match dtype.codes.size {
                    2 => {
                        let bits: Vec<_> = rows.map(|row| bits(row) as u16).collect();
                        let values = ScalarBuffer::new(Buffer::from_vec(bits), 0, count);
                        Arc::new(arrow_array::Float16Array::new(values, nulls))
                    }
                    4 => {
                        let values: Vec<_> =
                            rows.map(|row| f32::from_bits(bits(row) as u32)).collect();
                        Arc::new(Float32Array::new(values.into(), nulls))
                    }
                    _ => {
                        let values: Vec<_> = rows.map(|row| f64::from_bits(bits(row))).collect();
                        Arc::new(Float64Array::new(values.into(), nulls))
                    }
                };
                let text: ArrayRef = Arc::new(StringArray::from(vec!["NaN"; count]));
                batch(&[("text", text), ("x", array)])
            });
            for bytes in forms(&batches) {
                let report = report(&bytes);
                assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat);
                let tensor = &report.tensors[1];
                assert_eq!((tensor.name.as_deref(), &*tensor.dtype), (Some("x"), dtype.arrow));
                assert_eq!((&tensor.shape[..], tensor.elements), (&[crate::ROWS][..], crate::ROWS));
                let context = format!("{}, row {place}", dtype.arrow);
                assert_one(tensor, kind, &[place], dtype.codes.special[kind], &context);
            }
        }
    }
}

/// Two rows. The first is null where it can be, and holds NaN then. The second has the value.
fn nested(value: f32) -> Vec<(&'static str, ArrayRef, &'static str, &'static str, Vec<usize>)> {
    let nulls = || Some(NullBuffer::from(vec![false, true]));
    let (pair, four) = (f32s(vec![NAN, value]), f32s(vec![NAN, NAN, 1.0, value]));
    let offsets = |ends: [i32; 3]| arrow_buffer::OffsetBuffer::new(ends.to_vec().into());
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let fields = vec![
        Arc::new(Field::new("s", DataType::Utf8, true)),
        Arc::new(Field::new("x", DataType::Float32, true)),
    ];
    let of_struct = StructArray::new(fields.into(), vec![text, Arc::clone(&pair)], nulls());
    let list = ListArray::new(item(&four), offsets([0, 2, 4]), Arc::clone(&four), nulls());
    let list: ArrayRef = Arc::new(list);
    let inner = ListArray::new(item(&list), offsets([0, 1, 2]), Arc::clone(&list), None);
    let wide = arrow_buffer::OffsetBuffer::new(vec![0i64, 2, 4].into());
    let large = LargeListArray::new(item(&four), wide, Arc::clone(&four), nulls());
    let fixed = FixedSizeListArray::new(item(&four), 2, Arc::clone(&four), nulls());
    let view = ListViewArray::new(
        item(&four),
        vec![0, 2].into(),
        vec![2, 2].into(),
        Arc::clone(&four),
        nulls(),
    );
    let mut map = MapBuilder::new(None, StringBuilder::new(), Float32Builder::new());
    map.append(true).expect("an empty map");
    map.keys().append_value("key");
    map.values().append_value(value);
    map.append(true).expect("a map");
    let runs = Int32Array::from(vec![1, 2]);
    let runs = RunArray::try_new(&runs, &Float32Array::from(vec![None, Some(value)]));
    let keys = Int32Array::from(vec![None, Some(1)]);
    let dictionary = DictionaryArray::new(keys, Arc::clone(&pair));
    vec![
        ("t", Arc::new(of_struct), "t.x", "float32", vec![1]),
        ("l", list, "l", "list<float32>", vec![1]),
        ("ll", Arc::new(inner), "ll", "list<list<float32>>", vec![1]),
        ("w", Arc::new(large), "w", "large_list<float32>", vec![1]),
        ("f", Arc::new(fixed), "f", "fixed_size_list<float32>[2]", vec![1, 1]),
        ("v", Arc::new(view), "v", "list<float32>", vec![1]),
        ("m", Arc::new(map.finish()), "m.value", "map<float32>", vec![1]),
        ("r", Arc::new(runs.expect("runs")), "r", "run_end_encoded<float32>", vec![1]),
        ("d", Arc::new(dictionary), "d", "dictionary<float32>", vec![1]),
    ]
}

/// Nothing under a null counts, and the value behind the nulls does.
#[test]
fn nested_columns() {
    for value in [1.0, NAN] {
        let columns = nested(value);
        let arrays: Vec<_> =
            columns.iter().map(|(name, array, ..)| (*name, Arc::clone(array))).collect();
        for bytes in forms(&[batch(&arrays)]) {
            let report = report(&bytes);
            assert_eq!(report.is_bad(), value.is_nan(), "{report:?}");
            for (_, _, name, dtype, coordinate) in &columns {
                let mut tensors = report.tensors.iter();
                let tensor = tensors.find(|tensor| tensor.name.as_deref() == Some(name));
                let tensor = tensor.unwrap_or_else(|| panic!("no {name}: {report:?}"));
                assert_eq!(tensor.dtype, *dtype, "{name}");
                if value.is_nan() {
                    assert_one(tensor, 0, coordinate, BITS, name);
                }
            }
            let text = |name| report.tensors.iter().find(|of| of.name.as_deref() == Some(name));
            for name in ["t.s", "m.key"] {
                assert_eq!(text(name).expect("a column").looked_at, LookedAt::NotFloat);
            }
        }
    }
}

/// Entries count for the rows that refer to them, with the dictionary as it is before each batch.
#[test]
fn dictionaries_that_change() {
    let part = |entries: &[f32], keys: Vec<i8>| {
        let keys = arrow_array::Int8Array::from(keys);
        let array = DictionaryArray::<Int8Type>::new(keys, f32s(entries.to_vec()));
        batch(&[("d", Arc::new(array) as ArrayRef)])
    };
    let handling = |kind| IpcWriteOptions::default().with_dictionary_handling(kind);
    let grows = [part(&[1.0, NAN], vec![0, 0]), part(&[1.0, NAN, f32::INFINITY], vec![0, 2])];
    for file in [true, false] {
        let bytes = write(&grows, file, handling(DictionaryHandling::Delta));
        assert_one(&report(&bytes).tensors[0], 1, &[3], 0x7F80_0000, "a delta");
    }
    let replaced = [part(&[NAN, 1.0], vec![1, 1]), part(&[1.0, NAN], vec![0, 1])];
    let bytes = write(&replaced, false, handling(DictionaryHandling::Resend));
    assert_one(&report(&bytes).tensors[0], 0, &[3], BITS, "replaced");
}

/// Floats that are not looked at are named, and other columns are read.
#[test]
fn unreadable_columns() {
    let fields = UnionFields::from_fields(vec![Field::new("x", DataType::Float32, true)]);
    let union = UnionArray::try_new(fields, vec![0].into(), None, vec![f32s(vec![NAN])]);
    let field = Arc::new(Field::new("x", DataType::Float32, true));
    let of_struct = StructArray::new(vec![field].into(), vec![f32s(vec![NAN])], None);
    let keys = Int32Array::from(vec![0]);
    let dictionary = DictionaryArray::<Int32Type>::new(keys, Arc::new(of_struct.clone()));
    let runs = RunArray::try_new(&Int32Array::from(vec![1]), &of_struct).expect("runs");
    let bytes = one(&[
        ("u", Arc::new(union.expect("a union"))),
        ("d", Arc::new(dictionary)),
        ("r", Arc::new(runs)),
        ("y", f32s(vec![NAN])),
    ]);
    let report = report(&bytes);
    assert!(!report.is_complete());
    for tensor in &report.tensors[..3] {
        let LookedAt::Unreadable(why) = &tensor.looked_at else { panic!("{tensor:?}") };
        assert!(why.cause().contains("are not looked at"), "{why:?}");
    }
    assert_one(&report.tensors[3], 0, &[0], BITS, "behind them");
}

/// Batches of many rows are cut, and their nulls with them.
#[test]
fn long_batches() {
    let rows = (4 << 20) / 4 * 2 + 77;
    for place in [0, (4 << 20) / 4 - 1, (4 << 20) / 4, rows - 2] {
        let mut values = vec![1.0; rows];
        values[place] = NAN;
        values[rows - 1] = NAN;
        let valid = BooleanBuffer::collect_bool(rows, |row| row < rows - 1);
        let array = Float32Array::new(values.into(), Some(NullBuffer::new(valid)));
        let bytes = one(&[("x", Arc::new(array))]);
        let options = Options::default();
        let report = check_bytes(&bytes, FileFormat::ARROW, &options).expect("a good file");
        assert_one(&report.tensors[0], 0, &[place], BITS, "a long batch");
    }
}

#[test]
fn tables_without_rows() {
    for bytes in forms(&[batch(&[("x", f32s(Vec::new()))])]) {
        let report = report(&bytes);
        assert_eq!((&report.tensors[0].shape[..], report.tensors[0].elements), (&[0][..], 0));
        assert!(report.is_complete() && !report.is_bad());
    }
}

/// A file with this footer: the schema of a batch, or one in the other byte order, and the blocks
/// of the batches that it names.
fn with_footer(body: &[u8], fields: &RecordBatch, big: bool, blocks: &[fb::Block]) -> Vec<u8> {
    let mut builder = flatbuffers::FlatBufferBuilder::new();
    let schema = if big {
        let endianness = fb::Endianness::Big;
        let none = Some(builder.create_vector::<flatbuffers::ForwardsUOffset<fb::Field>>(&[]));
        let arguments = fb::SchemaArgs { endianness, fields: none, ..Default::default() };
        fb::Schema::create(&mut builder, &arguments)
    } else {
        fb::convert::IpcSchemaEncoder::new().schema_to_fb_offset(&mut builder, &fields.schema())
    };
    let arguments = fb::FooterArgs {
        version: fb::MetadataVersion::V5,
        schema: Some(schema),
        recordBatches: Some(builder.create_vector(blocks)),
        ..Default::default()
    };
    let footer = fb::Footer::create(&mut builder, &arguments);
    builder.finish(footer, None);
    let footer = builder.finished_data();
    let length = (footer.len() as i32).to_le_bytes();
    [b"ARROW1\0\0", body, footer, &length, b"ARROW1"].concat()
}

#[test]
fn files_that_lie() {
    let table = batch(&[("x", f32s(vec![1.0; 4]))]);
    let stream = write(std::slice::from_ref(&table), false, IpcWriteOptions::default());
    refused(b"ARROW1\0\0", "ends before its footer");
    refused(&[&stream[..], b"more"].concat(), "goes on behind");
    refused(&stream[..stream.len() - 80], "ends before its");
    // The schema takes the first message of a stream, with its length at byte 4.
    let schema = 8 + i32::from_le_bytes(*stream[4..].first_chunk().expect("a length")) as i64;
    let file =
        |times, at| with_footer(&stream, &table, false, &vec![fb::Block::new(at, 0, 0); times]);
    assert!(!report(&file(1, schema + 8)).is_bad());
    for times in [9, 1500] {
        refused(&file(times, schema + 8), "data that overlaps");
    }
    refused(&file(1, -1), "offset of a batch cannot be");
    refused(&file(1, 8), "a message that is no batch");
    refused(&with_footer(&stream, &table, true, &[]), "byte order of another machine");
    let other = batch(&[("x", Arc::new(Float64Array::from(vec![1.0; 4])) as ArrayRef)]);
    let block = [fb::Block::new(schema + 8, 0, 0)];
    refused(&with_footer(&stream, &other, false, &block), "tensor \"x\"");
}

/// A compressed buffer may claim 256 MiB, or 1000 times its length.
#[test]
fn claims_of_compressed_buffers() {
    let table = batch(&[("x", f32s(vec![1.0; 4000]))]);
    let good = write(&[table], true, compressed(Some(CompressionType::ZSTD)));
    assert!(!report(&good).is_bad());
    let claim = 16_000i64.to_le_bytes();
    let at = good.windows(8).position(|bytes| bytes == claim).expect("the claim");
    for (other, message) in [
        (15_999, "tensor \"x\""),
        (256 << 20, "tensor \"x\""),
        ((256 << 20) + 1, "a compressed buffer of 268435457 bytes"),
        (i64::MAX, "a compressed buffer of 9223372036854775807 bytes"),
        (i64::MIN, "tensor \"x\""),
    ] {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&i64::to_le_bytes(other));
        refused(&bytes, message);
    }
}

/// A few bytes may stand for very many numbers: the default bound refuses them, and the check can
/// be stopped.
#[test]
fn runs_are_bounded() {
    let ends = Int32Array::from(vec![i32::MAX]);
    let runs = RunArray::try_new(&ends, &Float32Array::from(vec![NAN])).expect("runs");
    let runs: ArrayRef = Arc::new(runs);
    let table = batch(&[("x", runs)]);
    let bytes = write(&vec![table; 9], false, IpcWriteOptions::default());
    match check_bytes(&bytes, FileFormat::ARROW, &Options::default()) {
        Err(Error::Expansion { decoded, .. }) => assert_eq!(decoded, 9 * 4 * i32::MAX as u64),
        other => panic!("{other:?}"),
    }
    let (watch, options) = Watch::new(3);
    let stopped = check_bytes(&bytes, FileFormat::ARROW, &options);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
    assert_eq!(watch.asked(), 4);
}

/// The fields of a struct repeat its name. Names may take 64 times the bytes of the metadata.
#[test]
fn names_that_are_repeated() {
    let fields = (0..400).map(|_| Field::new("c", DataType::Float32, true)).collect::<Vec<_>>();
    let long = Field::new("x".repeat(200_000), DataType::Struct(fields.into()), true);
    let schema = arrow_schema::Schema::new_with_metadata(vec![long], HashMap::new());
    let empty = RecordBatch::new_empty(Arc::new(schema));
    refused(&write(&[empty], false, IpcWriteOptions::default()), "names");
}

#[test]
fn damaged_files() {
    let columns = nested(NAN);
    for (name, array, ..) in columns {
        let array = array.slice(0, array.len());
        for codec in [None, Some(CompressionType::LZ4_FRAME)] {
            damaged(
                &write(&[batch(&[(name, Arc::clone(&array))])], true, compressed(codec)),
                FileFormat::ARROW,
            );
        }
    }
}

/// Panics of the readers become errors, and other panics are still printed by the hook before.
#[test]
fn panics_are_silent() {
    let table = batch(&[("x", f32s(vec![1.0; 4]))]);
    let stream = write(std::slice::from_ref(&table), false, IpcWriteOptions::default());
    let bytes: Vec<_> = stream[..].to_vec();
    // The end of a buffer behind the body: the crate slices it without a look.
    let at = bytes.windows(8).rposition(|bytes| bytes == 16i64.to_le_bytes()).expect("a length");
    let mut other = bytes;
    other[at..at + 8].copy_from_slice(&i64::to_le_bytes(1 << 40));
    refused(&other, "its reader gave up");
}
