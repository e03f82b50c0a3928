//! The .npz format of numpy: a zip archive of .npy files, stored or deflated.

use std::fmt;

use crate::containers::zip::{self, Archive, Member, Method};
use crate::formats::{npy, unread};
use crate::model::reader::{Contents, Reader};
use crate::model::{self, Content, Data, FileFormat, Input, Layout, Tensor};

impl FileFormat {
    /// The .npz format of numpy; see [`npz`](crate::formats::npz).
    pub const NPZ: Self = Self::named("npz");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::NPZ,
    endings: &[".npz"],
    begins: |bytes| bytes.starts_with(MAGIC),
    contents: |input| Ok(read(input.bytes)?),
    stream: None,
    shards: None,
    is_fixable: false,
};

/// The first bytes of a zip archive with members.
pub const MAGIC: &[u8] = b"PK\x03\x04";

/// Why a .npz file cannot be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The zip archive cannot be read.
    Zip(zip::Error),
    /// A member is not a valid .npy file.
    Npy {
        /// The name of the member.
        member: String,
        /// Why.
        error: npy::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zip(error) => error.fmt(f),
            Self::Npy { member, error } => write!(f, "member {member:?}: {error}"),
        }
    }
}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::NPZ, error)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Zip(error) => Some(error),
            Self::Npy { error, .. } => Some(error),
        }
    }
}

/// The arrays of a .npz file, under the names that numpy gives them. Other members are unreadable
/// tensors, except text: any zip archive has the signature of a .npz file. Arrays of objects and of
/// unknown dtypes are unreadable tensors, too.
///
/// # Errors
/// [`enum@Error`] if the archive is not whole.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Error> {
    Ok(read(input.bytes)?.tensors)
}

fn read(bytes: &[u8]) -> Result<Contents, Error> {
    let Archive { members, gaps } = zip::read(bytes).map_err(Error::Zip)?;
    let checksums = zip::checksums(&members);
    let mut tensors = Vec::new();
    for member in members {
        tensors.extend(tensors_of(member, bytes)?);
    }
    tensors.extend(gaps.into_iter().map(|gap| Tensor::unreferenced(gap, unread::NO_MEMBER)));
    Ok(Contents { tensors, checksums })
}

/// The tensors of a member: one, or one for each field of a structured array.
fn tensors_of(member: Member, archive: &[u8]) -> Result<Vec<Tensor>, Error> {
    let name = member.name.strip_suffix(".npy").unwrap_or(&member.name).to_owned();
    let bytes = |dtype: &str, content| Tensor {
        name: Some(name.clone()),
        file: None,
        dtype: dtype.to_owned(),
        shape: vec![member.size],
        layout: Layout::RowMajor,
        content,
        data: Data::Input(0..0),
    };
    let other = || {
        let content = unread::content(&member, archive, "a member of an unknown format");
        unread::member(&name, &member, content)
    };
    if member.unreadable().is_some() {
        return Ok(vec![other()]);
    }
    match describe(&member, archive) {
        Ok((array, place)) => Ok(array.tensors(Some(name), &place)),
        Err(npy::Error::Magic) => Ok(vec![other()]),
        Err(error) if error.is_of_dtype() => {
            Ok(vec![bytes("?", Content::Unreadable(error.to_string().into()))])
        }
        Err(error) => Err(Error::Npy { member: member.name, error }),
    }
}

fn describe(member: &Member, archive: &[u8]) -> Result<(npy::Array, npy::Place), npy::Error> {
    let header = npy::read_header(&mut member.open(archive))?;
    let array = npy::describe(&header)?;
    array.fits(member.size)?;
    let place = match member.method {
        Method::Stored => npy::Place::Stored(member.range.start + header.len()..member.range.end),
        Method::Deflated | Method::Other(_) | Method::Encrypted => {
            let (member, skip) = (member.clone(), header.len());
            npy::Place::Decoded(Box::new(move || member.clone().decode(skip)))
        }
    };
    Ok((array, place))
}
