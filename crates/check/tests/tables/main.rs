//! Tables: Arrow IPC and Parquet. Planted NaN and infinities, nulls, and files with false claims.
//! `ci/checker-oracle` tests files of pyarrow.

mod arrow;
mod clean;
#[path = "../common/codes.rs"]
#[expect(dead_code, reason = "tables have three formats")]
mod codes;
#[path = "../common/folder.rs"]
mod folder;
#[path = "../common/hidden.rs"]
mod hidden;
#[path = "../common/names.rs"]
mod names;
mod parquet;
#[path = "../common/pieces.rs"]
mod pieces;
mod places;
#[path = "../common/zip.rs"]
mod zip;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nonfinite_check::{Error, FileFormat, Observer, Options, Report, check_bytes, check_stream};

use crate::codes::{Codes, F16, F32, F64, assert_one};

/// Rows of the batches or row groups of a table.
const GROUPS: [usize; 3] = [400, 1, 599];
const ROWS: usize = 1000;
/// The first, the last, and others on both sides of the limits of groups.
const PLACES: [usize; 6] = [0, 399, 400, 401, 617, ROWS - 1];

/// A float type: its name in Arrow and in Parquet, and its numbers.
struct Dtype {
    arrow: &'static str,
    parquet: &'static str,
    codes: Codes,
}

const DTYPES: [Dtype; 3] = [
    Dtype { arrow: "float16", parquet: "FLOAT16", codes: F16 },
    Dtype { arrow: "float32", parquet: "FLOAT", codes: F32 },
    Dtype { arrow: "float64", parquet: "DOUBLE", codes: F64 },
];

/// Whether a row of planted tables is null: many are, and none of those where something is planted.
fn is_null(row: usize, planted: usize) -> bool {
    row % 7 == 3 && row != planted
}

/// The report of all cores, which must be that of one, and of a stream.
#[track_caller]
fn report(bytes: &[u8], format: FileFormat) -> Report {
    assert_eq!(FileFormat::detect(bytes, None), Some(format));
    let [all, one, plain] =
        [(true, None), (true, NonZeroUsize::new(1)), (false, None)].map(|(stats, threads)| {
            let options = Options { stats, threads, ..Options::default() };
            check_bytes(bytes, format, &options)
                .unwrap_or_else(|error| panic!("{}: {error}", format.name()))
        });
    assert_eq!(all, one);
    let options = Options { stats: true, ..Options::default() };
    pieces::assert_same_in_pieces(bytes, format, &options, &all);
    assert_eq!(check_stream(bytes, &options).expect("a whole stream"), all);
    let mut without_stats = all.tensors.clone();
    without_stats.iter_mut().for_each(|tensor| tensor.stats = None);
    assert_eq!(plain.tensors, without_stats);
    all
}

/// Asserts that the bytes are refused with this message.
#[track_caller]
fn refused(bytes: &[u8], format: FileFormat, message: &str) {
    // Whatever it claims.
    let options = Options { max_bytes: Some(u64::MAX), ..Options::default() };
    match check_bytes(bytes, format, &options) {
        Ok(report) => panic!("{message}: accepted with {} tensors", report.tensors.len()),
        Err(error) => assert!(error.to_string().contains(message), "{message:?} is not in {error}"),
    }
}

/// An observer that counts its calls, and stops the check after this number.
#[derive(Debug)]
struct Watch {
    asked: AtomicUsize,
    most: usize,
}

impl Watch {
    /// It, and options to be watched by it, of one thread, that take any claim.
    fn new(most: usize) -> (Arc<Self>, Options) {
        let watch = Arc::new(Self { asked: AtomicUsize::new(0), most });
        let observer: Arc<dyn Observer> = Arc::<Self>::clone(&watch);
        let options = Options {
            threads: NonZeroUsize::new(1),
            observer: Some(observer),
            max_bytes: Some(u64::MAX),
            ..Options::default()
        };
        (watch, options)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Observer for Watch {
    fn advanced(&self, _: u64) -> ControlFlow<()> {
        let before = self.asked.fetch_add(1, Ordering::Relaxed);
        if before < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

/// Cuts the file at every length, and changes every byte of it. There must be a report or an error,
/// and all places must be within their tensors.
fn damaged(bytes: &[u8], format: FileFormat) {
    let options = Options { threads: NonZeroUsize::new(1), ..Options::default() };
    let check = |bytes: &[u8]| -> Result<(), Error> {
        for tensor in check_bytes(bytes, format, &options)?.tensors {
            for first in tensor.found.into_array().into_iter().filter_map(|of_kind| of_kind.first) {
                assert!(
                    first
                        .coordinate
                        .iter()
                        .zip(&tensor.description.shape)
                        .all(|(index, extent)| index < extent)
                );
            }
        }
        Ok(())
    };
    for length in 0..bytes.len() {
        assert!(check(&bytes[..length]).is_err() || format == FileFormat::ARROW, "cut at {length}");
    }
    let mut other = bytes.to_vec();
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7F, 0x80, 0xFF, bytes[at] ^ 4] {
            other[at] = value;
            let _ = check(&other);
        }
        other[at] = bytes[at];
    }
}
