//! The common pattern of the places of bad numbers in a column.

use nonfinite_check::{FileFormat, Options, Places, check_bytes};

use crate::write::{
    Field, Kind, Message, NAN, Node, ONE, arrow, bits, f32s, field, numbers, offsets,
};

fn places(field: Field, batches: &[Message]) -> Option<Places> {
    let bytes = arrow(&[field], batches, true);
    let options = Options { draw: true, ..Options::default() };
    let report = check_bytes(&bytes, FileFormat::ARROW, &options).expect("a good table");
    assert!(report.is_bad());
    report.tensors[0].places.clone()
}

/// Rows are counted over batches, and those that are null are not bad.
#[test]
fn rows() {
    let batch = |values: Vec<u64>, valid: Option<&[bool]>| {
        Message::Batch(values.len() as i64, vec![numbers(&values, 4, valid)])
    };
    let null: Vec<_> = (0..700).map(|row| row != 20).collect();
    let batches = [
        batch(vec![ONE; 300], None),
        batch((0..700).map(|row| if row < 40 { NAN } else { ONE }).collect(), Some(&null)),
    ];
    let places = places(f32s("x"), &batches).unwrap();
    assert_eq!((places.elements, places.of), (39, 1000));
    assert_eq!(places.statement("x"), "indices 300-319, 321-339 only, in full");
    let map = places.map.unwrap();
    let lit: Vec<_> = map.lit.iter().map(|lit| (lit.cell, lit.elements)).collect();
    // Steps of 16 rows: 288-303, 304-319, 320-335, 336-351.
    assert_eq!((map.columns.step, lit), (16, vec![(18, 4), (19, 16), (20, 15), (21, 4)]));
}

#[test]
fn lists_of_fixed_size() {
    let list = Node { length: 100, nulls: 0, buffers: vec![vec![]] };
    let values: Vec<_> = (0..300).map(|at| if at % 3 == 1 { NAN } else { ONE }).collect();
    let batches = [Message::Batch(100, vec![list, numbers(&values, 4, None)])];
    let item = Kind::Fixed(3, Box::new(f32s("item")));
    let places = places(field("embedding", item), &batches).unwrap();
    assert_eq!(places.statement("embedding"), "column 1 only, in full");
}

/// These have no places: their shape has no axis for the index in a list.
#[test]
fn lists_of_varying_length() {
    let list = |of: [i32; 4]| Node { length: 3, nulls: 0, buffers: vec![bits(None), offsets(&of)] };
    let (short, long) = (list([0, 2, 2, 3]), list([0, 2, 2, 4]));
    let batches = [Message::Batch(3, vec![short.clone(), numbers(&[NAN, ONE, NAN], 4, None)])];
    let of = |batches: &[Message]| places(field("l", Kind::List(Box::new(f32s("item")))), batches);
    // As many numbers as rows: a place is a row then, and a row counts once.
    let places = of(&batches).unwrap();
    assert_eq!(places.statement("l"), "indices 0, 2 only, in full");
    let both = [Message::Batch(3, vec![short, numbers(&[NAN, NAN, ONE], 4, None)])];
    assert_eq!(of(&both).unwrap().elements, 1);
    assert_eq!(of(&[batches, both].concat()).map(|places| places.elements), Some(3));
    let batches = [Message::Batch(3, vec![long, numbers(&[NAN, ONE, NAN, ONE], 4, None)])];
    assert_eq!(of(&batches), None);
}
