//! Counts of all rows.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::Accumulator;
use nonfinite_arrow::Predicate;

use crate::counts::{Class, Function};

/// One number for each class.
#[derive(Debug)]
pub(crate) struct Total {
    function: Function,
    counts: Vec<i64>,
}

impl Total {
    pub(crate) fn new(function: Function) -> Self {
        Self { function, counts: vec![0; function.classes().len()] }
    }

    /// Adds the counts of some rows, or with the factor -1 takes them back.
    fn add(&mut self, arrays: &[ArrayRef], factor: i64) -> Result<()> {
        let Some(column) = crate::column(self.function.name(), &arrays[0])? else { return Ok(()) };
        let counts = match self.function {
            Function::NanCount => vec![column.count(Predicate::Nan)],
            Function::FloatStats => {
                let census = column.census();
                let of = |class: &Class| match class {
                    Class::Valid => column.valid_count(),
                    Class::Nan => census.nan.count,
                    Class::PosInf => census.pos_inf.count,
                    Class::NegInf => census.neg_inf.count,
                };
                self.function.classes().iter().map(of).collect()
            }
        };
        for (all, count) in self.counts.iter_mut().zip(counts) {
            *all += factor * count as i64;
        }
        Ok(())
    }
}

impl Accumulator for Total {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(values, 1)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(values, -1)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for (all, counts) in self.counts.iter_mut().zip(states) {
            *all += counts.as_primitive::<Int64Type>().values().iter().sum::<i64>();
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(self.counts.iter().map(|&count| ScalarValue::from(count)).collect())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let counts = self.counts.iter().map(|&count| vec![count]).collect();
        ScalarValue::try_from_array(&self.function.result(counts), 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + size_of_val(&*self.counts)
    }
}
