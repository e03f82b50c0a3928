//! All values of an array, where they lie.

use arrow_array::cast::AsArray;
use arrow_array::{Array, GenericListArray, GenericListViewArray, OffsetSizeTrait};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use arrow_schema::DataType;
use nonfinite::Predicate;

use super::flat;

/// Rows of a dictionary or of a run-end encoded array that are decoded at a time.
const ROWS: usize = 16 << 10;

/// Some values of a column. [`Column::visit`](super::Column::visit) shows them.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    array: &'a dyn Array,
    nulls: Option<&'a NullBuffer>,
    place: &'a dyn Fn(usize) -> usize,
}

impl core::fmt::Debug for Values<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Values").field("array", &self.array).finish_non_exhaustive()
    }
}

impl<'a> Values<'a> {
    /// The values: a `Float16Array`, a `Float32Array` or a `Float64Array`.
    #[must_use]
    pub const fn array(&self) -> &'a dyn Array {
        self.array
    }

    /// Which of the values are null, or inside of a null list or struct. None if no value is.
    #[must_use]
    pub const fn nulls(&self) -> Option<&'a NullBuffer> {
        self.nulls
    }

    /// The place of the value at this index of the array: see
    /// [`Column::places_per_row`](super::Column::places_per_row). Rises with the index.
    ///
    /// # Panics
    /// May panic if the array has no such index.
    #[must_use]
    pub fn place(&self, index: usize) -> usize {
        (self.place)(index)
    }
}

/// Values in each row, if fixed-size lists are the only lists, and if all fields of each struct
/// agree.
pub(super) fn per_row(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::FixedSizeList(field, size) => {
            usize::try_from(*size).ok()?.checked_mul(per_row(field.data_type())?)
        }
        DataType::Struct(fields) => {
            let mut counts = fields.iter().map(|field| per_row(field.data_type()));
            let first = counts.next()??;
            counts.all(|count| count == Some(first)).then_some(first)
        }
        flat => flat::is_flat(flat).then_some(1),
    }
}

/// Whether `predicate` holds for some value, with values that are null or in no row.
fn may_have(array: &dyn Array, predicate: Predicate) -> bool {
    let list = |offsets: (usize, usize), values: &dyn Array| {
        may_have(&values.slice(offsets.0, offsets.1 - offsets.0), predicate)
    };
    fn ends<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> (usize, usize) {
        let offsets = list.value_offsets();
        (offsets[0].as_usize(), offsets[list.len()].as_usize())
    }
    if let Some(view) = flat::floats(array, None) {
        return view.any(predicate);
    }
    match array.data_type() {
        DataType::List(_) => list(ends(array.as_list::<i32>()), array.as_list::<i32>().values()),
        DataType::LargeList(_) => {
            list(ends(array.as_list::<i64>()), array.as_list::<i64>().values())
        }
        DataType::ListView(_) => may_have(array.as_list_view::<i32>().values(), predicate),
        DataType::LargeListView(_) => may_have(array.as_list_view::<i64>().values(), predicate),
        DataType::FixedSizeList(..) => may_have(array.as_fixed_size_list().values(), predicate),
        DataType::Struct(_) => {
            array.as_struct().columns().iter().any(|field| may_have(field, predicate))
        }
        _ => may_have(flat::entries(array), predicate),
    }
}

/// The arguments of a visit that are the same for all parts of an array.
pub(super) struct Visit<'v, E> {
    /// Whether fixed-size lists have a place for each of their values.
    pub(super) expands: bool,
    /// The only values that matter.
    pub(super) only: Option<Predicate>,
    pub(super) see: &'v mut dyn FnMut(Values<'_>) -> Result<(), E>,
}

impl<E> Visit<'_, E> {
    /// Visits the values of an array. `place` is the place of each row.
    pub(super) fn column(
        &mut self,
        array: &dyn Array,
        place: &dyn Fn(usize) -> usize,
    ) -> Result<(), E> {
        // Most values are finite. So the values of a nested array are first searched as they lie,
        // nulls included.
        let is_primitive = array.data_type().is_floating();
        match self.only {
            Some(only) if !is_primitive && !may_have(array, only) => Ok(()),
            _ => self.array(array, None, place),
        }
    }

    /// Visits the values of an array. `above` has the rows that are inside of a null. `place` is
    /// the place of each row.
    fn array(
        &mut self,
        array: &dyn Array,
        above: Option<&NullBuffer>,
        place: &dyn Fn(usize) -> usize,
    ) -> Result<(), E> {
        if flat::is_flat(array.data_type()) {
            return self.flat(array, above, place);
        }
        let nulls = NullBuffer::union(above, array.nulls());
        let nulls = nulls.as_ref().filter(|nulls| nulls.null_count() > 0);
        match array.data_type() {
            DataType::List(_) => self.list(array.as_list::<i32>(), nulls, place),
            DataType::LargeList(_) => self.list(array.as_list::<i64>(), nulls, place),
            DataType::ListView(_) => self.views(array.as_list_view::<i32>(), nulls, place),
            DataType::LargeListView(_) => self.views(array.as_list_view::<i64>(), nulls, place),
            DataType::FixedSizeList(..) => {
                let list = array.as_fixed_size_list();
                let size = list.value_length() as usize;
                if size == 0 || list.is_empty() {
                    return Ok(());
                }
                let values = list.values().slice(0, list.len() * size);
                let nulls = nulls.map(|nulls| nulls.expand(size));
                let of_row = |index| place(index / size);
                let of_value = |index| place(index / size) * size + index % size;
                let place: &dyn Fn(usize) -> usize = if self.expands { &of_value } else { &of_row };
                self.array(&values, nulls.as_ref(), place)
            }
            _ => {
                let fields = array.as_struct().columns();
                fields.iter().try_for_each(|field| self.array(field, nulls, place))
            }
        }
    }

    /// Visits an array with one value in each row.
    fn flat(
        &mut self,
        array: &dyn Array,
        above: Option<&NullBuffer>,
        place: &dyn Fn(usize) -> usize,
    ) -> Result<(), E> {
        if array.data_type().is_floating() {
            return self.floats(array, above, place);
        }
        if self.only.is_some_and(|only| !may_have(array, only)) {
            return Ok(());
        }
        for first in (0..array.len()).step_by(ROWS) {
            let rows = ROWS.min(array.len() - first);
            let values = flat::decoded(&array.slice(first, rows));
            let above = above.map(|above| above.slice(first, rows));
            self.floats(&values, above.as_ref(), &|index| place(first + index))?;
        }
        Ok(())
    }

    fn floats(
        &mut self,
        array: &dyn Array,
        above: Option<&NullBuffer>,
        place: &dyn Fn(usize) -> usize,
    ) -> Result<(), E> {
        let nulls = NullBuffer::union(above, array.nulls());
        let nulls = nulls.as_ref().filter(|nulls| nulls.null_count() > 0);
        (self.see)(Values { array, nulls, place })
    }

    fn list<O: OffsetSizeTrait>(
        &mut self,
        list: &GenericListArray<O>,
        nulls: Option<&NullBuffer>,
        place: &dyn Fn(usize) -> usize,
    ) -> Result<(), E> {
        let offsets = list.value_offsets();
        let [first, end] = [offsets[0], offsets[list.len()]].map(O::as_usize);
        let nulls = nulls.map(|nulls| {
            let mut valid = BooleanBufferBuilder::new(end - first);
            let lengths = offsets.windows(2).map(|pair| pair[1].as_usize() - pair[0].as_usize());
            for (length, is_valid) in lengths.zip(nulls) {
                valid.append_n(length, is_valid);
            }
            NullBuffer::new(valid.finish())
        });
        // The last row that begins at or before the value. Rows without values come before it.
        let row = |index| offsets.partition_point(|start| start.as_usize() <= first + index) - 1;
        let values = list.values().slice(first, end - first);
        self.array(&values, nulls.as_ref(), &|index| place(row(index)))
    }

    fn views<O: OffsetSizeTrait>(
        &mut self,
        list: &GenericListViewArray<O>,
        nulls: Option<&NullBuffer>,
        place: &dyn Fn(usize) -> usize,
    ) -> Result<(), E> {
        let values = list.values();
        let ranges = list.value_offsets().iter().zip(list.value_sizes()).enumerate();
        for (row, (first, size)) in ranges {
            if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
                let values = values.slice(first.as_usize(), size.as_usize());
                self.array(&values, None, &|_| place(row))?;
            }
        }
        Ok(())
    }
}
