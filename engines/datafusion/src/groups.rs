//! Counts and the range of each group of rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array};
use arrow_buffer::BooleanBuffer;
use datafusion_common::{DataFusionError, Result};
use datafusion_expr::{EmitTo, GroupsAccumulator};
use nonfinite_arrow::Predicate;

use crate::function::{Class, Function};
use crate::range::{self, Range, Values};

/// For each class one number for each group, and the range of each group.
pub(crate) struct Groups {
    function: Function,
    counts: Vec<Vec<i64>>,
    /// Empty for functions without ranges.
    ranges: Vec<Range>,
}

/// What is counted in the rows of a batch.
struct Rows {
    /// For each class the rows that belong to it, among those that the filter keeps.
    classes: Vec<BooleanBuffer>,
    /// The range of each row, for functions with ranges. Rows that the filter drops have none.
    ranges: Vec<Range>,
}

impl Groups {
    pub(crate) fn new(function: Function) -> Self {
        Self { function, counts: vec![Vec::new(); function.classes().len()], ranges: Vec::new() }
    }

    fn rows(&self, array: &dyn Array, filter: Option<&BooleanArray>) -> Result<Rows> {
        let rows = array.len();
        let classes = self.function.classes();
        let Some(column) = crate::column(self.function.name(), array)? else {
            let classes = vec![BooleanBuffer::new_unset(rows); classes.len()];
            let ranges = if self.function.has_range() { vec![Range::NONE; rows] } else { vec![] };
            return Ok(Rows { classes, ranges });
        };
        let kept = filter.map(|filter| match filter.nulls() {
            Some(nulls) => filter.values() & nulls.inner(),
            None => filter.values().clone(),
        });
        // One search for all classes: most columns are clean.
        let clean = !column.any(Predicate::NonFinite);
        let mask = |predicate| match clean {
            true => Ok(BooleanBuffer::new_unset(rows)),
            // False for nulls.
            false => match column.mask(predicate) {
                Ok(mask) => Ok(mask.into_parts().0),
                Err(error) => Err(DataFusionError::External(Box::new(error))),
            },
        };
        let values = if self.function.has_range() { Some(Values::new(array)?) } else { None };
        let those = |is: fn(&Values, usize) -> bool| {
            let values = values.as_ref();
            BooleanBuffer::collect_bool(rows, |row| values.is_some_and(|values| is(values, row)))
        };
        let of = |class: &Class| {
            let rows = match class {
                Class::Valid => match array.logical_nulls() {
                    Some(nulls) => nulls.into_inner(),
                    None => BooleanBuffer::new_set(rows),
                },
                Class::Nan => mask(Predicate::Nan)?,
                Class::PosInf => mask(Predicate::PositiveInf)?,
                Class::NegInf => mask(Predicate::NegativeInf)?,
                Class::Zero => those(Values::is_zero),
                Class::Subnormal => those(Values::is_subnormal),
            };
            Ok(match &kept {
                Some(kept) => &rows & kept,
                None => rows,
            })
        };
        let classes = classes.iter().map(of).collect::<Result<_>>()?;
        let range = |values: &Values, row| match &kept {
            Some(kept) if !kept.value(row) => Range::NONE,
            _ => values.range(row),
        };
        let ranges = values.iter().flat_map(|values| (0..rows).map(|row| range(values, row)));
        let ranges = ranges.collect();
        Ok(Rows { classes, ranges })
    }

    fn resize(&mut self, total_groups: usize) {
        self.counts.iter_mut().for_each(|counts| counts.resize(total_groups, 0));
        if self.function.has_range() {
            self.ranges.resize(total_groups, Range::NONE);
        }
    }

    fn take(&mut self, emit_to: EmitTo) -> (Vec<Vec<i64>>, Vec<Range>) {
        let counts = self.counts.iter_mut().map(|counts| emit_to.take_needed(counts)).collect();
        let ranges = match self.function.has_range() {
            true => emit_to.take_needed(&mut self.ranges),
            false => Vec::new(),
        };
        (counts, ranges)
    }

    /// The columns of states.
    fn states(&self, counts: Vec<Vec<i64>>, ranges: &[Range]) -> Vec<ArrayRef> {
        let counts = counts.into_iter();
        let mut states: Vec<_> =
            counts.map(|counts| Arc::new(Int64Array::from(counts)) as ArrayRef).collect();
        if self.function.has_range() {
            for end in [|range: &Range| range.min, |range: &Range| range.max] {
                states.push(Arc::new(Float64Array::from_iter_values(ranges.iter().map(end))));
            }
        }
        states
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total_groups: usize,
    ) -> Result<()> {
        let rows = self.rows(&values[0], filter)?;
        self.resize(total_groups);
        for (counts, rows) in self.counts.iter_mut().zip(rows.classes) {
            rows.set_indices().for_each(|row| counts[groups[row]] += 1);
        }
        for (&group, range) in groups.iter().zip(rows.ranges) {
            self.ranges[group].join(range);
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        states: &[ArrayRef],
        groups: &[usize],
        total_groups: usize,
    ) -> Result<()> {
        self.resize(total_groups);
        for (counts, states) in self.counts.iter_mut().zip(states) {
            for (&group, count) in groups.iter().zip(states.as_primitive::<Int64Type>().values()) {
                counts[group] += count;
            }
        }
        if self.function.has_range() {
            for (&group, range) in groups.iter().zip(range::read(&states[self.counts.len()..])) {
                self.ranges[group].join(range);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (counts, ranges) = self.take(emit_to);
        Ok(self.function.result(counts, &ranges))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (counts, ranges) = self.take(emit_to);
        Ok(self.states(counts, &ranges))
    }

    /// The state of each row as a group of its own.
    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let Rows { classes, ranges } = self.rows(&values[0], filter)?;
        let counts = classes.iter().map(|rows| rows.iter().map(i64::from).collect()).collect();
        Ok(self.states(counts, &ranges))
    }

    fn size(&self) -> usize {
        let counts = |counts: &Vec<i64>| counts.capacity() * size_of::<i64>();
        let ranges = self.ranges.capacity() * size_of::<Range>();
        size_of_val(self) + self.counts.iter().map(counts).sum::<usize>() + ranges
    }
}
