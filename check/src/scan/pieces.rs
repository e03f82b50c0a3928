//! Looking at the data of a file: tensors are cut into pieces, and threads take piece after piece.

use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::scanner::Scanner;
use super::tally::Tally;
use crate::model::{Column, Content, Data, Error, Tensor};
use crate::options::Options;

/// Bytes of a piece, at most. Large enough that taking one costs nothing, small enough that threads
/// end together.
const PIECE: usize = 4 << 20;

/// Looks at all tensors, and returns a tally for each.
///
/// # Errors
/// [`Error`] if data cannot be decoded, or if the observer asked to stop.
pub(crate) fn scan(
    input: &[u8],
    tensors: &[Tensor],
    options: &Options,
) -> Result<Vec<Tally>, Error> {
    let work = Work::new(input, tensors, options);
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

/// Consecutive bytes of a tensor that one thread looks at.
struct Piece {
    tensor: usize,
    /// The place of the first byte in the tensor; for a column, the number of the part. A piece has
    /// at most [`PIECE`] bytes, except for decoded data, which is one piece.
    start: usize,
    length: usize,
}

struct Work<'a> {
    input: &'a [u8],
    tensors: &'a [Tensor],
    options: &'a Options,
    pieces: Vec<Piece>,
    next: AtomicUsize,
    stopped: AtomicBool,
    tallies: Vec<Mutex<Tally>>,
    /// The error of the first tensor that has one.
    failure: Mutex<Option<(usize, Error)>>,
}

impl<'a> Work<'a> {
    fn new(input: &'a [u8], tensors: &'a [Tensor], options: &'a Options) -> Self {
        let mut pieces = Vec::new();
        for (index, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| tensor.is_scanned())
        {
            if let Data::Column(column) = &tensor.data {
                let parts = column.parts().into_iter().enumerate();
                pieces.extend(parts.map(|(start, length)| Piece { tensor: index, start, length }));
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
            let starts = (0..length).step_by(step);
            pieces.extend(starts.map(|start| Piece {
                tensor: index,
                start,
                length: step.min(length - start),
            }));
        }
        Self {
            input,
            tensors,
            options,
            pieces,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            tallies: tensors.iter().map(|_| Mutex::default()).collect(),
            failure: Mutex::new(None),
        }
    }

    /// Takes pieces until there is none left.
    fn run(&self) {
        let mut scanner = Scanner::new(self.options.stats);
        while !self.stopped.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = self.pieces.get(index) else { break };
            let tensor = &self.tensors[piece.tensor];
            match self.look(piece, tensor, &mut scanner) {
                Ok(tally) => lock(&self.tallies[piece.tensor]).merge(tally),
                Err(error) => {
                    self.stopped.store(true, Ordering::Relaxed);
                    self.fail(piece.tensor, error);
                }
            }
        }
    }

    fn look(&self, piece: &Piece, tensor: &Tensor, scanner: &mut Scanner) -> Result<Tally, Error> {
        let range = piece.start..piece.start.saturating_add(piece.length);
        let bytes = match &tensor.data {
            Data::Column(column) => return self.column(column.as_ref(), piece, tensor, scanner),
            Data::Input(whole) => &self.input[whole.clone()][range],
            Data::Other { source, range: whole } => &source.bytes()[whole.clone()][range],
            Data::Owned(bytes) => &bytes[range],
            Data::Decoded(decode) => {
                let failed = |error| Error::Decode { tensor: tensor.label(), error };
                let mut stream = decode.open(self.input).map_err(failed)?;
                let tally = scanner.stream(&mut stream, piece.length, tensor, self.options)?;
                // Some decoders verify a checksum at their end.
                return match stream.read(&mut [0]).map_err(failed)? {
                    0 => Ok(tally),
                    _ => Err(failed(io::Error::other("more data than its shape says"))),
                };
            }
        };
        let mut tally = Tally::default();
        scanner.bytes(bytes, &tensor.content, piece.start / tensor.unit(), &mut tally)?;
        self.options.advance(bytes.len())?;
        Ok(tally)
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
        let mut tally = Tally::default();
        let shown = scanner.shown(format, order, piece.length, &mut tally, self.options, |see| {
            column.show(self.input, piece.start, see)
        });
        shown.map_err(|error| error.of(|| tensor.label()))?;
        Ok(tally)
    }

    fn fail(&self, tensor: usize, error: Error) {
        let mut failure = lock(&self.failure);
        if failure.as_ref().is_none_or(|(first, _)| tensor < *first) {
            *failure = Some((tensor, error));
        }
    }

    fn finish(self) -> Result<Vec<Tally>, Error> {
        match self.failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            Some((_, error)) => Err(error),
            None => Ok(self.tallies.into_iter().map(|tally| *lock(&tally)).collect()),
        }
    }
}

/// Looks at a tensor, piece after piece in their order, with this scanner only.
///
/// # Errors
/// As [`scan`].
pub(super) fn scan_in_order(
    input: &[u8],
    tensor: &Tensor,
    scanner: &mut Scanner,
    options: &Options,
) -> Result<(), Error> {
    let work = Work::new(input, std::slice::from_ref(tensor), options);
    work.pieces.iter().try_for_each(|piece| work.look(piece, tensor, scanner).map(drop))
}

/// Ignores poison: if a thread panics, the scope passes the panic on, and no result is used.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
