//! Looking at the data: tensors are cut into pieces, and threads take piece after piece.

use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use nonfinite::{Format, Predicate, TensorView};

use crate::blocks::Blocks;
use crate::selection::Selection;
use crate::tally::Tally;
use crate::tensor::{ByteOrder, Column, Content, Data, Run, See, ShowError, Tensor};
use crate::{Error, Options};

/// Bytes of a piece, at most. Large enough that taking one costs nothing, small enough that threads
/// end together.
const PIECE: usize = 4 << 20;
/// Bytes that are made ready (decoded, turned round, gathered) or looked at twice at a time: they
/// stay in a near cache.
const CHUNK: usize = 64 << 10;

/// What is found in each of the tensors.
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
    /// The first byte of the tensor; the piece ends [`PIECE`] bytes later at the latest, unless
    /// data is decoded, which is one piece. Of a column, the part.
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
                _ => (PIECE / unit).max(1) * unit,
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
                let failed = |error| Error::Decode { tensor: label(tensor), error };
                let mut stream = decode.open(self.input).map_err(failed)?;
                let tally = scanner.stream(&mut stream, piece.length, tensor, self.options)?;
                // What verifies itself does so at its end.
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
        shown.map_err(|error| error.of(|| label(tensor)))?;
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

/// A panic of another thread is passed on when the threads are joined; what it left behind is not
/// used.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(crate) fn label(tensor: &Tensor) -> String {
    tensor.name.clone().unwrap_or_default()
}

/// The buffers of a thread.
pub(crate) struct Scanner {
    stats: bool,
    /// Bytes of a stream.
    buffer: Vec<u8>,
    /// Scales of blocks, or numbers in the byte order of the machine.
    numbers: Vec<u8>,
    selection: Selection,
}

impl Scanner {
    pub(crate) fn new(stats: bool) -> Self {
        Self { stats, buffer: Vec::new(), numbers: Vec::new(), selection: Selection::default() }
    }

    /// Looks at whole units; `unit` is the place of the first of them in the tensor.
    fn bytes(
        &mut self,
        bytes: &[u8],
        content: &Content,
        unit: usize,
        tally: &mut Tally,
    ) -> Result<(), nonfinite::Error> {
        match *content {
            Content::Floats { format, parts, order } => {
                let first = unit * parts;
                self.floats(bytes, format, order, &|index| first + index, tally)
            }
            Content::Blocks { blocks, order } => self.blocks(bytes, blocks, order, unit, tally),
            Content::AlwaysFinite | Content::NotFloat | Content::Unreadable(_) => Ok(()),
        }
    }

    fn floats(
        &mut self,
        bytes: &[u8],
        format: Format,
        order: ByteOrder,
        place: &dyn Fn(usize) -> usize,
        tally: &mut Tally,
    ) -> Result<(), nonfinite::Error> {
        let size = format.size_in_bytes();
        let native = order == ByteOrder::NATIVE || size == 1;
        if native && !self.stats {
            return tally.numbers(bytes, format, place, false);
        }
        for (chunk, bytes) in bytes.chunks(CHUNK).enumerate() {
            let first = chunk * (CHUNK / size);
            let place = |index| place(first + index);
            if native {
                tally.numbers(bytes, format, &place, self.stats)?;
            } else {
                self.numbers.clear();
                self.numbers.extend_from_slice(bytes);
                turn(&mut self.numbers, size);
                tally.numbers(&self.numbers, format, &place, self.stats)?;
            }
        }
        Ok(())
    }

    /// Looks at what is shown of a column: so many bytes of numbers, less those of nulls that are
    /// left out.
    pub(crate) fn shown(
        &mut self,
        format: Format,
        order: ByteOrder,
        length: usize,
        tally: &mut Tally,
        options: &Options,
        show: impl FnOnce(&mut See<'_>) -> Result<(), ShowError>,
    ) -> Result<(), ShowError> {
        let mut seen = 0;
        show(&mut |run| {
            self.run(run, format, order, tally)?;
            seen += run.numbers.len();
            options.advance(run.numbers.len())
        })?;
        // Nulls count for the progress, too.
        options.advance(length.saturating_sub(seen)).map_err(ShowError::Seen)
    }

    /// Looks at a run of a column. Nulls are looked at with all others first, since in most chunks
    /// everything is finite; only where something is not is it asked which of the numbers count.
    fn run(
        &mut self,
        run: Run<'_>,
        format: Format,
        order: ByteOrder,
        tally: &mut Tally,
    ) -> Result<(), nonfinite::Error> {
        let Run { numbers, place, valid: Some(valid) } = run else {
            return self.floats(run.numbers, format, order, run.place, tally);
        };
        let size = format.size_in_bytes();
        let native = order == ByteOrder::NATIVE;
        let screened = native && !self.stats;
        for (chunk, bytes) in numbers.chunks(CHUNK).enumerate() {
            if screened && !TensorView::from_bytes(bytes, format)?.any(Predicate::NonFinite) {
                continue;
            }
            let first = chunk * (CHUNK / size);
            let count = bytes.len() / size;
            self.selection.select(count, |bits| valid(first..first + count, bits));
            if screened {
                self.selection.keep(bytes, format, Predicate::NonFinite)?;
            }
            self.selection.gather(bytes, size, &mut self.numbers);
            if !native {
                turn(&mut self.numbers, size);
            }
            let place = |index| place(first + self.selection.nth(index));
            tally.numbers(&self.numbers, format, &place, self.stats)?;
        }
        Ok(())
    }

    fn blocks(
        &mut self,
        bytes: &[u8],
        blocks: &Blocks,
        order: ByteOrder,
        first: usize,
        tally: &mut Tally,
    ) -> Result<(), nonfinite::Error> {
        let size = blocks.format.size_in_bytes();
        let per_block = blocks.scales.len();
        let step = (CHUNK / blocks.bytes).max(1);
        self.numbers.resize(step * per_block * size, 0);
        for (chunk, bytes) in bytes.chunks(step * blocks.bytes).enumerate() {
            // Numbers of the machine's byte order only; and statistics want all of them.
            if !self.stats && order == ByteOrder::NATIVE && !blocks.may_have_hit(bytes) {
                continue;
            }
            let length = blocks.gather(bytes, &mut self.numbers);
            let scales = &mut self.numbers[..length];
            if order != ByteOrder::NATIVE {
                turn(scales, size);
            }
            let first = (first + chunk * step) * per_block;
            tally.numbers(scales, blocks.format, &|index| first + index, self.stats)?;
        }
        Ok(())
    }

    /// Looks at the next `length` bytes of a stream, the data of a tensor, chunk by chunk.
    pub(crate) fn stream(
        &mut self,
        stream: &mut dyn Read,
        length: usize,
        tensor: &Tensor,
        options: &Options,
    ) -> Result<Tally, Error> {
        let unit = tensor.unit();
        let step = (CHUNK / unit).max(1) * unit;
        let mut tally = Tally::default();
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(step.min(length), 0);
        let mut done = 0;
        while done < length {
            let chunk = &mut buffer[..step.min(length - done)];
            let read = stream.read_exact(chunk);
            read.map_err(|error| Error::Decode { tensor: label(tensor), error })?;
            self.bytes(chunk, &tensor.content, done / unit, &mut tally)?;
            done += chunk.len();
            options.advance(chunk.len())?;
        }
        self.buffer = buffer;
        Ok(tally)
    }
}

/// Turns the bytes of every number round.
pub(crate) fn turn(numbers: &mut [u8], size: usize) {
    match size {
        2 => turn_each::<2>(numbers),
        4 => turn_each::<4>(numbers),
        8 => turn_each::<8>(numbers),
        _ => {}
    }
}

fn turn_each<const SIZE: usize>(numbers: &mut [u8]) {
    numbers.as_chunks_mut::<SIZE>().0.iter_mut().for_each(|number| number.reverse());
}
