//! Checks pieces.

use std::slice;
use std::sync::Mutex;

use super::error::{Error, FORM};
use super::files::{File, Files, contents};
use super::plan::{Piece, Place, origin};
use super::tallies::{Part, Tallies};
use crate::model::{Content, Data, FileFormat, Tensor};
use crate::options::Options;
use crate::raw;
use crate::remote::{IN_FLIGHT, is_url};
use crate::scan::{self, Of, Scanner, Tally, for_each, lock};

/// The most bytes that are read at a time.
const READ: u64 = 8 << 20;

/// The longest gap between two pieces that is read along, to save another read.
const GAP: u64 = 256 << 10;

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
    check_in(&Files::new(options), pieces, options)
}

/// Like [`check_pieces`], with some files already open.
pub(super) fn check_in(
    files: &Files<'_>,
    pieces: &[Piece],
    options: &Options,
) -> Result<Tallies, Error> {
    let mut short = Vec::new();
    for piece in pieces {
        if piece.form != FORM {
            return Err(Error::Form(piece.form));
        }
        // Checked before the piece is split, since it may claim any length.
        let length = files.open(&piece.file)?.source().length() as u64;
        if piece.range().is_some_and(|range| range.start >= range.end || range.end > length) {
            return Err(Error::Invalid("bytes that lie behind the end of the file"));
        }
        let mut rest = Some(piece.clone());
        while let Some(piece) = rest {
            let (first, others) = piece.split(READ);
            short.push(first);
            rest = others;
        }
    }
    let all = Mutex::new(Tallies::default());
    // More threads than cores, since they wait for servers most of the time.
    let is_remote = short.iter().any(|piece| is_url(piece.file()));
    let threads = if is_remote { options.threads().max(IN_FLIGHT) } else { options.threads() };
    for_each(&groups(&short), threads, Vec::new, |buffer, group| {
        for tallies in check_group(group, files, buffer, options)? {
            lock(&all).add(tallies)?;
        }
        Ok::<_, Error>(())
    })?;
    Ok(std::mem::take(&mut *lock(&all)))
}

/// Consecutive pieces that are read together.
fn groups(pieces: &[Piece]) -> Vec<&[Piece]> {
    let (mut groups, mut rest) = (Vec::new(), pieces);
    while let Some(first) = rest.first() {
        let joined = rest.windows(2).take_while(|pair| joins(first, &pair[0], &pair[1])).count();
        let (group, others) = rest.split_at(joined + 1);
        groups.push(group);
        rest = others;
    }
    groups
}

/// Whether a piece is read together with the one before it, in a group that begins with `first`.
fn joins(first: &Piece, before: &Piece, piece: &Piece) -> bool {
    match (first.range(), before.range(), piece.range()) {
        (Some(first_range), Some(before), Some(range)) => {
            let gap = range.start.checked_sub(before.end);
            first.file == piece.file
                && gap.is_some_and(|gap| gap <= GAP)
                && range.end.checked_sub(first_range.start).is_some_and(|length| length <= READ)
        }
        _ => false,
    }
}

/// Looks at a group, with a buffer for its bytes.
fn check_group(
    group: &[Piece],
    files: &Files<'_>,
    buffer: &mut Vec<u8>,
    options: &Options,
) -> Result<Vec<Tallies>, Error> {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return Ok(Vec::new()) };
    let file = files.open(&first.file)?;
    let (Some(start), Some(end)) = (first.range(), last.range()) else {
        return group.iter().map(|piece| decoded(piece, &file, options)).collect();
    };
    let (start, end) = (start.start, end.end);
    // Both ranges lie within the file, so their lengths fit.
    buffer.resize(end.saturating_sub(start) as usize, 0);
    file.source()
        .read_exact_at(buffer, start as usize)
        .map_err(|error| crate::Error::of_read(error, || group[0].name.clone()))?;
    group.iter().map(|piece| in_bytes(piece, start, buffer, options)).collect()
}

/// Looks at a piece in these bytes of the file. `start` is the offset of the first byte.
fn in_bytes(piece: &Piece, start: u64, bytes: &[u8], options: &Options) -> Result<Tallies, Error> {
    let Place::Bytes { start: from, end, at } = piece.place else {
        return Err(Error::Invalid("a piece that is not of bytes"));
    };
    // The group has read these bytes.
    let bytes = &bytes[(from - start) as usize..(end - start) as usize];
    if matches!(piece.of, Of::Checksum(_)) {
        // Reports no progress: the bytes count as progress when the tensors are looked at.
        options.advance(0)?;
        return Ok(found(piece, Some(crc32fast::hash(bytes)), Tally::default()));
    }
    let content = content(piece)?;
    let (unit, at) = (content.unit(), usize::try_from(at).unwrap_or(usize::MAX));
    let is_whole = bytes.len().is_multiple_of(unit) && at.is_multiple_of(unit);
    if !is_whole || at > isize::MAX as usize {
        return Err(Error::Invalid("a piece that is not of whole elements"));
    }
    let mut tally = Tally::default();
    let looked = Scanner::new(piece.asked).bytes(bytes, content, at / unit, &mut tally);
    looked.map_err(crate::Error::Census)?;
    options.advance(bytes.len())?;
    Ok(found(piece, None, tally))
}

fn found(piece: &Piece, crc: Option<u32>, tally: Tally) -> Tallies {
    let (start, end) = piece.covers();
    Tallies::new(&piece.fingerprint, piece.of, Part { start, end, crc }, tally)
}

/// Looks at a piece that the reader of its format has to decode.
fn decoded(piece: &Piece, file: &File, options: &Options) -> Result<Tallies, Error> {
    let Of::Tensor(index) = piece.of else {
        return Err(Error::Invalid("a checksum of what is decoded"));
    };
    let content = content(piece)?;
    let Place::Read { format, at, length, other, .. } = &piece.place else {
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
    let cut = scan::Piece { of: piece.of, start: size(*at), length: size(*length) };
    if !fits(tensor, content, &cut) {
        return Err(Error::Invalid("a piece that does not fit its tensor"));
    }
    let mut scanner = Scanner::new(piece.asked);
    let mut look = |tensor: &Tensor| scan::look(file.source(), &cut, tensor, &mut scanner, options);
    let tally = if tensor.content == *content {
        look(tensor)
    } else {
        // The options of the plan gave the elements this format.
        let raw = contents(file.source(), piece.file(), format, options)?.tensors;
        let raw = raw.into_iter().nth(index);
        let raw = raw.ok_or(Error::Invalid("a tensor that the file does not have"))?;
        look(&Tensor { content: content.clone(), ..raw })
    }?;
    Ok(found(piece, None, tally))
}

/// Whether a piece lies within the tensor that the reader returns.
fn fits(tensor: &Tensor, content: &Content, cut: &scan::Piece) -> bool {
    let is_inside = match &tensor.data {
        Data::Column(column) => column.parts().get(cut.start) == Some(&cut.length),
        data => cut.start.checked_add(cut.length).is_some_and(|end| end <= data.length()),
    };
    is_inside && (tensor.content == *content || raw::fits(tensor, content))
}

/// The content of a piece. It must be one that is looked at.
fn content(piece: &Piece) -> Result<&Content, Error> {
    match &piece.content {
        Some(content @ (Content::Floats { parts: 1..=2, .. } | Content::Blocks { .. })) => {
            Ok(content)
        }
        _ => Err(Error::Invalid("a piece with nothing to look at")),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::work;

    /// Pieces of a file share a read up to its length, across short gaps.
    #[test]
    fn pieces_that_are_read_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.safetensors");
        // Two tensors, and bytes between them that are no floats.
        let lengths = |before: usize, gap: usize, behind: usize| {
            let entry = |name, dtype, shape, start, end| {
                let facts = format!(r#""dtype":"{dtype}","shape":[{shape}]"#);
                format!(r#""{name}":{{{facts},"data_offsets":[{start},{end}]}}"#)
            };
            let (middle, end) = (before + gap, before + gap + behind);
            let entries = [
                entry("a", "F32", before / 4, 0, before),
                entry("b", "U8", gap, before, middle),
                entry("c", "F32", behind / 4, middle, end),
            ];
            let header = format!("{{{}}}", entries.join(","));
            let start = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
            std::fs::write(&path, &start).expect("a file");
            let file = std::fs::File::options().write(true).open(&path).expect("the file");
            file.set_len((start.len() + end) as u64).expect("a longer file");
            let path = path.to_str().expect("text");
            let most = NonZeroUsize::new(1 << 20).expect("not 0");
            let plan = work::plan(path, most, &Options::default()).expect("a plan");
            groups(plan.pieces()).into_iter().map(<[_]>::len).collect::<Vec<_>>()
        };
        let (mega, gap) = (1 << 20, GAP as usize);
        assert_eq!(lengths(20 * mega, 1, 0), [8, 8, 4]);
        assert_eq!(lengths(mega, gap, mega), [2]);
        assert_eq!(lengths(mega, gap + 4, mega), [1, 1]);
    }
}
