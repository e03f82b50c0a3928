//! Arrow types: how many buffers each has, and what the reader refuses or names as not looked at.

use arrow_ipc::{self as fb, MetadataVersion, Type, UnionMode};
use flatbuffers::FlatBufferBuilder;
use nonfinite_check::{FileFormat, LookedAt, Options, Report, check_bytes};

use crate::write::{Field, Form, Kind, Message, NAN, Node, ONE, arrow, f32s, field, numbers};
use crate::{assert_one, refused};

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
        (Kind::Other(Type::Bool, vec![]), vec![vec![], vec![3]], "boolean"),
        (Kind::Other(Type::Date, vec![]), vec![vec![], vec![0; 16]], "date64"),
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

/// Floats in unions are unreadable, and never clean.
#[test]
fn floats_that_are_not_looked_at() {
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
    ] {
        let nodes = [&[node(2, buffers)][..], &children()].concat();
        for report in reports(&field("x", kind.clone()), &nodes, version) {
            let looked_at = report.tensors.iter().map(|tensor| &tensor.looked_at);
            let unreadable = looked_at.filter(|at| matches!(at, LookedAt::Unreadable(_)));
            assert_eq!((unreadable.count(), report.is_complete()), (1, false), "{report:?}");
        }
    }
}

fn runs(values: Field) -> Field {
    field("r", Kind::Other(Type::RunEndEncoded, vec![field("run_ends", Kind::Int), values]))
}

/// A number counts once for each row of its run. A run without rows has none.
#[test]
fn runs_of_rows() {
    for (length, ends, counts) in
        [(7, [1, 5, 7], [1, 2]), (7, [1, 5, 9], [1, 2]), (4, [1, 4, 9], [1, 0])]
    {
        let values = numbers(&[NAN, ONE, NAN + 1], 4, None);
        let nodes = vec![node(length, vec![]), numbers(&ends, 4, None), values];
        for file in [true, false] {
            let batch = Message::Batch(length, nodes.clone());
            let report = crate::report(
                &arrow(&[runs(f32s("v"))], &[batch.clone(), batch], file),
                FileFormat::ARROW,
            );
            let [tensor] = &report.tensors[..] else { panic!("{report:?}") };
            assert_eq!(
                (tensor.name.as_deref(), &*tensor.dtype),
                (Some("r"), "run_end_encoded<float32>")
            );
            assert_eq!(tensor.shape, [2 * length as usize]);
            assert_eq!(tensor.found.nan.count, 2 * (counts[0] + counts[1]));
            assert_eq!(tensor.found.nan.first.as_ref().expect("one").coordinate, [0]);
            let normals = 2 * (length as u64 - counts[0] - counts[1]);
            assert_eq!(tensor.stats.as_ref().expect("asked for").normals, normals);
        }
    }
    // Null values, and runs in a list. The list has rows 1 to 5 of the runs.
    let values = numbers(&[NAN, ONE, NAN], 4, Some(&[false, true, true]));
    let list = field("l", Kind::List(Box::new(runs(f32s("v")))));
    let nodes = vec![
        node(2, vec![vec![], buffer(&[1, 3, 6], 4)]),
        node(7, vec![]),
        numbers(&[2, 5, 7], 4, None),
        values,
    ];
    let bytes = arrow(&[list], &[Message::Batch(2, nodes)], true);
    assert_one(&crate::report(&bytes, FileFormat::ARROW).tensors[0], 0, &[1], NAN, "in a list");
    // Runs of structs are not looked at.
    let nested = runs(field("s", Kind::Struct(vec![f32s("x")])));
    let nodes =
        [node(2, vec![]), numbers(&[2], 4, None), node(1, vec![vec![]]), numbers(&[NAN], 4, None)];
    for report in reports(&nested, &nodes, MetadataVersion::V5) {
        assert!(matches!(report.tensors[0].looked_at, LookedAt::Unreadable(_)));
        assert!(!report.is_complete());
    }
}

#[test]
fn runs_that_lie() {
    for (length, ends) in [(3, [1, 2]), (2, [2, 1]), (2, [0, 2]), (2, [1, 1]), (1 << 40, [1, 2])] {
        let nodes =
            vec![node(length, vec![]), numbers(&ends, 4, None), numbers(&[ONE, NAN], 4, None)];
        let bytes = arrow(&[runs(f32s("v"))], &[Message::Batch(length, nodes)], true);
        refused(&bytes, FileFormat::ARROW, "tensor \"r\"");
    }
}

/// List views, in any order. Elements that no row refers to, and elements of null rows, are not
/// looked at.
#[test]
fn list_views() {
    for (kind, size) in [(Type::ListView, 4), (Type::LargeListView, 8)] {
        let list = field("x", Kind::Other(kind, vec![f32s("item")]));
        let file = |nan: usize, valid: u8| {
            let mut values = [ONE; 5];
            values[nan] = NAN;
            let nulls = i64::from(valid != 7);
            let view = Node {
                length: 3,
                nulls,
                buffers: vec![vec![valid], buffer(&[3, 0, 0], size), buffer(&[2, 1, 2], size)],
            };
            let nodes = vec![view, numbers(&values, 4, None)];
            arrow(std::slice::from_ref(&list), &[Message::Batch(3, nodes)], true)
        };
        // Elements 3 and 4 are in row 0, element 0 in rows 1 and 2, element 1 in row 2.
        for (nan, valid, count, first) in
            [(0, 7, 2, 1), (1, 7, 1, 2), (2, 7, 0, 0), (4, 7, 1, 0), (0, 5, 1, 2), (3, 6, 0, 0)]
        {
            let report = crate::report(&file(nan, valid), FileFormat::ARROW);
            let tensor = &report.tensors[0];
            let found = &tensor.found.nan;
            assert_eq!((found.count, tensor.elements), (count, 5), "{nan} {valid}");
            if let Some(at) = &found.first {
                assert_eq!(at.coordinate, [first]);
            }
        }
        // Each of 16 elements in 16 rows, and in 17.
        for rows in [16, 17] {
            let view = node(
                rows,
                vec![
                    vec![],
                    buffer(&vec![0; rows as usize], size),
                    buffer(&vec![16; rows as usize], size),
                ],
            );
            let nodes = vec![view, numbers(&[ONE; 16], 4, None)];
            let bytes = arrow(std::slice::from_ref(&list), &[Message::Batch(rows, nodes)], true);
            match rows {
                16 => assert!(!crate::report(&bytes, FileFormat::ARROW).is_bad()),
                _ => refused(&bytes, FileFormat::ARROW, "share their elements too often"),
            }
        }
        for (offset, length) in [(0, 6), (5, 1), (u64::MAX, 1), (0, u64::MAX)] {
            let view = node(1, vec![vec![], buffer(&[offset], size), buffer(&[length], size)]);
            let nodes = vec![view, numbers(&[ONE; 5], 4, None)];
            let bytes = arrow(std::slice::from_ref(&list), &[Message::Batch(1, nodes)], true);
            refused(&bytes, FileFormat::ARROW, "tensor \"x\"");
        }
    }
}

/// Types that are missing, unknown, or have children that they cannot have.
#[test]
fn types_that_are_refused() {
    let other = |kind, children| field("x", Kind::Other(kind, children));
    for field in [
        other(Type::NONE, vec![]),
        other(Type::LargeList, vec![]),
        other(Type::LargeList, vec![f32s("y"), f32s("z")]),
        field("x", Kind::Union(UnionMode(2), vec![])),
    ] {
        for file in [true, false] {
            let bytes = arrow(std::slice::from_ref(&field), &[], file);
            refused(&bytes, FileFormat::ARROW, "bad Arrow schema");
        }
    }
    for file in [true, false] {
        let bytes = arrow(&[other(Type(99), vec![])], &[], file);
        let error = check_bytes(&bytes, FileFormat::ARROW, &Options::default());
        error.expect_err("an unknown type");
    }
}

/// The verifier's limit for tables within tables: 64. The footer, the schema, the floats and their
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
    let report = crate::report(&file(60), FileFormat::ARROW);
    assert_one(&report.tensors[0], 0, &[0], NAN, "60 lists");
    refused(&file(61), FileFormat::ARROW, "depth limit reached");
}

/// The verifier takes a table for each 8 bytes of the metadata, so a schema may have more than the
/// million that the verifier allows by itself.
#[test]
fn tables_of_a_schema() {
    let mut builder = FlatBufferBuilder::new();
    let text = Some(builder.create_string("x"));
    let pair = fb::KeyValueArgs { key: text, value: text };
    let pairs = (0..1_000_001).map(|_| fb::KeyValue::create(&mut builder, &pair));
    let pairs = pairs.collect::<Vec<_>>();
    let pairs = Some(builder.create_vector(&pairs));
    let fields = Some(builder.create_vector::<flatbuffers::ForwardsUOffset<fb::Field>>(&[]));
    let schema = fb::SchemaArgs { custom_metadata: pairs, fields, ..Default::default() };
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

/// The columns of a struct repeat its name. Names and types may together take 64 times the bytes of
/// the metadata.
#[test]
fn names_that_are_repeated() {
    let (columns, long) = (400, 16_000);
    let name = Box::leak("x".repeat(long).into_boxed_str());
    let fields = [field(name, Kind::Struct(vec![f32s("c"); columns]))];
    let bytes = arrow(&fields, &[], false);
    let (length, metadata) = bytes[4..].split_first_chunk().expect("a message");
    let metadata = &metadata[..u32::from_le_bytes(*length) as usize];
    let padded = |length| {
        let mut metadata = metadata.to_vec();
        metadata.resize(length, 0);
        stream(&metadata)
    };
    // The name of the struct, a dot and the name of the field, `float32`, and two fields.
    let least = (columns * (long + 2 + 7)).div_ceil(64);
    assert!(least > metadata.len());
    refused(&padded(least), FileFormat::ARROW, "names");
    let more = (columns * (long + 2 + 7 + 200)).div_ceil(64);
    let report = check_bytes(&padded(more), FileFormat::ARROW, &Options::default());
    assert_eq!(report.expect("enough metadata").tensors.len(), columns);
}
