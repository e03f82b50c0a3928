//! The library as a loader uses it, with files made here. They hold NaN and infinities at known
//! places.

mod diff;
mod dtypes;
mod fix;
#[path = "../common/folder.rs"]
mod folder;
mod formats;
mod gguf;
#[path = "../common/hidden.rs"]
mod hidden;
#[path = "../common/names.rs"]
mod names;
mod npz;
mod options;
#[path = "../common/pieces.rs"]
mod pieces;
mod pieces_that_lie;
mod places;
mod planted;
mod records;
mod safetensors;
mod sources;
mod stats;
mod streams;
mod taken_as;
mod work;
mod work_checksums;
mod write;
#[path = "../common/zip.rs"]
mod zip;

use nonfinite_check::{FileFormat, Options, Report, check_bytes};

use crate::pieces::assert_same_in_pieces;

/// The report on bytes that are a good file of this format.
#[track_caller]
fn report(bytes: &[u8], format: FileFormat) -> Report {
    report_with(bytes, format, &Options::default())
}

/// Like [`report`]. Also checks that the same file in pieces has the same report.
#[track_caller]
fn report_with(bytes: &[u8], format: FileFormat, options: &Options) -> Report {
    assert_eq!(FileFormat::detect(bytes, None), Some(format), "the bytes tell the format");
    match check_bytes(bytes, format, options) {
        Ok(report) => {
            assert_same_in_pieces(bytes, format, options, &report);
            report
        }
        Err(error) => panic!("{}: {error}", format.name()),
    }
}

/// The file is refused with this message.
#[track_caller]
fn refused(bytes: &[u8], format: FileFormat, message: &str) {
    match check_bytes(bytes, format, &Options::default()) {
        Ok(report) => panic!("{message}: accepted with {} tensors", report.tensors.len()),
        Err(error) => assert!(error.to_string().contains(message), "{message:?} is not in {error}"),
    }
}
