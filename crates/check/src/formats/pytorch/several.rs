//! Several archives one behind the other, as in a `.distcp` of `torch.distributed.checkpoint`.

use super::{archive, read};
use crate::formats::unread;
use crate::formats::within::Place;
use crate::model::reader::{Contents, Refused};

/// The signature of the record at the end of a zip archive.
const END: &[u8] = b"PK\x05\x06";
/// The length of this record without a comment. PyTorch writes no comment.
const END_LENGTH: usize = 22;

/// The most signatures that are tried. Data may contain the same bytes.
const MAX_ENDS: usize = 16;

/// Whether the file begins with an archive of PyTorch, and has further bytes behind it.
pub(super) fn begins(bytes: &[u8]) -> bool {
    first(bytes).is_some_and(|length| length < bytes.len())
}

/// The length of the archive of PyTorch that begins here.
fn first(bytes: &[u8]) -> Option<usize> {
    // A local header has the length of the name at byte 26, and the name at byte 30.
    let length = bytes.strip_prefix(b"PK\x03\x04")?.get(22..24)?;
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    bytes.get(30..30 + length)?.ends_with(b"/data.pkl").then_some(())?;
    let places = bytes.windows(END.len()).enumerate().filter(|(_, window)| *window == END);
    let ends = places.map(|(place, _)| place + END_LENGTH).filter(|&end| end <= bytes.len());
    ends.take(MAX_ENDS).find(|&end| archive::begins(&bytes[..end]))
}

/// The contents of all archives. Bytes behind the last archive are unreadable.
pub(super) fn contents(bytes: &[u8]) -> Result<Contents, Refused> {
    let (mut all, mut at, mut count) = (Contents::default(), 0, 0);
    while let Some(length) = first(&bytes[at..]) {
        let place = Place::Input(at..at + length);
        let contents = read(&bytes[at..at + length], &format!("archive {count}"))?;
        all.add(place.moved_contents(contents));
        at += length;
        count += 1;
    }
    all.tensors.extend(unread::around(bytes, &(0..at)));
    Ok(all)
}
