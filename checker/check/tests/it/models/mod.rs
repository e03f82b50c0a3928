//! ONNX models and archives of PyTorch: planted NaN and infinities, and files with false claims.
//! `checker/oracles/numpy/models.py` tests files of real writers.

mod bounds;
mod checkpoints;
mod limits;
mod lint;
mod members;
pub(crate) mod onnx;
mod opcodes;
mod pickles;
mod pytorch;
mod shards;

use nonfinite_check::{Error, FileFormat, Options, Report, check_bytes};

use crate::sources::assert_same_by_ranges;

/// As [`check_bytes`] with no options.
fn read(bytes: &[u8], format: FileFormat) -> Result<Report, Error> {
    assert_same_by_ranges(bytes);
    check_bytes(bytes, format, &Options::default())
}

fn error(bytes: &[u8], format: FileFormat) -> String {
    read(bytes, format).unwrap_err().to_string()
}
