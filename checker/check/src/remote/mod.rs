//! Files on servers, by their URL.
//!
//! Fetches only the header and the tensors that are looked at. A file of a format without a header
//! at the beginning is downloaded to a temporary file.

#[cfg(feature = "remote")]
mod client;
#[cfg(feature = "remote")]
mod hub;
#[cfg(feature = "remote")]
mod object;
#[cfg(feature = "remote")]
mod store;
mod url;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use url::is_url;
pub(crate) use url::{beside, name};

use crate::formats;
use crate::model::{Error, ReadAt};
use crate::options::Options;

/// The requests in flight. A check that asks for more threads has one for each thread.
#[cfg(feature = "remote")]
const IN_FLIGHT: usize = 16;

/// Opens the file of a URL. Asks the server for its length and its beginning.
///
/// # Errors
/// [`Error::Remote`] if the server cannot be reached or refuses the request, and
/// [`Error::NotBuilt`] without the feature `remote`.
pub(crate) fn open(url: &str, options: &Options) -> Result<Arc<dyn ReadAt>, Error> {
    #[cfg(feature = "remote")]
    return Ok(Arc::new(object::Object::open(url, options)?));
    #[cfg(not(feature = "remote"))]
    not_built((url, options))
}

/// The feature `remote` is off.
#[cfg(not(feature = "remote"))]
fn not_built<T>(_: impl Sized) -> Result<T, Error> {
    Err(Error::NotBuilt)
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
        formats::shards_of_set(name(file), open).into_iter().map(|shard| beside(file, &shard))
    });
    let shards: BTreeSet<String> = shards.collect();
    files.retain(|file| !shards.contains(file));
    Ok(Some(files))
}

/// The paths of the files of a model.
fn names(url: &str, model: &str, revision: &str) -> Result<Vec<String>, Error> {
    #[cfg(feature = "remote")]
    return hub::files(model, revision)
        .map_err(|error| Error::Remote { url: url.to_owned(), error });
    #[cfg(not(feature = "remote"))]
    not_built((url, model, revision))
}

#[cfg(all(test, not(feature = "remote")))]
mod tests {
    use super::*;

    #[test]
    fn urls_are_refused() {
        let options = Options::default();
        let is_refused = |error: Option<Error>| matches!(error, Some(Error::NotBuilt));
        assert!(is_refused(crate::check_url("https://host/x.npy", &options).err()));
        assert!(is_refused(crate::list_url("hf://owner/model", &options).err()));
    }
}
