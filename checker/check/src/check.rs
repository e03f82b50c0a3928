//! The check of a file: reads the file, looks at its tensors, and makes the report.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::input::{opened, prepared};
use crate::model::reader::Contents;
use crate::model::source::open;
use crate::model::{Data, Error, FileFormat, FullDescription, ReadAt, Source, Tensor};
use crate::options::Options;
use crate::remote::is_url;
use crate::report::Report;
use crate::scan::{ByteKind, TensorTallies, places, scan};

/// Checks a file.
///
/// # Errors
/// [`Error`] if it is not a whole, valid file of a known format.
pub fn check_file(path: &Path, options: &Options) -> Result<Report, Error> {
    check_source(&*open(path)?, Some(path), options)
}

/// Checks a file that is read by [`ReadAt`]. Files beside it are found by the path. The name in the
/// path gives the format if the bytes do not.
///
/// No file is in memory as a whole: the check reads what describes the tensors, and then the data
/// piece by piece with several threads.
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

/// Checks a file that comes as a stream, such as standard input. The bytes go to a temporary file
/// without a name, up to [`Options::max_bytes`] of them, and the check reads this file.
///
/// # Errors
/// [`Error::StreamTooLong`], [`Error::NoFolder`] for formats that name other
/// files, and otherwise as [`check_file`].
pub fn check_stream(stream: impl Read, options: &Options) -> Result<Report, Error> {
    check_source(&spooled(stream, options)?, None, options)
}

/// Checks the file of a URL, such as `s3://bucket/model.safetensors`. Needs the feature `remote`.
///
/// | URL | credentials and settings |
/// |---|---|
/// | `s3://BUCKET/KEY` | `AWS_*` of the crate `object_store`, such as `AWS_ENDPOINT` |
/// | `gs://BUCKET/KEY` | `GOOGLE_*`, such as `GOOGLE_SERVICE_ACCOUNT` |
/// | `az://CONTAINER/KEY`, `abfss://..` | `AZURE_*`, such as `AZURE_STORAGE_ACCOUNT_KEY` |
/// | `https://..`, `http://..` | none; the query of a presigned URL is sent as it is |
/// | `hf://OWNER/MODEL[@REVISION]/PATH` | `HF_TOKEN`, `HF_ENDPOINT` |
///
/// Public buckets of S3 need `AWS_SKIP_SIGNATURE=true`. Slashes of a revision are written as `%2F`.
/// [`list_url`](crate::list_url) lists the files of `hf://OWNER/MODEL`.
///
/// The server has to answer requests for ranges. Of npy, safetensors (sharded sets as well) and
/// GGUF files, only the header and the tensors that are looked at are fetched, with 16 requests of
/// up to 8 MiB in flight. These requests take about 300 MiB of memory. Other formats have headers
/// all over the file, and each would be a request. So they are downloaded to a temporary file
/// without a name, up to [`Options::max_bytes`], which is read by ranges. Files that such a file
/// names are not found ([`Error::NoFolder`]).
///
/// Requests that fail for a moment are tried again. Every answer has to be of the same version of
/// the file, by its entity tag or else by the time of its last change and its length.
///
/// # Errors
/// [`Error::Remote`] if the server refuses the request or cannot be reached, [`Error::Changed`] if
/// the file changes during the check, and otherwise as [`check_file`].
pub fn check_url(url: &str, options: &Options) -> Result<Report, Error> {
    if !is_url(url) {
        let error = "not a URL that can be checked".into();
        return Err(Error::Remote { url: url.to_owned(), error });
    }
    let (source, format, contents) = opened(Path::new(url), options)?;
    check_contents(&*source, format, &contents, options)
}

/// The bytes of a stream, in a temporary file. A stream of no known format is not read to its end.
fn spooled(mut stream: impl Read, options: &Options) -> Result<Source, Error> {
    /// Bytes that are read at a time.
    const STEP: u64 = 1 << 20;
    let most = options.most_temporary();
    let mut file = tempfile::tempfile().map_err(Error::Io)?;
    let (mut length, mut bytes) = (0, Vec::new());
    loop {
        bytes.clear();
        stream.by_ref().take(STEP).read_to_end(&mut bytes).map_err(Error::Io)?;
        if bytes.is_empty() && length == 0 {
            return Err(Error::Empty);
        }
        if length == 0 && bytes.len() as u64 == STEP && FileFormat::detect(&bytes, None).is_none() {
            FileFormat::of_source(&&bytes[..], None)?;
        }
        length += bytes.len() as u64;
        if length > most {
            return Err(Error::StreamTooLong { most });
        }
        file.write_all(&bytes).map_err(Error::Io)?;
        options.advance(0)?;
        if (bytes.len() as u64) < STEP {
            return Source::unnamed(file, Path::new("-")).map_err(Error::Io);
        }
    }
}

/// The files beside the input that hold data of its tensors, each once.
pub(crate) fn other_files(tensors: &[Tensor]) -> Vec<PathBuf> {
    let paths = tensors.iter().filter_map(|tensor| match &tensor.data {
        Data::Other { source, .. } => source.file().map(Path::to_owned),
        Data::Input(_) | Data::Owned(_) | Data::Decoded(_) => None,
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
    check_contents(source, format, &contents, options)
}

/// Checks the contents of a file, and makes the report.
pub(crate) fn check_contents(
    source: &dyn ReadAt,
    format: FileFormat,
    contents: &Contents,
    options: &Options,
) -> Result<Report, Error> {
    let mut tallies = tally(source, contents, &[], options)?;
    report(source, format, &contents.tensors, &mut tallies, options)
}

/// Makes the tallies of the tensors of a file. `kinds` says what the tensors are to lint: nothing
/// if there are none.
///
/// # Errors
/// [`Error`] if data cannot be decoded, or if the observer asked to stop.
pub(crate) fn tally(
    source: &dyn ReadAt,
    contents: &Contents,
    kinds: &[ByteKind],
    options: &Options,
) -> Result<TensorTallies, Error> {
    let Contents { tensors, checksums, .. } = contents;
    if let Some(observer) = &options.observer {
        let is_seen = |&(index, tensor): &(usize, &Tensor)| {
            tensor.is_scanned() || kinds.get(index).is_some_and(|kind| kind.is_wanted())
        };
        // Saturates: a column may claim any length without data.
        let seen = tensors.iter().enumerate().filter(is_seen);
        let lengths = seen.map(|(_, tensor)| tensor.data.length());
        observer.started(lengths.fold(0, u64::saturating_add));
    }
    scan(source, tensors, checksums, kinds, options)
}

/// Makes the report from the tallies. Scans bad tensors again if the options ask for places.
///
/// # Errors
/// As [`tally`].
pub(crate) fn report(
    source: &dyn ReadAt,
    format: FileFormat,
    tensors: &[Tensor],
    tallies: &mut TensorTallies,
    options: &Options,
) -> Result<Report, Error> {
    let places = places(source, tensors, tallies, options)?;
    let damaged = std::mem::take(&mut tallies.damaged);
    let described = tensors.iter().map(FullDescription::of).enumerate();
    let tallied = described.map(|(index, description)| (description, tallies.take(index)));
    Ok(Report::new(format, tallied, places, damaged, other_files(tensors), options))
}
