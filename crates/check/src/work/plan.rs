//! The plan: a file in pieces.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::{Error, FORM};
use crate::check::other_files;
use crate::model::reader::Contents;
use crate::model::{self, Content, Data, FileFormat, Origin, Outline, ReadAt, Tensor};
use crate::options::{Asked, Options};
use crate::scan::{self, ByteKind, Target};

/// A file in pieces: its tensors and checksums, and the pieces to look at.
///
/// Serialise it with serde, in any form that keeps integers of 64 bits, such as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub(super) form: u32,
    pub(super) file: Origin,
    pub(super) format: String,
    pub(super) asked: Asked,
    /// Each tensor, and how many bytes the pieces have to cover. 0 if nothing is looked at.
    pub(super) tensors: Vec<(Outline, u64)>,
    pub(super) checksums: Vec<PlannedChecksum>,
    /// [`Report::other_files`](crate::Report::other_files).
    pub(super) other_files: Vec<PathBuf>,
    pieces: Vec<Piece>,
}

/// A part of the file with a checksum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PlannedChecksum {
    pub(super) name: String,
    /// The file that the part is in, if that is not the file of the plan.
    pub(super) other: Option<PathBuf>,
    /// Bytes.
    pub(super) length: u64,
    pub(super) crc: u32,
}

/// A part of a tensor or of a checksummed part of the file. Holds everything that
/// [`check_piece`](super::check_piece) needs, except the file.
///
/// Serialise it with serde, in any form that keeps integers of 64 bits, such as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    pub(super) form: u32,
    /// The fingerprint of the plan.
    pub(super) fingerprint: String,
    pub(super) file: Origin,
    /// The tensor or checksum in the plan.
    pub(super) of: Target,
    /// The name, for messages.
    pub(super) name: String,
    /// The kind of the elements. None for a checksum.
    pub(super) content: Option<Content>,
    pub(super) asked: Asked,
    /// What the bytes are to lint.
    pub(super) kind: ByteKind,
    pub(super) place: PieceData,
}

/// The place of the data of a piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PieceData {
    /// The bytes from `start` to `end` of the file. The first is byte `at` of the tensor or of the
    /// checksummed part.
    Bytes { start: u64, end: u64, at: u64 },
    /// Data from the reader of the format: the bytes `at..at + length` of the tensor. `other` is
    /// the file of the data, if it is not the file of the piece.
    Read { format: String, at: u64, length: u64, other: Option<Origin> },
}

impl Plan {
    /// Cuts the tensors and checksums of a file into pieces. `kinds` says what the tensors are to
    /// lint: nothing if there are none.
    pub(crate) fn new(
        source: &dyn ReadAt,
        format: FileFormat,
        contents: &Contents,
        kinds: &[ByteKind],
        most: NonZeroUsize,
        options: &Options,
    ) -> Result<Self, Error> {
        let Contents { tensors, checksums } = contents;
        let planned = checksums.iter().map(|checksum| PlannedChecksum {
            name: checksum.name.clone(),
            other: checksum.file(),
            length: checksum.range.len() as u64,
            crc: checksum.crc,
        });
        let kind = |index: usize| kinds.get(index).copied().unwrap_or_default();
        let outlines = tensors.iter().enumerate();
        let outlines =
            outlines.map(|(index, tensor)| (Outline::of(tensor), extent(tensor, kind(index))));
        let mut plan = Self {
            form: FORM,
            file: source.origin().ok_or(Error::NoOrigin)?,
            format: format.name().to_owned(),
            asked: options.asked(),
            tensors: outlines.collect(),
            checksums: planned.collect(),
            other_files: other_files(tensors),
            pieces: Vec::new(),
        };
        let fingerprint = plan.fingerprint();
        let cuts = scan::split(tensors, checksums, kinds, most.get());
        let pieces = cuts.iter().map(|cut| {
            let (name, content, kind, file, place) = match cut.of {
                Target::Tensor(index) => {
                    let tensor = &tensors[index];
                    let (file, place) = plan.place(tensor, cut)?;
                    (tensor.label(), Some(tensor.content.clone()), kind(index), file, place)
                }
                Target::Checksum(index) => {
                    let checksum = &checksums[index];
                    let place = PieceData::of_bytes(checksum.range.start, cut);
                    let file = origin(checksum.other.as_deref())?;
                    (checksum.name.clone(), None, ByteKind::Other, file, place)
                }
            };
            let (file, fingerprint) = (file.unwrap_or(plan.file.clone()), fingerprint.clone());
            let (form, of, asked) = (FORM, cut.of, plan.asked);
            Ok(Piece { form, fingerprint, file, of, name, content, asked, kind, place })
        });
        let pieces = pieces.collect::<Result<_, Error>>()?;
        plan.pieces = pieces;
        Ok(plan)
    }

    /// The file of a piece (none for that of the plan), and its place.
    fn place(
        &self,
        tensor: &Tensor,
        cut: &scan::Cut,
    ) -> Result<(Option<Origin>, PieceData), Error> {
        let read = |other| {
            let (format, at, length) = (self.format.clone(), cut.start as u64, cut.length as u64);
            (None, PieceData::Read { format, at, length, other })
        };
        Ok(match &tensor.data {
            Data::Input(range) => (None, PieceData::of_bytes(range.start, cut)),
            Data::Other { source, range } => {
                (origin(Some(&**source))?, PieceData::of_bytes(range.start, cut))
            }
            Data::Decoded(decode) => read(origin(decode.other())?),
            Data::Owned(_) => read(None),
        })
    }

    /// Checks that this is the plan of a file with these tensors, with these options.
    ///
    /// # Errors
    /// [`Error::Check`] if the file has changed, and [`Error::OtherPlan`].
    pub(crate) fn verify(
        &self,
        source: &dyn ReadAt,
        tensors: &[Tensor],
        options: &Options,
    ) -> Result<(), Error> {
        if source.origin().as_ref() != Some(&self.file) {
            return Err(model::Error::Changed(self.file.location.clone()).into());
        }
        let mut outlines = tensors.iter().map(Outline::of);
        let is_same = self.asked == options.asked()
            && self.tensors.len() == tensors.len()
            && self.tensors.iter().all(|(planned, _)| outlines.next().as_ref() == Some(planned));
        if is_same { Ok(()) } else { Err(Error::OtherPlan) }
    }

    /// The path or URL of the file.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file.location
    }

    /// The name of the format of the file.
    #[must_use]
    pub fn format(&self) -> &str {
        &self.format
    }

    /// The pieces. Each has to be checked once, in any order, by any machine.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Takes the pieces out of the plan. The plan without them is enough for
    /// [`merge`](super::merge).
    #[must_use]
    pub fn take_pieces(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }

    /// The fingerprint of the plan: FNV-1a of everything except the pieces. It does not depend on
    /// the length of the pieces.
    pub(super) fn fingerprint(&self) -> String {
        let read = (&self.tensors, &self.checksums, &self.other_files);
        let all = (self.form, &self.file, &self.format, self.asked, read);
        // Numbers, texts and lists always have a form in JSON.
        let text = serde_json::to_vec(&all).unwrap_or_default();
        format!("{:016x}", fnv_1a(&text))
    }
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, fold)
}

/// The place of another file, if there is one.
pub(super) fn origin(other: Option<&dyn ReadAt>) -> Result<Option<Origin>, Error> {
    other.map(|other| other.origin().ok_or(Error::NoOrigin)).transpose()
}

impl PieceData {
    /// A piece of data that begins at byte `first` of the file.
    fn of_bytes(first: usize, cut: &scan::Cut) -> Self {
        let at = cut.start as u64;
        let start = first as u64 + at;
        Self::Bytes { start, end: start + cut.length as u64, at }
    }
}

fn extent(tensor: &Tensor, kind: ByteKind) -> u64 {
    match &tensor.data {
        _ if !tensor.is_scanned() && !kind.is_wanted() => 0,
        data => data.length() as u64,
    }
}

impl Piece {
    /// The path or URL of the file to read.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file.location
    }

    /// The tensor or checksum in the plan that this piece belongs to.
    #[must_use]
    pub fn of(&self) -> Target {
        self.of
    }

    /// The bytes of the file to look at. None for data that is decoded: its check reads the bytes
    /// that the reader of the format needs.
    #[must_use]
    pub fn range(&self) -> Option<std::ops::Range<u64>> {
        match self.place {
            PieceData::Bytes { start, end, .. } => Some(start..end),
            PieceData::Read { .. } => None,
        }
    }

    /// Bytes to look at: bytes of numbers, or bytes of a checksummed part.
    #[must_use]
    pub fn length(&self) -> u64 {
        match self.place {
            PieceData::Bytes { start, end, .. } => end.saturating_sub(start),
            PieceData::Read { length, .. } => length,
        }
    }

    /// Splits the piece in two. The first has at most `most` bytes, and at least one element or
    /// block. The second is none if no bytes are left for it, or if the data is decoded.
    #[must_use]
    pub fn split(self, most: u64) -> (Self, Option<Self>) {
        let unit = self.content.as_ref().map_or(1, |content| content.unit() as u64).max(1);
        let PieceData::Bytes { start, end, at } = self.place else { return (self, None) };
        let middle = start.saturating_add((most / unit).max(1).saturating_mul(unit));
        if middle >= end {
            return (self, None);
        }
        let first = PieceData::Bytes { start, end: middle, at };
        let at = at.saturating_add(middle - start);
        let second = PieceData::Bytes { start: middle, end, at };
        (Self { place: first, ..self.clone() }, Some(Self { place: second, ..self }))
    }
}

#[cfg(test)]
mod tests {
    use super::fnv_1a;

    /// Values of the draft of an RFC: draft-eastlake-fnv.
    #[test]
    fn hashes() {
        assert_eq!(fnv_1a(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xAF63_DC4C_8601_EC8C);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_F739_67E8);
    }
}
