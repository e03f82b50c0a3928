//! Looks at the data of a file: cuts tensors into pieces, and threads take piece after piece.

use std::io::{self, Read};
use std::ops::Range;
use std::slice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crc32fast::Hasher;

use super::scanner::{Scanner, Witness};
use super::split::{Of, Piece, split, wanted};
use super::tally::Tally;
use super::threads::{for_each, lock};
use crate::model::{Checksum, Column, Content, Data, Description, Error, ReadAt, Tensor};
use crate::options::Options;

/// The most bytes of a piece. Large enough to make the cost of taking a piece negligible, small
/// enough that all threads end at about the same time.
const PIECE: usize = 4 << 20;

/// Bytes that are decoded from a mapped file before the memory of the map is given back. Giving it
/// back walks over the whole map, and other threads then have to read their pages again.
const RELEASE: usize = 256 << 20;

/// Looks at all tensors, and returns a tally for each. Verifies the checksums, and returns the
/// damaged parts of other files. Shows the bytes to the witness.
///
/// # Errors
/// [`Error`] if data cannot be decoded, if a checksum of the input is wrong, or if the observer
/// asked to stop.
pub(crate) fn scan(
    source: &dyn ReadAt,
    tensors: &[Tensor],
    checksums: &[Checksum],
    witness: Option<&dyn Witness>,
    options: &Options,
) -> Result<(Vec<Tally>, Vec<Description>), Error> {
    let mut pieces = split(tensors, checksums, PIECE);
    if let Some(witness) = witness {
        pieces.extend(wanted(tensors, PIECE, |index| witness.wants(index)));
    }
    // Decoders of tensors with 0 bytes are run too: their data may be longer than the shape says.
    let is_empty = |tensor: &Tensor| {
        tensor.is_scanned() && matches!(tensor.data, Data::Decoded(_)) && tensor.data.length() == 0
    };
    let empty = tensors.iter().enumerate().filter(|(_, tensor)| is_empty(tensor));
    pieces.extend(empty.map(|(index, _)| Piece { of: Of::Tensor(index), start: 0, length: 0 }));
    if !checksums.is_empty() {
        // In the order of the file, so that numbers and checksums of the same bytes follow each
        // other and the bytes are still in a cache.
        pieces.sort_by_key(|piece| place(piece, tensors, checksums));
    }
    // Bytes that were decoded since the map was released.
    let decoded = AtomicUsize::new(0);
    let tallies: Vec<Mutex<Tally>> = tensors.iter().map(|_| Mutex::default()).collect();
    // For each part with a checksum: the checksums of its pieces, with the places of the pieces.
    let sums: Vec<Mutex<Vec<(usize, Hasher)>>> =
        checksums.iter().map(|_| Mutex::default()).collect();
    let worker = || Scanner::new(options.asked());
    for_each(&pieces, options.threads(), worker, |scanner, piece| match piece.of {
        Of::Tensor(index) => {
            let tensor = &tensors[index];
            scanner.witness = witness.map(|witness| (witness, index));
            let found = look_and_release(source, piece, tensor, scanner, &decoded, options)?;
            lock(&tallies[index]).merge(found);
            Ok(())
        }
        Of::Checksum(index) => {
            let Checksum { other, range, .. } = &checksums[index];
            let start = range.start + piece.start;
            let mut hasher = Hasher::new();
            let source = other.as_deref().unwrap_or(source);
            hasher.update(&source.bytes()?[start..start + piece.length]);
            lock(&sums[index]).push((piece.start, hasher));
            // Reports no progress: the bytes count as progress when the tensors are looked at.
            options.advance(0)
        }
    })?;
    let mut damaged = Vec::new();
    for (checksum, sums) in checksums.iter().zip(&sums) {
        let mut sums = std::mem::take(&mut *lock(sums));
        sums.sort_unstable_by_key(|(start, _)| *start);
        let mut whole = Hasher::new();
        sums.iter().for_each(|(_, sum)| whole.combine(sum));
        damaged.extend(checksum.verify(whole.finalize())?);
    }
    Ok((tallies.into_iter().map(|tally| *lock(&tally)).collect(), damaged))
}

/// Looks at a tensor, piece after piece in order, with this scanner only.
///
/// # Errors
/// As [`scan`].
pub(super) fn scan_in_order(
    source: &dyn ReadAt,
    tensor: &Tensor,
    scanner: &mut Scanner<'_>,
    options: &Options,
) -> Result<(), Error> {
    let decoded = AtomicUsize::new(0);
    split(slice::from_ref(tensor), &[], PIECE).iter().try_for_each(|piece| {
        look_and_release(source, piece, tensor, scanner, &decoded, options).map(drop)
    })
}

/// The offset of a piece in the file. The maximum if the piece is not in the file.
fn place(piece: &Piece, tensors: &[Tensor], checksums: &[Checksum]) -> usize {
    let start = match piece.of {
        Of::Tensor(index) => match &tensors[index].data {
            Data::Input(range) => range.start,
            Data::Other { .. } | Data::Owned(_) | Data::Decoded(_) | Data::Column(_) => {
                return usize::MAX;
            }
        },
        Of::Checksum(index) if checksums[index].other.is_some() => return usize::MAX,
        Of::Checksum(index) => checksums[index].range.start,
    };
    start + piece.start
}

/// Like [`look`]. Also counts the bytes decoded from the map, and gives its memory back from time
/// to time.
fn look_and_release(
    source: &dyn ReadAt,
    piece: &Piece,
    tensor: &Tensor,
    scanner: &mut Scanner<'_>,
    decoded: &AtomicUsize,
    options: &Options,
) -> Result<Tally, Error> {
    let found = look(source, piece, tensor, scanner, options);
    if matches!(tensor.data, Data::Decoded(_) | Data::Column(_)) {
        release(source, decoded, piece.length);
    }
    found
}

/// Counts the bytes decoded from the map, and gives its memory back from time to time.
fn release(source: &dyn ReadAt, all: &AtomicUsize, decoded: usize) {
    let before = all.fetch_add(decoded, Ordering::Relaxed);
    // The sum may wrap around. Then the memory is given back a little earlier or later.
    if before / RELEASE != before.wrapping_add(decoded) / RELEASE {
        source.release(0..source.length());
    }
}

/// Looks at a piece of a tensor. `source` is the file that the tensor was read from.
pub(crate) fn look(
    source: &dyn ReadAt,
    piece: &Piece,
    tensor: &Tensor,
    scanner: &mut Scanner<'_>,
    options: &Options,
) -> Result<Tally, Error> {
    let first = (tensor, piece.start / tensor.unit());
    let within = |whole: &Range<usize>| {
        let start = whole.start + piece.start;
        start..start + piece.length
    };
    match &tensor.data {
        Data::Column(column) => look_at_part(&**column, piece, tensor, scanner, options),
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
    column: &dyn Column,
    piece: &Piece,
    tensor: &Tensor,
    scanner: &mut Scanner<'_>,
    options: &Options,
) -> Result<Tally, Error> {
    let Content::Floats { format, order, .. } = tensor.content else {
        return Ok(Tally::default());
    };
    let mut tally = Tally::default();
    let finite = scanner.needs_finite();
    let shown = scanner.shown(format, order, piece.length, &mut tally, options, |see| {
        column.show(piece.start, finite, see)
    });
    shown.map_err(|error| error.of(|| tensor.label()))?;
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ByteOrder, Layout, See, ShowError};

    /// Counts how often the whole map was released.
    #[derive(Debug, Default)]
    struct Map {
        released: AtomicUsize,
    }

    impl ReadAt for Map {
        fn length(&self) -> usize {
            1000
        }

        fn read_exact_at(&self, _: &mut [u8], _: usize) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn in_memory(&self) -> Option<&[u8]> {
            Some(&[0; 1000])
        }

        fn release(&self, range: Range<usize>) {
            assert_eq!(range, 0..1000);
            self.released.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A column of nulls, in this many parts of 64 MiB.
    struct Nulls(usize);

    impl Column for Nulls {
        fn parts(&self) -> Vec<usize> {
            vec![64 << 20; self.0]
        }

        fn show(&self, _: usize, _: bool, _: &mut See<'_>) -> Result<(), ShowError> {
            Ok(())
        }
    }

    /// A map that is decoded gives its memory back, but not after each part.
    #[test]
    fn maps_are_released() {
        for (parts, expected) in [(3, 0), (4, 1), (7, 1), (8, 2)] {
            let floats = Content::Floats {
                format: nonfinite::Format::F32,
                parts: 1,
                order: ByteOrder::NATIVE,
            };
            let tensor = Tensor {
                name: None,
                file: None,
                dtype: String::new(),
                shape: vec![0],
                layout: Layout::RowMajor,
                content: floats,
                data: Data::Column(Box::new(Nulls(parts))),
            };
            let map = Map::default();
            scan(&map, &[tensor], &[], None, &Options::default()).expect("nothing is wrong");
            assert_eq!(map.released.into_inner(), expected, "{parts} parts");
        }
    }
}
