//! Arrays with one value a row.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, RunEndIndexType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, RunArray};
use arrow_buffer::{
    ArrowNativeType, BooleanBuffer, BooleanBufferBuilder, MutableBuffer, NullBuffer,
};
use arrow_schema::DataType;
use nonfinite::{Predicate, TensorView};

/// Whether arrays of this type have one floating-point number a row.
pub(super) fn is_flat(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => true,
        DataType::Dictionary(_, values) => is_flat(values),
        DataType::RunEndEncoded(_, values) => is_flat(values.data_type()),
        _ => false,
    }
}

/// The elements of a primitive array of floating-point numbers with these nulls; else `None`.
pub(super) fn floats<'a>(
    array: &'a dyn Array,
    nulls: Option<&'a NullBuffer>,
) -> Option<TensorView<'a>> {
    let view = match array.data_type() {
        DataType::Float16 => TensorView::from(&array.as_primitive::<Float16Type>().values()[..]),
        DataType::Float32 => TensorView::from(&array.as_primitive::<Float32Type>().values()[..]),
        DataType::Float64 => TensorView::from(&array.as_primitive::<Float64Type>().values()[..]),
        _ => return None,
    };
    Some(match nulls.filter(|nulls| nulls.null_count() > 0) {
        None => view,
        Some(nulls) => view
            .with_validity(nulls.validity(), nulls.offset())
            .expect("a bit of validity for each element of an array"),
    })
}

/// The array whose entries the rows of a dictionary or of a run-end encoded array refer to.
pub(super) fn entries(array: &dyn Array) -> &ArrayRef {
    match array.data_type() {
        DataType::Dictionary(..) => array.as_any_dictionary().values(),
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => array.as_run::<Int16Type>().values(),
            DataType::Int32 => array.as_run::<Int32Type>().values(),
            _ => array.as_run::<Int64Type>().values(),
        },
        other => unreachable!("{other} is refused when a column is made"),
    }
}

/// Whether `predicate` holds for the value of each row; no for null rows.
pub(super) fn hits(array: &dyn Array, predicate: Predicate) -> BooleanBuffer {
    if let Some(floats) = floats(array, array.nulls()) {
        let mut bits = MutableBuffer::from_len_zeroed(array.len().div_ceil(8));
        floats.bits(predicate, &mut bits, 0).expect("a bit for each row");
        return BooleanBuffer::new(bits.into(), 0, array.len());
    }
    let entries = hits(entries(array), predicate);
    if entries.count_set_bits() == 0 {
        return BooleanBuffer::new_unset(array.len());
    }
    match array.data_type() {
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => of_runs(array.as_run::<Int16Type>(), &entries),
            DataType::Int32 => of_runs(array.as_run::<Int32Type>(), &entries),
            _ => of_runs(array.as_run::<Int64Type>(), &entries),
        },
        _ => {
            let dictionary = array.as_any_dictionary();
            let keys = dictionary.normalized_keys();
            let rows = BooleanBuffer::collect_bool(keys.len(), |row| entries.value(keys[row]));
            clear_nulls(rows, dictionary.keys().nulls())
        }
    }
}

/// The values of a dictionary or of a run-end encoded array, as a primitive array with the same
/// nulls.
pub(super) fn decoded(array: &dyn Array) -> ArrayRef {
    let entries = entries(array);
    let entries =
        if entries.data_type().is_floating() { Arc::clone(entries) } else { decoded(entries) };
    match entries.data_type() {
        DataType::Float16 => Arc::new(gathered::<Float16Type>(array, entries.as_primitive())),
        DataType::Float32 => Arc::new(gathered::<Float32Type>(array, entries.as_primitive())),
        _ => Arc::new(gathered::<Float64Type>(array, entries.as_primitive())),
    }
}

fn gathered<T: ArrowPrimitiveType>(
    array: &dyn Array,
    entries: &PrimitiveArray<T>,
) -> PrimitiveArray<T> {
    if entries.is_empty() {
        return PrimitiveArray::new_null(array.len());
    }
    let indices = match array.data_type() {
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => runs_of_rows(array.as_run::<Int16Type>()),
            DataType::Int32 => runs_of_rows(array.as_run::<Int32Type>()),
            _ => runs_of_rows(array.as_run::<Int64Type>()),
        },
        // Any entry for a null.
        _ => array.as_any_dictionary().normalized_keys(),
    };
    let values: Vec<T::Native> = indices.into_iter().map(|index| entries.value(index)).collect();
    PrimitiveArray::new(values.into(), array.logical_nulls())
}

/// The run of each row.
fn runs_of_rows<R: RunEndIndexType>(array: &RunArray<R>) -> Vec<usize> {
    let mut runs = Vec::with_capacity(array.len());
    for_each_run(array, |run, rows| runs.extend(core::iter::repeat_n(run, rows)));
    runs
}

/// The answer for the entry of each run, as often as the run has rows.
fn of_runs<R: RunEndIndexType>(array: &RunArray<R>, entries: &BooleanBuffer) -> BooleanBuffer {
    let mut answers = BooleanBufferBuilder::new(array.len());
    for_each_run(array, |run, rows| answers.append_n(rows, entries.value(run)));
    answers.finish()
}

/// Calls `see` with the index of each run, and with the number of its rows.
fn for_each_run<R: RunEndIndexType>(array: &RunArray<R>, mut see: impl FnMut(usize, usize)) {
    let ends = array.run_ends();
    // Run ends count from the start of the array that this one may be a slice of.
    let (mut at, end) = (ends.offset(), ends.offset() + array.len());
    let mut run = if array.is_empty() { 0 } else { ends.get_start_physical_index() };
    while at < end {
        let run_end = ends.values()[run].as_usize().min(end);
        see(run, run_end - at);
        (at, run) = (run_end, run + 1);
    }
}

/// The same answers, with false for nulls.
pub(super) fn clear_nulls(rows: BooleanBuffer, nulls: Option<&NullBuffer>) -> BooleanBuffer {
    match nulls {
        Some(nulls) => &rows & nulls.inner(),
        None => rows,
    }
}
