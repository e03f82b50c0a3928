//! Bytes that no reader knows: members of archives, and bytes outside of members.

use std::io::Read;

use super::signatures;
use crate::containers::zip::{Member, Method};
use crate::model::{Content, Data, Layout, Tensor, is_text};

/// Bytes that nobody looks at, as a tensor. If `data` are bytes of the file, they may be a file of
/// a known format.
pub(super) fn tensor(name: String, size: usize, why: String, data: Data) -> Tensor {
    Tensor {
        name: Some(name),
        file: None,
        dtype: Tensor::BYTES.to_owned(),
        shape: vec![size],
        layout: Layout::RowMajor,
        content: Content::Unreadable(why),
        data,
    }
}

/// A member as [`tensor`], under its name or a part of it.
pub(super) fn member(name: &str, member: &Member, why: String) -> Tensor {
    let data = match member.method {
        Method::Stored => Data::Input(member.range.clone()),
        Method::Deflated | Method::Other(_) | Method::Encrypted => Data::Owned(Vec::new()),
    };
    tensor(name.to_owned(), member.size, why, data)
}

/// Why the bytes of a zip archive are not looked at that belong to no member.
pub(super) const NO_MEMBER: &str = "no member of the archive holds these bytes";

/// The most bytes that are inflated to find out whether a member is text.
const LONGEST_TEXT: usize = 1 << 20;

/// Why a member is not read: its kind if that is known, or else `otherwise`. None for text, which
/// holds no tensors.
pub(super) fn why(member: &Member, archive: &[u8], otherwise: &str) -> Option<String> {
    match member.method {
        Method::Stored => of_bytes(&archive[member.range.clone()], otherwise),
        Method::Deflated if member.size > LONGEST_TEXT => Some(otherwise.to_owned()),
        Method::Deflated => {
            let mut bytes = Vec::new();
            match member.open(archive).read_to_end(&mut bytes) {
                Ok(_) => of_bytes(&bytes, otherwise),
                Err(error) => Some(format!("cannot be inflated: {error}")),
            }
        }
        Method::Other(_) | Method::Encrypted => member.unreadable(),
    }
}

fn of_bytes(bytes: &[u8], otherwise: &str) -> Option<String> {
    let what = signatures::not_read(bytes).or_else(|| signatures::not_built(bytes));
    what.map(str::to_owned).or_else(|| (!is_text(bytes)).then(|| otherwise.to_owned()))
}
