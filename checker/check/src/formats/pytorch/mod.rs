//! Files of PyTorch, as `torch.save` and `torch.jit.save` write them (.pt, .pth, .ckpt,
//! pytorch_model.bin). Since version 1.6 they are zip archives of pickles and of the storages that
//! the pickles refer to. Older files are pickles, with the storages behind them.
//!
//! No pickle is executed: see `pickle`. Each call of `torch._utils._rebuild_tensor*` is a tensor,
//! and so is each array of numpy. The scales of a quantised tensor are looked at; its integers are
//! always finite. Numbers of Python beside tensors are not looked at.
//!
//! Everything else that could hold numbers is unreadable: a storage that no tensor refers to (only
//! a function of the user could read it), a compressed storage, bytes in a pickle, an array of
//! objects with numbers, other members of the archive.

mod archive;
mod checkpoint;
mod constructors;
mod legacy;
mod pickle;
mod strided;
mod tensors;
mod walk;

pub(super) use self::checkpoint::{NAME as METADATA, READER as CHECKPOINT};
use self::pickle::Malformed;
use crate::formats::beginning;
use crate::model::reader::{Contents, Read, Reader, Refused};
use crate::model::{FileFormat, ReadAt};

impl FileFormat {
    /// Files of PyTorch; see [`pytorch`](crate::formats::pytorch).
    pub const PYTORCH: Self = Self::named("pytorch");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::PYTORCH,
    endings: &[".pt", ".pth", ".ckpt", ".jit", ".ptl", ".pth.tar", "pytorch_model.bin"],
    begins: |bytes, source| legacy::begins(bytes) || archive::begins(bytes, source),
    read: Read::Anywhere(|input| read(input.source, "")),
    shards: None,
};

/// The most bytes of all tensors together, for each byte of the file. More means that many tensors
/// share one storage, and the check would take hours.
const MAX_SHARING: u64 = 64;

/// A member, or a part of a file, should be a pickle and is not.
fn malformed(member: &str, malformed: Malformed) -> Refused {
    format!("member {member:?}: not a pickle: {malformed}").into()
}

/// Names, shapes and arrays of this pickle would take far more memory than the pickle.
fn long_names(member: &str) -> Refused {
    format!("member {member:?}: names and shapes that are far longer than the pickle").into()
}

/// A tensor contradicts itself or the file.
fn bad_tensor(name: &str, why: &str) -> Refused {
    format!("tensor {name:?}: {why}").into()
}

/// The contents of a file. `root` is the name of the object in it. The names of tensors are the
/// keys that lead to them, joined by dots.
fn read(source: &dyn ReadAt, root: &str) -> Result<Contents, Refused> {
    let contents = if legacy::begins(&beginning(source)?) {
        legacy::read(source, root)?
    } else {
        archive::read(source, root)?
    };
    let lengths = contents.tensors.iter().map(|tensor| tensor.data.length());
    if lengths.fold(0, u64::saturating_add) > source.length().saturating_mul(MAX_SHARING) {
        return Err(format!("tensors refer to more than {MAX_SHARING} times the file").into());
    }
    Ok(contents)
}
