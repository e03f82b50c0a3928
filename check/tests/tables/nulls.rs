//! Nulls of Arrow: what lies in their places may be anything, and is looked at with all others first. And streams.

use arrow_ipc::Precision;
use nonfinite_check::{Error, FileFormat, Options, check_bytes, check_stream};

use crate::write::{Kind, Message, Node, arrow, bits, field, numbers};
use crate::{DTYPES, assert_one, report};

const NAN: u64 = 0x7FC0_0000;
const ONE: u64 = 0x3F80_0000;
/// Several chunks of 64 KiB, and a rest.
const ROWS: usize = 40_000;

/// A row that is null, of about three in ten, in no order.
fn is_null(row: usize) -> bool {
    row.wrapping_mul(0x9E37_79B9) >> 7 & 0xFF < 77
}

/// Every null is a NaN, and among all others there is one number that is not finite.
#[test]
fn nulls_that_are_nan() {
    let precisions = [Precision::HALF, Precision::SINGLE, Precision::DOUBLE];
    let there: Vec<_> = (0..ROWS).filter(|&row| !is_null(row)).collect();
    let valid: Vec<_> = (0..ROWS).map(|row| !is_null(row)).collect();
    for (dtype, precision) in DTYPES.iter().zip(precisions) {
        for (kind, place) in [(0, there[0]), (1, there[there.len() / 2]), (2, there[there.len() - 1])] {
            let values: Vec<_> = (0..ROWS)
                .map(|row| match row {
                    _ if row == place => dtype.special[kind],
                    _ if is_null(row) => dtype.special[0],
                    _ => dtype.finite,
                })
                .collect();
            let batch = || Message::Batch(ROWS as i64, vec![numbers(&values, dtype.size, Some(&valid))]);
            let clean: Vec<_> = values
                .iter()
                .map(|&bits| if bits == dtype.special[kind] { dtype.finite } else { bits })
                .collect();
            let first = Message::Batch(ROWS as i64, vec![numbers(&clean, dtype.size, Some(&valid))]);
            for file in [true, false] {
                let messages = [&first, &batch()].map(Message::clone);
                let bytes = arrow(&[field("x", Kind::Float(precision))], &messages, file);
                let report = report(&bytes, FileFormat::Arrow);
                assert_one(&report.tensors[0], kind, &[ROWS + place], dtype.special[kind], dtype.arrow);
            }
        }
    }
}

/// Nulls on three levels, and NaN wherever nothing counts: [[x, ..], ..] in structs.
#[test]
fn nulls_on_every_level() {
    let float = field("x", Kind::Float(Precision::SINGLE));
    let list = field("l", Kind::List(Box::new(field("item", Kind::Struct(vec![float])))));
    let lists = 3000;
    // List i has i % 7 elements, and every third list is null, though it has some.
    let offsets: Vec<i32> = (0..=lists)
        .scan(0, |end, list| {
            let at = *end;
            *end += list % 7;
            Some(at)
        })
        .collect();
    let count = offsets[lists as usize] as usize;
    let list_of =
        |element: usize| offsets.iter().rposition(|&offset| offset as usize <= element).expect("one");
    let counts = |element: usize| list_of(element) % 3 != 1 && element % 5 != 2 && !is_null(element);
    let places: Vec<_> = (0..count).filter(|&element| counts(element)).collect();
    for place in [places[0], places[places.len() / 2], places[places.len() - 1]] {
        let values: Vec<_> =
            (0..count).map(|element| if element == place || !counts(element) { NAN } else { ONE }).collect();
        let valid: Vec<_> = (0..count).map(|element| !is_null(element)).collect();
        let [of_lists, of_structs] = [(lists as usize, 3, 1), (count, 5, 2)]
            .map(|(count, step, null)| (0..count).map(|index| index % step != null).collect::<Vec<_>>());
        let offsets = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        let nodes = vec![
            Node { length: lists.into(), nulls: 1, buffers: vec![bits(Some(&of_lists)), offsets] },
            Node { length: count as i64, nulls: 1, buffers: vec![bits(Some(&of_structs))] },
            numbers(&values, 4, Some(&valid)),
        ];
        for file in [true, false] {
            let bytes =
                arrow(std::slice::from_ref(&list), &[Message::Batch(lists.into(), nodes.clone())], file);
            let report = report(&bytes, FileFormat::Arrow);
            assert_one(&report.tensors[0], 0, &[list_of(place)], NAN, "lists of structs");
        }
    }
}

/// Some writers leave out the numbers of a column that is all null.
#[test]
fn nothing_but_nulls() {
    let nulls = Node { length: 70, nulls: 70, buffers: vec![bits(Some(&[false; 70])), vec![]] };
    for file in [true, false] {
        let bytes = arrow(
            &[field("x", Kind::Float(Precision::SINGLE))],
            &[Message::Batch(70, vec![nulls.clone()])],
            file,
        );
        let report = report(&bytes, FileFormat::Arrow);
        assert_eq!((report.is_bad(), report.tensors[0].elements), (false, 70));
    }
}

#[test]
fn files_are_no_streams() {
    let fields = [field("x", Kind::Float(Precision::SINGLE))];
    let batch = [Message::Batch(1, vec![numbers(&[NAN], 4, None)])];
    let error = check_stream(&arrow(&fields, &batch, true)[..], &Options::default()).expect_err("a file");
    assert!(matches!(error, Error::NoStream(FileFormat::Arrow)), "{error:?}");
    assert!(error.to_string().contains("streaming format can"), "{error}");
    let stream = arrow(&fields, &batch, false);
    assert!(check_stream(&stream[..], &Options::default()).expect("a stream").is_bad());
    // The mark of the end may be missing, but nothing may follow it.
    let (open, _) = stream.split_last_chunk::<8>().expect("a mark");
    assert!(check_stream(open, &Options::default()).expect("a stream").is_bad());
    let error = check_stream(&[&stream[..], b"x"].concat()[..], &Options::default()).expect_err("more");
    assert!(error.to_string().contains("goes on behind byte"), "{error}");
}

/// What a stream claims is bounded by what has come of it, as what a file claims is.
#[test]
fn claims_are_bounded() {
    let claimed = 1 << 40;
    let node = Node { length: claimed, nulls: claimed, buffers: vec![vec![0; 8], vec![]] };
    let fields = [field("x", Kind::Float(Precision::SINGLE))];
    for file in [true, false] {
        let bytes = arrow(&fields, &[Message::Batch(claimed, vec![node.clone()])], file);
        let result = match file {
            true => check_bytes(&bytes, FileFormat::Arrow, &Options::default()),
            false => check_stream(&bytes[..], &Options::default()),
        };
        assert!(matches!(result, Err(Error::Expansion { decoded, .. }) if decoded == 33 << 37), "{result:?}");
    }
}
