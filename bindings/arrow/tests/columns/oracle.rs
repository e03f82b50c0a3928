//! What the values of an array are, row by row, as arrow's accessors return them.

use std::num::FpCategory;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type, Int16Type, Int32Type};
use arrow_schema::DataType;
use nonfinite_arrow::{Census, Format, Occurrences, Predicate, Stats};

/// A value, exactly, and what kind of number it is in the format of its array.
pub(super) type Value = (f64, FpCategory);

/// Appends the values of a row that are no nulls.
pub(super) fn values(array: &dyn Array, row: usize, out: &mut Vec<Value>) {
    if array.is_null(row) {
        return;
    }
    let mut all = |values: &dyn Array| (0..values.len()).for_each(|i| self::values(values, i, out));
    match array.data_type() {
        DataType::Float16 => {
            let x = array.as_primitive::<Float16Type>().value(row);
            out.push((x.into(), x.classify()));
        }
        DataType::Float32 => {
            let x = array.as_primitive::<Float32Type>().value(row);
            out.push((x.into(), x.classify()));
        }
        DataType::Float64 => {
            let x = array.as_primitive::<Float64Type>().value(row);
            out.push((x, x.classify()));
        }
        DataType::Dictionary(..) => {
            let array = array.as_dictionary::<Int32Type>();
            values(array.values(), array.key(row).unwrap(), out);
        }
        DataType::RunEndEncoded(..) => {
            let array = array.as_run::<Int16Type>();
            values(array.values(), array.get_physical_index(row), out);
        }
        DataType::List(_) => all(&array.as_list::<i32>().value(row)),
        DataType::LargeList(_) => all(&array.as_list::<i64>().value(row)),
        DataType::ListView(_) => all(&array.as_list_view::<i32>().value(row)),
        DataType::FixedSizeList(..) => all(&array.as_fixed_size_list().value(row)),
        DataType::Struct(_) => {
            array.as_struct().columns().iter().for_each(|field| values(field, row, out));
        }
        other => unreachable!("{other} is not among the random arrays"),
    }
}

/// The formats of the values.
pub(super) fn formats(data_type: &DataType) -> Vec<Format> {
    match data_type {
        DataType::Float16 => vec![Format::F16],
        DataType::Float32 => vec![Format::F32],
        DataType::Float64 => vec![Format::F64],
        DataType::Dictionary(_, values) => formats(values),
        DataType::RunEndEncoded(_, values) => formats(values.data_type()),
        DataType::List(item) | DataType::LargeList(item) => formats(item.data_type()),
        DataType::ListView(item) | DataType::FixedSizeList(item, _) => formats(item.data_type()),
        DataType::Struct(all) => all.iter().flat_map(|field| formats(field.data_type())).collect(),
        other => unreachable!("{other} is not among the random arrays"),
    }
}

pub(super) fn holds(predicate: Predicate, x: f64) -> bool {
    match predicate {
        Predicate::Nan => x.is_nan(),
        Predicate::Inf => x.is_infinite(),
        Predicate::PositiveInf => x == f64::INFINITY,
        Predicate::NegativeInf => x == f64::NEG_INFINITY,
        Predicate::Finite => x.is_finite(),
        Predicate::NonFinite => !x.is_finite(),
        Predicate::NanOrPositiveInf => x.is_nan() || x == f64::INFINITY,
        Predicate::Exceeds(threshold) => x.is_nan() || x.abs() > threshold.value(),
        _ => false,
    }
}

pub(super) fn census(rows: &[Vec<Value>]) -> Census {
    let class = |predicate| {
        let hits = |row: &Vec<Value>| row.iter().filter(|x| holds(predicate, x.0)).count();
        let count = rows.iter().map(hits).sum();
        Occurrences::new(count, rows.iter().position(|row| hits(row) > 0))
    };
    let (nan, pos_inf) = (class(Predicate::Nan), class(Predicate::PositiveInf));
    Census::new(nan, pos_inf, class(Predicate::NegativeInf))
}

/// Panics if statistics are not those of these rows.
pub(super) fn check_stats(stats: &Stats, rows: &[Vec<Value>]) {
    assert_eq!(stats.census, census(rows));
    let count = |kind| rows.iter().flatten().filter(|x| x.1 == kind).count();
    assert_eq!(stats.zeros, count(FpCategory::Zero));
    assert_eq!(stats.subnormals, count(FpCategory::Subnormal));
    assert_eq!(stats.normals, count(FpCategory::Normal));
    // Comparisons of floating-point numbers, to which -0 and +0 are equal.
    let best = |key: fn(f64) -> f64| {
        let mut best: Option<(f64, usize)> = None;
        for (row, values) in rows.iter().enumerate() {
            for &(x, _) in values.iter().filter(|x| x.0.is_finite()) {
                if best.is_none_or(|(most, _)| key(x) > most) {
                    best = Some((key(x), row));
                }
            }
        }
        best
    };
    assert_eq!(stats.min.map(|x| (-x.value, x.index)), best(|x| -x));
    assert_eq!(stats.max.map(|x| (x.value, x.index)), best(|x| x));
    assert_eq!(stats.max_abs.map(|x| (x.value, x.index)), best(f64::abs));
}
