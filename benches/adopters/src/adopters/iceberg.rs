//! Iceberg: how many NaN, which its Parquet writer counts in every batch for the manifest.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array_58::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array_58::{PrimitiveArray, RecordBatch};
use arrow_schema_58::{Field, Schema as ArrowSchema};
use futures::executor::block_on;
use iceberg::io::FileIO;
use iceberg::spec::{NestedField, PrimitiveType, Schema, Struct};
use iceberg::writer::CurrentFileStatus;
use iceberg::writer::file_writer::{
    FileWriter, FileWriterBuilder, ParquetWriter, ParquetWriterBuilder,
};
use parquet_58::file::properties::WriterProperties;

use super::Adopter;
use crate::data::{Column, Float, Values};
use crate::ours::count_nan;
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "iceberg",
    package: "iceberg",
    what: "`NanValueCountVisitor`, which is private: `ParquetWriter::write` runs it before \
           anything else. Theirs is a write to a column of another type, which ends with an error \
           right after the count, less the same of one row. Ours: `count`, of \
           nulls under `with_validity`.",
    pairs,
    note: None,
};

const ID: i32 = 1;

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F32(x) => typed::<Float32Type>(PrimitiveType::Float, x),
        Column::F64(x) => typed::<Float64Type>(PrimitiveType::Double, x),
        Column::F16(_) => Vec::new(),
    }
}

fn writer(element: PrimitiveType) -> ParquetWriter {
    let field = NestedField::optional(ID, "x", element.into());
    let schema = Schema::builder().with_fields([Arc::new(field)]).build().expect("a schema");
    let file = FileIO::new_with_memory().new_output("memory:/x.parquet").expect("a file");
    let builder = ParquetWriterBuilder::new(WriterProperties::default(), Arc::new(schema));
    block_on(builder.build(file)).expect("a writer")
}

fn batch<T: ArrowPrimitiveType>(x: &Values<T::Native>) -> RecordBatch {
    let nulls = x.valid.clone().map(Into::into);
    let array = PrimitiveArray::<T>::new(x.values.clone().into(), nulls);
    let id = HashMap::from([("PARQUET:field_id".to_string(), ID.to_string())]);
    let field = Field::new("x", T::DATA_TYPE, true).with_metadata(id);
    let schema = ArrowSchema::new(vec![field]);
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(array)]).expect("a batch")
}

fn typed<T: ArrowPrimitiveType<Native: Float>>(
    element: PrimitiveType,
    x: &Values<T::Native>,
) -> Vec<Pair> {
    let task = |x: &Values<T::Native>| {
        let refused = batch::<T>(x);
        let written = refused.clone();
        let element = element.clone();
        let timed = RefCell::new(writer(PrimitiveType::Int));
        Task::new(
            move || block_on(timed.borrow_mut().write(&refused)).expect_err("floats, not integers"),
            // What the manifest says after the batch is written to a column of its type.
            move |_| {
                let mut writer = writer(element.clone());
                block_on(writer.write(&written)).expect("a batch");
                let mut files = block_on(writer.close()).expect("a file");
                let file = files[0].content(iceberg::spec::DataContentType::Data);
                let file = file.partition(Struct::empty()).partition_spec_id(0).build();
                let counts = file.expect("a data file");
                Answer::Count(counts.nan_value_counts().get(&ID).map_or(0, |n| *n as usize))
            },
        )
    };
    let one = Values { values: x.values[..1].to_vec(), valid: None };
    let (ours, bitmap) = (x.values.clone(), x.bitmap());
    let pair = Pair::new(
        "how many NaN",
        task(x),
        Task::new(move || count_nan(&ours, bitmap.as_deref()), Answer::Count),
    );
    vec![pair.without(task(&one))]
}
