//! Cuts tensors, and parts of a file with a checksum, into pieces.

use serde::{Deserialize, Serialize};

use super::byte_tally::ByteKind;
use crate::model::{Checksum, Data, Tensor, span};

/// What a piece is cut from, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// A tensor.
    Tensor(usize),
    /// A part of the file with a checksum, such as a stored member of an archive.
    Checksum(usize),
}

/// A range of the bytes of a tensor, or of a part with a checksum, that is scanned at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) of: Target,
    /// The place of the first byte in the tensor or in the part with a checksum.
    pub(crate) start: u64,
    /// Bytes. At most the requested length, with two exceptions: decoded data (which is one piece),
    /// and single elements or blocks that are longer.
    pub(crate) length: u64,
}

/// Cuts all data that is scanned into pieces of at most `most` bytes: first the tensors in order,
/// then the parts with checksums. Elements and blocks stay whole. `kinds` says what the tensors are
/// to lint: nothing if there are none.
pub(crate) fn split(
    tensors: &[Tensor],
    checksums: &[Checksum],
    kinds: &[ByteKind],
    most: u64,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (index, tensor) in tensors.iter().enumerate() {
        let of = Target::Tensor(index);
        let is_wanted = kinds.get(index).is_some_and(|kind| kind.is_wanted());
        if !tensor.is_scanned() && !is_wanted {
            continue;
        }
        let length = tensor.data.length();
        let unit = (tensor.unit() as u64).max(1);
        let step = match tensor.data {
            Data::Decoded(_) => length.max(1),
            Data::Input(_) | Data::Other { .. } | Data::Owned(_) => (most / unit).max(1) * unit,
        };
        pieces.extend(cut(of, length, step));
    }
    let checksums = checksums.iter().enumerate();
    pieces.extend(checksums.flat_map(|(index, checksum)| {
        cut(Target::Checksum(index), span(&checksum.range), most.max(1))
    }));
    pieces
}

fn cut(of: Target, length: u64, step: u64) -> impl Iterator<Item = Piece> {
    let starts = (0..length.div_ceil(step)).map(move |index| index * step);
    starts.map(move |start| Piece { of, start, length: step.min(length - start) })
}
