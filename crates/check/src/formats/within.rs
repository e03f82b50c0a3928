//! Tensors of a file that lies within another file, or beside it.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use crate::model::reader::Contents;
use crate::model::{Checksum, Column, Data, Decode, Error, ReadAt, See, ShowError, Tensor};

/// Where the bytes of a file are.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In this range of the input.
    Input(Range<usize>),
    /// In this range of another file.
    Other(Arc<dyn ReadAt>, Range<usize>),
}

impl Place {
    /// Turns a tensor of the file at this place into a tensor of the input.
    pub(super) fn moved(&self, tensor: Tensor) -> Tensor {
        let data = match (tensor.data, self) {
            (Data::Input(range), Self::Input(file)) => {
                Data::Input(file.start + range.start..file.start + range.end)
            }
            (Data::Input(range), Self::Other(source, file)) => Data::Other {
                source: Arc::clone(source),
                range: file.start + range.start..file.start + range.end,
            },
            (Data::Decoded(inner), place) => {
                Data::Decoded(Box::new(Moved { inner, place: place.clone() }))
            }
            (Data::Column(inner), place) => {
                Data::Column(Box::new(Moved { inner, place: place.clone() }))
            }
            (data @ (Data::Other { .. } | Data::Owned(_)), _) => data,
        };
        Tensor { data, ..tensor }
    }

    /// The checksum of a part of a file at this place, as one of the input.
    pub(super) fn moved_checksum(&self, checksum: Checksum) -> Checksum {
        if checksum.other.is_some() {
            return checksum;
        }
        let (other, file) = match self {
            Self::Input(file) => (None, file),
            Self::Other(source, file) => (Some(Arc::clone(source)), file),
        };
        let range = file.start + checksum.range.start..file.start + checksum.range.end;
        Checksum { other, range, ..checksum }
    }

    /// What a file at this place holds, as contents of the input.
    pub(super) fn moved_contents(&self, contents: Contents) -> Contents {
        let Contents { tensors, checksums } = contents;
        Contents {
            tensors: tensors.into_iter().map(|tensor| self.moved(tensor)).collect(),
            checksums: checksums.into_iter().map(|sum| self.moved_checksum(sum)).collect(),
        }
    }

    fn bytes<'a>(&'a self, input: &'a [u8]) -> io::Result<&'a [u8]> {
        let (bytes, range) = match self {
            Self::Input(range) => (input, range),
            Self::Other(source, range) => (source.bytes().map_err(unread)?, range),
        };
        bytes.get(range.clone()).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

fn unread(error: Error) -> io::Error {
    match error {
        Error::Io(error) => error,
        error => io::Error::other(error),
    }
}

/// Decoded data of the file at a place.
struct Moved<T> {
    inner: T,
    place: Place,
}

impl<T> Moved<T> {
    fn other(&self) -> Option<&dyn ReadAt> {
        match &self.place {
            Place::Input(_) => None,
            Place::Other(source, _) => Some(&**source),
        }
    }
}

impl Decode for Moved<Box<dyn Decode>> {
    fn length(&self) -> usize {
        self.inner.length()
    }

    fn other(&self) -> Option<&dyn ReadAt> {
        self.other().or_else(|| self.inner.other())
    }

    fn open<'a>(&'a self, input: &'a [u8]) -> io::Result<Box<dyn Read + 'a>> {
        self.inner.open(self.place.bytes(input)?)
    }
}

impl Column for Moved<Box<dyn Column>> {
    fn parts(&self) -> Vec<usize> {
        self.inner.parts()
    }

    fn decoded(&self) -> usize {
        self.inner.decoded()
    }

    fn other(&self) -> Option<&dyn ReadAt> {
        self.other().or_else(|| self.inner.other())
    }

    fn show(
        &self,
        input: &[u8],
        part: usize,
        finite: bool,
        see: &mut See<'_>,
    ) -> Result<(), ShowError> {
        self.inner.show(self.place.bytes(input)?, part, finite, see)
    }
}
