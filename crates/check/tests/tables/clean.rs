//! Tables with a NaN, in all containers and under all names.

use arrow_ipc::Precision;
use parquet::file::properties::WriterProperties;

use crate::hidden::never_clean;
use crate::parquet::lists;
use crate::write::{Kind, Message, arrow, field, numbers};

#[test]
fn no_arrow_file_is_clean() {
    for (name, file) in [("arrow", true), ("arrow-stream", false)] {
        let column = numbers(&[0x3F80_0000, 0x7FC0_0000], 4, None);
        let fields = [field("x", Kind::Float(Precision::SINGLE))];
        never_clean(name, &arrow(&fields, &[Message::Batch(2, vec![column])], file));
    }
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn no_parquet_file_is_clean() {
    never_clean("parquet", &lists(f32::NAN, WriterProperties::default()));
}
