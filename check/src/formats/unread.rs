//! Members of archives that the reader of the archive does not know.

use std::io::Read;

use super::signatures;
use crate::containers::zip::{Member, Method};
use crate::model::is_text;

/// The most bytes that are inflated to see whether a member is text.
const LONGEST_TEXT: usize = 1 << 20;

/// Why nobody looks at a member that the reader does not know: what the member is, or else
/// `otherwise`. None for text, which holds no tensors.
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
