//! The aggregates as the engine sees them.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue, not_impl_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::format_state_name;
use datafusion_expr::{Accumulator, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility};

use crate::function::Function;
use crate::groups::Groups;
use crate::total::Total;

/// An aggregate that counts classes of values. Its state is one number for each class, and for
/// `float_stats` the minimum and the maximum.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Counts {
    function: Function,
    signature: Signature,
}

pub(crate) fn all() -> [Counts; 2] {
    [Function::NanCount, Function::FloatStats]
        .map(|function| Counts { function, signature: Signature::any(1, Volatility::Immutable) })
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
