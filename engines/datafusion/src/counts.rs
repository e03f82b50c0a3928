//! The aggregates: what they count, and their types.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use datafusion_common::{Result, ScalarValue, not_impl_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::format_state_name;
use datafusion_expr::{Accumulator, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility};

use crate::groups::Groups;
use crate::range::Range;
use crate::total::Total;

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

/// An aggregate that counts classes of values. Its state is one number for each class, and for
/// `float_stats` the minimum and the maximum.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Counts {
    function: Function,
    signature: Signature,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    NanCount,
    FloatStats,
}

pub(crate) fn all() -> [Counts; 2] {
    [Function::NanCount, Function::FloatStats]
        .map(|function| Counts { function, signature: Signature::any(1, Volatility::Immutable) })
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

    fn data_type(self) -> DataType {
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

impl AggregateUDFImpl for Counts {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        crate::check(self.name(), types)?;
        Ok(self.function.data_type())
    }

    fn is_nullable(&self) -> bool {
        false
    }

    fn default_value(&self, _: &DataType) -> Result<ScalarValue> {
        Total::new(self.function).evaluate()
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let field = |name, data_type| {
            Arc::new(Field::new(format_state_name(args.name, name), data_type, false))
        };
        let counts = self.function.classes().iter();
        let counts = counts.map(|class| field(class.name(), DataType::Int64));
        let range: &[&str] = if self.function.has_range() { &["min", "max"] } else { &[] };
        let range = range.iter().map(|name| field(name, DataType::Float64));
        Ok(counts.chain(range).collect())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT ..)", self.name());
        }
        Ok(Box::new(Total::new(self.function)))
    }

    /// As [`AggregateUDFImpl::accumulator`], and can take rows back.
    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT ..)", self.name());
        }
        Ok(Box::new(Total::moving(self.function)))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups::new(self.function)))
    }
}
