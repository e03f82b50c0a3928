//! The check: a file is read, its tensors are looked at, and the findings become a report.

use std::io::Read;
use std::path::Path;

use crate::model::{Error, FileFormat, Input, Source};
use crate::options::Options;
use crate::raw;
use crate::report::{Report, TensorReport};
use crate::scan::{places, scan, scan_stream};

/// Checks a file.
///
/// # Errors
/// [`Error`] if it is not a whole, valid file of a known format.
pub fn check_file(path: &Path, options: &Options) -> Result<Report, Error> {
    let source = Source::open(path)?;
    let format = FileFormat::of_file(source.bytes(), Some(path))?;
    check(Input { bytes: source.bytes(), path: Some(path) }, format, options)
}

/// Checks the bytes of a file. [`FileFormat::detect`] finds the format if it is not known.
///
/// # Errors
/// [`Error`] if they are not a whole, valid file of this format, or if the file names other files.
pub fn check_bytes(bytes: &[u8], format: FileFormat, options: &Options) -> Result<Report, Error> {
    check(Input { bytes, path: None }, format, options)
}

/// Bytes by which formats are told apart.
const BEGINNING: usize = 16;

/// Checks a file that comes as a stream. Reads it once, to its end, with one thread.
///
/// Memory is that of a header and some chunks of data. An Arrow stream takes the memory of the
/// metadata of a batch (up to 256 MiB, if there is so much) and, for each column, of the bytes that
/// describe its nulls and lists in a batch (up to 256 MiB, decompressed). A stream that needs more
/// is refused; a file of the same content can be checked by its path.
///
/// # Errors
/// [`Error::NoStream`] for formats that do not describe the data before it comes; otherwise as
/// [`check_file`].
pub fn check_stream(mut stream: impl Read, options: &Options) -> Result<Report, Error> {
    let mut beginning = Vec::new();
    stream.by_ref().take(BEGINNING as u64).read_to_end(&mut beginning).map_err(Error::Io)?;
    if beginning.is_empty() {
        return Err(Error::Empty);
    }
    let format = FileFormat::of_file(&beginning, None)?;
    let how = format.stream()?;
    let scanned = scan_stream(format, how, &mut beginning.chain(stream), options)?;
    let report = |(tensor, tally)| TensorReport::new(tensor, &tally, None, options);
    Ok(Report { format, tensors: scanned.into_iter().map(report).collect() })
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
        // Saturates, since columns may claim any length without data.
        let total =
            scanned.fold(0u64, |total, tensor| total.saturating_add(tensor.data.length() as u64));
        observer.started(total);
    }
    let tallies = scan(input.bytes, &tensors, options)?;
    let places = places(input.bytes, &tensors, &tallies, options)?;
    let reports = tensors.into_iter().zip(&tallies).zip(places);
    let report = |((tensor, tally), places)| TensorReport::new(tensor, tally, places, options);
    Ok(Report { format, tensors: reports.map(report).collect() })
}
