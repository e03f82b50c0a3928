//! Arrow types: how many buffers each has, and what the reader refuses or names as not looked at.

use arrow_ipc::{self as fb, MetadataVersion, Precision, Type, UnionMode};
use flatbuffers::FlatBufferBuilder;
use nonfinite_check::{FileFormat, LookedAt, Options, Report, check_bytes};

use crate::write::{Field, Form, Kind, Message, Node, arrow, field, numbers};
use crate::{assert_one, refused};

const NAN: u64 = 0x7FC0_0000;
const ONE: u64 = 0x3F80_0000;

fn f32s(name: &'static str) -> Field {
    field(name, Kind::Float(Precision::SINGLE))
}

fn node(length: i64, buffers: Vec<Vec<u8>>) -> Node {
    Node { length, nulls: 0, buffers }
}

/// The bytes of numbers.
fn buffer(values: &[u64], size: usize) -> Vec<u8> {
    numbers(values, size, None).buffers.remove(1)
}

/// The reports of a file and of a stream: of a column, and of floats behind it, the second of which
/// is NaN.
fn reports(column: &Field, nodes: &[Node], version: MetadataVersion) -> [Report; 2] {
    [true, false].map(|file| {
        let fields = [column.clone(), f32s("behind")];
        let nodes = [nodes, &[numbers(&[ONE, NAN], 4, None)]].concat();
        let form = Form { version, ..Form::plain(file) };
        let report =
            crate::report(&form.arrow(&fields, &[Message::Batch(2, nodes)]), FileFormat::ARROW);
        let last = report.tensors.last().expect("a column");
        assert_one(last, 0, &[1], NAN, "behind");
        report
    })
}

/// Each type has its number of buffers.
#[test]
fn columns_without_floats() {
    let v5 = MetadataVersion::V5;
    let text = || vec![vec![], vec![0; 12], vec![]];
    let views = || vec![vec![], vec![0; 32], vec![1; 20], vec![], vec![2; 9]];
    for (kind, buffers, dtype) in [
        (Kind::Other(Type::Null, vec![]), vec![], "null"),
        (Kind::Other(Type::Bool, vec![]), vec![vec![], vec![3]], "bool"),
        (Kind::Other(Type::Date, vec![]), vec![vec![], vec![0; 16]], "date"),
        (Kind::Text, text(), "utf8"),
        (Kind::Other(Type::Binary, vec![]), text(), "binary"),
        (Kind::Other(Type::LargeUtf8, vec![]), text(), "largeutf8"),
        (Kind::Other(Type::LargeBinary, vec![]), text(), "largebinary"),
        (Kind::Other(Type::Utf8View, vec![]), views(), "utf8view"),
        (Kind::Other(Type::BinaryView, vec![]), views(), "binaryview"),
        (Kind::Other(Type::Struct_, vec![]), vec![vec![]], "struct"),
    ] {
        for report in reports(&field("x", kind), &[node(2, buffers)], v5) {
            let tensor = &report.tensors[0];
            assert_eq!((&*tensor.dtype, &tensor.looked_at), (dtype, &LookedAt::NotFloat));
            assert!(report.is_complete());
        }
    }
}

/// Lists with offsets of 8 bytes, and maps. Keys have no float.
#[test]
fn large_lists_and_maps() {
    let large = field("l", Kind::Other(Type::LargeList, vec![f32s("item")]));
    let nodes = [node(2, vec![vec![], buffer(&[0, 2, 3], 8)]), numbers(&[ONE, ONE, NAN], 4, None)];
    for report in reports(&large, &nodes, MetadataVersion::V5) {
        assert_eq!(report.tensors[0].dtype, "large_list<float32>");
        assert_one(&report.tensors[0], 0, &[1], NAN, "a large list");
    }
    let entries = field("entries", Kind::Struct(vec![field("key", Kind::Int), f32s("value")]));
    let map = field("m", Kind::Other(Type::Map, vec![entries]));
    let nodes = [
        node(2, vec![vec![], buffer(&[0, 1, 3], 4)]),
        node(3, vec![vec![]]),
        numbers(&[NAN; 3], 4, None),
        numbers(&[ONE, ONE, NAN], 4, None),
    ];
    for report in reports(&map, &nodes, MetadataVersion::V5) {
        let [key, value, _] = &report.tensors[..] else { panic!("{report:?}") };
        assert_eq!((key.name.as_deref(), &*key.dtype), (Some("m.key"), "map<int32>"));
        assert_eq!((value.name.as_deref(), &*value.dtype), (Some("m.value"), "map<float32>"));
        assert_one(value, 0, &[1], NAN, "a map");
    }
}

/// Floats in a list of lists of fixed size: the row of each.
#[test]
fn lists_of_lists_of_fixed_size() {
    let list = field("l", Kind::List(Box::new(field("item", Kind::Fixed(3, Box::new(f32s("x")))))));
    for place in 0..12 {
        let values: Vec<_> = (0..12).map(|index| if index == place { NAN } else { ONE }).collect();
        let nodes = [
            node(2, vec![vec![], buffer(&[0, 1, 4], 4)]),
            node(4, vec![vec![]]),
            numbers(&values, 4, None),
        ];
        for report in reports(&list, &nodes, MetadataVersion::V5) {
            assert_one(&report.tensors[0], 0, &[usize::from(place >= 3)], NAN, "a list");
        }
    }
}

/// Floats of which the reader does not know the rows are unreadable, and never clean.
#[test]
fn floats_that_are_not_looked_at() {
    let runs = || Kind::Other(Type::RunEndEncoded, vec![field("ends", Kind::Int), f32s("values")]);
    let union = |mode| Kind::Union(mode, vec![f32s("x"), field("i", Kind::Int)]);
    let children = || [numbers(&[NAN, ONE], 4, None), numbers(&[1, 2], 4, None)];
    let types = || vec![0; 2];
    let [v4, v5] = [MetadataVersion::V4, MetadataVersion::V5];
    for (kind, buffers, version) in [
        (union(UnionMode::Sparse), vec![types()], v5),
        (union(UnionMode::Dense), vec![types(), vec![0; 8]], v5),
        // Before version 5 a union had bits of validity.
        (union(UnionMode::Sparse), vec![vec![3], types()], v4),
        (union(UnionMode::Dense), vec![vec![3], types(), vec![0; 8]], v4),
        (runs(), vec![], v5),
    ] {
        let nodes = [&[node(2, buffers)][..], &children()].concat();
        for report in reports(&field("x", kind.clone()), &nodes, version) {
            let looked_at = report.tensors.iter().map(|tensor| &tensor.looked_at);
            let unreadable = looked_at.filter(|at| matches!(at, LookedAt::Unreadable(_)));
            assert_eq!((unreadable.count(), report.is_complete()), (1, false), "{report:?}");
        }
    }
    for (kind, size) in [(Type::ListView, 4), (Type::LargeListView, 8)] {
        let list = field("x", Kind::Other(kind, vec![f32s("item")]));
        let nodes = [
            node(2, vec![vec![], buffer(&[0, 1], size), buffer(&[1, 1], size)]),
            numbers(&[NAN, ONE], 4, None),
        ];
        for report in reports(&list, &nodes, MetadataVersion::V5) {
            assert!(matches!(report.tensors[0].looked_at, LookedAt::Unreadable(_)));
            assert!(!report.is_complete());
        }
    }
}

/// Types that are missing, unknown, or have children that they cannot have.
#[test]
fn types_that_are_refused() {
    let other = |kind, children| field("x", Kind::Other(kind, children));
    for field in [
        other(Type::NONE, vec![]),
        other(Type::Bool, vec![f32s("y")]),
        other(Type::LargeList, vec![]),
        other(Type::LargeList, vec![f32s("y"), f32s("z")]),
        field("x", Kind::Union(UnionMode(2), vec![])),
    ] {
        for file in [true, false] {
            let bytes = arrow(std::slice::from_ref(&field), &[], file);
            refused(&bytes, FileFormat::ARROW, "the type of \"x\"");
        }
    }
    for file in [true, false] {
        let bytes = arrow(&[other(Type(99), vec![])], &[], file);
        let error = check_bytes(&bytes, FileFormat::ARROW, &Options::default());
        error.expect_err("an unknown type");
    }
}

/// Metadata of a field that is not text is listed once, for a column of a dictionary as well.
#[test]
fn metadata_of_fields() {
    let column = Field { metadata: Some("\0"), ..f32s("x") };
    let rows = Field { dictionary: Some(7), ..column.clone() };
    for field in [column, rows] {
        for file in [true, false] {
            let bytes = arrow(std::slice::from_ref(&field), &[], file);
            let report = crate::report(&bytes, FileFormat::ARROW);
            let names: Vec<_> =
                report.tensors.iter().map(|tensor| tensor.name.as_deref()).collect();
            assert_eq!(names, [Some("x"), Some("metadata key")]);
        }
    }
}

/// The verifier's limit for tables within tables: 128. The footer, the schema, the floats and their
/// type are four of them, and each list is one.
#[test]
fn depth_of_a_schema() {
    let nested = |depth| {
        let list = |item, _| field("l", Kind::List(Box::new(item)));
        (0..depth).fold(f32s("x"), list)
    };
    let file = |depth: usize| {
        let list = node(1, vec![vec![], buffer(&[0, 1], 4)]);
        let nodes = [vec![list; depth], vec![numbers(&[NAN], 4, None)]].concat();
        arrow(&[nested(depth)], &[Message::Batch(1, nodes)], true)
    };
    let report = crate::report(&file(124), FileFormat::ARROW);
    assert_one(&report.tensors[0], 0, &[0], NAN, "124 lists");
    refused(&file(125), FileFormat::ARROW, "depth limit reached");
}

/// The verifier takes a table for each byte of the metadata, so a schema may have more than the
/// million that the verifier allows by itself.
#[test]
fn tables_of_a_schema() {
    let mut builder = FlatBufferBuilder::new();
    let text = Some(builder.create_string("x"));
    let pair = fb::KeyValue::create(&mut builder, &fb::KeyValueArgs { key: text, value: text });
    let pairs = Some(builder.create_vector(&vec![pair; 1_000_001]));
    let schema = fb::SchemaArgs { custom_metadata: pairs, ..Default::default() };
    let schema = fb::Schema::create(&mut builder, &schema);
    let message = fb::MessageArgs {
        version: MetadataVersion::V5,
        header_type: fb::MessageHeader::Schema,
        header: Some(schema.as_union_value()),
        ..Default::default()
    };
    let message = fb::Message::create(&mut builder, &message);
    builder.finish(message, None);
    let bytes = stream(builder.finished_data());
    let report = check_bytes(&bytes, FileFormat::ARROW, &Options::default());
    assert!(report.expect("good metadata").tensors.is_empty());
}

/// A stream whose only message has this metadata.
fn stream(metadata: &[u8]) -> Vec<u8> {
    let mark = b"\xFF\xFF\xFF\xFF";
    let length = (metadata.len() as u32).to_le_bytes();
    [&mark[..], &length, metadata, mark, &[0; 4]].concat()
}

/// The columns of a struct repeat its name. Names, types and places in the schema may together take
/// 64 times the bytes of the metadata.
#[test]
fn names_that_are_repeated() {
    let (columns, long) = (400, 16_000);
    let child = || field("c", Kind::Fixed(3, Box::new(f32s("item"))));
    let name = Box::leak("x".repeat(long).into_boxed_str());
    let fields = [field(name, Kind::Struct((0..columns).map(|_| child()).collect()))];
    let bytes = arrow(&fields, &[], false);
    let (length, metadata) = bytes[4..].split_first_chunk().expect("a message");
    let metadata = &metadata[..u32::from_le_bytes(*length) as usize];
    // A list has the name of the struct, a dot and its own name. The floats in it have the same
    // name, and a type with "fixed_size_list<" and ">[3]". Each node above them takes 16 bytes.
    let name = long + ".c".len();
    let list = name + 2 * 16;
    let floats = name + "fixed_size_list<>[3]".len() + 3 * 16;
    let all = long + 16 + columns * (list + floats);
    let least = all.div_ceil(64);
    assert!(least > metadata.len());
    let padded = |length| {
        let mut metadata = metadata.to_vec();
        metadata.resize(length, 0);
        stream(&metadata)
    };
    let report = check_bytes(&padded(least), FileFormat::ARROW, &Options::default());
    assert_eq!(report.expect("enough metadata").tensors.len(), columns);
    refused(&padded(least - 1), FileFormat::ARROW, "names");
}
