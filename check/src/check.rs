//! The check: a file is read, its tensors are looked at, and the findings become a report.

use std::io::{BufReader, Read};
use std::path::Path;

use crate::formats::BEGINNING;
use crate::model::{Error, FileFormat, ReadAt, Source, Tensor};
use crate::options::Options;
use crate::raw;
use crate::report::{Report, TensorReport};
use crate::scan::{scan, scan_stream};

/// Checks a file.
///
/// # Errors
/// [`Error`] if it is not a whole, valid file of a known format.
pub fn check_file(path: &Path, options: &Options) -> Result<Report, Error> {
    check_source(&Source::open(path)?, Some(path), options)
}

/// Checks a file that is read by [`ReadAt`]. The path leads to the files beside it, and its name
/// tells the format if the bytes do not.
///
/// Files of npy, safetensors and GGUF are never in memory as a whole: the check reads their header,
/// and then piece by piece with several threads. Other formats need [`ReadAt::bytes`].
///
/// # Errors
/// [`Error`] if it is not a whole, valid file of a known format.
pub fn check_source(
    source: &dyn ReadAt,
    path: Option<&Path>,
    options: &Options,
) -> Result<Report, Error> {
    check(source, path, FileFormat::of_source(source, path)?, options)
}

/// Checks the bytes of a file. [`FileFormat::detect`] finds the format if it is not known.
///
/// # Errors
/// [`Error`] if they are not a whole, valid file of this format, or if the file names other files.
pub fn check_bytes(bytes: &[u8], format: FileFormat, options: &Options) -> Result<Report, Error> {
    check(&bytes, None, format, options)
}

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
    let mut stream = BufReader::new(beginning.chain(stream));
    let scanned = scan_stream(format, how, &mut stream, options)?;
    let reports = scanned.into_iter();
    let tensors =
        reports.map(|(tensor, tally)| TensorReport::new(tensor.into(), &tally, options)).collect();
    Ok(Report { format, tensors })
}

/// The tensors of a file, with the options that change what they are.
///
/// # Errors
/// [`Error`] if the file is not whole or not valid, or claims too much.
pub(crate) fn describe(
    source: &dyn ReadAt,
    path: Option<&Path>,
    format: FileFormat,
    options: &Options,
) -> Result<Vec<Tensor>, Error> {
    let mut tensors = format.read(source, path)?;
    tensors.iter_mut().for_each(|tensor| raw::apply(tensor, &options.raw));
    let decoded = tensors.iter().filter(|tensor| tensor.is_scanned());
    let decoded =
        decoded.fold(0u64, |all, tensor| all.saturating_add(tensor.data.decoded() as u64));
    options.bound(decoded, source.length() as u64)?;
    Ok(tensors)
}

fn check(
    source: &dyn ReadAt,
    path: Option<&Path>,
    format: FileFormat,
    options: &Options,
) -> Result<Report, Error> {
    let tensors = describe(source, path, format, options)?;
    if let Some(observer) = &options.observer {
        let scanned = tensors.iter().filter(|tensor| tensor.is_scanned());
        // Saturates, since columns may claim any length without data.
        let total =
            scanned.fold(0u64, |total, tensor| total.saturating_add(tensor.data.length() as u64));
        observer.started(total);
    }
    let tallies = scan(source, &tensors, options)?;
    let reports = tensors.into_iter().zip(&tallies);
    let tensors =
        reports.map(|(tensor, tally)| TensorReport::new(tensor.into(), tally, options)).collect();
    Ok(Report { format, tensors })
}
