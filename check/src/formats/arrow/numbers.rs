//! The numbers of a batch, in place or from a stream.

use std::io;
use std::ops::Range;

use super::compression::Opened;
use crate::model::{Error, ShowError};

/// Bytes that are decompressed at a time.
const CHUNK: usize = 64 << 10;
/// Bytes that are shown at a time in place. The pieces are short so that the caller can stop.
const PIECE: usize = 4 << 20;

/// Sees a run of numbers. The second argument is the index of the first one in the leaf.
pub(super) type SeeFrom<'a> = dyn FnMut(&[u8], usize) -> Result<(), Error> + 'a;

/// The numbers of a batch.
pub(super) struct Numbers<'a> {
    opened: Opened<'a>,
    size: usize,
    /// The index of the next number of the stream.
    at: usize,
    buffer: Vec<u8>,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(opened: Opened<'a>, size: usize) -> Self {
        Self { opened, size, at: 0, buffer: Vec::new() }
    }

    /// Shows a run of numbers in pieces, each with the index of its first number. A run must begin
    /// behind the last one.
    pub(super) fn show(
        &mut self,
        run: Range<usize>,
        see: &mut SeeFrom<'_>,
    ) -> Result<(), ShowError> {
        let end = || io::Error::from(io::ErrorKind::UnexpectedEof);
        match &mut self.opened {
            Opened::Here(bytes) => {
                let start = run.start.checked_mul(self.size).ok_or_else(end)?;
                let stop = run.end.checked_mul(self.size).ok_or_else(end)?;
                let pieces = bytes.get(start..stop).ok_or_else(end)?.chunks(PIECE);
                let firsts = run.step_by(PIECE / self.size);
                pieces
                    .zip(firsts)
                    .try_for_each(|(piece, first)| see(piece, first))
                    .map_err(ShowError::Seen)
            }
            Opened::Stream(stream) => {
                if run.start < self.at {
                    return Err(end().into());
                }
                self.buffer.resize(CHUNK, 0);
                while self.at < run.end {
                    // Bytes between the runs are decompressed too. `see` gets an empty run for
                    // them, so that the caller can stop.
                    let skipped = self.at < run.start;
                    let stop = if skipped { run.start } else { run.end };
                    let count = (CHUNK / self.size).min(stop - self.at);
                    let bytes = &mut self.buffer[..count * self.size];
                    stream.read_exact(bytes)?;
                    see(if skipped { &[] } else { bytes }, self.at).map_err(ShowError::Seen)?;
                    self.at += count;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// A reader that returns a few bytes at a time.
    fn numbers(count: usize) -> Numbers<'static> {
        let stream = io::repeat(1).take(count as u64 * 4);
        Numbers::new(Opened::Stream(Box::new(stream)), 4)
    }

    #[test]
    fn gaps_are_shown_as_nothing() {
        let far = 10 * CHUNK;
        let (mut nothing, mut seen) = (0, Vec::new());
        let shown = numbers(far + 2).show(far..far + 2, &mut |bytes, first| {
            match bytes {
                [] => nothing += 1,
                _ => seen.push((bytes.to_vec(), first)),
            }
            Ok(())
        });
        shown.expect("all is there");
        assert_eq!((nothing, seen), (40, vec![(vec![1; 8], far)]));
    }

    /// Numbers in place are shown in pieces, too.
    #[test]
    fn pieces_can_be_stopped() {
        let bytes = vec![7; 2 * PIECE + 48];
        let mut numbers = Numbers::new(Opened::Here(&bytes), 4);
        let mut seen = Vec::new();
        let shown = numbers.show(2..bytes.len() / 4, &mut |bytes, first| {
            seen.push((bytes.len(), first));
            Ok(())
        });
        shown.expect("all is there");
        assert_eq!(seen, [(PIECE, 2), (PIECE, 2 + PIECE / 4), (40, 2 + PIECE / 2)]);
        let mut calls = 0;
        let shown = numbers.show(0..bytes.len() / 4, &mut |_, _| {
            calls += 1;
            Err(Error::Stopped)
        });
        assert!(matches!(shown, Err(ShowError::Seen(Error::Stopped))), "{shown:?}");
        assert_eq!(calls, 1);
    }

    #[test]
    fn gaps_can_be_stopped() {
        let mut calls = 0;
        let shown = numbers(usize::MAX >> 4).show(usize::MAX >> 4..usize::MAX >> 3, &mut |_, _| {
            calls += 1;
            Err(Error::Stopped)
        });
        assert!(matches!(shown, Err(ShowError::Seen(Error::Stopped))), "{shown:?}");
        assert_eq!(calls, 1);
        let shown = numbers(10).show(CHUNK..CHUNK + 1, &mut |_, _| Ok(()));
        assert!(matches!(shown, Err(ShowError::Data(_))), "{shown:?}");
    }
}
