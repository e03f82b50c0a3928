//! The files of pieces, each opened once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use super::error::Error;
use crate::input::{contents, open};
use crate::model::{self, FileFormat, Origin, ReadAt, Tensor};
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
        let tensors = contents(&*self.source, location.as_ref(), format, options)?.tensors;
        Ok(self.tensors.get_or_init(|| tensors))
    }
}
