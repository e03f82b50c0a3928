//! The minimum and the maximum of finite values, in groups and in windows that move.

use std::collections::VecDeque;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array};
use arrow_schema::DataType;
use datafusion_common::arrow::compute::cast;
use datafusion_common::{Result, ScalarValue};

/// The minimum and the maximum of finite values. If there is none: +Inf and -Inf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Range {
    pub(crate) const NONE: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY };

    /// The range of one finite value. A zero has no sign in the answers, so that they do not depend
    /// on the order of rows.
    pub(crate) fn of(value: f64) -> Self {
        Self { min: value + 0.0, max: value + 0.0 }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The minimum, the maximum, and the maximum magnitude.
    pub(crate) fn answers(self) -> [Option<f64>; 3] {
        let some = self.min <= self.max;
        [self.min, self.max, self.max.max(-self.min)].map(|answer| some.then_some(answer))
    }

    /// As a state, which [`Range::read`] reads.
    pub(crate) fn state(self) -> [ScalarValue; 2] {
        [self.min, self.max].map(ScalarValue::from)
    }
}

/// One range of the two columns of states for each row.
pub(crate) fn read(states: &[arrow_array::ArrayRef]) -> impl Iterator<Item = Range> {
    let [min, max] = [&states[0], &states[1]].map(|column| column.as_primitive::<Float64Type>());
    min.values().iter().zip(max.values()).map(|(&min, &max)| Range { min, max })
}

/// The values of rows as f64, exactly. Nulls stay.
pub(crate) struct Values {
    values: Float64Array,
    /// The least normal number of the type that the values have in the column.
    least_normal: f64,
}

impl Values {
    pub(crate) fn new(array: &dyn Array) -> Result<Self> {
        let values = cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().clone();
        Ok(Self { values, least_normal: least_normal(array.data_type()) })
    }

    /// The finite value of a row, if there is one.
    pub(crate) fn finite(&self, row: usize) -> Option<f64> {
        let value = self.values.value(row);
        (self.values.is_valid(row) && value.is_finite()).then_some(value)
    }

    /// The range of the value of a row.
    pub(crate) fn range(&self, row: usize) -> Range {
        self.finite(row).map_or(Range::NONE, Range::of)
    }

    /// Whether the value of a row is zero.
    pub(crate) fn is_zero(&self, row: usize) -> bool {
        self.finite(row) == Some(0.0)
    }

    /// Whether the value of a row is subnormal in the column's own type.
    pub(crate) fn is_subnormal(&self, row: usize) -> bool {
        self.finite(row).is_some_and(|x| x != 0.0 && x.abs() < self.least_normal)
    }
}

fn least_normal(data_type: &DataType) -> f64 {
    match data_type {
        DataType::Dictionary(_, values) => least_normal(values),
        DataType::RunEndEncoded(_, values) => least_normal(values.data_type()),
        DataType::Float16 => f64::from_bits((1023 - 14) << 52),
        DataType::Float32 => f32::MIN_POSITIVE.into(),
        _ => f64::MIN_POSITIVE,
    }
}

/// The range of the values of a window to which values are added behind, and from which the first
/// ones are taken.
///
/// `low` keeps the values that are less than all behind them. No other value can become the
/// minimum; the first of them is the minimum. `high` does the same for the maximum.
#[derive(Debug, Default)]
pub(crate) struct Window {
    low: VecDeque<(u64, f64)>,
    high: VecDeque<(u64, f64)>,
    /// How many values were added and taken.
    added: u64,
    taken: u64,
}

impl Window {
    pub(crate) fn add(&mut self, value: f64) {
        while self.low.pop_back_if(|last| last.1 >= value).is_some() {}
        while self.high.pop_back_if(|last| last.1 <= value).is_some() {}
        self.low.push_back((self.added, value));
        self.high.push_back((self.added, value));
        self.added += 1;
    }

    /// Takes the first values.
    pub(crate) fn take(&mut self, values: u64) {
        self.taken += values;
        while self.low.pop_front_if(|first| first.0 < self.taken).is_some() {}
        while self.high.pop_front_if(|first| first.0 < self.taken).is_some() {}
    }

    pub(crate) fn range(&self) -> Range {
        let (Some(low), Some(high)) = (self.low.front(), self.high.front()) else {
            return Range::NONE;
        };
        let mut range = Range::of(low.1);
        range.join(Range::of(high.1));
        range
    }

    pub(crate) fn size(&self) -> usize {
        (self.low.capacity() + self.high.capacity()) * size_of::<(u64, f64)>()
    }
}
