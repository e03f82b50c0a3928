//! Which tensors of a model file hold NaN or infinity, and where.
//!
//! ```no_run
//! let report = nonfinite_check::check_file("model.safetensors".as_ref(), &Default::default())?;
//! for tensor in report.tensors.iter().filter(|tensor| tensor.is_bad()) {
//!     println!("{:?}: {} NaN, first {:?}", tensor.name, tensor.nan.count, tensor.nan.first);
//! }
//! # Ok::<(), nonfinite_check::Error>(())
//! ```
//!
//! [`check_file`] maps a file and looks at it with all cores; [`check_bytes`] does the same with
//! bytes that are in memory already, and [`check_stream`] with a stream, for formats that tell what
//! data is before it comes. Files are told apart by their first bytes. Nothing of a file is
//! executed, and memory does not grow with what a file claims, nor time beyond the bound of
//! [`Options::expansion`].
//!
//! Tables are read if it is asked for: the feature `arrow` is for Arrow IPC (.arrow, .feather,
//! streams), `parquet` for Parquet. Each brings along the crates of its project.

pub mod blocks;
mod error;
pub mod fix;
pub mod formats;
pub mod json;
pub mod policy;
pub mod protobuf;
mod raw;
mod report;
mod scan;
mod selection;
pub mod source;
mod stats;
mod stream;
mod tally;
pub mod tensor;
pub mod zip;

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::thread;

pub use error::Error;
pub use formats::FileFormat;
pub use policy::{Allow, Kinds};
pub use raw::{RawDtype, RawDtypeError};
pub use report::{Finding, First, LookedAt, Report, TensorReport};
pub use stats::Range;
pub use stream::check_stream;

use source::{Input, Source};

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to find the least and the greatest finite number of each tensor, too.
    pub stats: bool,
    /// What makes a tensor a bad one.
    pub fail_on: Kinds,
    /// What is meant to be there, and is counted but makes no tensor a bad one.
    pub allow: Vec<Allow>,
    /// What elements are that numpy saved as raw bytes. Without an entry for them they are
    /// unreadable.
    pub raw: Vec<RawDtype>,
    /// Most bytes of numbers for each byte of a file that holds them compressed, repeated or left
    /// out (tables, archives, views of a compressed storage): a file that claims more is refused
    /// with [`Error::Expansion`], since a few bytes of a table can stand for billions of equal
    /// numbers. A file of less than 64 KiB counts as one of 64 KiB, since much of it is not data.
    /// Numbers that lie in the file as they are do not count, however often they are shown.
    ///
    /// Of a file the sum over all tensors is bounded, before anything is decoded; of a stream,
    /// which tells batch by batch what there is, the sum up to each batch, by the bytes up to the
    /// end of it, and the sum up to each column, by the bytes that have come: earlier ones have
    /// been decoded then, and a stream can be refused at a part that is denser than the whole.
    ///
    /// None takes all that is claimed here; the fixed bounds of some formats stay (ONNX and
    /// PyTorch: how often tensors may refer to the same bytes, names, depth).
    pub expansion: Option<NonZeroU64>,
    /// Threads to use; none means as many as the machine runs at a time.
    pub threads: Option<NonZeroUsize>,
    /// Who is told how far the check is.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            stats: false,
            fail_on: Kinds::ALL,
            allow: Vec::new(),
            raw: Vec::new(),
            expansion: Some(Self::EXPANSION),
            threads: None,
            observer: None,
        }
    }
}

impl Options {
    /// The [`Options::expansion`] of the default: a mebibyte for each byte, so 64 GiB of any file.
    /// Nulls take some bytes for each page, however many rows it has, so that only columns of
    /// nothing but nulls or one number, in pages of many millions of rows, come near.
    pub const EXPANSION: NonZeroU64 = NonZeroU64::new(1 << 20).unwrap();

    /// Refuses to decode this much of a file of so many bytes, if that is more than is wanted.
    pub(crate) fn bound(&self, decoded: u64, file: u64) -> Result<(), Error> {
        /// Shorter files count as such.
        const SHORT: u64 = 64 << 10;
        match self.expansion {
            Some(most) if decoded > file.max(SHORT).saturating_mul(most.get()) => {
                Err(Error::Expansion { decoded, file, most: most.get() })
            }
            _ => Ok(()),
        }
    }

    fn threads(&self) -> usize {
        self.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get)
    }

    /// What of that which was found in a tensor of this name makes it a bad one.
    fn bad(&self, name: &str, found: Kinds) -> Kinds {
        let allowed = self.allow.iter().filter(|allow| allow.pattern.matches(name));
        let allowed = allowed.fold(Kinds::default(), |kinds, allow| kinds.or(allow.kinds));
        found.and(self.fail_on).without(allowed)
    }

    fn advance(&self, bytes: usize) -> Result<(), Error> {
        match self.observer.as_ref().map(|observer| observer.advanced(bytes as u64)) {
            Some(ControlFlow::Break(())) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}

/// Is told how far a check is, from all of its threads.
pub trait Observer: fmt::Debug + Send + Sync {
    /// So many bytes of tensors are to be looked at in this file; so many more, if it is called
    /// again: of a stream, not all are known at the begin.
    fn started(&self, bytes: u64) {
        let _ = bytes;
    }

    /// So many more bytes have been looked at. [`ControlFlow::Break`] ends the check with
    /// [`Error::Stopped`].
    fn advanced(&self, bytes: u64) -> ControlFlow<()>;
}

/// Checks a file.
///
/// # Errors
/// [`Error`] if it is not a whole, good file of a known format.
pub fn check_file(path: &Path, options: &Options) -> Result<Report, Error> {
    let source = Source::open(path)?;
    let format = detect(source.bytes(), Some(path))?;
    check(Input { bytes: source.bytes(), path: Some(path) }, format, options)
}

/// Checks the bytes of a file. [`FileFormat::detect`] tells their format where that is not known.
///
/// # Errors
/// [`Error`] if they are no whole, good file of this format, or if it names other files.
pub fn check_bytes(bytes: &[u8], format: FileFormat, options: &Options) -> Result<Report, Error> {
    check(Input { bytes, path: None }, format, options)
}

/// The format of a file, of those that this build has readers for.
pub(crate) fn detect(bytes: &[u8], path: Option<&Path>) -> Result<FileFormat, Error> {
    let not_built = || formats::not_built(bytes).map_or(Error::Unknown, Error::NotBuilt);
    FileFormat::detect(bytes, path).ok_or_else(not_built)
}

fn check(input: Input<'_>, format: FileFormat, options: &Options) -> Result<Report, Error> {
    let mut tensors = format.tensors(input)?;
    tensors.iter_mut().for_each(|tensor| raw::apply(tensor, &options.raw));
    let decoded = tensors.iter().filter(|tensor| tensor.is_scanned());
    let decoded =
        decoded.fold(0u64, |all, tensor| all.saturating_add(tensor.data.decoded() as u64));
    options.bound(decoded, input.bytes.len() as u64)?;
    if let Some(observer) = &options.observer {
        let scanned = tensors.iter().filter(|tensor| tensor.is_scanned());
        // A column may claim to be long without any data: each can be counted, but not all
        // together.
        let total =
            scanned.fold(0u64, |total, tensor| total.saturating_add(tensor.data.length() as u64));
        observer.started(total);
    }
    let tallies = scan::scan(input.bytes, &tensors, options)?;
    let reports = tensors.into_iter().zip(&tallies);
    let tensors =
        reports.map(|(tensor, tally)| report::TensorReport::new(tensor, tally, options)).collect();
    Ok(Report { format, tensors })
}
