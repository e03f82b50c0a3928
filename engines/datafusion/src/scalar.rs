//! The functions of one value.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::DataType;
use datafusion_common::{DataFusionError, Result, ScalarValue};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use nonfinite_arrow::Predicate;

/// Whether a predicate holds for a value.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Is {
    name: &'static str,
    predicate: Predicate,
    signature: Signature,
}

pub(crate) fn all() -> [Is; 3] {
    [("is_nan", Predicate::Nan), ("is_inf", Predicate::Inf), ("is_finite", Predicate::Finite)].map(
        |(name, predicate)| Is {
            name,
            predicate,
            signature: Signature::any(1, Volatility::Immutable),
        },
    )
}

impl Is {
    fn of(&self, array: &dyn Array) -> Result<BooleanArray> {
        match crate::column(self.name, array)? {
            None => Ok(BooleanArray::new_null(array.len())),
            Some(column) => column
                .mask(self.predicate)
                .map_err(|error| DataFusionError::External(Box::new(error))),
        }
    }
}

impl ScalarUDFImpl for Is {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        crate::check(self.name, types)?;
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [argument] = datafusion_common::utils::take_function_args(self.name, args.args)?;
        Ok(match argument {
            ColumnarValue::Array(array) => {
                ColumnarValue::Array(Arc::new(self.of(&array)?) as ArrayRef)
            }
            ColumnarValue::Scalar(value) => {
                let answer = self.of(&value.to_array()?)?;
                ColumnarValue::Scalar(ScalarValue::try_from_array(&answer, 0)?)
            }
        })
    }
}
