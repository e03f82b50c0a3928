//! Looking at the data of a file: tensors are cut into pieces, and threads take piece after piece.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Mutex;

use super::scanner::Scanner;
use super::split::{Piece, split};
use super::tally::Tally;
use super::threads::{for_each, lock};
use crate::model::{Column, Content, Data, Error, ReadAt, Tensor};
use crate::options::Options;

/// Bytes of a piece, at most. Large enough that taking one costs nothing, small enough that threads
/// end together.
const PIECE: usize = 4 << 20;

/// Looks at all tensors, and returns a tally for each.
///
/// # Errors
/// [`Error`] if data cannot be decoded, or if the observer asked to stop.
pub(crate) fn scan(
    source: &dyn ReadAt,
    tensors: &[Tensor],
    options: &Options,
) -> Result<Vec<Tally>, Error> {
    let pieces = split(tensors, PIECE);
    // The system is slow to say how many threads it runs, so small files do not ask.
    let threads = if pieces.len() <= 1 { 1 } else { options.threads() };
    let tallies: Vec<Mutex<Tally>> = tensors.iter().map(|_| Mutex::default()).collect();
    let worker = || Scanner::new(options.stats);
    for_each(&pieces, threads, worker, |scanner, piece| {
        let found = look(source, piece, &tensors[piece.tensor], scanner, options)?;
        lock(&tallies[piece.tensor]).merge(found);
        Ok::<_, Error>(())
    })?;
    Ok(tallies.iter().map(|tally| *lock(tally)).collect())
}

/// Looks at a piece of a tensor. `source` is the file that the tensor was read from.
pub(crate) fn look(
    source: &dyn ReadAt,
    piece: &Piece,
    tensor: &Tensor,
    scanner: &mut Scanner,
    options: &Options,
) -> Result<Tally, Error> {
    let first = (tensor, piece.start / tensor.unit());
    let within = |whole: &Range<usize>| {
        let start = whole.start + piece.start;
        start..start + piece.length
    };
    match &tensor.data {
        Data::Column(column) => look_at_part(source, &**column, piece, tensor, scanner, options),
        Data::Input(whole) => scanner.source(source, within(whole), first, options),
        Data::Other { source, range } => scanner.source(&**source, within(range), first, options),
        Data::Owned(bytes) => {
            scanner.source(&&bytes[..], within(&(0..bytes.len())), first, options)
        }
        Data::Decoded(decode) => {
            let failed = |error| Error::Decode { tensor: tensor.label(), error };
            let mut stream = decode.open(source.bytes()?).map_err(failed)?;
            let tally = scanner.stream(&mut stream, piece.length, first, options)?;
            // Some decoders verify a checksum at their end.
            match stream.read(&mut [0]).map_err(failed)? {
                0 => Ok(tally),
                _ => Err(failed(io::Error::other("more data than its shape says"))),
            }
        }
    }
}

fn look_at_part(
    source: &dyn ReadAt,
    column: &dyn Column,
    piece: &Piece,
    tensor: &Tensor,
    scanner: &mut Scanner,
    options: &Options,
) -> Result<Tally, Error> {
    let Content::Floats { format, order, .. } = tensor.content else {
        return Ok(Tally::default());
    };
    let input = source.bytes()?;
    let mut tally = Tally::default();
    let shown = scanner.shown(format, order, piece.length, &mut tally, options, |see| {
        column.show(input, piece.start, see)
    });
    shown.map_err(|error| error.of(|| tensor.label()))?;
    Ok(tally)
}
