use arrow_ipc::{Precision, UnionMode};
use nonfinite_check::{FileFormat, LookedAt, Report, check_bytes};

use crate::write::{Field, Form, Kind, Message, Node, arrow, bits, field, numbers, repeating};
use crate::{DTYPES, Dtype, GROUPS, PLACES, Watch, assert_one, damaged, is_null};

const PRECISIONS: [Precision; 3] = [Precision::HALF, Precision::SINGLE, Precision::DOUBLE];
const NAN: u64 = 0x7FC0_0000;
const ONE: u64 = 0x3F80_0000;

fn report(bytes: &[u8]) -> Report {
    crate::report(bytes, FileFormat::ARROW)
}

#[track_caller]
fn refused(bytes: &[u8], message: &str) {
    crate::refused(bytes, FileFormat::ARROW, message);
}

/// As a file and as a stream.
#[track_caller]
fn refused_as_both(fields: &[Field], messages: &[Message], message: &str) {
    for file in [true, false] {
        refused(&arrow(fields, messages, file), message);
    }
}

fn f32s(name: &'static str) -> Field {
    field(name, Kind::Float(Precision::SINGLE))
}

/// The bits of a row: what is planted, something finite, or a NaN that is null.
fn value(dtype: &Dtype, row: usize, place: usize, kind: usize) -> u64 {
    match row {
        _ if row == place => dtype.special[kind],
        _ if is_null(row, place) => dtype.special[0],
        _ => dtype.finite,
    }
}

/// The rows of each group.
fn groups() -> impl Iterator<Item = std::ops::Range<usize>> {
    GROUPS.iter().scan(0, |end, rows| {
        *end += rows;
        Some(*end - rows..*end)
    })
}

#[test]
fn planted() {
    for (dtype, precision) in DTYPES.iter().zip(PRECISIONS) {
        for (kind, place) in (0..3).flat_map(|kind| PLACES.map(|place| (kind, place))) {
            let fields = [field("text", Kind::Text), field("x", Kind::Float(precision))];
            let batches = groups().map(|rows| {
                let count = rows.len() as i64;
                let values: Vec<_> =
                    rows.clone().map(|row| value(dtype, row, place, kind)).collect();
                let valid: Vec<_> = rows.map(|row| !is_null(row, place)).collect();
                let text = Node { length: count, nulls: 0, buffers: vec![vec![]; 3] };
                (count, [text, numbers(&values, dtype.size, Some(&valid))])
            });
            let batches: Vec<_> = batches.collect();
            for form in Form::all() {
                let turned = |nodes: &[Node; 2]| {
                    nodes.iter().map(|node| form.turned(node.clone(), dtype.size)).collect()
                };
                let batches =
                    batches.iter().map(|(count, nodes)| Message::Batch(*count, turned(nodes)));
                let report = report(&form.arrow(&fields, &batches.collect::<Vec<_>>()));
                assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat);
                let tensor = &report.tensors[1];
                assert_eq!((tensor.name.as_deref(), &*tensor.dtype), (Some("x"), dtype.arrow));
                assert_eq!((&tensor.shape[..], tensor.elements), (&[crate::ROWS][..], crate::ROWS));
                let context = format!("{}, row {place}, {form:?}", dtype.arrow);
                assert_one(tensor, kind, &[place], dtype.special[kind], &context);
            }
        }
    }
}

/// Three numbers a row.
#[test]
fn lists_of_fixed_size() {
    for (dtype, precision) in DTYPES.iter().zip(PRECISIONS) {
        for (kind, place) in [(0, 0), (1, 1201), (2, 2999)] {
            let batches = groups().map(|rows| {
                let values: Vec<_> = (rows.start * 3..rows.end * 3)
                    .map(
                        |element| if element == place { dtype.special[kind] } else { dtype.finite },
                    )
                    .collect();
                let list = Node { length: rows.len() as i64, nulls: 0, buffers: vec![vec![]] };
                Message::Batch(rows.len() as i64, vec![list, numbers(&values, dtype.size, None)])
            });
            let item = Box::new(field("item", Kind::Float(precision)));
            let bytes = arrow(
                &[field("embedding", Kind::Fixed(3, item))],
                &batches.collect::<Vec<_>>(),
                true,
            );
            let tensor = &report(&bytes).tensors[0];
            assert_eq!(tensor.dtype, format!("fixed_size_list<{}>[3]", dtype.arrow));
            assert_eq!(tensor.shape, [crate::ROWS, 3]);
            assert_one(tensor, kind, &[place / 3, place % 3], dtype.special[kind], dtype.arrow);
        }
    }
}

/// The elements of null lists and null structs are not looked at, and neither are those that no
/// list has.
#[test]
fn what_lies_under_nulls() {
    let fields = [
        field("fixed", Kind::Fixed(2, Box::new(f32s("item")))),
        field("struct", Kind::Struct(vec![f32s("x")])),
        field("list", Kind::List(Box::new(f32s("item")))),
    ];
    let valid = [true, false, true];
    let parent = |buffers| Node { length: 3, nulls: 1, buffers };
    let offsets =
        |offsets: [i32; 4]| offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let nodes = |last: u64| {
        vec![
            parent(vec![bits(Some(&valid))]),
            numbers(&[ONE, ONE, NAN, NAN, ONE, last], 4, None),
            parent(vec![bits(Some(&valid))]),
            numbers(&[ONE, NAN, last], 4, None),
            // The first begins at 1, and the last ends before the end.
            parent(vec![bits(Some(&valid)), offsets([1, 3, 5, 6])]),
            numbers(&[NAN, ONE, ONE, NAN, NAN, last, NAN], 4, None),
        ]
    };
    for form in Form::all() {
        let nodes = |last| nodes(last).into_iter().map(|node| form.turned(node, 4)).collect();
        let batches = |last| [Message::Batch(3, nodes(ONE)), Message::Batch(3, nodes(last))];
        assert!(!report(&form.arrow(&fields, &batches(ONE))).is_bad());
        let report = report(&form.arrow(&fields, &batches(NAN)));
        let expected = [("fixed", vec![5, 1]), ("struct.x", vec![5]), ("list", vec![5])];
        for (tensor, (name, coordinate)) in report.tensors.iter().zip(expected) {
            assert_eq!(tensor.name.as_deref(), Some(name));
            assert_one(tensor, 0, &coordinate, NAN, name);
        }
    }
}

#[test]
fn lists_of_lists() {
    let inner = field("item", Kind::List(Box::new(f32s("item"))));
    let fields = [field("l", Kind::List(Box::new(inner)))];
    let offsets = |offsets: &[i32]| {
        offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect::<Vec<u8>>()
    };
    // [[1], [], [1, 1]], [], [[NaN]], [[1]]
    let nodes = [
        Node { length: 4, nulls: 0, buffers: vec![vec![], offsets(&[0, 3, 3, 4, 5])] },
        Node { length: 5, nulls: 0, buffers: vec![vec![], offsets(&[0, 1, 1, 3, 4, 5])] },
        numbers(&[ONE, ONE, ONE, NAN, ONE], 4, None),
    ];
    for form in Form::all() {
        let nodes = nodes.iter().map(|node| form.turned(node.clone(), 4)).collect();
        let tensor = &report(&form.arrow(&fields, &[Message::Batch(4, nodes)])).tensors[0];
        assert_eq!(
            (&*tensor.dtype, &tensor.shape[..], tensor.elements),
            ("list<list<float32>>", &[4][..], 5)
        );
        assert_one(tensor, 0, &[2], NAN, "list of lists");
    }
}

/// Without lists, even the first offset may be missing. No row refers to the numbers.
#[test]
fn offsets_of_no_lists() {
    let inner = field("item", Kind::List(Box::new(f32s("item"))));
    let fields = [field("l", Kind::List(Box::new(inner)))];
    let outer = Node { length: 1, nulls: 0, buffers: vec![vec![], vec![0; 8]] };
    let none = Node { length: 0, nulls: 0, buffers: vec![vec![], vec![]] };
    for file in [true, false] {
        let nodes = vec![outer.clone(), none.clone(), numbers(&[NAN, NAN], 4, None)];
        let report = report(&arrow(&fields, &[Message::Batch(1, nodes)], file));
        assert!(!report.is_bad(), "{report:?}");
        // A batch without rows, though its lists would have numbers.
        let nodes = vec![none.clone(), none.clone(), numbers(&[NAN, NAN], 4, None)];
        let report = self::report(&arrow(&fields, &[Message::Batch(0, nodes)], file));
        assert_eq!((report.is_bad(), report.tensors[0].elements), (false, 0));
    }
}

#[test]
fn unions_are_not_seen_through() {
    let fields = [
        field("u", Kind::Union(UnionMode::Sparse, vec![f32s("x"), field("i", Kind::Int)])),
        f32s("y"),
    ];
    let union = Node { length: 1, nulls: 0, buffers: vec![vec![0]] };
    let nodes =
        vec![union, numbers(&[NAN], 4, None), numbers(&[1], 4, None), numbers(&[NAN], 4, None)];
    let report = report(&arrow(&fields, &[Message::Batch(1, nodes)], true));
    let LookedAt::Unreadable(why) = &report.tensors[0].looked_at else { panic!("{report:?}") };
    assert!(why.cause().contains("unions"), "{why:?}");
    assert_eq!(report.tensors[1].looked_at, LookedAt::NotFloat);
    assert_one(&report.tensors[2], 0, &[0], NAN, "behind the union");
    assert!(!report.is_complete());
}

#[test]
fn tables_without_rows() {
    for file in [true, false] {
        let report = report(&arrow(&[f32s("x")], &[], file));
        assert_eq!((&report.tensors[0].shape[..], report.tensors[0].elements), (&[0][..], 0));
        assert!(!report.is_bad());
    }
}

#[test]
fn files_that_lie() {
    let column = |rows: i64, node: Node, message: &str| {
        refused_as_both(&[f32s("x")], &[Message::Batch(rows, vec![node])], message);
    };
    let good = numbers(&[ONE; 4], 4, Some(&[true, false, true, true]));
    let with = |change: &dyn Fn(&mut Node)| {
        let mut node = good.clone();
        change(&mut node);
        node
    };
    let batch = || [Message::Batch(4, vec![good.clone()])];
    assert!(!report(&arrow(&[f32s("x")], &batch(), true)).is_bad());
    refused(b"ARROW1\0\0", "ends before its footer");
    column(-1, good.clone(), "length of a batch cannot be");
    column(i64::MAX, good.clone(), "length of a node cannot be");
    column(5, good.clone(), "length of a node cannot be");
    column(4, with(&|node| node.length = -4), "length of a node cannot be");
    column(i64::MAX, with(&|node| node.length = i64::MAX), "size of a column cannot be");
    column(1 << 40, with(&|node| node.length = 1 << 40), "tensor \"x\"");
    column(4, with(&|node| node.buffers[1].truncate(15)), "tensor \"x\"");
    column(4, with(&|node| node.buffers[0].clear()), "tensor \"x\"");
    column(4, with(&|node| drop(node.buffers.pop())), "too few buffers");
    refused_as_both(&[f32s("x"), f32s("y")], &batch(), "too few nodes");
    refused_as_both(
        &[field("x", Kind::Fixed(-1, Box::new(f32s("item"))))],
        &[],
        "the type of \"x\"",
    );
    let list = |offsets: [i32; 3]| {
        let offsets = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        let list = Node { length: 2, nulls: 0, buffers: vec![vec![], offsets] };
        let nodes = vec![list, numbers(&[NAN; 4], 4, None)];
        arrow(&[field("x", Kind::List(Box::new(f32s("item"))))], &[Message::Batch(2, nodes)], false)
    };
    assert!(report(&list([0, 2, 4])).is_bad());
    refused(&list([0, 2, 5]), "lead outside");
    refused(&list([0, -2, 4]), "do not rise");
    refused(&list([3, 2, 4]), "do not rise");
    refused(&[&list([0, 2, 4])[..], b"more"].concat(), "goes on behind");
}

/// A footer is small beside what it names if it names one batch again and again: the rest is not
/// read.
#[test]
fn batches_that_are_repeated() {
    let batch = || Message::Batch(4, vec![numbers(&[ONE; 4], 4, None)]);
    let fields = [f32s("x")];
    refused(&repeating(&fields, batch(), 1, Some(-1)), "offset of a batch cannot be");
    for times in [2, 3, 1500] {
        refused(&repeating(&fields, batch(), times, Some(-1)), "data that overlaps");
    }
    // Both batches together are shorter than the file, which has a long schema.
    let long = [f32s(Box::leak("x".repeat(400).into_boxed_str())), f32s("y")];
    let both = Message::Batch(4, vec![numbers(&[ONE; 4], 4, None); 2]);
    refused(&repeating(&long, both.clone(), 2, Some(-1)), "offset of a batch cannot be");
    refused(&repeating(&long, both, 2, None), "data that overlaps");
    assert!(!report(&repeating(&fields, batch(), 1, None)).is_bad());
}

#[test]
fn columns_that_claim_too_much_together() {
    let claimed = 1 << 59;
    let fields = vec![field("x", Kind::Float(Precision::DOUBLE)); 5];
    let nodes = vec![Node { length: claimed, ..numbers(&[0], 8, None) }; 5];
    let (watch, options) = Watch::new(usize::MAX);
    let bytes = arrow(&fields, &[Message::Batch(claimed, nodes)], true);
    let error =
        check_bytes(&bytes, FileFormat::ARROW, &options).expect_err("there is no such data");
    assert!(error.to_string().contains("tensor \"x\""), "{error}");
    assert_eq!(watch.started(), u64::MAX);
}

#[test]
fn damaged_files() {
    let fields = [f32s("x"), field("l", Kind::List(Box::new(f32s("item"))))];
    let offsets: Vec<u8> = [0i32, 1, 2].iter().flat_map(|offset| offset.to_le_bytes()).collect();
    let nodes = vec![
        numbers(&[ONE, NAN], 4, Some(&[true, false])),
        Node { length: 2, nulls: 0, buffers: vec![vec![], offsets] },
        numbers(&[NAN, ONE], 4, None),
    ];
    for file in [true, false] {
        damaged(&arrow(&fields, &[Message::Batch(2, nodes.clone())], file), FileFormat::ARROW);
    }
}

/// A child has as many elements as its parent, and for lists of fixed size a multiple.
#[test]
fn lengths_of_children() {
    let parent = |length| Node { length, nulls: 0, buffers: vec![vec![]] };
    let x = || field("x", Kind::Float(Precision::SINGLE));
    let structs = field("s", Kind::Struct(vec![x()]));
    let lists = field("l", Kind::Fixed(2, Box::new(x())));
    for (field, per_row) in [(structs, 1), (lists, 2)] {
        let file = |numbers_there: usize| {
            let numbers = numbers(&vec![0x3F80_0000; numbers_there], 4, None);
            let batch = Message::Batch(3, vec![parent(3), numbers]);
            arrow(std::slice::from_ref(&field), &[batch], true)
        };
        crate::report(&file(3 * per_row), FileFormat::ARROW);
        for missing in [1, 2] {
            let message = "the length of a node cannot be";
            refused(&file(3 * per_row - missing), message);
        }
    }
}
