//! The scanner of a thread: its buffers, and its tally of bytes.

use std::io::{self, Read};
use std::ops::Range;

use crc32fast::Hasher;
use nonfinite::Format;

use super::action::Action;
use super::byte_tally::{ByteKind, ByteTally};
use super::tally::Tally;
use crate::model::ranges::{ReadAhead, Stream, at_most, read};
use crate::model::{Blocks, ByteOrder, Content, Error, ReadAt, span, swap_bytes};
use crate::options::{Asked, Options};

/// Bytes that are prepared (decoded, swapped, gathered) at a time. This many stay in a near cache.
pub(super) const CHUNK: usize = 64 << 10;

/// Whole units of a tensor.
#[derive(Clone, Copy)]
pub(super) struct Units<'a> {
    /// The name of the tensor, for messages.
    pub(super) name: &'a str,
    pub(super) content: &'a Content,
    /// The index of the first unit in the tensor.
    pub(super) first: u64,
}

/// The buffers of a thread.
pub(super) struct Scanner {
    action: Action,
    /// What the bytes of the piece are to lint, and the place of the tensor in the file.
    pub(super) of_lint: (ByteKind, Option<u64>),
    /// The tally of the bytes of the piece, for lint.
    bytes: ByteTally,
    /// Bytes of a stream.
    buffer: Vec<u8>,
    /// Scales of blocks, or numbers in the byte order of the machine.
    numbers: Vec<u8>,
}

impl Scanner {
    /// A scanner that counts, and answers what is asked about finite numbers.
    pub(super) fn new(asked: Asked) -> Self {
        Self::with(Action::Count(asked))
    }

    /// Counts from now on, and answers this.
    pub(super) fn count(&mut self, asked: Asked) {
        self.action = Action::Count(asked);
    }

    /// A scanner for this action.
    pub(super) fn with(action: Action) -> Self {
        let (of_lint, bytes, buffer, numbers) = Default::default();
        Self { action, of_lint, bytes, buffer, numbers }
    }

    /// The action.
    pub(super) fn action(&mut self) -> &mut Action {
        &mut self.action
    }

    /// The action, with the places that were marked.
    pub(super) fn into_action(self) -> Action {
        self.action
    }

    /// The tally of the bytes since the last call.
    pub(super) fn take_byte_tally(&mut self) -> Option<Box<ByteTally>> {
        self.bytes.was_seen.then(|| Box::new(std::mem::take(&mut self.bytes)))
    }

    /// Scans whole units. `unit` is the index of the first one in the tensor.
    fn bytes(
        &mut self,
        bytes: &[u8],
        content: &Content,
        unit: u64,
        tally: &mut Tally,
    ) -> Result<(), nonfinite::Error> {
        let (kind, offset) = self.of_lint;
        self.bytes.add(kind, content, offset, unit * content.unit() as u64, bytes);
        match *content {
            Content::Floats { format, parts, order } => {
                self.floats(bytes, format, order, unit * parts as u64, tally)
            }
            Content::Blocks { blocks, order } => self.blocks(bytes, blocks, order, unit, tally),
            Content::AlwaysFinite
            | Content::NotFloat
            | Content::Unreadable(_)
            | Content::Damaged(_) => Ok(()),
        }
    }

    fn floats(
        &mut self,
        bytes: &[u8],
        format: Format,
        order: ByteOrder,
        start: u64,
        tally: &mut Tally,
    ) -> Result<(), nonfinite::Error> {
        let size = format.size_in_bytes();
        if order == ByteOrder::NATIVE || size == 1 {
            return self.action.numbers(tally, bytes, format, start);
        }
        for (chunk, bytes) in bytes.chunks(CHUNK).enumerate() {
            self.numbers.clear();
            self.numbers.extend_from_slice(bytes);
            swap_bytes(&mut self.numbers, size);
            let start = start + (chunk * (CHUNK / size)) as u64;
            self.action.numbers(tally, &self.numbers, format, start)?;
        }
        Ok(())
    }

    fn blocks(
        &mut self,
        bytes: &[u8],
        blocks: &Blocks,
        order: ByteOrder,
        first: u64,
        tally: &mut Tally,
    ) -> Result<(), nonfinite::Error> {
        let size = blocks.format.size_in_bytes();
        let per_block = blocks.scales.count();
        let step = (CHUNK / blocks.bytes).max(1);
        self.numbers.resize(step * per_block * size, 0);
        let may_skip = !self.action.needs_finite() && order == ByteOrder::NATIVE;
        for (chunk, bytes) in bytes.chunks(step * blocks.bytes).enumerate() {
            // Statistics need all scales, and the quick search needs the byte order of the machine.
            if may_skip && !blocks.may_have_hit(bytes) {
                continue;
            }
            let length = blocks.gather(bytes, &mut self.numbers);
            let scales = &mut self.numbers[..length];
            if order != ByteOrder::NATIVE {
                swap_bytes(scales, size);
            }
            let first = (first + (chunk * step) as u64) * per_block as u64;
            self.action.numbers(tally, scales, blocks.format, first)?;
        }
        Ok(())
    }

    /// Scans the next `length` bytes of a stream, at most `most` of them at a time, unless a unit
    /// is longer.
    pub(super) fn stream(
        &mut self,
        stream: &mut dyn Read,
        length: u64,
        most: usize,
        Units { name, content, first }: Units<'_>,
        options: &Options,
    ) -> Result<Tally, Error> {
        let unit = content.unit();
        let step = (most / unit).max(1) * unit;
        let mut tally = Tally::default();
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(at_most(step, length).max(buffer.len()), 0);
        let mut done = 0;
        while done < length {
            let chunk = &mut buffer[..at_most(step, length - done)];
            let missing = length - done;
            fill(stream, chunk, missing)
                .map_err(|error| Error::of_read(error, || name.to_owned()))?;
            self.bytes(chunk, content, first + done / unit as u64, &mut tally)?;
            done += chunk.len() as u64;
            options.advance(chunk.len() as u64)?;
        }
        self.buffer = buffer;
        Ok(tally)
    }

    /// Scans a range of a file.
    pub(super) fn source(
        &mut self,
        source: &dyn ReadAt,
        range: Range<u64>,
        of: Units<'_>,
        options: &Options,
    ) -> Result<Tally, Error> {
        if source.in_memory().is_none() {
            let (length, step) = (span(&range), source.reads().step);
            let mut stream = Stream::new(ReadAhead::new(source), range);
            return self.stream(&mut stream, length, step, of, options);
        }
        let mut tally = Tally::default();
        let bytes = read(source, range).map_err(Error::Io)?;
        self.bytes(&bytes, of.content, of.first, &mut tally)?;
        options.advance(bytes.len() as u64)?;
        Ok(tally)
    }

    /// The checksum of a range of a file. Reports no progress: the bytes count as progress when the
    /// tensors are scanned.
    pub(super) fn checksum(
        &mut self,
        source: &dyn ReadAt,
        range: Range<u64>,
        name: &str,
        options: &Options,
    ) -> Result<Hasher, Error> {
        let mut hasher = Hasher::new();
        if source.in_memory().is_some() {
            hasher.update(&read(source, range).map_err(Error::Io)?);
            options.advance(0)?;
            return Ok(hasher);
        }
        let step = at_most(source.reads().step, span(&range)).max(1);
        self.buffer.resize(step.max(self.buffer.len()), 0);
        for start in range.clone().step_by(step) {
            let chunk = &mut self.buffer[..at_most(step, range.end - start)];
            source
                .read_exact_at(chunk, start)
                .map_err(|error| Error::of_read(error, || name.to_owned()))?;
            hasher.update(chunk);
            options.advance(0)?;
        }
        Ok(hasher)
    }
}

/// Fills a chunk with the next bytes of data. `left` is the number of bytes that are still to come.
fn fill(stream: &mut dyn Read, chunk: &mut [u8], left: u64) -> io::Result<()> {
    let mut filled = 0;
    while filled < chunk.len() {
        match stream.read(&mut chunk[filled..]) {
            Ok(0) => return Err(ends_early(left - filled as u64)),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The error of data that ends this many bytes too early.
pub(super) fn ends_early(missing: u64) -> io::Error {
    let bytes = if missing == 1 { "byte of it is" } else { "bytes of it are" };
    let why = format!("the data ends too early: {missing} {bytes} missing");
    io::Error::new(io::ErrorKind::UnexpectedEof, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(content: &Content, first: u64) -> Units<'_> {
        Units { name: "", content, first }
    }

    fn f32s() -> Content {
        Content::Floats { format: Format::F32, parts: 1, order: ByteOrder::NATIVE }
    }

    /// A stream that gives a few bytes at a time, and is interrupted before each.
    struct Interrupted<'a> {
        rest: &'a [u8],
        is_next: bool,
    }

    impl Read for Interrupted<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.is_next = !self.is_next;
            if self.is_next {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = out.len().min(1000);
            self.rest.read(&mut out[..count])
        }
    }

    /// A stream that ends early says how many bytes are missing, of all that should come.
    #[test]
    fn streams_that_end_early() {
        let length = 2 * CHUNK + 40;
        let scan = |there: usize| {
            let bytes = vec![0; there];
            let options = Options::default();
            let mut stream = Interrupted { rest: &bytes, is_next: false };
            let mut scanner = Scanner::new(options.asked());
            scanner.stream(&mut stream, length as u64, CHUNK, units(&f32s(), 0), &options)
        };
        scan(length).expect("all is there");
        for missing in [1, 2, 41, CHUNK, CHUNK + 40, CHUNK + 41, length - 1, length] {
            let Err(Error::Decode { error, .. }) = scan(length - missing) else {
                panic!("{missing} bytes are missing")
            };
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            let bytes = if missing == 1 { "byte of it is" } else { "bytes of it are" };
            let expected = format!("the data ends too early: {missing} {bytes} missing");
            assert_eq!(error.to_string(), expected);
        }
    }
}
