//! The plan: a file in pieces.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Error;
use crate::check::other_files;
use crate::model::reader::Contents;
use crate::model::{Content, Data, FileFormat, FullDescription, ReadAt, Tensor, span};
use crate::options::{Asked, Options};
use crate::scan::{self, ByteKind, Target};

/// A file in pieces: its tensors and checksums, and the pieces to check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub(super) file: String,
    pub(super) format: String,
    pub(super) asked: Asked,
    /// Each tensor, and how many bytes the pieces have to cover. 0 if nothing is scanned.
    pub(super) tensors: Vec<(FullDescription, u64)>,
    pub(super) checksums: Vec<PlannedChecksum>,
    /// [`Report::other_files`](crate::Report::other_files).
    pub(super) other_files: Vec<PathBuf>,
    pieces: Vec<PlannedPiece>,
}

/// A part of the file with a checksum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PlannedChecksum {
    pub(super) name: String,
    /// The file that the part is in, if that is not the file of the plan.
    pub(super) other: Option<Arc<Path>>,
    /// Bytes.
    pub(super) length: u64,
    pub(super) crc: u32,
}

/// A piece of a tensor or of a part of the file with a checksum. Holds everything that
/// [`check_pieces`](super::check_pieces) needs, except the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedPiece {
    pub(super) file: String,
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
    /// part with a checksum.
    Bytes { start: u64, end: u64, at: u64 },
    /// Data from the reader of the format: the bytes `at..at + length` of the tensor.
    Read { format: String, at: u64, length: u64 },
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
        let Contents { tensors, checksums, .. } = contents;
        let planned = checksums.iter().map(|checksum| PlannedChecksum {
            name: checksum.name.to_string(),
            other: checksum.file(),
            length: span(&checksum.range),
            crc: checksum.crc,
        });
        let kind = |index: usize| kinds.get(index).copied().unwrap_or_default();
        let described = tensors.iter().enumerate();
        let described = described
            .map(|(index, tensor)| (FullDescription::of(tensor), extent(tensor, kind(index))));
        let mut plan = Self {
            file: path(source)?,
            format: format.name().to_owned(),
            asked: options.asked(),
            tensors: described.collect(),
            checksums: planned.collect(),
            other_files: other_files(tensors),
            pieces: Vec::new(),
        };
        let split = scan::split(tensors, checksums, kinds, most.get() as u64);
        let pieces = split.iter().map(|piece| {
            let (of, asked) = (piece.of, plan.asked);
            Ok(match of {
                Target::Tensor(index) => {
                    let (tensor, kind) = (&tensors[index], kind(index));
                    let (file, place) = plan.place(tensor, piece)?;
                    let (name, content) = (tensor.label().to_owned(), Some(tensor.content.clone()));
                    PlannedPiece { file, of, name, content, asked, kind, place }
                }
                Target::Checksum(index) => {
                    let checksum = &checksums[index];
                    let file = checksum.other.as_deref().map(path).transpose()?;
                    let file = file.unwrap_or_else(|| plan.file.clone());
                    let place = PieceData::of_bytes(checksum.range.start, piece);
                    let (name, kind) = (checksum.name.to_string(), ByteKind::Other);
                    PlannedPiece { file, of, name, content: None, asked, kind, place }
                }
            })
        });
        plan.pieces = pieces.collect::<Result<_, Error>>()?;
        Ok(plan)
    }

    /// The file of a piece, and its place.
    fn place(&self, tensor: &Tensor, piece: &scan::Piece) -> Result<(String, PieceData), Error> {
        Ok(match &tensor.data {
            Data::Input(range) => (self.file.clone(), PieceData::of_bytes(range.start, piece)),
            Data::Other { source, range } => {
                (path(&**source)?, PieceData::of_bytes(range.start, piece))
            }
            Data::Decoded(_) | Data::Owned(_) => {
                let (format, at, length) = (self.format.clone(), piece.start, piece.length);
                (self.file.clone(), PieceData::Read { format, at, length })
            }
        })
    }

    /// Whether this is the plan of a file with these tensors.
    pub(crate) fn is_of(&self, tensors: &[Tensor]) -> bool {
        FullDescription::are_of(self.tensors.iter().map(|(it, _)| it), tensors)
    }

    /// The path of the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Takes the pieces out of the plan. The plan without them is enough for
    /// [`Linter::merge`](crate::lint::Linter::merge).
    #[must_use]
    pub fn take_pieces(&mut self) -> Vec<PlannedPiece> {
        std::mem::take(&mut self.pieces)
    }
}

/// The path of a file, by which another instance finds it.
fn path(source: &dyn ReadAt) -> Result<String, Error> {
    Ok(source.file().and_then(Path::to_str).ok_or(Error::NoPath)?.to_owned())
}

impl PieceData {
    /// A piece of data that begins at byte `first` of the file.
    fn of_bytes(first: u64, piece: &scan::Piece) -> Self {
        let start = first + piece.start;
        Self::Bytes { start, end: start + piece.length, at: piece.start }
    }
}

fn extent(tensor: &Tensor, kind: ByteKind) -> u64 {
    match &tensor.data {
        _ if !tensor.is_scanned() && !kind.is_wanted() => 0,
        data => data.length(),
    }
}

impl PlannedPiece {
    /// The path of the file to read.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The bytes of the file to read. None for data that is decoded: its check reads the bytes
    /// that the reader of the format needs.
    #[must_use]
    pub fn range(&self) -> Option<std::ops::Range<u64>> {
        match self.place {
            PieceData::Bytes { start, end, .. } => Some(start..end),
            PieceData::Read { .. } => None,
        }
    }

    /// Bytes to check: bytes of numbers, or bytes of a part with a checksum.
    #[must_use]
    pub fn length(&self) -> u64 {
        match self.place {
            PieceData::Bytes { start, end, .. } => end - start,
            PieceData::Read { length, .. } => length,
        }
    }
}
