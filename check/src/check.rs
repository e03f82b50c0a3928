//! The check of a file: reads it, looks at its tensors, and makes the report.

use std::collections::BTreeSet;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::formats::BEGINNING;
use crate::model::reader::Contents;
use crate::model::{Data, Error, FileFormat, ReadAt, Source, Tensor};
use crate::options::Options;
use crate::raw;
use crate::report::{Report, TensorReport};
use crate::scan::{places, scan, scan_stream};

/// Checks a file.
///
/// # Errors
/// [`Error`] if it is not a whole, valid file of a known format.
pub fn check_file(path: &Path, options: &Options) -> Result<Report, Error> {
    check_source(&Source::open(path)?, Some(path), options)
}

/// Checks a file that is read by [`ReadAt`]. Files beside it are found by the path. The name in the
/// path gives the format if the bytes do not.
///
/// Files of npy (except structured arrays), safetensors and GGUF are never in memory as a whole:
/// the check reads the header, and then the data piece by piece with several threads. Other formats
/// need [`ReadAt::bytes`].
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
/// [`Error`] if the bytes are not a whole, valid file of this format, or if the file names other
/// files.
pub fn check_bytes(bytes: &[u8], format: FileFormat, options: &Options) -> Result<Report, Error> {
    check(&bytes, None, format, options)
}

/// Checks a file that comes as a stream. Reads it once, to its end, with one thread.
///
/// Memory is that of a header and some chunks of data. An Arrow stream takes memory for the
/// metadata of a batch, for the bytes that describe the nulls and lists of a column in a batch
/// (decompressed), and for all dictionaries of floats. Each of the three takes up to 256 MiB, if
/// the stream has that much. A stream that needs more is refused. A file of the same content can be
/// checked by its path.
///
/// # Errors
/// [`Error::NoStream`] for formats that do not describe the data before it comes; otherwise as
/// [`check_file`].
pub fn check_stream(mut stream: impl Read, options: &Options) -> Result<Report, Error> {
    options.check_max_abs()?;
    let mut beginning = Vec::new();
    stream.by_ref().take(BEGINNING as u64).read_to_end(&mut beginning).map_err(Error::Io)?;
    if beginning.is_empty() {
        return Err(Error::Empty);
    }
    let format = FileFormat::of_stream(&beginning)?;
    let how = format.stream()?;
    let mut stream = BufReader::new(beginning.chain(stream));
    let scanned = scan_stream(format, how, &mut stream, options)?;
    let report = |(tensor, tally)| TensorReport::new(Tensor::into(tensor), &tally, None, options);
    let tensors = scanned.into_iter().map(report).collect();
    Ok(Report { format, tensors, other_files: Vec::new() })
}

/// Prepares the contents of a file for the scan: applies the options that change formats.
///
/// # Errors
/// [`Error`] if the file claims too much, or if an option is wrong.
pub(crate) fn prepared(
    source: &dyn ReadAt,
    mut contents: Contents,
    options: &Options,
) -> Result<Contents, Error> {
    options.check_max_abs()?;
    let tensors = &mut contents.tensors;
    tensors.iter_mut().for_each(|tensor| raw::apply(tensor, &options.raw, &options.taken_as));
    let decoded = tensors.iter().filter(|tensor| tensor.is_scanned());
    let decoded =
        decoded.fold(0u64, |all, tensor| all.saturating_add(tensor.data.decoded() as u64));
    options.bound(decoded, source.length() as u64)?;
    Ok(contents)
}

/// The files beside the input that hold data of its tensors, each once.
pub(crate) fn other_files(tensors: &[Tensor]) -> Vec<PathBuf> {
    let paths = tensors.iter().filter_map(|tensor| match &tensor.data {
        Data::Other { source, .. } => source.file().map(Path::to_owned),
        Data::Input(_) | Data::Owned(_) | Data::Decoded(_) | Data::Column(_) => None,
    });
    paths.collect::<BTreeSet<_>>().into_iter().collect()
}

fn check(
    source: &dyn ReadAt,
    path: Option<&Path>,
    format: FileFormat,
    options: &Options,
) -> Result<Report, Error> {
    let contents = prepared(source, format.read(source, path)?, options)?;
    let Contents { tensors, checksums } = contents;
    let other_files = other_files(&tensors);
    if let Some(observer) = &options.observer {
        let scanned = tensors.iter().filter(|tensor| tensor.is_scanned());
        // Saturates: a column may claim any length without data.
        let total =
            scanned.fold(0u64, |total, tensor| total.saturating_add(tensor.data.length() as u64));
        observer.started(total);
    }
    let (tallies, damaged) = scan(source, &tensors, &checksums, options)?;
    let mut places = places(source, &tensors, &tallies, options)?;
    let reports = tensors.into_iter().zip(&tallies).enumerate();
    let report = |(index, (tensor, tally))| {
        TensorReport::new(Tensor::into(tensor), tally, places.remove(&index), options)
    };
    let mut tensors: Vec<_> = reports.map(report).collect();
    tensors.extend(damaged.into_iter().map(|part| TensorReport::unseen(part, options)));
    Ok(Report { format, tensors, other_files })
}
