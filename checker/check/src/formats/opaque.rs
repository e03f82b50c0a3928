//! Bytes that no reader knows: members of archives, and bytes around an archive.

use std::io::{self, Read};
use std::ops::Range;

use super::{beginning, signatures};
use crate::containers::zip::{Member, Method};
use crate::model::ranges::{Part, ReadAhead};
use crate::model::{
    Content, Data, FileFormat, ReadAt, Reason, Tensor, holds_text, is_text, may_hold_numbers,
};

/// Unread bytes, as a tensor.
pub(super) fn tensor(name: String, size: u64, why: String, data: Data) -> Tensor {
    Tensor::new(name, Tensor::BYTES, vec![size], Content::Unreadable(Reason::Part(why)), data)
}

/// A part of the file that should be readable: why it is not.
pub(super) fn damaged(name: String, why: String) -> Tensor {
    let tensor = tensor(name, 0, String::new(), Data::Owned(Vec::new()));
    Tensor { content: Content::Damaged(Reason::Part(why)), ..tensor }
}

/// A member as [`tensor`], under its name or a part of it.
pub(super) fn member(name: &str, member: &Member, content: Content) -> Tensor {
    let data = match member.method {
        Method::Stored if content != Content::NotFloat => Data::Input(member.range.clone()),
        _ => Data::Owned(Vec::new()),
    };
    Tensor { content, ..tensor(name.to_owned(), member.size, String::new(), data) }
}

/// The bytes before and behind a zip archive that takes this range of a file. They may be a file of
/// another kind, which a program that goes by the beginning of a file would read.
pub(super) fn around(file: &dyn ReadAt, archive: &Range<u64>) -> io::Result<Vec<Tensor>> {
    let mut found = Vec::new();
    for (place, range) in [("before", 0..archive.start), ("behind", archive.end..file.length())] {
        let bytes = Part(file, range.clone());
        if may_hold_numbers(&bytes)? {
            let why = why(&bytes, "no part of the archive")?;
            let (name, data) = (format!("bytes {place} the archive"), Data::Input(range));
            found.push(tensor(name, bytes.length(), why, data));
        }
    }
    Ok(found)
}

/// The most bytes that are inflated to find out whether a member is text.
const LONGEST_TEXT: u64 = 1 << 20;

/// The content of a member that is not read: unreadable because of its kind if that is known, or
/// else because of `otherwise`. Text and pictures hold no numbers.
pub(super) fn content(
    member: &Member,
    archive: &dyn ReadAt,
    otherwise: &str,
) -> io::Result<Content> {
    let unreadable = |why: &str| Content::Unreadable(Reason::Part(why.to_owned()));
    Ok(match member.method {
        Method::Stored => of_bytes(&Part(archive, member.range.clone()), otherwise)?,
        Method::Deflated if member.size > LONGEST_TEXT => unreadable(otherwise),
        Method::Deflated => {
            let mut bytes = Vec::new();
            match member.open(ReadAhead::new(archive)).read_to_end(&mut bytes) {
                Ok(_) => of_bytes(&bytes, otherwise)?,
                Err(error) => {
                    Content::Damaged(Reason::Part(format!("cannot be inflated: {error}")))
                }
            }
        }
        Method::Other(_) | Method::Encrypted => {
            unreadable(&member.unreadable().unwrap_or_default())
        }
    })
}

fn of_bytes(bytes: &dyn ReadAt, otherwise: &str) -> io::Result<Content> {
    let is_known = signatures::not_read(&beginning(bytes)?).is_some();
    if !is_known && (holds_text(bytes, is_text)? || signatures::picture(bytes)?.is_some()) {
        return Ok(Content::NotFloat);
    }
    Ok(Content::Unreadable(Reason::Part(why(bytes, otherwise)?)))
}

/// Why these bytes are not read: their kind if that is known, or else `otherwise`.
fn why(bytes: &dyn ReadAt, otherwise: &str) -> io::Result<String> {
    let beginning = beginning(bytes)?;
    Ok(match FileFormat::detect_in(&beginning, bytes, None) {
        Some(format) => format!("a file of the format {format}: files in files are not read"),
        None => signatures::not_read(&beginning).unwrap_or(otherwise).to_owned(),
    })
}
