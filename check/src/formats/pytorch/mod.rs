//! Files of PyTorch, as `torch.save` and `torch.jit.save` write them (.pt, .pth, .ckpt,
//! pytorch_model.bin). Since version 1.6 they are zip archives of pickles and of the storages that
//! the pickles refer to. Older files are pickles, with the storages behind them.
//!
//! No pickle is executed: see `pickle`. Each call of `torch._utils._rebuild_tensor*` is a tensor,
//! and so is each array of numpy. The scales of a quantised tensor are looked at; its integers are
//! always finite. Floats of Python are looked at, too. A NaN or an infinity is a tensor, named by
//! the keys that lead to it. All finite floats of a pickle are one tensor together.
//!
//! Everything else that could hold numbers is unreadable: a storage that no tensor refers to (only
//! a function of the user could read it), bytes in a pickle, other members of the archive.

mod archive;
mod calls;
mod checkpoint;
mod legacy;
mod parts;
mod pickle;
mod several;
mod strided;
mod walk;

use std::{fmt, io};

pub(super) use self::checkpoint::{NAME as METADATA, READER as CHECKPOINT};
pub(super) use self::parts::STORAGE;
pub use self::pickle::Malformed;
use crate::containers::zip;
use crate::model::reader::{Contents, Reader};
use crate::model::{self, Checksum, FileFormat, Input, Tensor};

impl FileFormat {
    /// Files of PyTorch; see [`pytorch`](crate::formats::pytorch).
    pub const PYTORCH: Self = Self::named("pytorch");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::PYTORCH,
    endings: &[".pt", ".pth", ".ckpt", ".jit", ".ptl", ".pth.tar", "pytorch_model.bin"],
    begins: |bytes| legacy::begins(bytes) || archive::begins(bytes) || several::begins(bytes),
    contents: |input| Ok(read(input.bytes, "")?),
    stream: None,
    shards: None,
    is_fixable: false,
};

/// The most bytes of all tensors together, for each byte of the file. More means that many tensors
/// share one storage, and the check would take hours.
const MAX_SHARING: usize = 64;

/// Why an archive of PyTorch cannot be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The zip archive cannot be read.
    Zip(zip::Error),
    /// No member `data.pkl`.
    NoPickle,
    /// A pickle is longer than PyTorch writes, or cannot be inflated.
    Pickle {
        /// The name of the member.
        member: String,
        /// Why.
        error: io::Error,
    },
    /// A member, or a part of a file, should be a pickle and is not.
    Malformed {
        /// The name of the member or part.
        member: String,
        /// The place and the reason.
        malformed: Malformed,
    },
    /// Names, shapes and arrays of this pickle would take far more memory than the pickle.
    Names(String),
    /// The `.metadata` of a checkpoint names no file.
    NoParts,
    /// A tensor contradicts itself or the file.
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The tensors refer to the same storages more often than in any real file of PyTorch.
    Sharing,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zip(error) => error.fmt(f),
            Self::NoPickle => f.write_str("not an archive of PyTorch: it has no data.pkl"),
            Self::NoParts => f.write_str("no metadata of a checkpoint: it names no file"),
            Self::Pickle { member, error } => write!(f, "member {member:?}: {error}"),
            Self::Malformed { member, malformed } => {
                write!(f, "member {member:?}: not a pickle: {malformed}")
            }
            Self::Names(member) => {
                write!(f, "member {member:?}: names and shapes that are far longer than the pickle")
            }
            Self::Tensor { name, why } => write!(f, "tensor {name:?}: {why}"),
            Self::Sharing => write!(f, "tensors refer to more than {MAX_SHARING} times the file"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Zip(error) => Some(error),
            Self::Pickle { error, .. } => Some(error),
            Self::NoPickle
            | Self::Malformed { .. }
            | Self::NoParts
            | Self::Names(_)
            | Self::Tensor { .. }
            | Self::Sharing => None,
        }
    }
}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::PYTORCH, error)
    }
}

/// The tensors of a file. Their names are the keys that lead to them, joined by dots.
///
/// # Errors
/// [`enum@Error`] if the file is not whole or not valid.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Error> {
    Ok(read(input.bytes, "")?.tensors)
}

/// The contents of a file. `root` is the name of the object in it.
fn read(bytes: &[u8], root: &str) -> Result<Contents, Error> {
    let all = if legacy::begins(bytes) {
        legacy::read(bytes, root)?
    } else {
        match archive::read(bytes, root) {
            Ok(all) if !all.surrounded => all,
            _ if several::begins(bytes) => return several::contents(bytes),
            all => all?,
        }
    };
    let limit = bytes.len().saturating_mul(MAX_SHARING).saturating_add(all.inflated);
    let lengths = all.parts.tensors.iter().map(|tensor| tensor.data.length());
    let total = lengths.fold(all.parts.skipped, usize::saturating_add);
    if total > limit {
        return Err(Error::Sharing);
    }
    Ok(Contents { tensors: all.parts.tensors, checksums: all.checksums })
}

/// The content of a file.
struct All {
    parts: parts::Parts,
    /// The checksums of the storages and pickles. None before version 1.6.
    checksums: Vec<Checksum>,
    /// Bytes that tensors may take beyond the bytes of the file, because of deflated storages.
    inflated: usize,
    /// Whether bytes lie before or behind the archive. They may be further archives.
    surrounded: bool,
}
