//! What the values of an array are, row by row, as arrow's accessors return them.

use nonfinite_arrow::{Census, Occurrences, Predicate};

use super::arrow_array;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type, Int16Type, Int32Type};

/// Appends the values of a row that are no nulls. Widening changes no class.
pub(super) fn values(array: &dyn Array, row: usize, out: &mut Vec<f64>) {
    use super::arrow_schema::DataType;
    if array.is_null(row) {
        return;
    }
    let mut all = |values: &dyn Array| (0..values.len()).for_each(|i| self::values(values, i, out));
    match array.data_type() {
        DataType::Float16 => out.push(array.as_primitive::<Float16Type>().value(row).into()),
        DataType::Float32 => out.push(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => out.push(array.as_primitive::<Float64Type>().value(row)),
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

pub(super) fn holds(predicate: Predicate, x: f64) -> bool {
    match predicate {
        Predicate::Nan => x.is_nan(),
        Predicate::Inf => x.is_infinite(),
        Predicate::PositiveInf => x == f64::INFINITY,
        Predicate::NegativeInf => x == f64::NEG_INFINITY,
        Predicate::Finite => x.is_finite(),
        Predicate::NonFinite => !x.is_finite(),
        Predicate::NanOrPositiveInf => x.is_nan() || x == f64::INFINITY,
        _ => false,
    }
}

pub(super) fn census(rows: &[Vec<f64>]) -> Census {
    let class = |predicate| {
        let hits = |row: &Vec<f64>| row.iter().filter(|&&x| holds(predicate, x)).count();
        let count = rows.iter().map(hits).sum();
        Occurrences::new(count, rows.iter().position(|row| hits(row) > 0))
    };
    let (nan, pos_inf) = (class(Predicate::Nan), class(Predicate::PositiveInf));
    Census::new(nan, pos_inf, class(Predicate::NegativeInf))
}
