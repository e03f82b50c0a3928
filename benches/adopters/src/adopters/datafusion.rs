//! DataFusion: its scalar function `isnan`.

use std::sync::Arc;

use arrow_array_59::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_array_59::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer_59::{BooleanBuffer, Buffer};
use arrow_schema_59::{DataType, Field};
use datafusion_common::config::ConfigOptions;
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs};
use datafusion_functions::math::isnan;
use nonfinite::Predicate;

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::ours::words;
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "datafusion",
    package: "datafusion-functions",
    what: "The scalar function `isnan`, invoked on an array as the engine does. Ours: `bits` into \
           a new `BooleanArray` with the nulls of the input, behind the same type-erased call.",
    pairs,
    note: None,
};

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F16(x) => typed::<Float16Type>(x),
        Column::F32(x) => typed::<Float32Type>(x),
        Column::F64(x) => typed::<Float64Type>(x),
    }
}

fn typed<T: ArrowPrimitiveType<Native: Float>>(x: &Values<T::Native>) -> Vec<Pair> {
    let nulls = x.valid.clone().map(Into::into);
    let array: ArrayRef = Arc::new(PrimitiveArray::<T>::new(x.values.clone().into(), nulls));
    let each = |value: ColumnarValue| {
        let ColumnarValue::Array(array) = value else { panic!("an array in, an array out") };
        let array = array.as_any().downcast_ref::<BooleanArray>().expect("booleans");
        Answer::Mask(array.iter().collect())
    };
    let function = isnan();
    let (x, y) = (Arc::clone(&array), array);
    let field = |data_type| Arc::new(Field::new("x", data_type, true));
    let (argument, result) = (field(T::DATA_TYPE), field(DataType::Boolean));
    let options = Arc::new(ConfigOptions::default());
    let theirs = move || {
        let arguments = ScalarFunctionArgs {
            args: vec![ColumnarValue::Array(Arc::clone(&x))],
            arg_fields: vec![Arc::clone(&argument)],
            number_rows: x.len(),
            return_field: Arc::clone(&result),
            config_options: Arc::clone(&options),
        };
        function.invoke_with_args(arguments).expect("a column of numbers")
    };
    let ours = move || {
        let array = y.as_any().downcast_ref::<PrimitiveArray<T>>().expect("the type of T");
        let buffer = Buffer::from_vec(words(array.values(), Predicate::Nan));
        let values = BooleanBuffer::new(buffer, 0, array.len());
        ColumnarValue::Array(Arc::new(BooleanArray::new(values, array.nulls().cloned())))
    };
    vec![Pair::new("bits of NaN", Task::new(theirs, each), Task::new(ours, each))]
}
