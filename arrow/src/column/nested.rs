//! Lists and structs: the questions go down to the values, and rows come up again.

use super::question::{Position, Question};
use super::{arrow_array, arrow_buffer, arrow_schema, flat};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericListArray, GenericListViewArray, OffsetSizeTrait};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;

/// The answer for all values of the array that are no nulls. Indices are rows of the array.
pub(super) fn ask<Q: Question>(array: &dyn Array, question: &Q) -> Q::Answer {
    if let Some(floats) = flat::floats(array) {
        return question.of_floats(&floats);
    }
    match Parts::of(array) {
        Some(parts) => ask_parts(array, &parts, question),
        None => {
            let none = |predicate| ask(flat::entries(array), &Position(predicate)).is_none();
            if question.screen().is_some_and(none) {
                return question.none();
            }
            question.of_encoded(array)
        }
    }
}

fn ask_parts<Q: Question>(array: &dyn Array, parts: &Parts<'_>, question: &Q) -> Q::Answer {
    let mut all = question.none();
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    // Most values are finite. So first all values are searched, including the values of null rows.
    if nulls.is_some() && question.screen().is_some_and(|screen| parts.have_none(screen)) {
        return all;
    }
    let runs = match nulls {
        None => vec![(0, array.len())],
        Some(nulls) => nulls.valid_slices().collect(),
    };
    for (first, end) in runs {
        parts.visit(first, end, &mut |values, row| {
            let answer = question.in_rows(ask(&values, question), row);
            all = question.join(core::mem::replace(&mut all, question.none()), answer);
        });
        // Not between the fields of a struct, whose rows are the same.
        if question.is_decided(&all) {
            break;
        }
    }
    all
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

    /// Whether the values of each row begin where the values of the previous row end.
    fn is_ordered(&self) -> bool {
        true
    }
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
    fn is_ordered(&self) -> bool {
        false
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

/// What is done with values, and how their indices become rows.
type Visit<'v> = &'v mut dyn FnMut(ArrayRef, &dyn Fn(usize) -> usize);

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

    /// Whether the predicate holds for no value, including the values of null rows.
    fn have_none(&self, predicate: nonfinite::Predicate) -> bool {
        let none = |values: &ArrayRef| ask(values, &Position(predicate)).is_none();
        match self {
            Self::List(list) => none(list.values()),
            Self::Struct(fields) => fields.iter().all(none),
        }
    }

    /// Visits the values of the rows from `first` to before `end`.
    fn visit(&self, first: usize, end: usize, visit: Visit<'_>) {
        match self {
            Self::Struct(fields) => {
                for field in *fields {
                    visit(field.slice(first, end - first), &|row| first + row);
                }
            }
            Self::List(list) if list.is_ordered() => {
                let range = match first < end {
                    true => list.range(first).start..list.range(end - 1).end,
                    false => 0..0,
                };
                let start = range.start;
                // The first row that ends behind the value.
                let row = |value: usize| {
                    let (mut low, mut high) = (first, end);
                    while low < high {
                        let middle = low + (high - low) / 2;
                        match list.range(middle).end > start + value {
                            true => high = middle,
                            false => low = middle + 1,
                        }
                    }
                    low
                };
                visit(list.values().slice(start, range.len()), &row);
            }
            Self::List(list) => {
                for row in first..end {
                    let range = list.range(row);
                    visit(list.values().slice(range.start, range.len()), &|_| row);
                }
            }
        }
    }
}
