//! The .npz format of numpy: a zip archive of .npy files, stored or deflated.

use crate::containers::zip::{self, Archive, Member, Method};
use crate::formats::{npy, opaque};
use crate::model::ranges::ReadAhead;
use crate::model::reader::{Contents, Read, Reader, Refused};
use crate::model::{Content, Data, FileFormat, ReadAt, Tensor};

impl FileFormat {
    /// The .npz format of numpy; see [`npz`](crate::formats::npz).
    pub const NPZ: Self = Self::named("npz");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::NPZ,
    endings: &[".npz"],
    begins: |bytes, _| bytes.starts_with(zip::MAGIC),
    read: Read::Anywhere(|input| read(input.source)),
    shards: None,
};

/// The arrays of a .npz file, under the names that numpy gives them. Other members are unreadable
/// tensors, except text: any zip archive has the signature of a .npz file. Arrays of objects and of
/// dtypes that are not read are unreadable tensors, too.
fn read(source: &dyn ReadAt) -> Result<Contents, Refused> {
    let Archive { members, range } = zip::read(source)?;
    let mut archive = ReadAhead::new(source);
    let checksums = zip::checksums(&members);
    let mut tensors = Vec::new();
    for member in members {
        tensors.push(tensor(member, &mut archive)?);
    }
    tensors.extend(opaque::around(source, &range)?);
    Ok(Contents { tensors, checksums, ..Contents::default() })
}

/// The tensor of a member.
fn tensor(member: Member, archive: &mut ReadAhead<'_>) -> Result<Tensor, Refused> {
    let name = member.name.strip_suffix(".npy").unwrap_or(&member.name).to_owned();
    let described = match member.unreadable() {
        Some(_) => Err(npy::Error::Magic),
        None => describe(&member, archive),
    };
    match described {
        Ok((array, data)) => Ok(array.tensor(Some(&name), data)),
        Err(npy::Error::Magic) => {
            let why = "a member of an unknown format";
            let content = opaque::content(&member, archive.source, why)?;
            Ok(opaque::member(&name, &member, content))
        }
        Err(npy::Error::Dtype(why)) => {
            let content = Content::Unreadable(why.into());
            Ok(Tensor::new(name, "?", vec![member.size], content, Data::Input(0..0)))
        }
        Err(error) => Err(format!("member {:?}: {error}", member.name).into()),
    }
}

fn describe(
    member: &Member,
    archive: &mut ReadAhead<'_>,
) -> Result<(npy::Array, Data), npy::Error> {
    let header = npy::read_header(&mut member.open(archive))?;
    let array = npy::describe(&header)?;
    array.fits(member.size)?;
    let start = header.len() as u64;
    let data = match member.method {
        Method::Stored => Data::Input(member.range.start + start..member.range.end),
        _ => Data::Decoded(member.clone().decode(start)),
    };
    Ok((array, data))
}
