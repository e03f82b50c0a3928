//! What the aggregates count, and their results.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StructArray};
use arrow_schema::{DataType, Field, Fields};

use crate::range::Range;

/// What is counted, in the order of the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// Values that are no nulls.
    Valid,
    Nan,
    PosInf,
    NegInf,
    Zero,
    Subnormal,
}

impl Class {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Valid => "count",
            Self::Nan => "nan",
            Self::PosInf => "pos_inf",
            Self::NegInf => "neg_inf",
            Self::Zero => "zeros",
            Self::Subnormal => "subnormals",
        }
    }
}

/// An aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    NanCount,
    FloatStats,
}

impl Function {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NanCount => "nan_count",
            Self::FloatStats => "float_stats",
        }
    }

    pub(crate) fn classes(self) -> &'static [Class] {
        match self {
            Self::NanCount => &[Class::Nan],
            Self::FloatStats => &[
                Class::Valid,
                Class::Nan,
                Class::PosInf,
                Class::NegInf,
                Class::Zero,
                Class::Subnormal,
            ],
        }
    }

    pub(crate) fn has_range(self) -> bool {
        self == Self::FloatStats
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Self::NanCount => DataType::Int64,
            Self::FloatStats => DataType::Struct(stats_fields()),
        }
    }

    /// The result of counts, one for each class in each of some groups, and of one range for each
    /// group.
    pub(crate) fn result(self, mut counts: Vec<Vec<i64>>, ranges: &[Range]) -> ArrayRef {
        let array = |counts: Vec<i64>| Arc::new(Int64Array::from(counts)) as ArrayRef;
        if self == Self::NanCount {
            return array(counts.remove(0));
        }
        let [valid, nan, pos_inf, neg_inf, zeros, subnormals]: [Vec<i64>; 6] =
            counts.try_into().expect("one for each class");
        let finite = |i: usize| valid[i] - nan[i] - pos_inf[i] - neg_inf[i];
        let finite = (0..valid.len()).map(finite).collect();
        let mut columns: Vec<ArrayRef> =
            [valid, finite, nan, pos_inf, neg_inf, zeros, subnormals].map(array).into();
        let answers: Vec<_> = ranges.iter().map(|range| range.answers()).collect();
        columns.extend([0, 1, 2].map(|which| {
            let column: Float64Array = answers.iter().map(|answers| answers[which]).collect();
            Arc::new(column) as ArrayRef
        }));
        Arc::new(StructArray::new(stats_fields(), columns, None))
    }
}

/// The result of `float_stats`.
fn stats_fields() -> Fields {
    let counts = ["count", "finite", "nan", "pos_inf", "neg_inf", "zeros", "subnormals"];
    let counts = counts.map(|name| Field::new(name, DataType::Int64, false));
    let range = ["min", "max", "max_abs"].map(|name| Field::new(name, DataType::Float64, true));
    counts.into_iter().chain(range).collect()
}
