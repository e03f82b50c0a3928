//! Lists and structs: questions go down to the values, and rows come up again.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, GenericListViewArray, OffsetSizeTrait};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;

use super::flat;
use super::question::Question;
use super::visit::{Values, Visit};

/// The answer for all values of the array that are no nulls. Indices are rows of the array.
pub(super) fn ask<Q: Question>(array: &dyn Array, question: &Q) -> Q::Answer {
    let mut all = question.none();
    let is_in_order = !has_fields(array.data_type());
    let mut see = |values: Values<'_>| {
        let floats = flat::floats(values.array(), values.nulls()).ok_or(())?;
        let answer = question.in_rows(question.of_floats(&floats), &|index| values.place(index));
        all = question.join(core::mem::replace(&mut all, question.none()), answer);
        if is_in_order && question.is_decided(&all) { Err(()) } else { Ok(()) }
    };
    let mut visit = Visit { expands: false, only: question.screen(), see: &mut see };
    // An error is the end of the search.
    let _ = visit.column(array, &|row| row);
    all
}

/// Whether a struct is visited field by field, so that later values may be in earlier rows.
fn has_fields(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(_) => true,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => has_fields(field.data_type()),
        _ => false,
    }
}

/// For each row, whether `leaf` says yes for one of its values; no for null rows. `leaf` is asked
/// about arrays with one value a row.
pub(super) fn rows(array: &dyn Array, leaf: &dyn Fn(&dyn Array) -> BooleanBuffer) -> BooleanBuffer {
    let any = match Parts::of(array) {
        None => return leaf(array),
        Some(Parts::Struct(fields)) => {
            let fields = fields.iter().map(|field| rows(field, leaf));
            fields.reduce(|a, b| &a | &b).expect("a struct without fields is refused")
        }
        Some(Parts::List(list)) => {
            // Those of the rows of a slice, not all that the memory has.
            let (mut first, mut end) = (usize::MAX, 0);
            for row in 0..array.len() {
                let range = list.range(row);
                if !range.is_empty() {
                    (first, end) = (first.min(range.start), end.max(range.end));
                }
            }
            if first >= end {
                return BooleanBuffer::new_unset(array.len());
            }
            let values = rows(&list.values().slice(first, end - first), leaf);
            BooleanBuffer::collect_bool(array.len(), |row| {
                let range = list.range(row);
                !range.is_empty()
                    && values.slice(range.start - first, range.len()).count_set_bits() > 0
            })
        }
    };
    flat::clear_nulls(any, array.nulls())
}

/// What the rows of a nested array are made of.
enum Parts<'a> {
    List(&'a dyn List),
    /// As many rows as the struct.
    Struct(&'a [ArrayRef]),
}

/// Lists of any kind. Null lists have ranges, too.
trait List {
    fn values(&self) -> &ArrayRef;

    /// The values of a row.
    fn range(&self, row: usize) -> core::ops::Range<usize>;
}

impl<O: OffsetSizeTrait> List for GenericListArray<O> {
    fn values(&self) -> &ArrayRef {
        self.values()
    }
    fn range(&self, row: usize) -> core::ops::Range<usize> {
        self.value_offsets()[row].as_usize()..self.value_offsets()[row + 1].as_usize()
    }
}

impl<O: OffsetSizeTrait> List for GenericListViewArray<O> {
    fn values(&self) -> &ArrayRef {
        self.values()
    }
    fn range(&self, row: usize) -> core::ops::Range<usize> {
        let first = self.value_offsets()[row].as_usize();
        first..first + self.value_sizes()[row].as_usize()
    }
}

impl List for arrow_array::FixedSizeListArray {
    fn values(&self) -> &ArrayRef {
        self.values()
    }
    fn range(&self, row: usize) -> core::ops::Range<usize> {
        let size = self.value_length() as usize;
        row * size..(row + 1) * size
    }
}

impl<'a> Parts<'a> {
    /// None if the array has one value a row.
    fn of(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::List(_) => Self::List(array.as_list::<i32>()),
            DataType::LargeList(_) => Self::List(array.as_list::<i64>()),
            DataType::ListView(_) => Self::List(array.as_list_view::<i32>()),
            DataType::LargeListView(_) => Self::List(array.as_list_view::<i64>()),
            DataType::FixedSizeList(..) => Self::List(array.as_fixed_size_list()),
            DataType::Struct(_) => Self::Struct(array.as_struct().columns()),
            _ => return None,
        })
    }
}
