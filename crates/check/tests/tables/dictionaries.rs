//! Columns of Arrow whose rows refer to dictionaries of floats.

use arrow_ipc::{CompressionType, Endianness, Precision};
use nonfinite_check::{FileFormat, Options, Report, check_bytes};

use crate::write::{Field, Form, INF, Kind, Message, NAN, Node, ONE, arrow, f32s, field, numbers};
use crate::{assert_one, damaged, refused};

fn report(bytes: &[u8]) -> Report {
    crate::report(bytes, FileFormat::ARROW)
}

/// A column of rows that refer to dictionary 7.
fn column() -> Field {
    Field { dictionary: Some(7), ..f32s("d") }
}

fn entries(values: &[u64]) -> Vec<Node> {
    vec![numbers(values, 4, None)]
}

fn rows(indices: &[u64]) -> Message {
    Message::Batch(indices.len() as i64, vec![numbers(indices, 4, None)])
}

/// Rows are counted, not entries: an entry counts once for each row that refers to it.
#[test]
fn rows_of_entries() {
    for form in Form::all() {
        let turned = |nodes: Vec<Node>| nodes.into_iter().map(|node| form.turned(node, 4));
        let batch = |indices: &[u64]| {
            let nodes = turned(vec![numbers(indices, 4, None)]).collect();
            Message::Batch(indices.len() as i64, nodes)
        };
        let dictionary =
            Message::Dictionary(7, 4, turned(entries(&[NAN, ONE, INF, NAN])).collect());
        let messages = [dictionary, batch(&[1, 1, 2]), batch(&[1, 3, 1, 2, 3])];
        let report = report(&form.arrow(&[column()], &messages));
        let [tensor] = &report.tensors[..] else { panic!("{report:?}") };
        assert_eq!((tensor.name.as_deref(), &*tensor.dtype), (Some("d"), "dictionary<float32>"));
        assert_eq!((&tensor.shape[..], tensor.elements), (&[8][..], 8));
        let found = tensor.found.as_ref().into_array();
        assert_eq!(found.map(|finding| finding.count), [2, 2, 0]);
        let first = |kind: usize| &found[kind].first.as_ref().expect("one").coordinate[..];
        assert_eq!((first(0), first(1)), (&[4][..], &[2][..]));
        // A NaN that no row refers to is no number of the table.
        let unused = [messages[0].clone(), batch(&[1, 1])];
        assert!(!self::report(&form.arrow(&[column()], &unused)).is_bad());
    }
}

/// Null indices, null entries, and both in lists. Indices under nulls may be anything.
#[test]
fn nulls() {
    let valid = [true, false, true];
    let dictionary = Message::Dictionary(7, 3, vec![numbers(&[ONE, NAN, NAN], 4, Some(&valid))]);
    let valid = [true, true, false, true, false];
    let indices = [0, 1, 2, 2, 0xFFFF_FFFF];
    let batch = Message::Batch(5, vec![numbers(&indices, 4, Some(&valid))]);
    for file in [true, false] {
        let messages = [dictionary.clone(), batch.clone()];
        let report = report(&arrow(&[column()], &messages, file));
        assert_one(&report.tensors[0], 0, &[3], NAN, "nulls");
    }
    // Rows [0, 1], null, [2, 2] of a list: the third entry twice, in row 2.
    let offsets = numbers(&[0, 2, 3, 5], 4, Some(&[true, false, true]));
    let list = Node { length: 3, ..offsets };
    let list = Node { nulls: 1, ..list };
    let items = numbers(&[0, 1, 2, 2, 2], 4, None);
    let field = field("l", Kind::List(Box::new(column())));
    for file in [true, false] {
        let messages = [dictionary.clone(), Message::Batch(3, vec![list.clone(), items.clone()])];
        let report = report(&arrow(std::slice::from_ref(&field), &messages, file));
        let tensor = &report.tensors[0];
        assert_eq!((&*tensor.dtype, &tensor.shape[..]), ("list<dictionary<float32>>", &[3][..]));
        assert_eq!(tensor.found.nan.count, 2);
        assert_eq!(tensor.found.nan.first.as_ref().expect("one").coordinate, [2]);
    }
}

/// A null is no number: it is no zero of the statistics either. The index under a null row may be
/// outside of the dictionary.
#[test]
fn nulls_are_no_zeros() {
    let valid = [true, true, false];
    let dictionary = Message::Dictionary(7, 3, vec![numbers(&[NAN, ONE, INF], 4, Some(&valid))]);
    let indices = [1, 0xFFFF_FFFF, 2, 0, 2, 1];
    let valid = [true, false, true, true, true, true];
    let batch = Message::Batch(6, vec![numbers(&indices, 4, Some(&valid))]);
    for file in [true, false] {
        let messages = [dictionary.clone(), batch.clone()];
        let report = report(&arrow(&[column()], &messages, file));
        assert_one(&report.tensors[0], 0, &[3], NAN, "nulls");
        let stats = report.tensors[0].stats.as_ref().expect("asked for");
        assert_eq!((stats.zeros, stats.normals), (0, 2));
        // No index is null, but an entry is.
        let rows = rows(&[1, 2, 1]);
        let report = self::report(&arrow(&[column()], &[dictionary.clone(), rows], file));
        let stats = report.tensors[0].stats.as_ref().expect("asked for");
        assert_eq!((report.is_bad(), stats.zeros, stats.normals), (false, 0, 2));
    }
}

/// An index of a byte is negative only if it has a sign. A negative one is outside of every
/// dictionary.
#[test]
fn signs_of_indices() {
    let mut values = vec![ONE; 300];
    values[255] = NAN;
    let dictionary = Message::Dictionary(7, 300, entries(&values));
    for (bits, index, is_inside) in [
        ((8, false), 0xFF, true),
        ((8, true), 0xFF, false),
        ((8, true), 0x7F, true),
        ((16, true), 0xFF, true),
        ((64, true), 0xFF, true),
        ((16, true), 0xFFFF, false),
    ] {
        let size = bits.0 as usize / 8;
        let batch = Message::Batch(2, vec![numbers(&[index, 0], size, None)]);
        let fields = [Field { index: bits, ..column() }];
        for file in [true, false] {
            let bytes = arrow(&fields, &[dictionary.clone(), batch.clone()], file);
            if !is_inside {
                refused(&bytes, FileFormat::ARROW, "out of bounds");
            } else if index == 0xFF {
                assert_one(&report(&bytes).tensors[0], 0, &[0], NAN, "index 255");
            } else {
                assert!(!report(&bytes).is_bad());
            }
        }
    }
    for bits in [0, 4, 128] {
        let fields = [Field { index: (bits, true), ..column() }];
        refused(&arrow(&fields, &[], true), FileFormat::ARROW, "Index type with bit width");
    }
}

/// More entries than a byte can count, and more rows than are gathered at a time.
#[test]
fn long_dictionaries() {
    let mut values = vec![ONE; 300];
    values[299] = NAN;
    let mut indices = vec![43; 20_000];
    indices[1] = 299;
    indices[17_000] = 299;
    for form in Form::all() {
        let dictionary =
            Message::Dictionary(7, 300, vec![form.turned(entries(&values).remove(0), 4)]);
        let batch = Message::Batch(20_000, vec![form.turned(numbers(&indices, 4, None), 4)]);
        let report = report(&form.arrow(&[column()], &[dictionary, batch]));
        let nan = &report.tensors[0].found.nan;
        assert_eq!((nan.count, &nan.first.as_ref().expect("one").coordinate[..]), (2, &[1][..]));
    }
}

/// Deltas add entries; in a stream, a dictionary may be replaced.
#[test]
fn deltas_and_replacements() {
    let messages = [
        Message::Dictionary(7, 2, entries(&[ONE, NAN])),
        rows(&[0, 0]),
        Message::Delta(7, 1, entries(&[INF])),
        Message::Delta(7, 0, entries(&[])),
        Message::Delta(7, 1, entries(&[NAN])),
        rows(&[0, 2, 0]),
    ];
    for file in [true, false] {
        let report = report(&arrow(&[column()], &messages, file));
        assert_one(&report.tensors[0], 1, &[3], INF, "deltas");
    }
    let messages = [
        Message::Dictionary(7, 2, entries(&[ONE, NAN])),
        rows(&[0, 0]),
        Message::Dictionary(7, 2, entries(&[INF, ONE])),
        rows(&[1, 0, 1]),
        Message::Dictionary(7, 1, entries(&[ONE])),
        rows(&[0]),
    ];
    let report = report(&arrow(&[column()], &messages, false));
    assert_one(&report.tensors[0], 1, &[3], INF, "replaced");
    refused(&arrow(&[column()], &messages, true), FileFormat::ARROW, "replaced in a file");
}

#[test]
fn indices_that_lie() {
    let dictionary = Message::Dictionary(7, 2, entries(&[ONE, ONE]));
    for index in [2, 0x7FFF_FFFF, 0xFFFF_FFFF] {
        for file in [true, false] {
            let bytes = arrow(&[column()], &[dictionary.clone(), rows(&[0, index])], file);
            refused(&bytes, FileFormat::ARROW, "out of bounds");
        }
    }
    // No dictionary at all, which is no matter without rows.
    for file in [true, false] {
        let bytes = arrow(&[column()], &[rows(&[0])], file);
        refused(&bytes, FileFormat::ARROW, "out of bounds");
        assert!(!report(&arrow(&[column()], &[rows(&[])], file)).is_bad());
        // Two columns of one dictionary that do not agree on its type.
        let double = field("e", Kind::Float(Precision::DOUBLE));
        let fields = [column(), Field { dictionary: Some(7), ..double }];
        refused(&arrow(&fields, &[], file), FileFormat::ARROW, "the type of \"e\"");
        // Fewer entries than the dictionary says.
        let short =
            Message::Dictionary(7, 3, vec![Node { length: 3, ..entries(&[ONE])[0].clone() }]);
        let bytes = arrow(&[column()], &[short, rows(&[0])], file);
        refused(&bytes, FileFormat::ARROW, "unexpected end of file");
    }
}

/// Dictionaries of text have no floats; of structs, each entry is looked at.
#[test]
fn other_dictionaries() {
    let fields = [
        Field { dictionary: Some(1), ..field("t", Kind::Text) },
        Field { dictionary: Some(2), ..field("s", Kind::Struct(vec![f32s("x")])) },
    ];
    let text = Node { length: 1, nulls: 0, buffers: vec![vec![], vec![0; 8], vec![]] };
    let nested = Node { length: 2, nulls: 0, buffers: vec![vec![]] };
    let messages = [
        Message::Dictionary(1, 1, vec![text]),
        Message::Dictionary(2, 2, vec![nested, numbers(&[ONE, NAN], 4, None)]),
        Message::Batch(1, vec![numbers(&[0], 4, None), numbers(&[0], 4, None)]),
    ];
    for file in [true, false] {
        let report = report(&arrow(&fields, &messages, file));
        let names: Vec<_> =
            report.tensors.iter().map(|tensor| tensor.name.as_deref().expect("named")).collect();
        assert_eq!(names, ["t", "s", "s.x (dictionary)"]);
        assert_eq!(&*report.tensors[0].dtype, "dictionary<utf8>");
        assert_one(&report.tensors[2], 0, &[1], NAN, "entries of structs");
    }
}

/// Columns that share a dictionary and do not agree on its type: the floats of the second would not
/// be looked at.
#[test]
fn types_that_contradict() {
    let shared = |name, kind| Field { dictionary: Some(7), ..field(name, kind) };
    let structs = |children| Kind::Struct(children);
    let int = || field("x", Kind::Int);
    let [of_int, of_float] = [int(), f32s("x")].map(|child| structs(vec![child]));
    let two = structs(vec![int(), f32s("x")]);
    for first in [Kind::Int, Kind::Text, of_int.clone()] {
        let others = [of_float.clone(), two.clone(), Kind::Float(Precision::SINGLE)];
        for second in others {
            let fields = [shared("d", first.clone()), shared("e", second)];
            for file in [true, false] {
                refused(&arrow(&fields, &[], file), FileFormat::ARROW, "the type of \"e\"");
            }
        }
    }
    for kind in [Kind::Int, of_float, two] {
        let fields = [shared("d", kind.clone()), shared("e", kind)];
        for file in [true, false] {
            assert!(!report(&arrow(&fields, &[], file)).is_bad());
        }
    }
    // A dictionary in itself.
    let inner = Field { dictionary: Some(7), ..f32s("x") };
    let fields = [shared("d", structs(vec![inner]))];
    refused(&arrow(&fields, &[], true), FileFormat::ARROW, "the type of \"x\"");
}

/// The columns of several dictionaries of structs, in the order of the ids.
#[test]
fn several_dictionaries_of_structs() {
    let structs = |id| Field { dictionary: Some(id), ..field("s", Kind::Struct(vec![f32s("x")])) };
    let entries = |values: &[u64]| {
        let parent = Node { length: values.len() as i64, nulls: 0, buffers: vec![vec![]] };
        vec![parent, numbers(values, 4, None)]
    };
    let messages = [
        Message::Dictionary(1, 1, entries(&[ONE])),
        Message::Dictionary(2, 2, entries(&[ONE, NAN])),
        Message::Dictionary(3, 3, entries(&[ONE, ONE, INF])),
        Message::Batch(1, vec![numbers(&[0], 4, None); 3]),
    ];
    for file in [true, false] {
        let report = report(&arrow(&[1, 2, 3].map(structs), &messages, file));
        assert!(!report.tensors[..4].iter().any(|tensor| tensor.is_bad()));
        assert_one(&report.tensors[4], 0, &[1], NAN, "the second");
        assert_one(&report.tensors[5], 1, &[2], INF, "the third");
    }
}

/// A compressed dictionary and its rows are in memory, at most 256 MiB of them.
#[test]
fn memory_is_bounded() {
    let codec = Some(CompressionType::LZ4_FRAME);
    let claiming = |length: i64, bytes: i64| {
        let data = bytes.to_le_bytes().to_vec();
        Node { length, nulls: 0, buffers: vec![vec![], data] }
    };
    // Not compressed.
    let index = [&(-1i64).to_le_bytes()[..], &[0; 4]].concat();
    let index = Node { length: 1, nulls: 0, buffers: vec![vec![], index] };
    for (entries, is_too_long) in [(64 << 20, false), ((64 << 20) + 1, true)] {
        let messages = [
            Message::Dictionary(7, entries, vec![claiming(entries, entries * 4)]),
            Message::Batch(1, vec![index.clone()]),
        ];
        for file in [true, false] {
            let bytes = Form { codec, ..Form::plain(file) }.arrow(&[column()], &messages);
            // No more of it is there than its length.
            let message = if is_too_long { "a compressed column of" } else { "tensor \"d\"" };
            refused(&bytes, FileFormat::ARROW, message);
        }
    }
}

/// Compressed indices of a byte, in 31 KB: a billion of them would take 4 GB of numbers.
#[test]
fn few_bytes_of_many_indices() {
    // Blocks of Zstandard of one byte that is repeated: a header of 3 bytes and the byte.
    let zeros = |count: usize| {
        let mut bytes = [&(count as i64).to_le_bytes()[..], b"\x28\xB5\x2F\xFD\0\x38"].concat();
        let block = 128 << 10;
        for start in (0..count).step_by(block) {
            let length = block.min(count - start);
            let header = length << 3 | 1 << 1 | usize::from(start + length == count);
            bytes.extend([&header.to_le_bytes()[..3], &[0]].concat());
        }
        Node { length: count as i64, nulls: 0, buffers: vec![vec![], bytes] }
    };
    let fields = [Field { index: (8, false), ..column() }];
    let codec = Some(CompressionType::ZSTD);
    let entries = [&(-1i64).to_le_bytes()[..], &(ONE as u32).to_le_bytes()].concat();
    let entries = Node { length: 1, nulls: 0, buffers: vec![vec![], entries] };
    let dictionary = Message::Dictionary(7, 1, vec![entries]);
    let file = |rows: usize| {
        let batch = Message::Batch(rows as i64, vec![zeros(rows)]);
        Form { codec, ..Form::plain(true) }.arrow(&fields, &[dictionary.clone(), batch])
    };
    let options = Options::default();
    let many = check_bytes(&file(100_000_000), FileFormat::ARROW, &options).expect("in memory");
    assert_eq!((many.is_bad(), many.tensors[0].elements), (false, 100_000_000));
    let bytes = file(1_000_000_000);
    assert!(bytes.len() < 32_000);
    let error = check_bytes(&bytes, FileFormat::ARROW, &options).expect_err("too many").to_string();
    assert!(error.contains("a compressed column of 1000000000 bytes"), "{error}");
}

#[test]
fn damaged_anywhere() {
    let messages = [
        Message::Dictionary(7, 2, entries(&[ONE, NAN])),
        Message::Delta(7, 1, entries(&[INF])),
        rows(&[0, 2, 1]),
    ];
    let form = Form { order: Endianness::Little, ..Form::plain(false) };
    for file in [true, false] {
        damaged(&Form { file, ..form }.arrow(&[column()], &messages), FileFormat::ARROW);
    }
}
