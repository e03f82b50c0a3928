//! Checks pieces.

use std::slice;
use std::sync::Mutex;

use super::error::{Error, FORM};
use super::files::{File, Files};
use super::plan::{Piece, PieceData, origin};
use super::tallies::Tallies;
use crate::model::{Content, Data, FileFormat, Tensor};
use crate::options::Options;
use crate::scan::{self, Target, Task, Whole, run};
use crate::sync::lock;

/// Looks at a piece. The file must be at the path or URL of the plan, and must not have changed.
///
/// # Errors
/// [`Error::Check`] if the file cannot be read or has changed, or if data cannot be decoded;
/// [`Error::Invalid`] for a piece that does not come from a plan.
pub fn check_piece(piece: &Piece) -> Result<Tallies, Error> {
    check_pieces(slice::from_ref(piece), &Options::default())
}

/// Looks at several pieces. Pieces of the same file share reads. Uses only the threads and the
/// observer of the options: the plan has set the others.
///
/// # Errors
/// The errors of [`check_piece`], and [`Error::Check`] if the observer asked to stop.
pub fn check_pieces(pieces: &[Piece], options: &Options) -> Result<Tallies, Error> {
    let files = Files::new(options);
    let opened = pieces.iter().map(|piece| Ok((files.open(&piece.file)?, input(piece)?)));
    let opened = opened.collect::<Result<Vec<_>, Error>>()?;
    let wholes = pieces.iter().zip(&opened);
    let wholes = wholes.map(|(piece, (file, input))| whole(piece, file, input, options));
    let wholes = wholes.collect::<Result<Vec<_>, Error>>()?;
    let mut cuts = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let step = opened[index].0.source().reads().step;
        cuts.extend(cut(piece, step).map(|cut| (index, cut)));
    }
    let task = |index: usize| {
        let (index, cut) = cuts[index];
        let Piece { name, asked, kind, .. } = &pieces[index];
        let source = opened[index].0.source();
        Task { piece: cut, source, name, whole: wholes[index], asked: *asked, kind: *kind }
    };
    let all = Mutex::new(Tallies::default());
    run(cuts.len(), task, options, |index, found| {
        let piece = &pieces[cuts[index].0];
        lock(&all).add(Tallies::new(&piece.fingerprint, piece.of, found))
    })?;
    Ok(std::mem::take(&mut *lock(&all)))
}

/// The range of the tensor or checksum that a piece is of, up to the end of the piece. Empty if a
/// reader decodes the piece.
fn input(piece: &Piece) -> Result<Data, Error> {
    if piece.form != FORM {
        return Err(Error::Form(piece.form));
    }
    let PieceData::Bytes { start, end, at } = piece.place else { return Ok(Data::Input(0..0)) };
    // A piece may claim anything.
    let size = |size: u64| usize::try_from(size).ok();
    let first = start.checked_sub(at).and_then(size).zip(size(end)).filter(|_| start < end);
    let (first, end) = first.ok_or(Error::Invalid("bytes that do not lie in a file"))?;
    if matches!(piece.of, Target::Tensor(_)) {
        let unit = content(piece)?.unit() as u64;
        if !at.is_multiple_of(unit) || !(end as u64 - start).is_multiple_of(unit) {
            return Err(Error::Invalid("a piece that is not of whole elements"));
        }
    }
    Ok(Data::Input(first..end))
}

/// What a piece is cut from. `input` is its bytes in the file.
fn whole<'a>(
    piece: &'a Piece,
    file: &'a File,
    input: &'a Data,
    options: &Options,
) -> Result<Whole<'a>, Error> {
    let Data::Input(range) = input else { return Err(Error::Invalid("no bytes of a file")) };
    if range.end > file.source().length() {
        return Err(Error::Invalid("bytes that lie behind the end of the file"));
    }
    Ok(match (&piece.place, piece.of) {
        (PieceData::Read { .. }, _) => {
            Whole::Tensor(content(piece)?, decoded(piece, file, options)?)
        }
        (PieceData::Bytes { .. }, Target::Tensor(_)) => Whole::Tensor(content(piece)?, input),
        (PieceData::Bytes { .. }, Target::Checksum(_)) => Whole::Checksum(None, range.start),
    })
}

/// Cuts a piece into those that are read in one go.
fn cut(piece: &Piece, step: usize) -> impl Iterator<Item = scan::Cut> {
    let of = piece.of;
    let unit = piece.content.as_ref().map_or(1, Content::unit);
    let (at, length, step) = match piece.place {
        PieceData::Bytes { start, end, at } => (at, end - start, (step / unit).max(1) * unit),
        PieceData::Read { at, length, .. } => (at, length, usize::MAX),
    };
    // Lengths of bytes lie within a file, and those of decoders were compared.
    let (at, length) = (at as usize, length as usize);
    let starts = (0..length.max(1)).step_by(step);
    starts.map(move |start| scan::Cut { of, start: at + start, length: step.min(length - start) })
}

/// The data of a piece that the reader of its format has to decode.
fn decoded<'a>(piece: &Piece, file: &'a File, options: &Options) -> Result<&'a Data, Error> {
    let Target::Tensor(index) = piece.of else {
        return Err(Error::Invalid("a checksum of what is decoded"));
    };
    let content = content(piece)?;
    let PieceData::Read { format, at, length, other, .. } = &piece.place else {
        return Err(Error::Invalid("a piece that is of bytes"));
    };
    let format =
        FileFormat::by_name(format).ok_or(Error::Invalid("a file format that is not known"))?;
    let tensor = file.tensors(format, piece.file(), options)?.get(index);
    let tensor = tensor.ok_or(Error::Invalid("a tensor that the file does not have"))?;
    let found_in = match &tensor.data {
        Data::Decoded(decode) => origin(decode.other())?,
        _ => None,
    };
    if found_in != *other {
        let changed = other.as_ref().map_or(piece.file(), |other| &other.location);
        return Err(crate::Error::Changed(changed.to_owned()).into());
    }
    let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    let cut = scan::Cut { of: piece.of, start: size(*at), length: size(*length) };
    if !fits(tensor, content, &cut) {
        return Err(Error::Invalid("a piece that does not fit its tensor"));
    }
    Ok(&tensor.data)
}

/// Whether a piece lies within the tensor that the reader returns.
fn fits(tensor: &Tensor, content: &Content, cut: &scan::Cut) -> bool {
    let end = cut.start.checked_add(cut.length);
    // Lint takes scales of one byte as numbers of 8 bits.
    let is_scales = || {
        tensor.content == Content::NotFloat
            && tensor.elements() == tensor.data.length()
            && matches!(content, Content::Floats { format, parts: 1, .. }
                if format.size_in_bytes() == 1)
    };
    end.is_some_and(|end| end <= tensor.data.length())
        && (tensor.content == *content || is_scales())
}

/// The content of a piece. It must be one that is looked at.
fn content(piece: &Piece) -> Result<&Content, Error> {
    match &piece.content {
        Some(content @ (Content::Floats { parts: 1..=2, .. } | Content::Blocks { .. })) => {
            Ok(content)
        }
        Some(content) if !content.is_scanned() && piece.kind.is_wanted() => Ok(content),
        _ => Err(Error::Invalid("a piece with nothing to look at")),
    }
}
