//! Bytes that no reader knows: members of archives, and bytes around an archive.

use std::io::Read;
use std::ops::Range;

use super::signatures;
use crate::containers::zip::{Member, Method};
use crate::model::source::part;
use crate::model::{Content, Data, FileFormat, Reason, Tensor, is_text, may_hold_numbers, span};

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
        _ if content == Content::NotFloat => Data::Owned(Vec::new()),
        Method::Stored => Data::Input(member.range.clone()),
        _ => Data::Owned(Vec::new()),
    };
    Tensor { content, ..tensor(name.to_owned(), member.size, String::new(), data) }
}

/// The bytes before and behind a zip archive that takes this range of a file. They may be a file of
/// another kind, which a program that goes by the beginning of a file would read.
pub(super) fn around(file: &[u8], archive: &Range<u64>) -> Vec<Tensor> {
    let places = [("before", 0..archive.start), ("behind", archive.end..file.len() as u64)];
    let bytes = |range: &Range<u64>| part(file, range.clone()).unwrap_or_default();
    let places = places.into_iter().filter(|(_, range)| may_hold_numbers(bytes(range)));
    let tensor = |(place, range): (_, Range<u64>)| {
        let why = why(bytes(&range), "no part of the archive");
        tensor(format!("bytes {place} the archive"), span(&range), why, Data::Input(range))
    };
    places.map(tensor).collect()
}

/// The most bytes that are inflated to find out whether a member is text.
const LONGEST_TEXT: u64 = 1 << 20;

/// The content of a member that is not read: unreadable because of its kind if that is known, or
/// else because of `otherwise`. Text and pictures hold no numbers.
pub(super) fn content(member: &Member, archive: &[u8], otherwise: &str) -> Content {
    let unreadable = |why: &str| Content::Unreadable(Reason::Part(why.to_owned()));
    match member.method {
        Method::Stored => {
            of_bytes(part(archive, member.range.clone()).unwrap_or_default(), otherwise)
        }
        Method::Deflated if member.size > LONGEST_TEXT => unreadable(otherwise),
        Method::Deflated => {
            let mut bytes = Vec::new();
            match member.open(archive).read_to_end(&mut bytes) {
                Ok(_) => of_bytes(&bytes, otherwise),
                Err(error) => {
                    Content::Damaged(Reason::Part(format!("cannot be inflated: {error}")))
                }
            }
        }
        Method::Other(_) | Method::Encrypted => {
            unreadable(&member.unreadable().unwrap_or_default())
        }
    }
}

fn of_bytes(bytes: &[u8], otherwise: &str) -> Content {
    match signatures::not_read(bytes) {
        None if is_text(bytes) || signatures::picture(bytes).is_some() => Content::NotFloat,
        _ => Content::Unreadable(Reason::Part(why(bytes, otherwise))),
    }
}

/// Why these bytes are not read: their kind if that is known, or else `otherwise`.
fn why(bytes: &[u8], otherwise: &str) -> String {
    match FileFormat::detect(bytes, None) {
        Some(format) => format!("a file of the format {format}: files in files are not read"),
        None => signatures::not_read(bytes).unwrap_or(otherwise).to_owned(),
    }
}
