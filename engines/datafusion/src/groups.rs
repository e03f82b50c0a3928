//! Counts of each group of rows.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array};
use arrow_buffer::BooleanBuffer;
use datafusion_common::{DataFusionError, Result};
use datafusion_expr::{EmitTo, GroupsAccumulator};
use nonfinite_arrow::Predicate;

use crate::counts::{Class, Function};

/// For each class one number for each group.
pub(crate) struct Groups {
    function: Function,
    counts: Vec<Vec<i64>>,
}

impl Groups {
    pub(crate) fn new(function: Function) -> Self {
        Self { function, counts: vec![Vec::new(); function.classes().len()] }
    }

    /// For each class the rows that belong to it, among those that the filter keeps.
    fn rows(&self, array: &dyn Array, filter: Option<&BooleanArray>) -> Result<Vec<BooleanBuffer>> {
        let rows = array.len();
        let classes = self.function.classes();
        let Some(column) = crate::column(self.function.name(), array)? else {
            return Ok(vec![BooleanBuffer::new_unset(rows); classes.len()]);
        };
        let kept = filter.map(|filter| match filter.nulls() {
            Some(nulls) => filter.values() & nulls.inner(),
            None => filter.values().clone(),
        });
        // One search for all classes: most columns are clean.
        let clean = !column.any(Predicate::NonFinite);
        let of = |class: &Class| {
            let rows = match class.predicate() {
                None => match array.logical_nulls() {
                    Some(nulls) => nulls.into_inner(),
                    None => BooleanBuffer::new_set(rows),
                },
                Some(_) if clean => return Ok(BooleanBuffer::new_unset(rows)),
                Some(predicate) => {
                    let mask = column.mask(predicate);
                    let mask = mask.map_err(|error| DataFusionError::External(Box::new(error)))?;
                    // False for nulls.
                    mask.into_parts().0
                }
            };
            Ok(match &kept {
                Some(kept) => &rows & kept,
                None => rows,
            })
        };
        classes.iter().map(of).collect()
    }

    fn take(&mut self, emit_to: EmitTo) -> Vec<Vec<i64>> {
        self.counts.iter_mut().map(|counts| emit_to.take_needed(counts)).collect()
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
        for (counts, rows) in self.counts.iter_mut().zip(rows) {
            counts.resize(total_groups, 0);
            rows.set_indices().for_each(|row| counts[groups[row]] += 1);
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        states: &[ArrayRef],
        groups: &[usize],
        total_groups: usize,
    ) -> Result<()> {
        for (counts, states) in self.counts.iter_mut().zip(states) {
            counts.resize(total_groups, 0);
            for (&group, count) in groups.iter().zip(states.as_primitive::<Int64Type>().values()) {
                counts[group] += count;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let counts = self.take(emit_to);
        Ok(self.function.result(counts))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let array = |counts| Arc::new(Int64Array::from(counts)) as ArrayRef;
        Ok(self.take(emit_to).into_iter().map(array).collect())
    }

    /// The state of each row as a group of its own.
    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let array = |rows: BooleanBuffer| {
            Arc::new(Int64Array::from_iter_values(rows.iter().map(i64::from))) as ArrayRef
        };
        Ok(self.rows(&values[0], filter)?.into_iter().map(array).collect())
    }

    fn size(&self) -> usize {
        let counts = |counts: &Vec<i64>| counts.capacity() * size_of::<i64>();
        size_of_val(self) + self.counts.iter().map(counts).sum::<usize>()
    }
}
