use arrow_ipc::{Precision, UnionMode};
use nonfinite_check::{FileFormat, LookedAt, Options, Report, check_bytes};

use crate::write::{
    Field, Form, Kind, Message, NAN, Node, ONE, arrow, bits, f32s, field, numbers, offsets,
    repeating,
};
use crate::{DTYPES, Dtype, GROUPS, PLACES, Watch, assert_one, damaged, is_null};

const PRECISIONS: [Precision; 3] = [Precision::HALF, Precision::SINGLE, Precision::DOUBLE];

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

/// The bits of a row: what is planted, something finite, or a NaN that is null.
fn value(dtype: &Dtype, row: usize, place: usize, kind: usize) -> u64 {
    match row {
        _ if row == place => dtype.codes.special[kind],
        _ if is_null(row, place) => dtype.codes.special[0],
        _ => dtype.codes.finite,
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
                (count, [text, numbers(&values, dtype.codes.size, Some(&valid))])
            });
            let batches: Vec<_> = batches.collect();
            for form in Form::all() {
                let turned = |nodes: &[Node; 2]| {
                    nodes.iter().map(|node| form.turned(node.clone(), dtype.codes.size)).collect()
                };
                let batches =
                    batches.iter().map(|(count, nodes)| Message::Batch(*count, turned(nodes)));
                let report = report(&form.arrow(&fields, &batches.collect::<Vec<_>>()));
                assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat);
                let tensor = &report.tensors[1];
                assert_eq!((tensor.name.as_deref(), &*tensor.dtype), (Some("x"), dtype.arrow));
                assert_eq!((&tensor.shape[..], tensor.elements), (&[crate::ROWS][..], crate::ROWS));
                let context = format!("{}, row {place}, {form:?}", dtype.arrow);
                assert_one(tensor, kind, &[place], dtype.codes.special[kind], &context);
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
                    .map(|element| {
                        if element == place {
                            dtype.codes.special[kind]
                        } else {
                            dtype.codes.finite
                        }
                    })
                    .collect();
                let list = Node { length: rows.len() as i64, nulls: 0, buffers: vec![vec![]] };
                Message::Batch(
                    rows.len() as i64,
                    vec![list, numbers(&values, dtype.codes.size, None)],
                )
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
            assert_one(
                tensor,
                kind,
                &[place / 3, place % 3],
                dtype.codes.special[kind],
                dtype.arrow,
            );
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
    let nodes = |last: u64| {
        vec![
            parent(vec![bits(Some(&valid))]),
            numbers(&[ONE, ONE, NAN, NAN, ONE, last], 4, None),
            parent(vec![bits(Some(&valid))]),
            numbers(&[ONE, NAN, last], 4, None),
            // The first begins at 1, and the last ends before the end.
            parent(vec![bits(Some(&valid)), offsets(&[1, 3, 5, 6])]),
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
    column(i64::MAX, good.clone(), "size of a column cannot be");
    column(5, good.clone(), "shorter than its batch");
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
    let list = |of: [i32; 3]| {
        let list = Node { length: 2, nulls: 0, buffers: vec![vec![], offsets(&of)] };
        let nodes = vec![list, numbers(&[NAN; 4], 4, None)];
        arrow(&[field("x", Kind::List(Box::new(f32s("item"))))], &[Message::Batch(2, nodes)], false)
    };
    assert!(report(&list([0, 2, 4])).is_bad());
    refused(&list([0, 2, 5]), "lead outside");
    refused(&list([0, -2, 4]), "tensor \"x\"");
    refused(&list([0, 6, 4]), "tensor \"x\"");
    refused(&list([3, 2, 4]), "tensor \"x\"");
    refused(&list([3, 4, 2]), "do not rise");
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
    let offsets = offsets(&[0, 1, 2]);
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
            refused(&file(3 * per_row - missing), "shorter than its batch or its list");
        }
    }
}

/// Large batches are looked at in parts of about 4 MiB, whatever their nesting. A NaN at each side
/// of the limits of parts, and nulls that are NaN.
#[test]
fn parts_of_batches() {
    const ROWS: usize = 700_000;
    let part = |stored: usize| ROWS * (4 << 20) / stored / 8 * 8;
    let f64s = || field("x", Kind::Float(Precision::DOUBLE));
    let nan = DTYPES[2].codes.special[0];
    let valid: Vec<_> = (0..8 * ROWS).map(|row| row % 7 != 3).collect();
    let values = |count: usize, at: usize| -> Vec<_> {
        let value = |index| match index {
            _ if index == at || index % 7 == 3 => nan,
            _ => DTYPES[2].codes.finite,
        };
        (0..count).map(value).collect()
    };
    let offsets = |first: i32, each: i32| -> Vec<u8> {
        (0..=ROWS as i32).flat_map(|row| (first + each * row).to_le_bytes()).collect()
    };
    // The field, the node above its numbers, numbers before the first row, and numbers in a row.
    let parent = |buffers| Some(Node { length: ROWS as i64, nulls: 0, buffers });
    let cases = [
        (f64s(), None, 0, 1),
        (field("f", Kind::Fixed(3, Box::new(f64s()))), parent(vec![vec![]]), 0, 3),
        (field("l", Kind::List(Box::new(f64s()))), parent(vec![vec![], offsets(13, 2)]), 13, 2),
    ];
    for (column, above, before, per_row) in cases {
        let count = before + ROWS * per_row + 5;
        let stored = count * 8 + count.div_ceil(8) + if before > 0 { 4 * (ROWS + 1) } else { 0 };
        let limit = part(stored);
        assert!((1..ROWS).contains(&limit));
        let rows = [0, limit - 1, limit, limit + 1, 2 * limit, ROWS - 1];
        for row in rows.into_iter().filter(|&row| row < ROWS) {
            let mut at = before + row * per_row;
            at += usize::from(at % 7 == 3);
            let mut numbers = numbers(&values(count, at), 8, Some(&valid[..count]));
            if above.is_none() {
                numbers.length = ROWS as i64;
            }
            let nodes: Vec<_> = above.clone().into_iter().chain([numbers]).collect();
            let bytes =
                arrow(std::slice::from_ref(&column), &[Message::Batch(ROWS as i64, nodes)], true);
            let report = check_bytes(&bytes, FileFormat::ARROW, &Options::default());
            let place = at - before;
            let coordinate = match before {
                0 if per_row > 1 => vec![place / per_row, place % per_row],
                _ => vec![place / per_row],
            };
            let tensor = &report.expect("a good table").tensors[0];
            // The last number of the last row may be a null.
            if place / per_row < ROWS {
                assert_one(tensor, 0, &coordinate, nan, &format!("{row} of {}", column.name));
            }
        }
    }
}

/// pyarrow writes the buffers of a slice with what follows it in memory, up to 8 or 64 bytes:
/// `write_table(t, max_chunksize=3)`.
#[test]
fn slices_of_pyarrow() {
    let fields = [f32s("x"), field("i", Kind::Int)];
    let mut x = numbers(&[ONE, ONE, ONE], 4, None);
    x.buffers[1].extend((NAN as u32).to_le_bytes().repeat(9));
    let batch = Message::Batch(3, vec![x, numbers(&[1, 2, 3], 4, None)]);
    for file in [true, false] {
        let report = report(&arrow(&fields, &[batch.clone(), batch.clone()], file));
        assert!(report.is_complete() && !report.is_bad(), "{report:?}");
    }
}
