//! Tables with a NaN, in all containers and under all names.

use arrow_ipc::Precision;
use nonfinite_check::FileFormat;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::hidden::never_clean;
use crate::parquet::lists;
use crate::report;
use crate::write::{Kind, Message, Node, arrow, field, numbers};

const ONE: u64 = 0x3F80_0000;

#[test]
fn no_arrow_file_is_clean() {
    for (name, file) in [("arrow", true), ("arrow-stream", false)] {
        let column = numbers(&[0x3F80_0000, 0x7FC0_0000], 4, None);
        let fields = [field("x", Kind::Float(Precision::SINGLE))];
        never_clean(name, &arrow(&fields, &[Message::Batch(2, vec![column])], file));
    }
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn no_parquet_file_is_clean() {
    never_clean("parquet", &lists(f32::NAN, WriterProperties::default()));
}

/// The names of what was not looked at, in a table whose columns are clean.
fn named(bytes: &[u8], format: FileFormat) -> Vec<String> {
    let report = report(bytes, format);
    assert!(!report.is_bad());
    let names = report.not_looked_at().map(|(tensor, _)| tensor.name.clone());
    names.map(Option::unwrap_or_default).collect()
}

fn bytes_at(start: usize, length: usize) -> Vec<String> {
    vec![format!("bytes {start} to {}", start + length)]
}

fn place_of(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).position(|window| window == part).expect("it is there")
}

/// A NaN between the parts of an Arrow file or stream.
#[test]
fn bytes_of_no_arrow_column() {
    let nan = [0, 0, 0xC0, 0x7F, 0, 0, 0xC0, 0x7F];
    let fields = [field("i", Kind::Int), field("x", Kind::Float(Precision::SINGLE))];
    let nodes = |more: &dyn Fn(&mut [Node; 2])| {
        let mut nodes = [&[1, 2][..], &[ONE, ONE]].map(|values| numbers(values, 4, None));
        more(&mut nodes);
        vec![Message::Batch(2, nodes.to_vec())]
    };
    for is_file in [true, false] {
        let write = |more: &dyn Fn(&mut [Node; 2])| arrow(&fields, &nodes(more), is_file);
        let clean = write(&|_| ());
        assert_eq!(named(&clean, FileFormat::ARROW), Vec::<String>::new());
        // A buffer that no node has, and numbers behind those of the rows. Zeros are padding.
        for number in [&nan, &[0; 8]] {
            let buffer = write(&|nodes| nodes[1].buffers.push(number.to_vec()));
            let behind = write(&|nodes| nodes[1].buffers[1].extend(number));
            for bytes in [buffer, behind] {
                let names = named(&bytes, FileFormat::ARROW);
                if number == &nan {
                    assert_eq!(names, bytes_at(place_of(&bytes, &nan), 8));
                } else {
                    assert_eq!(names, Vec::<String>::new());
                }
            }
        }
        // Those of integers are no floats.
        let integers = write(&|nodes| nodes[0].buffers[1].extend(nan));
        assert_eq!(named(&integers, FileFormat::ARROW), Vec::<String>::new());
    }
    // pyarrow lengthens the buffer of a slice to eight bytes, by what follows in memory. Other
    // padding holds zeros.
    for is_file in [true, false] {
        let mut nodes = [&[1][..], &[ONE]].map(|values| numbers(values, 4, None));
        let write = |nodes: &[Node]| arrow(&fields, &[Message::Batch(1, nodes.to_vec())], is_file);
        let mut padded = write(&nodes);
        let at = place_of(&padded, &(ONE as u32).to_le_bytes()) + 4;
        padded[at..at + 4].copy_from_slice(&nan[..4]);
        assert_eq!(named(&padded, FileFormat::ARROW), bytes_at(at, 4));
        nodes[1].buffers[1].extend(&nan[..4]);
        let slice = write(&nodes);
        assert_eq!(named(&slice, FileFormat::ARROW), Vec::<String>::new());
        // The ninth byte, and its padding.
        nodes[1].buffers[1].push(0x7F);
        let longer = write(&nodes);
        let at = place_of(&longer, &nan[..4]) + 4;
        assert_eq!(named(&longer, FileFormat::ARROW), bytes_at(at, 8));
    }
    // Polars writes the schema without the length of a message.
    let mut polars = arrow(&fields, &nodes(&|_| ()), true);
    let length = u32::from_le_bytes(polars[12..16].try_into().unwrap()) as usize;
    polars.copy_within(16..16 + length, 8);
    polars[8 + length..16 + length].fill(0);
    assert_eq!(named(&polars, FileFormat::ARROW), Vec::<String>::new());
    // Between the messages and the footer of a file.
    let file = arrow(&fields, &nodes(&|_| ()), true);
    let length = &file[file.len() - 10..file.len() - 6];
    let footer = file.len() - 10 - u32::from_le_bytes(length.try_into().unwrap()) as usize;
    let mut longer = file.clone();
    longer.splice(footer..footer, nan);
    assert_eq!(named(&longer, FileFormat::ARROW), bytes_at(footer, 8));
}

/// A NaN between the parts of a Parquet file, and in its metadata.
#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn bytes_of_no_parquet_column() {
    let file = lists(1.0, WriterProperties::default());
    assert_eq!(named(&file, FileFormat::PARQUET), Vec::<String>::new());
    let length = &file[file.len() - 8..file.len() - 4];
    let footer = file.len() - 8 - u32::from_le_bytes(length.try_into().unwrap()) as usize;
    let nan = f32::NAN.to_le_bytes();
    for (number, expected) in [(nan, bytes_at(footer, 4)), ([0; 4], Vec::new())] {
        let mut longer = file.clone();
        longer.splice(footer..footer, number);
        assert_eq!(named(&longer, FileFormat::PARQUET), expected);
    }
    // Bloom filters and indexes of pages have their places.
    let full = WriterProperties::builder().set_bloom_filter_enabled(true).build();
    assert_eq!(named(&lists(1.0, full), FileFormat::PARQUET), Vec::<String>::new());

    let pairs = [("text", "plain"), ("binary", "\x7F\0\0\0")];
    let pairs = pairs.map(|(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    let metadata = WriterProperties::builder().set_key_value_metadata(Some(pairs.to_vec()));
    let file = lists(1.0, metadata.build());
    assert_eq!(named(&file, FileFormat::PARQUET), ["metadata binary"]);
    let report = report(&file, FileFormat::PARQUET);
    let (binary, _) = report.not_looked_at().next().unwrap();
    assert_eq!(binary.shape, ["binary".len() + 4]);
}
