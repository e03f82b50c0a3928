//! Looking at the data of a file: tensors are cut into pieces, and threads take piece after piece.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::scanner::Scanner;
use super::tally::Tally;
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
    let work = Work::new(source, tensors, options);
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
    source: &'a dyn ReadAt,
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
    fn new(source: &'a dyn ReadAt, tensors: &'a [Tensor], options: &'a Options) -> Self {
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
            source,
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
                match stream.read(&mut [0]).map_err(failed)? {
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

/// Ignores poison: if a thread panics, the scope passes the panic on, and no result is used.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
