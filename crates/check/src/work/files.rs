//! The files of pieces, each opened once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use super::error::Error;
use crate::formats::index;
use crate::model::reader::Contents;
use crate::model::source::inside;
use crate::model::{self, FileFormat, Origin, ReadAt, Source, Tensor};
use crate::options::Options;
use crate::remote::{self, is_url};
use crate::sync::lock;

/// Files by path or URL. Threads share them.
pub(super) struct Files<'a> {
    options: &'a Options,
    opened: Mutex<BTreeMap<String, Arc<File>>>,
}

/// An open file.
pub(super) struct File {
    source: Arc<dyn ReadAt>,
    /// The tensors, as the reader of the format returns them.
    tensors: OnceLock<Vec<Tensor>>,
}

impl<'a> Files<'a> {
    /// No files yet.
    pub(super) fn new(options: &'a Options) -> Self {
        Self { options, opened: Mutex::default() }
    }

    /// Adds an open file.
    pub(super) fn add(&self, source: Arc<dyn ReadAt>) -> Result<(), Error> {
        let Origin { location, .. } = source.origin().ok_or(Error::NoOrigin)?;
        lock(&self.opened).insert(location, Arc::new(File::new(source)));
        Ok(())
    }

    /// The file, which must not have changed since it was planned.
    pub(super) fn open(&self, origin: &Origin) -> Result<Arc<File>, Error> {
        let mut opened = lock(&self.opened);
        let file = match opened.get(&origin.location) {
            Some(file) => Arc::clone(file),
            None => {
                let source = if is_url(&origin.location) {
                    remote::planned(&origin.location, &origin.version, self.options)?
                        .ok_or(Error::Invalid("a version that is not one of a URL"))?
                } else {
                    open(Path::new(&origin.location), self.options)?
                };
                let file = Arc::new(File::new(source));
                opened.insert(origin.location.clone(), Arc::clone(&file));
                file
            }
        };
        if file.source.origin().as_ref() != Some(origin) {
            return Err(model::Error::Changed(origin.location.clone()).into());
        }
        Ok(file)
    }
}

/// Opens a file by its path or URL.
pub(crate) fn open(location: &Path, options: &Options) -> Result<Arc<dyn ReadAt>, model::Error> {
    match location.to_str().filter(|text| is_url(text)) {
        Some(url) => remote::open(url, options),
        None => Ok(Arc::new(Source::open(location)?)),
    }
}

/// The contents of a file, as the reader of its format returns them. For a URL, shards beside it
/// are opened, but no other files.
pub(crate) fn contents(
    source: &dyn ReadAt,
    location: &str,
    format: FileFormat,
    options: &Options,
) -> Result<Contents, model::Error> {
    if !is_url(location) {
        return format.read(source, Some(Path::new(location)));
    }
    let Some(of) = index::of_shards(format) else {
        return format.read(source, None);
    };
    index::gather(source.bytes()?, format, of, |shard| {
        inside(shard)?;
        let url = remote::beside(location, shard);
        Ok((url.clone().into(), remote::open(&url, options)?))
    })
}

impl File {
    fn new(source: Arc<dyn ReadAt>) -> Self {
        Self { source, tensors: OnceLock::new() }
    }

    pub(super) fn source(&self) -> &dyn ReadAt {
        &*self.source
    }

    /// The tensors, as the reader of the format returns them.
    pub(super) fn tensors(
        &self,
        format: FileFormat,
        location: &str,
        options: &Options,
    ) -> Result<&[Tensor], model::Error> {
        if let Some(tensors) = self.tensors.get() {
            return Ok(tensors);
        }
        // Another thread may read the same meanwhile.
        let tensors = contents(&*self.source, location, format, options)?.tensors;
        Ok(self.tensors.get_or_init(|| tensors))
    }
}
