//! Files on servers, by their URL.
//!
//! Fetches only the header and the tensors that are looked at. A file of a format without a header
//! at the beginning is downloaded to a temporary file.

#[cfg(feature = "remote")]
mod object;
#[cfg(feature = "remote")]
mod store;
mod url;

use std::sync::Arc;

pub use url::is_url;
pub(crate) use url::{beside, name};

use crate::model::{Error, ReadAt};
use crate::options::Options;

/// The most requests in flight.
pub(crate) const IN_FLIGHT: usize = 16;

/// Opens the file of a URL. Asks the server for its length and its beginning.
///
/// # Errors
/// [`Error::Remote`] if the server cannot be reached or refuses the request, and
/// [`Error::NotBuilt`] without the feature `remote`.
#[cfg(feature = "remote")]
pub(crate) fn open(url: &str, options: &Options) -> Result<Arc<dyn ReadAt>, Error> {
    Ok(Arc::new(object::Object::open(url, options)?))
}

/// Opens the file of a URL in the version of a plan. Sends no request before bytes are read. None
/// if the version is not that of a URL.
///
/// # Errors
/// As [`open`].
#[cfg(feature = "remote")]
pub(crate) fn planned(
    url: &str,
    version: &str,
    options: &Options,
) -> Result<Option<Arc<dyn ReadAt>>, Error> {
    Ok(match object::Object::planned(url, version, options)? {
        Some(object) => Some(Arc::new(object)),
        None => None,
    })
}

/// Refuses every URL.
///
/// # Errors
/// [`Error::NotBuilt`].
#[cfg(not(feature = "remote"))]
pub(crate) fn open(_: &str, _: &Options) -> Result<Arc<dyn ReadAt>, Error> {
    Err(Error::NotBuilt("remote"))
}

/// Refuses every URL.
///
/// # Errors
/// [`Error::NotBuilt`].
#[cfg(not(feature = "remote"))]
pub(crate) fn planned(_: &str, _: &str, _: &Options) -> Result<Option<Arc<dyn ReadAt>>, Error> {
    Err(Error::NotBuilt("remote"))
}
