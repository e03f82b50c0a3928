//! How to check, and who is told about the progress.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::model::{Description, Error, Kinds};
use crate::policy::{self, Allow};

/// How to check.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to measure the finite numbers of each tensor, too:
    /// [`TensorReport::stats`](crate::TensorReport::stats).
    pub stats: bool,
    /// The largest magnitude that is not bad: a tensor with a larger finite number is bad
    /// ([`TensorReport::large`](crate::TensorReport::large)). 65504 finds tensors that do not fit
    /// into f16. Must be finite and not negative. None means no bound. NaN and infinities are bad
    /// by [`Options::fail_on`] only. Magnitudes of formats without NaN and infinity (F4, F6: at
    /// most 28) are not looked at, so with a bound below 28 such tensors are unreadable.
    pub max_abs: Option<f64>,
    /// The kinds that make a tensor bad.
    pub fail_on: Kinds,
    /// Numbers that are meant to be there: they are counted, and make no tensor bad.
    pub allow: Vec<Allow>,
    /// The most bytes of a temporary file, and of the decoded numbers of a file. A URL whose format
    /// needs the whole file ([`Error::Download`]) and a stream ([`Error::StreamTooLong`]) go to
    /// temporary files; decoded numbers beyond the bound are [`Error::Expansion`].
    ///
    /// None means a temporary file of 16 GiB, and 1 MiB of decoded numbers for each byte of the
    /// file. A file of less than 64 KiB counts as one of 64 KiB, since much of a short file is not
    /// data.
    ///
    /// Numbers count as decoded if the file holds them compressed or repeated. Numbers that are
    /// stored unencoded do not count.
    ///
    /// The bound limits the sum over all tensors, and is checked before anything is decoded.
    ///
    /// The fixed bounds of ONNX and PyTorch apply in any case: on how often tensors refer to the
    /// same bytes, on the length of names, and on the depth of graphs.
    pub max_bytes: Option<u64>,
    /// Threads to use. None means as many as the machine runs at a time.
    pub threads: Option<NonZeroUsize>,
    /// Whether to scan bad tensors a second time, for the common pattern of the places of their
    /// bad numbers: [`TensorReport::places`](crate::TensorReport::places).
    pub places: bool,
    /// Whether to draw a [`Map`](crate::Map) of these places, too.
    pub draw: bool,
    /// Receives the progress of the check, and may stop it.
    pub observer: Option<Arc<dyn Observer>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            stats: false,
            max_abs: None,
            fail_on: Kinds::ALL,
            allow: Vec::new(),
            max_bytes: None,
            threads: None,
            places: false,
            draw: false,
            observer: None,
        }
    }
}

impl Options {
    /// Checks that decoding `decoded` bytes of a file of `file` bytes is within the bound.
    pub(crate) fn bound(&self, decoded: u64, file: u64) -> Result<(), Error> {
        /// By default, decoded bytes for each byte of a file.
        const EACH: u64 = 1 << 20;
        /// Shorter files count as files of this length.
        const SHORT: u64 = 64 << 10;
        let most = self.max_bytes.unwrap_or_else(|| file.max(SHORT).saturating_mul(EACH));
        if decoded > most { Err(Error::Expansion { decoded, file, most }) } else { Ok(()) }
    }

    /// The most bytes of a temporary file.
    pub(crate) fn most_temporary(&self) -> u64 {
        self.max_bytes.unwrap_or(16 << 30)
    }

    pub(crate) fn threads(&self) -> usize {
        /// Called once: the system reads several files for the answer.
        static AVAILABLE: LazyLock<usize> =
            LazyLock::new(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
        self.threads.map_or_else(|| *AVAILABLE, NonZeroUsize::get)
    }

    /// What the options ask about finite numbers.
    pub(crate) fn asked(&self) -> Asked {
        Asked { stats: self.stats, max_abs: self.max_abs.map(f64::to_bits) }
    }

    /// Checks that the bound on magnitudes is one.
    ///
    /// # Errors
    /// [`Error::MaxAbs`].
    pub(crate) fn check_max_abs(&self) -> Result<(), Error> {
        match self.max_abs {
            Some(bound) if !bound.is_finite() || bound < 0.0 => Err(Error::MaxAbs(bound)),
            Some(_) | None => Ok(()),
        }
    }

    /// The kinds among `found` that make a tensor bad.
    pub(crate) fn bad(&self, tensor: &Description, found: Kinds) -> Kinds {
        let allowed = policy::allowed(&self.allow, tensor.name.as_deref().unwrap_or_default());
        found.and(self.fail_on).without(allowed)
    }

    /// Whether numbers above [`Options::max_abs`] make no tensor of this name bad.
    pub(crate) fn allows_large(&self, name: &str) -> bool {
        policy::allows_large(&self.allow, name)
    }

    pub(crate) fn advance(&self, bytes: u64) -> Result<(), Error> {
        match self.observer.as_ref().map(|observer| observer.advanced(bytes)) {
            Some(ControlFlow::Break(())) => Err(Error::Stopped),
            Some(ControlFlow::Continue(())) | None => Ok(()),
        }
    }
}

/// What a check asks about finite numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    /// [`Options::stats`].
    pub(crate) stats: bool,
    /// The bits of [`Options::max_abs`], since some serialised forms change floating-point numbers.
    max_abs: Option<u64>,
}

impl Asked {
    /// Whether anything is asked.
    pub(crate) fn is_any(self) -> bool {
        self.stats || self.max_abs.is_some()
    }

    /// [`Options::max_abs`].
    pub(crate) fn max_abs(self) -> Option<f64> {
        self.max_abs.map(f64::from_bits)
    }
}

/// Receives the progress of a check, from all of its threads.
pub trait Observer: fmt::Debug + Send + Sync {
    /// Announces bytes of tensors in this file that the check will scan. Called several times if
    /// the length of a stream is unknown at the start, and if bad tensors are scanned again
    /// ([`Options::places`]). The numbers add up.
    fn started(&self, bytes: u64) {
        let _ = bytes;
    }

    /// Reports that this many more bytes have been scanned. [`ControlFlow::Break`] ends the check
    /// with [`Error::Stopped`].
    fn advanced(&self, bytes: u64) -> ControlFlow<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A short file counts as one of 64 KiB.
    #[test]
    fn bounds_of_decoded_bytes() {
        for (file, most) in
            [(0, 64 << 30), (1 << 16, 64 << 30), ((1 << 16) + 1, (64 << 30) + (1 << 20))]
        {
            for (max_bytes, most) in
                [(None, most), (Some(3), 3), (Some(u64::MAX - 1), u64::MAX - 1)]
            {
                let options = Options { max_bytes, ..Options::default() };
                assert!(options.bound(most, file).is_ok());
                let Err(Error::Expansion { decoded, file: of, most: bound }) =
                    options.bound(most + 1, file)
                else {
                    panic!("{file} {max_bytes:?}")
                };
                assert_eq!((decoded, of, bound), (most + 1, file, most));
            }
        }
    }
}
