//! Ranges of a source: in memory, as a source, as a stream, and read ahead.

use std::borrow::{BorrowMut, Cow};
use std::fmt;
use std::io::{self, BufRead, Read};
use std::marker::PhantomData;
use std::ops::{Deref, Range};

use super::data::span;
use super::source::{ReadAt, Reads, part};

/// The smaller of a length in memory and a length of a file.
pub(crate) fn at_most(most: usize, left: u64) -> usize {
    usize::try_from(left).map_or(most, |left| left.min(most))
}

/// The bytes of a range: borrowed if the source is in memory, and read otherwise.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] if the range is not within the source, and its own errors.
pub(crate) fn read(source: &dyn ReadAt, range: Range<u64>) -> io::Result<Cow<'_, [u8]>> {
    if let Some(bytes) = source.in_memory() {
        let bytes = part(bytes, range).ok_or(io::ErrorKind::UnexpectedEof)?;
        return Ok(Cow::Borrowed(bytes));
    }
    if range.start > range.end || range.end > source.length() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let length = usize::try_from(span(&range)).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    source.read_exact_at(&mut bytes, range.start)?;
    Ok(Cow::Owned(bytes))
}

/// A range of a source, as a source.
#[derive(Clone, Debug)]
pub(crate) struct Part<S>(pub(crate) S, pub(crate) Range<u64>);

impl<S: Deref<Target: ReadAt> + fmt::Debug + Send + Sync> ReadAt for Part<S> {
    fn length(&self) -> u64 {
        span(&self.1)
    }

    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let end = at.checked_add(out.len() as u64).filter(|&end| end <= self.length());
        end.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.0.read_exact_at(out, self.1.start + at)
    }

    fn in_memory(&self) -> Option<&[u8]> {
        part(self.0.in_memory()?, self.1.clone())
    }

    fn reads(&self) -> Reads {
        self.0.reads()
    }
}

/// Reads short ranges, most of them in their order. Begins with short reads, and doubles their
/// length as long as the ranges follow each other. Copies nothing of a source in memory.
pub(crate) struct ReadAhead<'a> {
    pub(crate) source: &'a dyn ReadAt,
    /// The bytes from byte `start` on: all bytes of a source in memory.
    bytes: Cow<'a, [u8]>,
    start: u64,
    /// Bytes of the last read.
    step: u64,
}

impl<'a> ReadAhead<'a> {
    pub(crate) fn new(source: &'a dyn ReadAt) -> Self {
        let bytes = Cow::Borrowed(source.in_memory().unwrap_or_default());
        Self { source, bytes, start: 0, step: 0 }
    }

    /// The end of the bytes that were read.
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// The bytes of a range.
    ///
    /// # Errors
    /// As [`read`].
    #[inline]
    pub(crate) fn get(&mut self, range: Range<u64>) -> io::Result<&[u8]> {
        if range.start < self.start || range.end > self.end() {
            self.read(&range)?;
        }
        let bytes = part(&self.bytes, range.start - self.start..range.end - self.start);
        bytes.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    #[cold]
    fn read(&mut self, range: &Range<u64>) -> io::Result<()> {
        let left = self.source.length().checked_sub(range.start);
        let left = left.filter(|left| span(range) <= *left).ok_or(io::ErrorKind::UnexpectedEof)?;
        let Reads { step, gap, .. } = self.source.reads();
        let follows = (self.start..=self.end().saturating_add(gap)).contains(&range.start);
        // Longer reads would leave a near cache.
        let most = (16 * gap).min(step as u64).max(gap);
        self.step = if follows { (2 * self.step).clamp(gap, most) } else { gap };
        let length = usize::try_from(self.step.max(span(range)).min(left));
        let bytes = self.bytes.to_mut();
        bytes.resize(length.map_err(|_| io::ErrorKind::FileTooLarge)?, 0);
        self.start = range.start;
        self.source.read_exact_at(bytes, range.start).inspect_err(|_| bytes.clear())
    }
}

/// The bytes of a range as a stream. Owns or borrows what reads ahead.
pub(crate) struct Stream<'a, A> {
    ahead: A,
    rest: Range<u64>,
    /// The source outlives the stream.
    of: PhantomData<&'a dyn ReadAt>,
}

impl<'a, A: BorrowMut<ReadAhead<'a>>> Stream<'a, A> {
    pub(crate) fn new(ahead: A, range: Range<u64>) -> Self {
        Self { ahead, rest: range, of: PhantomData }
    }
}

impl<'a, A: BorrowMut<ReadAhead<'a>>> BufRead for Stream<'a, A> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let (Range { start, end }, ahead) = (self.rest.clone(), self.ahead.borrow_mut());
        // At least a byte, and all that was read.
        ahead.get(start..end.min(start + 1))?;
        ahead.get(start..end.min(ahead.end()).max(start))
    }

    fn consume(&mut self, count: usize) {
        self.rest.start += count as u64;
    }
}

impl<'a, A: BorrowMut<ReadAhead<'a>>> Read for Stream<'a, A> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        /// Longer reads pass by what was read ahead.
        const SHORT: usize = 4 << 10;
        let count = at_most(out.len(), span(&self.rest));
        let (at, ahead) = (self.rest.start, self.ahead.borrow_mut());
        let count = if count > SHORT && !(ahead.start..ahead.end()).contains(&at) {
            ahead.source.read_exact_at(&mut out[..count], at)?;
            count
        } else {
            self.fill_buf()?.read(out)?
        };
        self.consume(count);
        Ok(count)
    }
}
