//! Tables with a NaN, in all containers and under all names.

use arrow_ipc::writer::IpcWriteOptions;
use parquet::file::properties::WriterProperties;

use crate::arrow::{batch, f32s, write};
use crate::hidden::never_clean;
use crate::parquet::lists;

#[test]
fn no_arrow_file_is_clean() {
    for (name, file) in [("arrow", true), ("arrow-stream", false)] {
        let table = batch(&[("x", f32s(vec![1.0, f32::NAN]))]);
        never_clean(name, &write(&[table], file, IpcWriteOptions::default()));
    }
}

#[test]
#[cfg_attr(target_endian = "big", ignore = "floats are unreadable there")]
fn no_parquet_file_is_clean() {
    never_clean("parquet", &lists(f32::NAN, WriterProperties::default()));
}
