//! Counts and the range of all rows, or of the rows of a window that moves.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::Accumulator;
use nonfinite_arrow::Predicate;

use crate::function::{Class, Function};
use crate::range::{self, Range, Values, Window};

/// One number for each class, and the range of the finite values.
#[derive(Debug)]
pub(crate) struct Total {
    function: Function,
    counts: Vec<i64>,
    range: Range,
    /// What tells the range of a window.
    window: Option<Window>,
}

impl Total {
    pub(crate) fn new(function: Function) -> Self {
        let counts = vec![0; function.classes().len()];
        Self { function, counts, range: Range::NONE, window: None }
    }

    /// Rows can be taken back, in the order in which they were added.
    pub(crate) fn moving(function: Function) -> Self {
        Self { window: function.has_range().then(Window::default), ..Self::new(function) }
    }

    /// Adds some rows, or takes them back.
    fn change(&mut self, arrays: &[ArrayRef], take: bool) -> Result<()> {
        let array = &arrays[0];
        let Some(column) = crate::column(self.function.name(), array)? else { return Ok(()) };
        let factor = if take { -1 } else { 1 };
        if self.function == Function::NanCount {
            self.counts[0] += factor * column.count(Predicate::Nan) as i64;
            return Ok(());
        }
        let stats = column.stats();
        for (all, class) in self.counts.iter_mut().zip(self.function.classes()) {
            let count = match class {
                Class::Valid => stats.finite() + stats.census.total(),
                Class::Nan => stats.census.nan.count,
                Class::PosInf => stats.census.pos_inf.count,
                Class::NegInf => stats.census.neg_inf.count,
                Class::Zero => stats.zeros,
                Class::Subnormal => stats.subnormals,
            };
            *all += factor * count as i64;
        }
        match &mut self.window {
            Some(window) if take => window.take(stats.finite() as u64),
            Some(window) => {
                let values = Values::new(array)?;
                (0..array.len()).filter_map(|row| values.finite(row)).for_each(|x| window.add(x));
            }
            None => {
                let ends = stats.min.into_iter().chain(stats.max);
                ends.for_each(|end| self.range.join(Range::of(end.value)));
            }
        }
        Ok(())
    }

    fn range(&self) -> Range {
        self.window.as_ref().map_or(self.range, Window::range)
    }
}

impl Accumulator for Total {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.change(values, false)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.change(values, true)
    }

    fn supports_retract_batch(&self) -> bool {
        self.window.is_some() || !self.function.has_range()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (counts, range) = states.split_at(self.counts.len());
        for (all, counts) in self.counts.iter_mut().zip(counts) {
            *all += counts.as_primitive::<Int64Type>().values().iter().sum::<i64>();
        }
        if self.function.has_range() {
            range::read(range).for_each(|range| self.range.join(range));
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut state: Vec<_> = self.counts.iter().map(|&count| ScalarValue::from(count)).collect();
        if self.function.has_range() {
            state.extend(self.range().state());
        }
        Ok(state)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let counts = self.counts.iter().map(|&count| vec![count]).collect();
        ScalarValue::try_from_array(&self.function.result(counts, &[self.range()]), 0)
    }

    fn size(&self) -> usize {
        let window = self.window.as_ref().map_or(0, Window::size);
        size_of_val(self) + size_of_val(&*self.counts) + window
    }
}
