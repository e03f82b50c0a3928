//! Tensors of a file that lies beside the file that is checked, such as a shard.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use crate::model::ranges::Part;
use crate::model::reader::Contents;
use crate::model::{Checksum, Data, Decode, ReadAt, Tensor};

/// A range of another file, whose bytes a reader has read as a file.
pub(super) type FileRange = Part<Arc<dyn ReadAt>>;

impl FileRange {
    /// Turns a tensor of the file at this place into a tensor of the input.
    pub(super) fn moved(&self, tensor: Tensor) -> Tensor {
        let data = match tensor.data {
            Data::Input(range) => {
                Data::Other { source: Arc::clone(&self.0), range: self.range(&range) }
            }
            Data::Decoded(inner) => Data::Decoded(Box::new(Moved { inner, place: self.clone() })),
            data @ (Data::Other { .. } | Data::Owned(_)) => data,
        };
        Tensor { data, ..tensor }
    }

    /// The checksum of a part of a file at this place, as one of the input.
    pub(super) fn moved_checksum(&self, checksum: Checksum) -> Checksum {
        if checksum.other.is_some() {
            return checksum;
        }
        let range = self.range(&checksum.range);
        Checksum { other: Some(Arc::clone(&self.0)), range, ..checksum }
    }

    /// What a file at this place holds, as contents of the input.
    pub(super) fn moved_contents(&self, contents: Contents) -> Contents {
        let Contents { tensors, checksums, counts } = contents;
        Contents {
            tensors: tensors.into_iter().map(|tensor| self.moved(tensor)).collect(),
            checksums: checksums.into_iter().map(|sum| self.moved_checksum(sum)).collect(),
            counts,
        }
    }

    /// The range of the whole file that stands for this one of the place.
    fn range(&self, range: &Range<u64>) -> Range<u64> {
        self.1.start + range.start..self.1.start + range.end
    }
}

/// Decoded data of the file at a place.
struct Moved {
    inner: Box<dyn Decode>,
    place: FileRange,
}

impl Decode for Moved {
    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn open<'a>(&'a self, _: &'a dyn ReadAt) -> io::Result<Box<dyn Read + 'a>> {
        self.inner.open(&self.place)
    }
}
