//! What there is to do: a file in pieces.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::description::{Elements, PlannedTensor};
use super::error::Error;
use crate::model::{Data, Description, FileFormat, Origin, ReadAt, Tensor};
use crate::options::Options;
use crate::scan;

/// The form in which plans, pieces and tallies are written. Rises with each change.
pub(super) const FORM: u32 = 1;

/// A file in pieces: what it holds, and what there is to look at.
///
/// Serialise it with serde, in any form that keeps integers of 64 bits, such as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub(super) form: u32,
    pub(super) file: Origin,
    pub(super) format: String,
    pub(super) stats: bool,
    pub(super) tensors: Vec<PlannedTensor>,
    pieces: Vec<Piece>,
}

/// A part of a tensor. Holds all that [`check_piece`](super::check_piece) needs, except the file.
///
/// Serialise it with serde, in any form that keeps integers of 64 bits, such as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    pub(super) form: u32,
    /// Of the plan.
    pub(super) fingerprint: String,
    pub(super) file: Origin,
    /// The index of the tensor in the plan.
    pub(super) tensor: usize,
    /// For messages.
    pub(super) name: String,
    pub(super) content: Elements,
    pub(super) stats: bool,
    pub(super) place: Place,
}

/// Where the data of a piece is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// The bytes from `start` to `end` of the file, which begin at byte `at` of the tensor.
    Bytes { start: u64, end: u64, at: u64 },
    /// What the reader of the format gives: the bytes `at..at + length` of the tensor or, for a
    /// column, part `at`.
    Read { format: String, at: u64, length: u64, is_part: bool },
}

impl Plan {
    /// Cuts the tensors of a file.
    pub(super) fn new(
        source: &dyn ReadAt,
        format: FileFormat,
        tensors: Vec<Tensor>,
        most: NonZeroUsize,
        options: &Options,
    ) -> Result<Self, Error> {
        let cuts = scan::split(&tensors, most.get());
        let places = cuts
            .iter()
            .map(|cut| place(&tensors[cut.tensor], cut, format))
            .collect::<Result<Vec<_>, _>>()?;
        let tensors = tensors
            .into_iter()
            .map(|tensor| {
                let extent = extent(&tensor);
                PlannedTensor::new(Description::from(tensor), extent)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let (file, format) = (source.origin().ok_or(Error::NoOrigin)?, format.name().to_owned());
        let mut plan =
            Self { form: FORM, file, format, stats: options.stats, tensors, pieces: Vec::new() };
        let fingerprint = plan.fingerprint();
        let pieces = cuts.iter().zip(places).map(|(cut, (file, name, content, place))| Piece {
            form: FORM,
            fingerprint: fingerprint.clone(),
            file: file.unwrap_or_else(|| plan.file.clone()),
            tensor: cut.tensor,
            name,
            content,
            stats: plan.stats,
            place,
        });
        let pieces = pieces.collect();
        plan.pieces = pieces;
        Ok(plan)
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

    /// The pieces alone. The plan without them is enough to merge what is found.
    #[must_use]
    pub fn take_pieces(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.pieces)
    }

    /// What tells this plan from others, however it is cut: FNV-1a of all but its pieces.
    pub(super) fn fingerprint(&self) -> String {
        let all = (self.form, &self.file, &self.format, self.stats, &self.tensors);
        // Numbers, texts and lists always have a form in JSON.
        let text = serde_json::to_vec(&all).unwrap_or_default();
        let fold = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        format!("{:016x}", text.iter().fold(0xCBF2_9CE4_8422_2325, fold))
    }
}

/// The file of a piece (none for that of the plan), the name and the content of its tensor, and its
/// place.
type Placed = (Option<Origin>, String, Elements, Place);

fn place(tensor: &Tensor, cut: &scan::Piece, format: FileFormat) -> Result<Placed, Error> {
    let (at, length) = (cut.start as u64, cut.length as u64);
    let bytes = |first: usize| {
        let start = first as u64 + at;
        Place::Bytes { start, end: start + length, at }
    };
    let read = |is_part| Place::Read { format: format.name().to_owned(), at, length, is_part };
    let (file, place) = match &tensor.data {
        Data::Input(range) => (None, bytes(range.start)),
        Data::Other { source, range } => {
            (Some(source.origin().ok_or(Error::NoOrigin)?), bytes(range.start))
        }
        Data::Owned(_) | Data::Decoded(_) => (None, read(false)),
        Data::Column(_) => (None, read(true)),
    };
    Ok((file, tensor.label(), Elements::new(&tensor.content)?, place))
}

fn extent(tensor: &Tensor) -> u64 {
    match &tensor.data {
        _ if !tensor.is_scanned() => 0,
        Data::Column(column) => column.parts().len() as u64,
        Data::Input(_) | Data::Other { .. } | Data::Owned(_) | Data::Decoded(_) => {
            tensor.data.length() as u64
        }
    }
}

impl Piece {
    /// The path or URL of the file to read.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file.location
    }

    /// The index of the tensor in the plan.
    #[must_use]
    pub fn tensor(&self) -> usize {
        self.tensor
    }

    /// The bytes of the file to look at. None for data that is decoded: its check reads whatever
    /// the reader of the format needs.
    #[must_use]
    pub fn range(&self) -> Option<std::ops::Range<u64>> {
        match self.place {
            Place::Bytes { start, end, .. } => Some(start..end),
            Place::Read { .. } => None,
        }
    }

    /// Bytes of numbers to look at.
    #[must_use]
    pub fn length(&self) -> u64 {
        match self.place {
            Place::Bytes { start, end, .. } => end.saturating_sub(start),
            Place::Read { length, .. } => length,
        }
    }

    /// The piece in two: the first has at most so many bytes, and at least one element or block.
    /// The second is none if there is nothing left for it, and if the data is decoded.
    #[must_use]
    pub fn split(self, most: u64) -> (Self, Option<Self>) {
        let unit = self.content.content().map_or(1, |content| content.unit() as u64).max(1);
        match self.place {
            Place::Bytes { start, end, at } if most < end.saturating_sub(start) => {
                let middle = start.saturating_add((most / unit).max(1).saturating_mul(unit));
                if middle >= end {
                    return (self, None);
                }
                let first = Place::Bytes { start, end: middle, at };
                let at = at.saturating_add(middle - start);
                let second = Place::Bytes { start: middle, end, at };
                (Self { place: first, ..self.clone() }, Some(Self { place: second, ..self }))
            }
            Place::Bytes { .. } | Place::Read { .. } => (self, None),
        }
    }

    /// What of the tensor the piece covers: bytes, or parts of a column.
    pub(super) fn covers(&self) -> (u64, u64) {
        match self.place {
            Place::Bytes { start, end, at } => (at, at.saturating_add(end.saturating_sub(start))),
            Place::Read { at, is_part: true, .. } => (at, at.saturating_add(1)),
            Place::Read { at, length, .. } => (at, at.saturating_add(length)),
        }
    }
}
