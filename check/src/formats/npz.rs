//! The .npz format of numpy: a zip archive of .npy files, stored or deflated.

use std::fmt;

use crate::formats::npy;
use crate::source::Input;
use crate::tensor::{Content, Data, Layout, Tensor};
use crate::zip::{self, Member, Method};

/// How a zip archive begins, if it has members.
pub const MAGIC: &[u8] = b"PK\x03\x04";

/// Why bytes are no .npz file that can be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Not a zip archive that can be read.
    Zip(zip::Error),
    /// A member is a .npy file, but not a good one.
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

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Zip(error) => Some(error),
            Self::Npy { error, .. } => Some(error),
        }
    }
}

/// The arrays of a .npz file, each of the name that numpy gives it. Members that are no .npy files
/// count as bytes, as numpy reads them.
///
/// # Errors
/// [`enum@Error`] for anything but a whole archive. Arrays of objects and of dtypes that are not
/// known are among the tensors, as unreadable ones.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Error> {
    let members = zip::members(input.bytes).map_err(Error::Zip)?;
    members.into_iter().map(|member| tensor(member, input.bytes)).collect()
}

fn tensor(member: Member, archive: &[u8]) -> Result<Tensor, Error> {
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
    if let Some(why) = member.unreadable() {
        return Ok(bytes("?", Content::Unreadable(why)));
    }
    match describe(&member, archive) {
        Ok(tensor) => Ok(Tensor { name: Some(name), ..tensor }),
        Err(npy::Error::Magic) => Ok(bytes("bytes", Content::NotFloat)),
        Err(error) if error.is_of_dtype() => Ok(bytes("?", Content::Unreadable(error.to_string()))),
        Err(error) => Err(Error::Npy { member: member.name, error }),
    }
}

fn describe(member: &Member, archive: &[u8]) -> Result<Tensor, npy::Error> {
    let header = npy::read_header(&mut member.open(archive))?;
    let (mut tensor, end) = npy::describe(&header)?;
    npy::fits(&tensor, end, member.size)?;
    tensor.data = match member.method {
        Method::Stored => Data::Input(member.range.start + header.len()..member.range.end),
        _ => Data::Decoded(member.clone().decode(header.len())),
    };
    Ok(tensor)
}
