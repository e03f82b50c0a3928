//! How to check, and who is told about the progress.

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};
use std::thread;

use crate::model::{Error, Kinds};
use crate::policy::{self, Allow};
use crate::raw::{RawDtype, TakenAs};

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to find the least and the greatest finite number of each tensor, too.
    pub stats: bool,
    /// Which kinds make a tensor bad.
    pub fail_on: Kinds,
    /// Numbers that are meant to be there: they are counted, and make no tensor bad.
    pub allow: Vec<Allow>,
    /// The formats of elements that numpy saved as raw bytes. Such elements are unreadable without
    /// an entry here.
    pub raw: Vec<RawDtype>,
    /// The formats of tensors that are stored as integers or raw bytes, by their names: the first
    /// that matches counts, before [`Options::raw`].
    pub taken_as: Vec<TakenAs>,
    /// The most decoded bytes of numbers for each byte of a file. A few bytes of a table can stand
    /// for billions of equal numbers, so a file that claims more is refused with
    /// [`Error::Expansion`]. Numbers count if the file holds them compressed or repeated, or leaves
    /// them out (tables, archives, views of a compressed storage). Numbers that lie in the file as
    /// they are do not count. A file of less than 64 KiB counts as one of 64 KiB, since much of it
    /// is not data.
    ///
    /// For a file the bound holds for the sum over all tensors, before anything is decoded. A
    /// stream describes its data batch by batch. There the bound holds for the sum up to each
    /// batch, by the bytes up to its end, and for the sum up to each column, by the bytes that have
    /// come. So a stream can be refused after some data was decoded, at a part that is denser than
    /// the whole.
    ///
    /// None means no bound. The fixed bounds of ONNX and PyTorch stay: how often tensors may refer
    /// to the same bytes, and the length of names and the depth of graphs.
    pub expansion: Option<NonZeroU64>,
    /// The most bytes that are downloaded of a URL whose format needs all bytes at once. They go to a
    /// temporary file. None means no bound.
    pub download: Option<NonZeroU64>,
    /// Threads to use. None means as many as the machine runs at a time.
    pub threads: Option<NonZeroUsize>,
    /// Whether to look at bad tensors a second time, for what the places of their bad numbers have
    /// in common: [`TensorReport::places`](crate::TensorReport::places). Not in streams.
    pub places: bool,
    /// Whether to draw a [`Map`](crate::Map) of these places, too.
    pub draw: bool,
    /// Whether files are mapped into memory instead of read. Nothing is copied then, so files in the
    /// cache of the system take less CPU time: the README has figures. But a file that another
    /// process cuts ends this process with SIGBUS. A file that cannot be mapped is read.
    pub map: bool,
    /// Receives the progress of the check, and may stop it.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            stats: false,
            fail_on: Kinds::ALL,
            allow: Vec::new(),
            raw: Vec::new(),
            taken_as: Vec::new(),
            expansion: Some(Self::EXPANSION),
            download: Some(Self::DOWNLOAD),
            threads: None,
            places: false,
            draw: false,
            map: false,
            observer: None,
        }
    }
}

impl Options {
    /// The default of [`Options::expansion`]: a mebibyte for each byte, so 64 GiB for any file. Only
    /// columns of nulls or of one number, in pages of many millions of rows, come near this bound.
    pub const EXPANSION: NonZeroU64 = NonZeroU64::new(1 << 20).unwrap();

    /// The default of [`Options::download`]: 16 GiB.
    pub const DOWNLOAD: NonZeroU64 = NonZeroU64::new(16 << 30).unwrap();

    /// Refuses to decode this many bytes of a file of so many bytes, if that exceeds the bound.
    pub(crate) fn bound(&self, decoded: u64, file: u64) -> Result<(), Error> {
        /// Shorter files count as files of this length.
        const SHORT: u64 = 64 << 10;
        match self.expansion {
            Some(most) if decoded > file.max(SHORT).saturating_mul(most.get()) => {
                Err(Error::Expansion { decoded, file, most: most.get() })
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn threads(&self) -> usize {
        /// Asked once: the system reads several files for the answer.
        static AVAILABLE: LazyLock<usize> =
            LazyLock::new(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
        self.threads.map_or_else(|| *AVAILABLE, NonZeroUsize::get)
    }

    /// Which of the kinds that were found make a tensor of this name bad.
    pub(crate) fn bad(&self, name: &str, found: Kinds) -> Kinds {
        found.and(self.fail_on).without(policy::allowed(&self.allow, name))
    }

    pub(crate) fn advance(&self, bytes: usize) -> Result<(), Error> {
        match self.observer.as_ref().map(|observer| observer.advanced(bytes as u64)) {
            Some(ControlFlow::Break(())) => Err(Error::Stopped),
            Some(ControlFlow::Continue(())) | None => Ok(()),
        }
    }
}

/// Receives the progress of a check, from all of its threads.
pub trait Observer: fmt::Debug + Send + Sync {
    /// So many bytes of tensors are to be looked at in this file. Is called several times if the
    /// length of a stream is not known at the start, and if bad tensors are looked at again
    /// ([`Options::places`]); the numbers add up.
    fn started(&self, bytes: u64) {
        let _ = bytes;
    }

    /// So many more bytes have been looked at. [`ControlFlow::Break`] ends the check with
    /// [`Error::Stopped`].
    fn advanced(&self, bytes: u64) -> ControlFlow<()>;
}
