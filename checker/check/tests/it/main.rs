//! The library as a loader uses it, with files made here. They hold NaN and infinities at known
//! places.

mod codes;
#[path = "../common/containers.rs"]
mod containers;
mod distributed;
mod dtypes;
#[path = "../common/folder.rs"]
mod folder;
mod formats;
mod gguf;
mod hidden;
mod lint;
mod lint_healthy;
mod lint_layouts;
mod lint_model;
mod lint_names;
mod lint_traps;
mod lint_whole;
mod models;
#[path = "../common/names.rs"]
mod names;
mod npy;
mod npz;
mod options;
mod pieces;
mod places;
mod planted;
#[cfg(feature = "remote")]
mod remote;
mod safetensors;
#[cfg(feature = "remote")]
#[path = "../common/server.rs"]
mod server;
mod sources;
mod stats;
mod streams;
mod work;
#[path = "../common/write.rs"]
mod write;
#[path = "../common/zip.rs"]
mod zip;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nonfinite_check::{FileFormat, Observer, Options, Report, check_bytes};

use crate::pieces::assert_same_in_pieces;
use crate::sources::assert_same_by_ranges;

/// Adds up what is announced and what is done. Stops the work after more than `most` bytes.
#[derive(Debug)]
struct Counter {
    started: AtomicU64,
    advanced: AtomicU64,
    most: u64,
}

impl Counter {
    fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { started: AtomicU64::new(0), advanced: AtomicU64::new(0), most })
    }

    /// The bytes that were announced, and those that are done.
    fn seen(&self) -> [u64; 2] {
        [&self.started, &self.advanced].map(|bytes| bytes.load(Ordering::Relaxed))
    }
}

impl Observer for Counter {
    fn started(&self, bytes: u64) {
        self.started.fetch_add(bytes, Ordering::Relaxed);
    }

    fn advanced(&self, bytes: u64) -> ControlFlow<()> {
        match self.advanced.fetch_add(bytes, Ordering::Relaxed) + bytes > self.most {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// The report on bytes that are a good file of this format.
#[track_caller]
fn check(bytes: &[u8], format: FileFormat) -> Report {
    report_with(bytes, format, &Options::default())
}

/// Like [`check`]. Also checks that the same file in pieces has the same report.
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
    assert_same_by_ranges(bytes);
    match check_bytes(bytes, format, &Options::default()) {
        Ok(report) => panic!("{message}: accepted with {} tensors", report.tensors.len()),
        Err(error) => assert!(error.to_string().contains(message), "{message:?} is not in {error}"),
    }
}

/// The names of the tensors.
fn names(report: &Report) -> Vec<&str> {
    report.tensors.iter().map(|tensor| tensor.name.as_deref().unwrap_or_default()).collect()
}

/// The tensors that were not looked at: names and reasons.
fn unread(report: &Report) -> Vec<(&str, &str)> {
    let all = report.not_looked_at();
    all.map(|(tensor, why)| (tensor.name.as_deref().unwrap_or_default(), why.text())).collect()
}
