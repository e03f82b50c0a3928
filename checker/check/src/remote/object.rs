//! An object of a store, read range by range.

use std::fmt;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use futures_util::StreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::IN_FLIGHT;
use super::client::{Failure, wait};
use super::store;
use crate::model::{Error, HasChanged, ReadAt, Reads, Source, span};
use crate::options::Options;
use crate::sync::{for_each, lock};

/// Bytes of the first request. Enough for the headers of most files.
const WINDOW: u64 = 64 << 10;

/// Bytes of a request of data.
const STEP: u64 = 8 << 20;

/// How often an incomplete answer is requested again. The store itself retries most temporary
/// failures, in addition.
const TRIES: usize = 3;

/// An object that is read range by range, always of the same version.
pub(super) struct Object {
    url: String,
    store: Arc<dyn ObjectStore>,
    path: Path,
    version: Version,
    /// The bytes at the beginning that have been read.
    head: Mutex<Vec<u8>>,
    /// The whole object, after a reader has asked for ranges all over it.
    whole: OnceLock<Source>,
    /// Held during the download.
    download: Mutex<()>,
    most: u64,
}

/// The version of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    length: u64,
    /// The entity tag or, if there is none, the time of the last change.
    tag: String,
}

impl Version {
    fn of(meta: &ObjectMeta) -> Result<Self, Failure> {
        let tag = meta.e_tag.clone();
        let tag = tag.unwrap_or_else(|| meta.last_modified.timestamp_micros().to_string());
        Ok(Self { length: meta.size, tag })
    }

    /// The tag, if requests can use it as a condition. A weak tag never matches.
    fn condition(&self) -> Option<String> {
        self.tag.starts_with('"').then(|| self.tag.clone())
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Object");
        text.field("url", &self.url).field("version", &self.version).finish_non_exhaustive()
    }
}

impl Object {
    /// Requests the beginning of an object. The answer also has its length and version.
    pub(super) fn open(url: &str, options: &Options) -> Result<Self, Error> {
        let remote = |error| Error::Remote { url: url.to_owned(), error };
        let (store, path) = store::find(url).map_err(remote)?;
        let (asked, place) = (Arc::clone(&store), path.clone());
        let first = wait(async move {
            let options = GetOptions::new().with_range(Some(0..WINDOW));
            match asked.get_opts(&place, options).await {
                Ok(result) => Ok(Some((Version::of(&result.meta)?, collect(result).await?))),
                // An empty object has no valid range to request.
                Err(error) => match asked.head(&place).await {
                    Ok(ObjectMeta { size: 0, .. }) => Ok(None),
                    Ok(_) | Err(_) => Err(error.into()),
                },
            }
        });
        let (version, head) = first.map_err(remote)?.ok_or(Error::Empty)?;
        Ok(Self::new(url, (store, path), version, head, options))
    }

    fn new(
        url: &str,
        (store, path): store::StorePath,
        version: Version,
        head: Vec<u8>,
        options: &Options,
    ) -> Self {
        Self {
            url: url.to_owned(),
            store,
            path,
            version,
            head: Mutex::new(head),
            whole: OnceLock::new(),
            download: Mutex::new(()),
            most: options.most_temporary(),
        }
    }

    /// Fetches a range. It must not be empty and must lie within the object.
    fn fetch(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut tries = 1;
        loop {
            let failure = match self.try_fetch(range.clone()) {
                Ok(Some(bytes)) if bytes.len() as u64 == span(&range) => return Ok(bytes),
                Ok(Some(_)) => "the server sent fewer or more bytes than it was asked for".into(),
                Ok(None) => return Err(io::Error::other(HasChanged(self.url.clone()))),
                Err(failure) => failure,
            };
            if tries == TRIES || is_final(&failure) {
                return Err(io::Error::other(failure));
            }
            tries += 1;
        }
    }

    /// None if the object has changed.
    fn try_fetch(&self, range: Range<u64>) -> Result<Option<Vec<u8>>, Failure> {
        let (store, path, version) =
            (Arc::clone(&self.store), self.path.clone(), self.version.clone());
        wait(async move {
            let mut options = GetOptions::new().with_range(Some(range));
            options.if_match = version.condition();
            match store.get_opts(&path, options).await {
                Ok(result) if Version::of(&result.meta)? == version => {
                    Ok(Some(collect(result).await?))
                }
                Ok(_) | Err(object_store::Error::Precondition { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            }
        })
    }

    /// The beginning, at least up to this offset. Each further request doubles the length.
    fn head(&self, end: u64) -> io::Result<MutexGuard<'_, Vec<u8>>> {
        let mut head = lock(&self.head);
        while (head.len() as u64) < end {
            let start = head.len() as u64;
            let end = start.saturating_add(start.max(WINDOW)).min(self.version.length);
            head.extend(self.fetch(start..end)?);
        }
        Ok(head)
    }

    /// Downloads the object to a file without a name, with several requests at a time.
    fn download(&self) -> Result<Source, Error> {
        let length = self.version.length;
        if length > self.most {
            return Err(Error::Download { length, most: self.most });
        }
        let file = tempfile::tempfile().map_err(Error::Io)?;
        let starts: Vec<u64> = (0..length).step_by(STEP as usize).collect();
        let file = Mutex::new(file);
        let fetched = for_each(
            &starts,
            IN_FLIGHT,
            || (),
            |(), &start| {
                let bytes = self.fetch(start..(start + STEP).min(length))?;
                write_at(&mut lock(&file), &bytes, start)
            },
        );
        fetched.map_err(|error| self.error(error))?;
        let file = file.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        Source::unnamed(file, FilePath::new(&self.url)).map_err(Error::Io)
    }

    fn error(&self, error: io::Error) -> Error {
        match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(HasChanged(url)) => Error::Changed(url.clone()),
            None => Error::Remote { url: self.url.clone(), error: error.into() },
        }
    }
}

impl ReadAt for Object {
    fn length(&self) -> u64 {
        self.version.length
    }

    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let end = at.checked_add(out.len() as u64).filter(|&end| end <= self.version.length);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        if out.is_empty() {
            return Ok(());
        }
        if let Some(whole) = self.whole.get() {
            return whole.read_exact_at(out, at);
        }
        // Headers are read from the beginning in small steps, and data in long ranges.
        let known = lock(&self.head).len() as u64;
        if end <= known || at <= known && out.len() as u64 <= WINDOW {
            self.head(end)?.as_slice().read_exact_at(out, at)?;
        } else {
            out.copy_from_slice(&self.fetch(at..end)?);
        }
        Ok(())
    }

    fn reads(&self) -> Reads {
        let remote = Reads { step: STEP as usize, gap: 256 << 10, at_once: IN_FLIGHT };
        self.whole.get().map_or(remote, Source::reads)
    }

    fn file(&self) -> Option<&FilePath> {
        Some(FilePath::new(&self.url))
    }

    /// Downloads the object, since each range takes a request.
    fn prepare(&self) -> Result<(), Error> {
        let _one = lock(&self.download);
        if self.whole.get().is_none() {
            let whole = self.download()?;
            self.whole.get_or_init(|| whole);
        }
        Ok(())
    }
}

/// Whether another attempt would fail in the same way.
fn is_final(failure: &Failure) -> bool {
    use object_store::Error;
    matches!(
        failure.downcast_ref(),
        Some(
            Error::NotFound { .. }
                | Error::InvalidPath { .. }
                | Error::NotSupported { .. }
                | Error::PermissionDenied { .. }
                | Error::Unauthenticated { .. }
                | Error::UnknownConfigurationKey { .. }
        )
    )
}

/// All bytes of an answer. Their number must be the announced length.
async fn collect(result: GetResult) -> Result<Vec<u8>, Failure> {
    let most = usize::try_from(result.range.end - result.range.start)?;
    let mut bytes = Vec::new();
    let mut stream = result.into_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk?;
        // Memory grows with the bytes that arrive, up to the requested length.
        if chunk.len() > most - bytes.len() {
            return Err("the server sent more bytes than it was asked for".into());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn write_at(file: &mut File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The store of an object may hold a password or a token.
    #[test]
    fn debug_shows_no_credentials() {
        let url = "https://host/x.npy";
        let version = Version { length: 3, tag: "\"tag\"".to_owned() };
        let store = store::find(url).unwrap();
        let object = Object::new(url, store, version, Vec::new(), &Options::default());
        let expected = "Object { url: \"https://host/x.npy\", \
                        version: Version { length: 3, tag: \"\\\"tag\\\"\" }, .. }";
        assert_eq!(format!("{object:?}"), expected);
    }
}
