//! Pieces with their open files, which threads take one by one. The check of a file and the check
//! of pieces for the page run here.

use std::io::{self, Read};
use std::ops::Range;
use std::ptr;

use super::byte_tally::{ByteKind, ByteTally};
use super::scanner::{CHUNK, Scanner, Units};
use super::split::Piece;
use super::tally::Tally;
use super::target_tally::{TalliedRange, TargetTally};
use crate::model::{Content, Data, Error, ReadAt};
use crate::options::{Asked, Options};
use crate::sync::for_each;

/// A piece, with the open file that its bytes come from.
#[derive(Clone, Copy)]
pub(crate) struct OpenPiece<'a> {
    pub(crate) piece: Piece,
    /// The file that the tensor or checksum was read from.
    pub(crate) source: &'a dyn ReadAt,
    /// The name of the tensor or of the part with a checksum, for messages.
    pub(crate) name: &'a str,
    pub(crate) whole: Whole<'a>,
    pub(crate) asked: Asked,
    pub(crate) kind: ByteKind,
}

/// What a piece is cut from.
#[derive(Clone, Copy)]
pub(crate) enum Whole<'a> {
    Tensor(&'a Content, &'a Data),
    /// The bytes from this one on in another file, or in the input.
    Checksum(Option<&'a dyn ReadAt>, u64),
}

impl<'a> OpenPiece<'a> {
    /// The file and the range of the bytes. None if they are decoded or in memory already.
    fn bytes(&self) -> Option<(&'a dyn ReadAt, Range<u64>)> {
        let (source, start) = match self.whole {
            Whole::Tensor(_, Data::Input(range)) => (self.source, range.start),
            Whole::Tensor(_, Data::Other { source, range }) => (&**source, range.start),
            Whole::Checksum(other, start) => (other.unwrap_or(self.source), start),
            Whole::Tensor(_, Data::Owned(_) | Data::Decoded(_)) => return None,
        };
        let start = start + self.piece.start;
        Some((source, start..start + self.piece.length))
    }

    /// Scans the piece. `window` is the part of the file that holds its bytes, with the offset
    /// of the part, if it was read before.
    pub(super) fn scan(
        &self,
        window: Option<(&[u8], u64)>,
        scanner: &mut Scanner,
        options: &Options,
    ) -> Result<TargetTally, Error> {
        let read = self.bytes();
        let offset = read.as_ref().map(|(_, range)| range.start - self.piece.start);
        scanner.of_lint = (self.kind, offset);
        let (source, range) = match (&window, &read) {
            (Some((bytes, at)), Some((_, range))) => {
                (bytes as &dyn ReadAt, range.start - at..range.end - at)
            }
            (None, Some((source, range))) => (*source, range.clone()),
            (_, None) => {
                let numbers = self.decoded(scanner, options)?;
                return Ok(self.tally(None, numbers, scanner.take_byte_tally()));
            }
        };
        Ok(match self.whole {
            Whole::Tensor(content, _) => {
                let numbers = scanner.source(source, range, self.units(content), options)?;
                self.tally(None, numbers, scanner.take_byte_tally())
            }
            Whole::Checksum(..) => {
                let sum = scanner.checksum(source, range, self.name, options)?;
                self.tally(Some(sum.finalize()), Tally::default(), None)
            }
        })
    }

    /// The tally of this piece.
    fn tally(
        &self,
        crc: Option<u32>,
        numbers: Tally,
        bytes: Option<Box<ByteTally>>,
    ) -> TargetTally {
        let start = self.piece.start;
        let end = start + self.piece.length;
        TargetTally { ranges: vec![TalliedRange { start, end, crc }], numbers, bytes }
    }

    fn units(&self, content: &'a Content) -> Units<'a> {
        Units { name: self.name, content, first: self.piece.start / content.unit() as u64 }
    }

    /// Scans bytes in memory, or what a decoder gives.
    fn decoded(&self, scanner: &mut Scanner, options: &Options) -> Result<Tally, Error> {
        let Self { piece, source, .. } = self;
        match self.whole {
            Whole::Tensor(content, Data::Owned(bytes)) => {
                let range = piece.start..piece.start + piece.length;
                scanner.source(&&bytes[..], range, self.units(content), options)
            }
            Whole::Tensor(content, Data::Decoded(decode)) => {
                let failed = |error| Error::Decode { tensor: self.name.to_owned(), error };
                let mut stream = decode.open(*source).map_err(failed)?;
                let units = self.units(content);
                let tally = scanner.stream(&mut stream, piece.length, CHUNK, units, options)?;
                // Some decoders verify a checksum at their end.
                match stream.read(&mut [0]).map_err(failed)? {
                    0 => Ok(tally),
                    _ => Err(failed(io::Error::other("more data than its shape says"))),
                }
            }
            // Bytes of a file.
            Whole::Tensor(..) | Whole::Checksum(..) => Ok(Tally::default()),
        }
    }
}

/// Scans `count` pieces with several threads. Bytes that lie close to each other are read together.
/// Shows the tally of each piece to `done`.
///
/// # Errors
/// [`Error`] if data cannot be read or decoded, or if the observer asked to stop; the errors of
/// `done`.
pub(crate) fn run<'a, E: From<Error> + Send>(
    count: usize,
    open: impl Fn(usize) -> OpenPiece<'a> + Sync,
    options: &Options,
    done: impl Fn(usize, TargetTally) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let (groups, at_once) = groups(count, &open);
    let worker = || (Scanner::new(Asked::default()), Vec::new());
    // More threads than cores, if these wait most of the time.
    let threads = options.threads().max(at_once);
    for_each(&groups, threads, worker, |(scanner, buffer), group| {
        let window = window(group, &open, buffer)?;
        for index in group.clone() {
            let piece = open(index);
            scanner.count(piece.asked);
            done(index, piece.scan(window, scanner, options)?)?;
        }
        Ok(())
    })
}

/// The pieces whose bytes are read together, in order, and how many reads should be under way.
fn groups<'a>(count: usize, open: impl Fn(usize) -> OpenPiece<'a>) -> (Vec<Range<usize>>, usize) {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut at_once = 1;
    // The file of the last piece, and the range from the first piece of its group on.
    let mut last: Option<(&dyn ReadAt, Range<u64>)> = None;
    for index in 0..count {
        let read = open(index).bytes();
        let joined = last.zip(read.clone()).and_then(|((source, whole), (other, range))| {
            let reads = source.reads();
            let gap = range.start.checked_sub(whole.end);
            let joins = ptr::addr_eq(source, other)
                && gap.is_some_and(|gap| gap <= reads.gap)
                && range.end - whole.start <= reads.step as u64
                && source.in_memory().is_none();
            joins.then_some((source, whole.start..range.end))
        });
        match (groups.last_mut(), &joined) {
            (Some(group), Some(_)) => group.end = index + 1,
            _ => groups.push(index..index + 1),
        }
        at_once = at_once.max(read.as_ref().map_or(1, |(source, _)| source.reads().at_once));
        last = joined.or(read);
    }
    (groups, at_once)
}

/// Reads the bytes of a group. None if the only piece of the group is read by itself: from memory,
/// or in several steps.
fn window<'a, 'b>(
    group: &Range<usize>,
    open: impl Fn(usize) -> OpenPiece<'a>,
    buffer: &'b mut Vec<u8>,
) -> Result<Option<(&'b [u8], u64)>, Error> {
    let first = open(group.start);
    let bounds = first.bytes().zip(open(group.end - 1).bytes());
    let Some(((source, start), (_, end))) = bounds else { return Ok(None) };
    let length = end.end - start.start;
    if source.in_memory().is_some() || length > source.reads().step as u64 {
        return Ok(None);
    }
    // At most a step.
    buffer.resize(length as usize, 0);
    source
        .read_exact_at(buffer, start.start)
        .map_err(|error| Error::of_read(error, || first.name.to_owned()))?;
    Ok(Some((buffer, start.start)))
}
