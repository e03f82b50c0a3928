//! parquet: what its column writer asks of every batch for the statistics.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use nonfinite::{Predicate, count, stats};
use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{DataType, DoubleType, FloatType};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::statistics::Statistics;
use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type};

use super::Adopter;
use crate::data::{Column, Float};
use crate::task::{Answer, Pair, Task};

pub const ADOPTER: Adopter = Adopter {
    name: "parquet",
    package: "parquet",
    what: "`min_max`, which the column writer calls for each 1024 values: the least, the largest \
           and how many NaN, nulls already taken out. The function is private, so theirs is \
           `write_batch` with statistics less `write_batch` without, uncompressed, into pages \
           that are thrown away. Ours: `stats`, which has the indices and other classes too, and \
           `count`, which has no extremes.",
    pairs,
    note: None,
};

fn pairs(column: &Column) -> Vec<Pair> {
    match column {
        Column::F32(x) if x.valid.is_none() => typed::<FloatType>(Physical::FLOAT, &x.values),
        Column::F64(x) if x.valid.is_none() => typed::<DoubleType>(Physical::DOUBLE, &x.values),
        _ => Vec::new(),
    }
}

/// Throws pages away, and adds up how many NaN their statistics name.
#[derive(Default)]
struct Sink(Arc<Mutex<usize>>);

impl PageWriter for Sink {
    fn write_page(&mut self, page: CompressedPage) -> Result<PageWriteSpec> {
        if let Page::DataPage { statistics: Some(statistics), .. } = page.compressed_page() {
            *self.0.lock().expect("one thread") += nan_count(statistics);
        }
        Ok(PageWriteSpec::new())
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }
}

fn nan_count(statistics: &Statistics) -> usize {
    statistics.nan_count_opt().map_or(0, |count| count as usize)
}

fn writer<D: DataType>(
    physical: Physical,
    statistics: EnabledStatistics,
) -> ColumnWriterImpl<'static, D> {
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_statistics_enabled(statistics)
        .build();
    let column = Type::primitive_type_builder("x", physical)
        .with_repetition(parquet::basic::Repetition::REQUIRED)
        .build()
        .expect("a column");
    let column = ColumnDescriptor::new(Arc::new(column), 0, 0, ColumnPath::from("x"));
    ColumnWriterImpl::new(Arc::new(column), Arc::new(properties), Box::new(Sink::default()))
}

fn typed<D: DataType<T: Float> + 'static>(physical: Physical, x: &[D::T]) -> Vec<Pair> {
    let task = |statistics| {
        let x = x.to_vec();
        let timed = RefCell::new(writer::<D>(physical, statistics));
        let again = x.clone();
        Task::new(
            move || timed.borrow_mut().write_batch(&x, None, None).expect("a batch"),
            // What the metadata of a column of this batch alone says.
            move |_| {
                let mut writer = writer::<D>(physical, statistics);
                writer.write_batch(&again, None, None).expect("a batch");
                let closed = writer.close().expect("a column");
                Answer::Count(closed.metadata.statistics().map_or(0, nan_count))
            },
        )
    };
    let pair = |question, ours| {
        let pair = Pair::new(question, task(EnabledStatistics::Page), ours);
        pair.without(task(EnabledStatistics::None))
    };
    let (a, b) = (x.to_vec(), x.to_vec());
    vec![
        pair(
            "min, max, how many NaN; ours: `stats`",
            Task::new(move || stats(&a), |stats| Answer::Count(stats.census.nan.count)),
        ),
        pair(
            "min, max, how many NaN; ours: `count`",
            Task::new(move || count(&b, Predicate::Nan), Answer::Count),
        ),
    ]
}
