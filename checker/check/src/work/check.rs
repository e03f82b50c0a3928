//! Checks pieces.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::plan::{PieceData, PlannedPiece};
use super::{Error, Tallies};
use crate::formats::unknown;
use crate::input::contents;
use crate::model::source::open;
use crate::model::{self, Content, Data, FileFormat, ReadAt, Tensor};
use crate::options::Options;
use crate::scan::{self, OpenPiece, Target, TargetTally, Whole, run};
use crate::sync::lock;

/// A file of pieces.
struct File {
    source: Arc<dyn ReadAt>,
    /// If pieces have to be decoded: the tensors, as the reader of the format returns them.
    tensors: Option<Vec<Tensor>>,
}

/// Makes the tallies of pieces. Pieces of the same file share reads. Uses only the threads and the
/// observer of the options: the plan has set the others.
///
/// # Errors
/// [`Error::Check`] if a file cannot be read, if data cannot be decoded, or if the observer asked
/// to stop; [`Error::NotOnce`] if pieces overlap.
pub fn check_pieces(pieces: &[PlannedPiece], options: &Options) -> Result<Tallies, Error> {
    let mut files = BTreeMap::new();
    for piece in pieces {
        let path = Path::new(&piece.file);
        let File { source, tensors } = match files.remove(&*piece.file) {
            Some(file) => file,
            None => File { source: open(path)?, tensors: None },
        };
        let tensors = match (&piece.place, tensors) {
            (PieceData::Read { format, .. }, None) => {
                let format = FileFormat::by_name(format).ok_or_else(unknown)?;
                Some(contents(&*source, path, format, options)?.tensors)
            }
            (_, tensors) => tensors,
        };
        files.insert(&*piece.file, File { source, tensors });
    }
    let inputs: Vec<Data> = pieces.iter().map(input).collect();
    let wholes = pieces.iter().zip(&inputs);
    let wholes = wholes.map(|(piece, input)| whole(piece, &files[&*piece.file], input));
    let wholes = wholes.collect::<Result<Vec<_>, Error>>()?;
    let mut cuts = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let step = files[&*piece.file].source.reads().step as u64;
        cuts.extend(cut(piece, step).map(|cut| (index, cut)));
    }
    let open = |index: usize| {
        let (index, cut) = cuts[index];
        let PlannedPiece { file, name, asked, kind, .. } = &pieces[index];
        let source = &*files[&**file].source;
        OpenPiece { piece: cut, source, name, whole: wholes[index], asked: *asked, kind: *kind }
    };
    let all = Mutex::new(BTreeMap::<Target, TargetTally>::new());
    run(cuts.len(), open, options, |index, tally| {
        let of = pieces[cuts[index].0].of;
        if lock(&all).entry(of).or_default().merge(tally) { Ok(()) } else { Err(Error::NotOnce) }
    })?;
    let all = std::mem::take(&mut *lock(&all));
    Ok(Tallies(all.into_iter().collect()))
}

/// The range of the tensor or checksum that a piece is of, up to the end of the piece. Empty if a
/// reader decodes the piece.
fn input(piece: &PlannedPiece) -> Data {
    match piece.place {
        PieceData::Bytes { start, end, at } => Data::Input(start - at..end),
        PieceData::Read { .. } => Data::Input(0..0),
    }
}

/// What a piece is cut from. `input` is its bytes in the file.
fn whole<'a>(piece: &'a PlannedPiece, file: &'a File, input: &'a Data) -> Result<Whole<'a>, Error> {
    Ok(match (&piece.content, &piece.place, piece.of) {
        (Some(content), PieceData::Read { .. }, Target::Tensor(index)) => {
            let tensor = file.tensors.as_ref().and_then(|tensors| tensors.get(index));
            let tensor = tensor.ok_or_else(|| model::Error::Changed(piece.file.clone()))?;
            Whole::Tensor(content, &tensor.data)
        }
        (Some(content), ..) => Whole::Tensor(content, input),
        (None, PieceData::Bytes { start, at, .. }, _) => Whole::Checksum(None, start - at),
        (None, PieceData::Read { .. }, _) => {
            unreachable!("a checksum is of bytes")
        }
    })
}

/// Cuts a piece into those that are read in one go.
fn cut(piece: &PlannedPiece, step: u64) -> impl Iterator<Item = scan::Piece> {
    let of = piece.of;
    let unit = piece.content.as_ref().map_or(1, Content::unit) as u64;
    let (at, length, step) = match piece.place {
        PieceData::Bytes { start, end, at } => (at, end - start, (step / unit).max(1) * unit),
        PieceData::Read { at, length, .. } => (at, length, u64::MAX),
    };
    let starts = (0..length.max(1).div_ceil(step)).map(move |index| index * step);
    starts.map(move |start| scan::Piece { of, start: at + start, length: step.min(length - start) })
}
