//! The tests.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float32Array, Float64Array,
    Int32Array, ListArray, RecordBatch, StringArray, StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use nonfinite_arrow::{Column, Error, Predicate};
use quickcheck::QuickCheck;

use crate::oracle;
use crate::oracle::Value;
use crate::random::Random;

/// Compares all answers with those of the values of each row. `valid` are the rows that are no
/// nulls.
fn check(column: &Column<'_>, data_type: &DataType, rows: &[Vec<Value>], valid: &[bool]) {
    let values = || rows.iter().flatten().map(|x| x.0);
    assert_eq!(column.len(), rows.len());
    assert_eq!(column.valid_count(), values().count());
    assert_eq!(column.census(), oracle::census(rows));
    oracle::check_stats(&column.stats(), rows);
    check_visit(column, rows);
    let formats = oracle::formats(data_type);
    let one = formats.iter().all(|format| *format == formats[0]).then_some(formats[0]);
    let above = one.map(|format| Predicate::exceeds(format, 1.5).unwrap());
    for predicate in Predicate::ALL.iter().copied().chain(above) {
        let holds = |&(x, _): &Value| oracle::holds(predicate, x);
        let holds_for = |x| oracle::holds(predicate, x);
        let count = values().filter(|&x| holds_for(x)).count();
        assert_eq!(column.count(predicate), count, "{predicate}");
        assert_eq!(column.any(predicate), values().any(holds_for), "{predicate}");
        assert_eq!(column.all(predicate), values().all(holds_for), "{predicate}");
        let first = rows.iter().position(|row| row.iter().any(holds));
        assert_eq!(column.position(predicate), first, "{predicate}");
        let answers = |answer: &dyn Fn(&Vec<Value>) -> bool| -> BooleanArray {
            let row = |(row, &valid): (_, &bool)| valid.then(|| answer(row));
            rows.iter().zip(valid).map(row).collect()
        };
        let any = answers(&|row| row.iter().any(holds));
        assert_eq!(column.any_rows(predicate), any, "{predicate}");
        assert_eq!(
            column.all_rows(predicate),
            answers(&|row| row.iter().all(holds)),
            "{predicate}"
        );
        match is_flat(data_type) {
            true => assert_eq!(column.mask(predicate), Ok(any)),
            false => assert!(matches!(column.mask(predicate), Err(Error::Nested { .. }))),
        }
    }
}

/// Compares the values of a visit with those of each row.
fn check_visit(column: &Column<'_>, rows: &[Vec<Value>]) {
    for only in [None, Some(Predicate::NonFinite)] {
        let mut found = vec![Vec::new(); rows.len()];
        let seen = column.visit(only, &mut |values| {
            for index in 0..values.array().len() {
                if values.nulls().is_none_or(|nulls| nulls.is_valid(index)) {
                    let row = values.place(index) / column.places_per_row();
                    oracle::values(values.array(), index, &mut found[row]);
                }
            }
            Ok::<(), Error>(())
        });
        assert_eq!(seen, Ok(()));
        // A struct shows field by field.
        let sorted = |rows: &[Vec<Value>]| -> Vec<Vec<u64>> {
            let of_row = |row: &Vec<Value>| {
                let matters = |x: &&Value| only.is_none() || !x.0.is_finite();
                let mut bits: Vec<_> = row.iter().filter(matters).map(|x| x.0.to_bits()).collect();
                bits.sort_unstable();
                bits
            };
            rows.iter().map(of_row).collect()
        };
        assert_eq!(sorted(&found), sorted(rows), "{only:?}");
    }
}

/// In lists of fixed size each value has a place, over all chunks. Elsewhere a place is a row.
#[test]
fn places_of_values() {
    let item = |array: &dyn Array| Arc::new(Field::new("item", array.data_type().clone(), true));
    let fixed = |size, values: ArrayRef| -> ArrayRef {
        Arc::new(FixedSizeListArray::new(item(&values), size, values, None))
    };
    let numbers = |count| -> ArrayRef { Arc::new(Float32Array::from(vec![1.5; count])) };
    let list = |values: ArrayRef| -> ArrayRef {
        let offsets = OffsetBuffer::from_lengths(vec![values.len() / 2; 2]);
        Arc::new(ListArray::new(item(&values), offsets, values, None))
    };
    let places = |chunk: ArrayRef| {
        let chunks = [Arc::clone(&chunk), chunk];
        let column = Column::chunked(&chunks).unwrap();
        let mut places = Vec::new();
        let visited = column.visit(None, &mut |values| {
            places.extend((0..values.array().len()).map(|index| values.place(index)));
            Ok::<(), Error>(())
        });
        assert_eq!(visited, Ok(()));
        (column.places_per_row(), places)
    };
    let all = |count| (0..count).collect::<Vec<_>>();
    assert_eq!(places(fixed(3, numbers(6))), (3, all(12)));
    assert_eq!(places(fixed(2, fixed(3, numbers(12)))), (6, all(24)));
    assert_eq!(places(list(fixed(3, numbers(6)))), (1, vec![0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]));
    assert_eq!(places(fixed(1, list(numbers(2)))), (1, vec![0, 1, 2, 3]));
}

/// An error ends a visit.
#[test]
fn visits_end() {
    let chunks: [ArrayRef; 3] = [1, 2, 3].map(|count| Arc::new(Float32Array::new_null(count)) as _);
    let mut seen = Vec::new();
    let ended = Column::chunked(&chunks).unwrap().visit(None, &mut |values| {
        seen.push(values.array().len());
        if seen.len() < 2 { Ok(()) } else { Err("enough") }
    });
    assert_eq!((ended, seen), (Err("enough"), vec![1, 2]));
}

fn expected(array: &dyn Array) -> (Vec<Vec<Value>>, Vec<bool>) {
    let values = |row| {
        let mut values = Vec::new();
        oracle::values(array, row, &mut values);
        values
    };
    let rows = (0..array.len()).map(values).collect();
    let nulls = array.logical_nulls();
    let valid = |row| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    (rows, (0..array.len()).map(valid).collect())
}

fn is_flat(data_type: &DataType) -> bool {
    data_type.is_floating()
        || matches!(data_type, DataType::Dictionary(..) | DataType::RunEndEncoded(..))
}

#[test]
fn random_arrays() {
    fn agrees(Random(array): Random) {
        let (rows, valid) = expected(&array);
        check(&Column::new(&array).unwrap(), array.data_type(), &rows, &valid);
        let middle = array.len() / 3;
        let chunks = [array.slice(0, middle), array.slice(middle, array.len() - middle)];
        check(&Column::chunked(&chunks).unwrap(), array.data_type(), &rows, &valid);
    }
    QuickCheck::new().tests(2000).quickcheck(agrees as fn(Random));
}

/// More rows than a window of the kernels, which look at the bitmap from the first hit on.
#[test]
fn long_arrays() {
    let value = |i: usize| match i % 97 {
        0 => None,
        1 => Some(f64::NAN),
        2 => Some(f64::NEG_INFINITY),
        _ => Some(i as f64),
    };
    let array: Float64Array = (0..20_000).map(value).collect();
    for (offset, len) in [(0, 20_000), (13, 19_000), (64, 4096)] {
        let slice = array.slice(offset, len);
        let (rows, valid) = expected(&slice);
        check(&Column::new(&slice).unwrap(), slice.data_type(), &rows, &valid);
    }
}

#[test]
fn an_entry_counts_as_often_as_keys_refer_to_it() {
    let entries = Arc::new(Float32Array::from(vec![Some(1.0), Some(f32::NAN), None]));
    let keys = Int32Array::from(vec![Some(1), Some(0), None, Some(1), Some(2)]);
    let array = DictionaryArray::<Int32Type>::new(keys, entries);
    let column = Column::new(&array).unwrap();
    assert_eq!((column.count(Predicate::Nan), column.valid_count()), (2, 3));
    let mask = BooleanArray::from(vec![Some(true), Some(false), None, Some(true), None]);
    assert_eq!(column.mask(Predicate::Nan).unwrap(), mask);
}

#[test]
fn values_of_null_lists_count_as_nothing() {
    let values = Arc::new(Float32Array::from(vec![f32::NAN, 1.0, f32::INFINITY]));
    let field = Arc::new(Field::new("item", DataType::Float32, true));
    let offsets = OffsetBuffer::from_lengths([1, 2]);
    let array = ListArray::new(field, offsets, values, Some(vec![false, true].into()));
    let column = Column::new(&array).unwrap();
    assert_eq!((column.count(Predicate::Nan), column.position(Predicate::Inf)), (0, Some(1)));
}

#[test]
fn other_types_are_refused() {
    let integers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let strings: ArrayRef = Arc::new(StringArray::from(vec!["nan"]));
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![1.0]));
    let refused = |array: &dyn Array| Column::new(array).unwrap_err();
    let not_float = |data_type: &str| Error::NotFloat { data_type: data_type.into() };
    assert_eq!(refused(&integers), not_float("Int32"));
    assert_eq!(refused(&strings), not_float("Utf8"));
    assert_eq!(
        refused(&strings).to_string(),
        "Utf8 holds values that are no floating-point numbers"
    );
    let keys = Int32Array::from(vec![0]);
    assert!(matches!(
        refused(&DictionaryArray::<Int32Type>::new(keys, Arc::clone(&strings))),
        Error::NotFloat { .. }
    ));
    let batch = RecordBatch::try_from_iter([("x", Arc::clone(&floats)), ("n", integers)]).unwrap();
    assert!(matches!(refused(&StructArray::from(batch)), Error::NotFloat { .. }));
    let none = StructArray::new_empty_fields(3, None);
    assert!(matches!(refused(&none), Error::NotFloat { .. }));
    let doubles: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let error = Column::chunked(&[floats, doubles]).unwrap_err();
    assert_eq!(error.to_string(), "chunks of Float32 and of Float64 in one column");
    let empty = Column::chunked(&[]).unwrap();
    assert!(empty.is_empty() && empty.all(Predicate::Finite) && !empty.any(Predicate::Finite));
}
