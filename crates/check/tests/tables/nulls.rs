//! Nulls of Arrow: the bytes in their places may be anything, and are compared with all others
//! first.

use arrow_ipc::Precision;
use nonfinite_check::{Extreme, FileFormat};

use crate::write::{Kind, Message, NAN, Node, ONE, arrow, bits, field, numbers};
use crate::{DTYPES, assert_one, report};

/// Several chunks of 64 KiB, and a rest.
const ROWS: usize = 40_000;

/// A row that is null, of about three in ten, in no order.
fn is_null(row: usize) -> bool {
    row.wrapping_mul(0x9E37_79B9) >> 7 & 0xFF < 77
}

/// Nulls on three levels, and NaN wherever nothing counts: [[x, ..], ..] in structs.
#[test]
fn nulls_on_every_level() {
    let float = field("x", Kind::Float(Precision::SINGLE));
    let list = field("l", Kind::List(Box::new(field("item", Kind::Struct(vec![float])))));
    // More elements than are looked at in one go.
    let lists = 12_000;
    // List i has i % 7 elements, and every third list is null, though it has some.
    let offsets: Vec<i32> = (0..=lists)
        .scan(0, |end, list| {
            let at = *end;
            *end += list % 7;
            Some(at)
        })
        .collect();
    let count = offsets[lists as usize] as usize;
    let list_of = |element: usize| {
        offsets.iter().rposition(|&offset| offset as usize <= element).expect("one")
    };
    let counts =
        |element: usize| list_of(element) % 3 != 1 && element % 5 != 2 && !is_null(element);
    let places: Vec<_> = (0..count).filter(|&element| counts(element)).collect();
    for place in [places[0], places[places.len() / 2], places[places.len() - 1]] {
        let values: Vec<_> = (0..count)
            .map(|element| if element == place || !counts(element) { NAN } else { ONE })
            .collect();
        let valid: Vec<_> = (0..count).map(|element| !is_null(element)).collect();
        let [of_lists, of_structs] =
            [(lists as usize, 3, 1), (count, 5, 2)].map(|(count, step, null)| {
                (0..count).map(|index| index % step != null).collect::<Vec<_>>()
            });
        let offsets = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
        let nodes = vec![
            Node { length: lists.into(), nulls: 1, buffers: vec![bits(Some(&of_lists)), offsets] },
            Node { length: count as i64, nulls: 1, buffers: vec![bits(Some(&of_structs))] },
            numbers(&values, 4, Some(&valid)),
        ];
        for file in [true, false] {
            let bytes = arrow(
                std::slice::from_ref(&list),
                &[Message::Batch(lists.into(), nodes.clone())],
                file,
            );
            let report = report(&bytes, FileFormat::ARROW);
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
        let report = report(&bytes, FileFormat::ARROW);
        assert_eq!((report.is_bad(), report.tensors[0].elements), (false, 70));
    }
}

/// The bytes in the places of nulls do not count for the range, whether they are a number or a NaN.
#[test]
fn ranges_without_nulls() {
    let precisions = [Precision::HALF, Precision::SINGLE, Precision::DOUBLE];
    // 0.5, 2 and 6e4 of each.
    let bits = [
        [0x3800, 0x4000, 0x7B53],
        [0x3F00_0000, 0x4000_0000, 0x476A_6000],
        [0x3FE0 << 48, 0x4000 << 48, 0x40ED_4C00_0000_0000],
    ];
    for ((dtype, precision), [half, two, large]) in DTYPES.iter().zip(precisions).zip(bits) {
        let valid: Vec<_> = (0..ROWS).map(|row| !is_null(row)).collect();
        let values = |null: &dyn Fn(usize) -> u64| -> Vec<u64> {
            let value = |row| if row % 2 == 0 { half } else { two };
            (0..ROWS).map(|row| if is_null(row) { null(row) } else { value(row) }).collect()
        };
        let values = [
            values(&|_| large),
            values(&|_| dtype.codes.special[0]),
            values(&|row| [large, dtype.codes.special[1]][row % 2]),
        ];
        let batches = values.map(|values| {
            Message::Batch(ROWS as i64, vec![numbers(&values, dtype.codes.size, Some(&valid))])
        });
        for file in [true, false] {
            let bytes = arrow(&[field("x", Kind::Float(precision))], &batches, file);
            let tensor = &report(&bytes, FileFormat::ARROW).tensors[0];
            let stats = tensor.stats.as_ref().unwrap();
            let of = |x: &Option<Extreme>| x.as_ref().map(|x| (x.value, x.coordinate[0]));
            let range = (of(&stats.min), of(&stats.max), of(&stats.max_abs));
            let first = |parity| (0..ROWS).find(|&row| row % 2 == parity && !is_null(row));
            let [least, greatest] = [0, 1].map(|parity| first(parity).unwrap());
            let expected = (Some((0.5, least)), Some((2.0, greatest)), Some((2.0, greatest)));
            assert_eq!(range, expected, "{}", dtype.arrow);
            let normals = 3 * valid.iter().filter(|valid| **valid).count() as u64;
            assert_eq!((stats.zeros, stats.normals), (0, normals), "{}", dtype.arrow);
            assert!(!tensor.is_bad(), "{}", dtype.arrow);
        }
    }
}
