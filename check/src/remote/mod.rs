//! Files on servers, by their URL.
//!
//! Fetches only the header and the tensors that are looked at. A file of a format without a header
//! at the beginning is downloaded to a temporary file.

#[cfg(feature = "remote")]
mod client;
#[cfg(feature = "remote")]
mod hub;
#[cfg(not(feature = "remote"))]
mod not_built;
#[cfg(feature = "remote")]
mod object;
#[cfg(feature = "remote")]
mod store;
mod url;

use std::collections::BTreeSet;
#[cfg(feature = "remote")]
use std::sync::Arc;

#[cfg(not(feature = "remote"))]
use not_built::names;
#[cfg(not(feature = "remote"))]
pub(crate) use not_built::{open, planned};
pub use url::is_url;
pub(crate) use url::{beside, name};

use crate::formats;
use crate::model::Error;
#[cfg(feature = "remote")]
use crate::model::ReadAt;
use crate::options::Options;

/// The requests in flight. A check that asks for more threads has one for each thread.
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

/// The files of a model on the Hub of Hugging Face, as URLs for [`check_url`](crate::check_url):
/// those of `hf://OWNER/MODEL` or `hf://OWNER/MODEL@REVISION`, sorted. Leaves out the shards of a
/// set, since its index is checked. None for every other URL: it is that of one file.
///
/// Reads the environment as `check_url` does: `HF_TOKEN`, `HF_ENDPOINT`. Needs the feature
/// `remote`.
///
/// # Errors
/// [`Error::Remote`] if the Hub cannot be reached, refuses the request, or answers with something
/// else than a list of files. [`Error::NotBuilt`] without the feature.
pub fn list_url(url: &str, options: &Options) -> Result<Option<Vec<String>>, Error> {
    let Some((model, revision)) = url::model(url) else { return Ok(None) };
    let folder = url.trim_end_matches('/');
    let names = names(url, &model, revision)?;
    let mut files: Vec<String> = names.iter().map(|name| format!("{folder}/{name}")).collect();
    files.sort_unstable();
    let shards = files.iter().flat_map(|file| {
        let open = || open(file, options).ok();
        formats::remote_shards(name(file), open).into_iter().map(|shard| beside(file, &shard))
    });
    let shards: BTreeSet<String> = shards.collect();
    files.retain(|file| !shards.contains(file));
    Ok(Some(files))
}

/// The paths of the files of a model.
#[cfg(feature = "remote")]
fn names(url: &str, model: &str, revision: &str) -> Result<Vec<String>, Error> {
    let failed = |error| Error::Remote { url: url.to_owned(), error };
    hub::files(model, revision).map_err(failed)
}
