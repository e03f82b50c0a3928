//! Opens a file by its path or URL, and reads what it says of its tensors.

use std::path::Path;
use std::sync::Arc;

use crate::formats::index;
use crate::model::reader::Contents;
use crate::model::source::{self, inside};
use crate::model::{Error, FileFormat, ReadAt};
use crate::options::Options;
use crate::remote::{self, is_url};

/// Opens a file, and reads its tensors and checksums.
///
/// # Errors
/// [`Error`] if it is not a whole, valid file of a known format, if the file claims too much, or if
/// an option is wrong.
pub(crate) fn opened(
    location: &Path,
    options: &Options,
) -> Result<(Arc<dyn ReadAt>, FileFormat, Contents), Error> {
    let source = open(location, options)?;
    let name = url(location).map_or(location, |url| Path::new(remote::name(url)));
    let format = FileFormat::of_source(&*source, Some(name))?;
    let contents = contents(&*source, location, format, options)?;
    let contents = prepared(&*source, contents, options)?;
    Ok((source, format, contents))
}

/// The path as a URL, if it is one.
pub(crate) fn url(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| is_url(text))
}

/// Opens a file.
pub(crate) fn open(location: &Path, options: &Options) -> Result<Arc<dyn ReadAt>, Error> {
    match url(location) {
        Some(url) => remote::open(url, options),
        None => source::open(location),
    }
}

/// The contents of a file, as the reader of its format returns them. For a URL, shards beside it
/// are opened, but no other files.
pub(crate) fn contents(
    source: &dyn ReadAt,
    location: &Path,
    format: FileFormat,
    options: &Options,
) -> Result<Contents, Error> {
    let Some(url) = url(location) else { return format.read(source, Some(location)) };
    let Some(of) = index::of_shards(format) else {
        return format.read(source, None);
    };
    index::gather(source, format, of, |shard| {
        inside(shard)?;
        let url = remote::beside(url, shard);
        Ok((url.clone().into(), remote::open(&url, options)?))
    })
}

/// The contents of a file for the scan, if they are within the bounds of the options.
///
/// # Errors
/// [`Error`] if the file claims too much, or if an option is wrong.
pub(crate) fn prepared(
    source: &dyn ReadAt,
    contents: Contents,
    options: &Options,
) -> Result<Contents, Error> {
    options.check_max_abs()?;
    let decoded = contents.tensors.iter().filter(|tensor| tensor.is_scanned());
    let decoded = decoded.fold(0u64, |all, tensor| all.saturating_add(tensor.data.decoded()));
    options.bound(decoded, source.length())?;
    Ok(contents)
}
