//! Looking at the data of a file: tensors are cut into pieces, and threads take piece after piece.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crc32fast::Hasher;

use super::scanner::Scanner;
use super::tally::Tally;
use crate::model::{Checksum, Column, Content, Data, Error, ReadAt, Tensor};
use crate::options::Options;

/// Bytes of a piece, at most. Large enough that taking one costs nothing, small enough that threads
/// end together.
const PIECE: usize = 4 << 20;

/// Bytes that are decoded from a mapped file before the memory of the map is given back. Giving it
/// back walks over the whole map, and other threads then read their pages anew.
const RELEASE: usize = 256 << 20;

/// Looks at all tensors, and returns a tally for each. Verifies the checksums.
///
/// # Errors
/// [`Error`] if data cannot be decoded, if a checksum is wrong, or if the observer asked to stop.
pub(crate) fn scan(
    source: &dyn ReadAt,
    tensors: &[Tensor],
    checksums: &[Checksum],
    options: &Options,
) -> Result<Vec<Tally>, Error> {
    let work = Work::new(source, tensors, checksums, options);
    let threads = options.threads().min(work.pieces.len());
    if threads <= 1 {
        work.run();
    } else {
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| work.run());
            }
            work.run();
        });
    }
    work.finish()
}

/// Consecutive bytes that one thread looks at.
struct Piece {
    of: Of,
    /// The place of the first byte in the tensor or in the part with a checksum; for a column, the
    /// number of the part. A piece has
    /// at most [`PIECE`] bytes, except for decoded data, which is one piece.
    start: usize,
    length: usize,
}

/// What a piece belongs to, by its index.
#[derive(Clone, Copy)]
enum Of {
    Tensor(usize),
    Checksum(usize),
}

struct Work<'a> {
    source: &'a dyn ReadAt,
    tensors: &'a [Tensor],
    checksums: &'a [Checksum],
    options: &'a Options,
    pieces: Vec<Piece>,
    next: AtomicUsize,
    /// Bytes that were decoded since the map was released.
    decoded: AtomicUsize,
    stopped: AtomicBool,
    tallies: Vec<Mutex<Tally>>,
    /// For each part with a checksum, those of its pieces, with the places of the pieces.
    sums: Vec<Mutex<Vec<(usize, Hasher)>>>,
    /// The error of the first tensor that has one.
    failure: Mutex<Option<(usize, Error)>>,
}

impl<'a> Work<'a> {
    fn new(
        source: &'a dyn ReadAt,
        tensors: &'a [Tensor],
        checksums: &'a [Checksum],
        options: &'a Options,
    ) -> Self {
        let mut pieces = Vec::new();
        for (index, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| tensor.is_scanned())
        {
            if let Data::Column(column) = &tensor.data {
                let parts = column.parts().into_iter().enumerate();
                pieces.extend(parts.map(|(start, length)| Piece {
                    of: Of::Tensor(index),
                    start,
                    length,
                }));
                continue;
            }
            let length = tensor.data.length();
            let unit = tensor.unit().max(1);
            let step = match tensor.data {
                Data::Decoded(_) => length.max(1),
                Data::Input(_) | Data::Other { .. } | Data::Owned(_) | Data::Column(_) => {
                    (PIECE / unit).max(1) * unit
                }
            };
            // A decoder without data is asked, too: there may be data that its shape denies.
            let end = if matches!(tensor.data, Data::Decoded(_)) { length.max(1) } else { length };
            let starts = (0..end).step_by(step);
            pieces.extend(starts.map(|start| Piece {
                of: Of::Tensor(index),
                start,
                length: step.min(length - start),
            }));
        }
        for (index, Checksum { range, .. }) in checksums.iter().enumerate() {
            // A part without bytes has a piece, too, since its checksum may be wrong.
            let starts = (0..range.len().max(1)).step_by(PIECE);
            pieces.extend(starts.map(|start| Piece {
                of: Of::Checksum(index),
                start,
                length: PIECE.min(range.len() - start),
            }));
        }
        if !checksums.is_empty() {
            // Numbers and checksums of the same bytes one after the other, while a cache has them.
            pieces.sort_by_key(|piece| place(piece, tensors, checksums));
        }
        Self {
            source,
            tensors,
            checksums,
            options,
            pieces,
            next: AtomicUsize::new(0),
            decoded: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            tallies: tensors.iter().map(|_| Mutex::default()).collect(),
            sums: checksums.iter().map(|_| Mutex::default()).collect(),
            failure: Mutex::new(None),
        }
    }

    /// Takes pieces until there is none left.
    fn run(&self) {
        let mut scanner = Scanner::new(self.options.stats);
        while !self.stopped.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = self.pieces.get(index) else { break };
            let done = match piece.of {
                Of::Tensor(index) => {
                    let tally = self.look(piece, &self.tensors[index], &mut scanner);
                    tally.map(|tally| lock(&self.tallies[index]).merge(tally))
                }
                Of::Checksum(index) => self.sum(piece, index),
            };
            if let Err(error) = done {
                self.stopped.store(true, Ordering::Relaxed);
                self.fail(piece.of, error);
            }
        }
    }

    /// Adds the checksum of a piece. Nothing is compared before those of all pieces are there.
    fn sum(&self, piece: &Piece, index: usize) -> Result<(), Error> {
        let start = self.checksums[index].range.start + piece.start;
        let mut hasher = Hasher::new();
        hasher.update(&self.source.bytes()?[start..start + piece.length]);
        lock(&self.sums[index]).push((piece.start, hasher));
        // No progress, since the bytes of tensors count when they are looked at.
        self.options.advance(0)
    }

    fn look(&self, piece: &Piece, tensor: &Tensor, scanner: &mut Scanner) -> Result<Tally, Error> {
        let first = (tensor, piece.start / tensor.unit());
        let within = |whole: &Range<usize>| {
            let start = whole.start + piece.start;
            start..start + piece.length
        };
        match &tensor.data {
            Data::Column(column) => self.column(column.as_ref(), piece, tensor, scanner),
            Data::Input(whole) => scanner.source(self.source, within(whole), first, self.options),
            Data::Other { source, range: whole } => {
                scanner.source(&**source, within(whole), first, self.options)
            }
            Data::Owned(bytes) => {
                scanner.source(&&bytes[..], within(&(0..bytes.len())), first, self.options)
            }
            Data::Decoded(decode) => {
                let failed = |error| Error::Decode { tensor: tensor.label(), error };
                let mut stream = decode.open(self.source.bytes()?).map_err(failed)?;
                let tally = scanner.stream(&mut stream, piece.length, first, self.options)?;
                // Some decoders verify a checksum at their end.
                let rest = stream.read(&mut [0]).map_err(failed)?;
                self.release(piece.length);
                match rest {
                    0 => Ok(tally),
                    _ => Err(failed(io::Error::other("more data than its shape says"))),
                }
            }
        }
    }

    fn column(
        &self,
        column: &dyn Column,
        piece: &Piece,
        tensor: &Tensor,
        scanner: &mut Scanner,
    ) -> Result<Tally, Error> {
        let Content::Floats { format, order, .. } = tensor.content else {
            return Ok(Tally::default());
        };
        let input = self.source.bytes()?;
        let mut tally = Tally::default();
        let shown = scanner.shown(format, order, piece.length, &mut tally, self.options, |see| {
            column.show(input, piece.start, see)
        });
        shown.map_err(|error| error.of(|| tensor.label()))?;
        self.release(piece.length);
        Ok(tally)
    }

    /// Counts what was decoded from the map, and gives memory back now and then.
    fn release(&self, decoded: usize) {
        let before = self.decoded.fetch_add(decoded, Ordering::Relaxed);
        // The sum may wrap around: then it is released a little earlier or later.
        if before / RELEASE != before.wrapping_add(decoded) / RELEASE {
            self.source.release(0..self.source.length());
        }
    }

    fn fail(&self, of: Of, error: Error) {
        let tensor = match of {
            Of::Tensor(index) => index,
            Of::Checksum(_) => self.tensors.len(),
        };
        let mut failure = lock(&self.failure);
        if failure.as_ref().is_none_or(|(first, _)| tensor < *first) {
            *failure = Some((tensor, error));
        }
    }

    fn finish(self) -> Result<Vec<Tally>, Error> {
        if let Some((_, error)) =
            self.failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
        {
            return Err(error);
        }
        for (Checksum { name, crc, .. }, sums) in self.checksums.iter().zip(&self.sums) {
            let mut sums = std::mem::take(&mut *lock(sums));
            sums.sort_unstable_by_key(|(start, _)| *start);
            let mut whole = Hasher::new();
            sums.iter().for_each(|(_, sum)| whole.combine(sum));
            if whole.finalize() != *crc {
                return Err(Error::Checksum { name: name.clone() });
            }
        }
        Ok(self.tallies.into_iter().map(|tally| *lock(&tally)).collect())
    }
}

/// Looks at a tensor, piece after piece in their order, with this scanner only.
///
/// # Errors
/// As [`scan`].
pub(super) fn scan_in_order(
    source: &dyn ReadAt,
    tensor: &Tensor,
    scanner: &mut Scanner,
    options: &Options,
) -> Result<(), Error> {
    let work = Work::new(source, std::slice::from_ref(tensor), &[], options);
    work.pieces.iter().try_for_each(|piece| work.look(piece, tensor, scanner).map(drop))
}

/// The place of a piece in the file; behind all others if it is not there.
fn place(piece: &Piece, tensors: &[Tensor], checksums: &[Checksum]) -> usize {
    let start = match piece.of {
        Of::Tensor(index) => match &tensors[index].data {
            Data::Input(range) => range.start,
            Data::Other { .. } | Data::Owned(_) | Data::Decoded(_) | Data::Column(_) => {
                return usize::MAX;
            }
        },
        Of::Checksum(index) => checksums[index].range.start,
    };
    start + piece.start
}

/// Ignores poison: if a thread panics, the scope passes the panic on, and no result is used.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ByteOrder, Layout, See, ShowError};

    /// Counts how often all of it was released.
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

    /// A column of nulls, in so many parts of 64 MiB.
    struct Nulls(usize);

    impl Column for Nulls {
        fn parts(&self) -> Vec<usize> {
            vec![64 << 20; self.0]
        }

        fn show(&self, _: &[u8], _: usize, _: &mut See<'_>) -> Result<(), ShowError> {
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
            scan(&map, &[tensor], &[], &Options::default()).expect("nothing is wrong");
            assert_eq!(map.released.into_inner(), expected, "{parts} parts");
        }
    }
}
