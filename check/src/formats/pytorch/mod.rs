//! Archives of PyTorch, as `torch.save` and `torch.jit.save` write them since version 1.6 (.pt,
//! .pth, .ckpt): zip archives of pickles and of the storages that the pickles refer to.
//!
//! No pickle is executed: see `pickle.rs`. Each call of `torch._utils._rebuild_tensor*` is a tensor.
//! A storage is unreadable if no tensor refers to it: a function of the user would be called for
//! it. Arrays of numpy and plain numbers inside a pickle are not looked at.

mod pickle;
mod strided;
mod walk;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::{self, Read};

use nonfinite::Format;

pub use self::pickle::Malformed;
use self::walk::{Found, Storage};
use crate::containers::zip::{self, Member, Method};
use crate::formats::npz;
use crate::model::reader::Reader;
use crate::model::{self, ByteOrder, Checksum, Content, Data, FileFormat, Input, Layout, Tensor};

impl FileFormat {
    /// Archives of PyTorch; see [`pytorch`](crate::formats::pytorch).
    pub const PYTORCH: Self = Self::named("pytorch");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::PYTORCH,
    endings: &[".pt", ".pth", ".ckpt", ".jit"],
    begins,
    tensors: |input| Ok(tensors(input)?),
    stream: None,
    checksums: Some(checksums),
    shards: None,
    is_fixable: false,
};

/// The longest pickle that is read. It holds names and shapes, no data.
const MAX_PICKLE: usize = 64 << 20;
/// The same for a deflated pickle, which PyTorch never writes: a few bytes could stand for very many
/// objects.
const MAX_DEFLATED_PICKLE: usize = 1 << 20;
/// All tensors together may take this many times the bytes of the file. More means that many
/// tensors share one storage, and a check would not end.
const MAX_SHARING: usize = 64;
/// The same for deflated storages, by their inflated size. Storages of zeros inflate to a thousand
/// times their size in the file.
const MAX_INFLATED_SHARING: usize = 4;
/// The most bytes that deflate makes of one.
const MAX_INFLATION: usize = 1032;

/// Why an archive of PyTorch cannot be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The zip archive cannot be read.
    Zip(zip::Error),
    /// No member `data.pkl`.
    NoPickle,
    /// A pickle is longer than any that PyTorch writes, or cannot be inflated.
    Pickle {
        /// The name of the member.
        member: String,
        /// Why.
        error: io::Error,
    },
    /// A member is not a pickle.
    Malformed {
        /// The name of the member.
        member: String,
        /// Where, and why.
        malformed: Malformed,
    },
    /// A tensor contradicts itself or the archive.
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// The tensors refer to the same storages more often than in any file of PyTorch.
    Sharing,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zip(error) => error.fmt(f),
            Self::NoPickle => f.write_str("not an archive of PyTorch: it has no data.pkl"),
            Self::Pickle { member, error } => write!(f, "member {member:?}: {error}"),
            Self::Malformed { member, malformed } => {
                write!(f, "member {member:?}: not a pickle: {malformed}")
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
            Self::NoPickle | Self::Malformed { .. } | Self::Tensor { .. } | Self::Sharing => None,
        }
    }
}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::PYTORCH, error)
    }
}

/// The checksums of the storages and pickles. PyTorch never verifies them, and writes 0 instead of
/// them after `torch.serialization.set_crc32_options(False)`: such members have none.
fn checksums(bytes: &[u8]) -> Result<Vec<Checksum>, model::Error> {
    let mut checksums = zip::checksums(bytes).map_err(Error::Zip)?;
    checksums.retain(|checksum| checksum.crc != 0);
    Ok(checksums)
}

/// Whether this is a zip archive with a `data.pkl` in a folder.
fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(npz::MAGIC)
        && zip::members(bytes)
            .is_ok_and(|members| members.iter().any(|member| root_of(member).is_some()))
}

/// The folder of an archive, by its `data.pkl`.
fn root_of(member: &Member) -> Option<&str> {
    member
        .name
        .strip_suffix("data.pkl")
        .filter(|root| root.ends_with('/') && !root[..root.len() - 1].contains('/'))
}

/// The tensors of an archive. Their names are the keys that lead to them, joined by dots.
///
/// # Errors
/// [`enum@Error`] if the archive is not whole or not valid. Quantised tensors count as integers.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Error> {
    let members = zip::members(input.bytes).map_err(Error::Zip)?;
    let root = members.iter().find_map(root_of).ok_or(Error::NoPickle)?.to_owned();
    let members: BTreeMap<&str, &Member> = members
        .iter()
        .filter_map(|member| Some((member.name.strip_prefix(&root)?, member)))
        .collect();
    let order = byte_order(&members, input.bytes)?;
    let mut archive =
        Archive { input, members, order, used: HashSet::new(), tensors: Vec::new(), skipped: 0 };
    let pickles: Vec<&str> =
        archive.members.keys().copied().filter(|name| is_pickle(name)).collect();
    for name in pickles {
        archive.pickle(name)?;
    }
    let deflated = archive.members.values().filter(|member| member.method == Method::Deflated);
    let inflated =
        deflated.map(|member| member.size.min(member.range.len().saturating_mul(MAX_INFLATION)));
    let inflated = inflated.fold(0, usize::saturating_add).saturating_mul(MAX_INFLATED_SHARING);
    archive.rest();
    let limit = input.bytes.len().saturating_mul(MAX_SHARING).saturating_add(inflated);
    let lengths = archive.tensors.iter().map(|tensor| tensor.data.length());
    let total = lengths.fold(archive.skipped, usize::saturating_add);
    if total > limit { Err(Error::Sharing) } else { Ok(archive.tensors) }
}

/// `data.pkl`, and the `constants.pkl` of TorchScript.
fn is_pickle(name: &str) -> bool {
    name.ends_with(".pkl") && !name.contains('/')
}

fn byte_order(members: &BTreeMap<&str, &Member>, archive: &[u8]) -> Result<ByteOrder, Error> {
    let Some(member) = members.get("byteorder") else { return Ok(ByteOrder::Little) };
    let mut word = Vec::new();
    let read = member.open(archive).take(16).read_to_end(&mut word);
    let bad = |error| Error::Pickle { member: member.name.clone(), error };
    match read.map(|_| word.as_slice()).map_err(bad)? {
        b"little" => Ok(ByteOrder::Little),
        b"big" => Ok(ByteOrder::Big),
        _ => Err(bad(io::Error::new(io::ErrorKind::InvalidData, "neither little nor big"))),
    }
}

struct Archive<'a> {
    input: Input<'a>,
    /// By their names within the folder of the archive.
    members: BTreeMap<&'a str, &'a Member>,
    order: ByteOrder,
    /// Names of the storages that tensors refer to.
    used: HashSet<String>,
    tensors: Vec<Tensor>,
    /// Bytes of deflated storages before the tensors that begin within: they are inflated all the
    /// same.
    skipped: usize,
}

impl Archive<'_> {
    /// Reads a pickle and adds its tensors.
    fn pickle(&mut self, name: &str) -> Result<(), Error> {
        let member = self.members[name];
        let failed = |error| Error::Pickle { member: member.name.clone(), error };
        let too_long = || {
            io::Error::new(io::ErrorKind::InvalidData, "longer than a pickle of names and shapes")
        };
        let most = if member.method == Method::Stored { MAX_PICKLE } else { MAX_DEFLATED_PICKLE };
        if member.size > most {
            return Err(failed(too_long()));
        }
        if let Some(why) = member.unreadable() {
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, why)));
        }
        let mut bytes = Vec::new();
        member
            .open(self.input.bytes)
            .take(most as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() > most {
            return Err(failed(too_long()));
        }
        let malformed = |malformed| Error::Malformed { member: member.name.clone(), malformed };
        let pickle = pickle::read(&bytes).map_err(malformed)?;
        // TorchScript has the storages of `constants.pkl` in a folder of that name, unless it
        // shares those of `data`.
        let folder = name.strip_suffix(".pkl").unwrap_or(name);
        let prefix = if folder == "data" { String::new() } else { format!("{folder}.") };
        let found = walk::walk(&pickle).ok_or_else(|| {
            let why = "names and shapes that are far longer than the pickle";
            failed(io::Error::new(io::ErrorKind::InvalidData, why))
        })?;
        for found in found {
            let tensor = self.tensor(folder, &prefix, found)?;
            self.tensors.extend(tensor);
        }
        Ok(())
    }

    /// The member that holds a storage.
    fn storage(&self, folder: &str, storage: &Storage) -> Option<(String, &Member)> {
        [folder, "data"].iter().find_map(|folder| {
            let name = format!("{folder}/{}", storage.key);
            let member = *self.members.get(name.as_str())?;
            Some((name, member))
        })
    }

    fn tensor(
        &mut self,
        folder: &str,
        prefix: &str,
        found: Found,
    ) -> Result<Option<Tensor>, Error> {
        let name = format!("{prefix}{}", found.name);
        let bad = |why: String| Error::Tensor { name: name.clone(), why };
        let Some((member_name, member)) = self.storage(folder, &found.storage) else {
            return Err(bad(format!("its storage {:?} is not in the archive", found.storage.key)));
        };
        let member = member.clone();
        self.used.insert(member_name);
        let content = content(&found.dtype, self.order);
        let mut tensor = Tensor {
            name: Some(name.clone()),
            file: None,
            dtype: found.dtype,
            shape: found.shape,
            layout: Layout::RowMajor,
            content,
            data: Data::Owned(Vec::new()),
        };
        let unit = tensor.unit();
        if !tensor.is_scanned() {
            return Ok(Some(tensor));
        }
        if let Some(why) = member.unreadable() {
            tensor.content = Content::Unreadable(why);
            return Ok(Some(tensor));
        }
        if member.size % unit != 0 {
            return Err(bad(format!(
                "its storage of {} bytes is no whole number of elements",
                member.size
            )));
        }
        let view =
            strided::View::new(&tensor.shape, &found.strides, found.offset, unit, member.size);
        let view = view.map_err(|why| bad(why.to_owned()))?;
        let range = view.bytes();
        tensor.data = match (view.layout(), member.method) {
            (Some(layout), Method::Stored) => {
                tensor.layout = layout;
                Data::Input(member.range.start + range.start..member.range.start + range.end)
            }
            (Some(layout), _) if range.end == member.size => {
                tensor.layout = layout;
                self.skipped = self.skipped.saturating_add(range.start);
                Data::Decoded(member.decode(range.start))
            }
            (None, Method::Stored) if view.elements() <= member.size / unit => {
                Data::Decoded(view.decode(member.range.start))
            }
            // Part of a deflated storage, or more elements than the storage has: the whole storage
            // is looked at once.
            (_, Method::Stored | Method::Deflated | Method::Other(_) | Method::Encrypted) => {
                tensor.name = Some(format!("{name} (storage {})", found.storage.key));
                tensor.shape = vec![member.size / unit];
                whole(&member)
            }
        };
        Ok(Some(tensor))
    }

    /// Adds the storages that no tensor refers to, as unreadable: their type is not known.
    fn rest(&mut self) {
        let members = std::mem::take(&mut self.members);
        for (name, member) in members {
            let is_storage = ["data/", "constants/"].iter().any(|folder| name.starts_with(folder));
            if is_storage && !self.used.contains(name) && member.size > 0 {
                let why = "no tensor that this version knows refers to this storage".to_owned();
                self.tensors.push(Tensor {
                    name: Some(name.to_owned()),
                    file: None,
                    dtype: "storage".to_owned(),
                    shape: vec![member.size],
                    layout: Layout::RowMajor,
                    content: Content::Unreadable(why),
                    data: Data::Owned(Vec::new()),
                });
            }
        }
    }
}

/// All of a member.
fn whole(member: &Member) -> Data {
    match member.method {
        Method::Stored => Data::Input(member.range.clone()),
        Method::Deflated | Method::Other(_) | Method::Encrypted => {
            Data::Decoded(member.clone().decode(0))
        }
    }
}

/// What the elements of a dtype are.
fn content(dtype: &str, order: ByteOrder) -> Content {
    let floats = |format, parts| Content::Floats { format, parts, order };
    match dtype {
        "float32" | "float" => floats(Format::F32, 1),
        "float64" | "double" => floats(Format::F64, 1),
        "float16" | "half" => floats(Format::F16, 1),
        "bfloat16" => floats(Format::Bf16, 1),
        "complex32" | "chalf" => floats(Format::F16, 2),
        "complex64" | "cfloat" => floats(Format::F32, 2),
        "complex128" | "cdouble" => floats(Format::F64, 2),
        "float8_e4m3fn" => floats(Format::F8E4M3Fn, 1),
        "float8_e4m3fnuz" => floats(Format::F8E4M3FnUz, 1),
        "float8_e5m2" => floats(Format::F8E5M2, 1),
        "float8_e5m2fnuz" => floats(Format::F8E5M2FnUz, 1),
        "float8_e8m0fnu" => floats(Format::F8E8M0Fnu, 1),
        "float4_e2m1fn_x2" => Content::AlwaysFinite,
        _ if walk::is_integer(dtype) => Content::NotFloat,
        _ => Content::Unreadable("a dtype that is not known".to_owned()),
    }
}
