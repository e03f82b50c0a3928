//! Files that are read as a stream, such as standard input or a download.

use std::io::{self, Read};

use nonfinite::Format;

use super::scanner::{Scanner, ends_early};
use super::tally::Tally;
use crate::model::reader::{Columns, Described, End, ReadParts, Stream};
use crate::model::{ByteOrder, Data, Error, FileFormat, See, ShowError, Tensor};
use crate::options::Options;
use crate::raw;

/// Tensors, with a tally for each.
pub(crate) type Scanned = Vec<(Tensor, Tally)>;

/// Reads a stream to its end and looks at its tensors.
///
/// # Errors
/// [`Error`] if the stream is not a whole, valid file of this format, or if the observer asked to
/// stop.
pub(crate) fn scan_stream(
    format: FileFormat,
    how: Stream,
    stream: &mut dyn Read,
    options: &Options,
) -> Result<Scanned, Error> {
    match how {
        Stream::Described(describe) => described(format, describe(stream, None)?, stream, options),
        Stream::InParts(read) => in_parts(read, stream, options),
    }
}

/// Reads a stream in a format whose reader passes on the numbers itself.
fn in_parts(read: ReadParts, stream: &mut dyn Read, options: &Options) -> Result<Scanned, Error> {
    let mut look = Look { options, scanner: Scanner::new(options.asked()), tallies: Vec::new() };
    let mut tensors = read(stream, &mut look)?;
    tensors.iter_mut().for_each(|tensor| raw::apply(tensor, &options.raw, &options.taken_as));
    let mut tallies = look.tallies;
    tallies.resize(tensors.len(), Tally::default());
    Ok(tensors.into_iter().zip(tallies).collect())
}

/// The scan of the columns of a stream.
struct Look<'a> {
    options: &'a Options,
    scanner: Scanner,
    /// The findings, by column.
    tallies: Vec<Tally>,
}

impl Columns for Look<'_> {
    fn announce(&mut self, bytes: usize) {
        if let Some(observer) = &self.options.observer {
            observer.started(bytes as u64);
        }
    }

    fn bound(&self, decoded: u64, read: u64) -> Result<(), Error> {
        self.options.bound(decoded, read)
    }

    fn proceed(&self) -> Result<(), Error> {
        self.options.advance(0)
    }

    fn look(
        &mut self,
        column: usize,
        (format, order): (Format, ByteOrder),
        length: usize,
        show: &mut dyn FnMut(&mut See<'_>) -> Result<(), ShowError>,
    ) -> Result<(), ShowError> {
        if self.tallies.len() <= column {
            self.tallies.resize(column + 1, Tally::default());
        }
        let tally = &mut self.tallies[column];
        self.scanner.shown(format, order, length, tally, self.options, show)
    }
}

/// Looks at the tensors of a stream whose header has been read.
fn described(
    format: FileFormat,
    Described { tensors, header, end }: Described,
    stream: &mut dyn Read,
    options: &Options,
) -> Result<Scanned, Error> {
    if let Some(observer) = &options.observer {
        let tensors = tensors.iter().map(|tensor| tensor.data.length());
        let length = tensors.fold(0, usize::saturating_add);
        let length = match end {
            End::At(end) => end - header,
            End::Padded(_) => length,
        };
        observer.started(length as u64);
    }
    let mut scanner = Scanner::new(options.asked());
    let (mut at, mut scanned) = (header, Vec::new());
    for mut tensor in tensors {
        raw::apply(&mut tensor, &options.raw, &options.taken_as);
        let tally = match &tensor.data {
            Data::Input(range) => {
                let range = range.clone();
                skip(stream, range.start.saturating_sub(at), Some(&tensor), options)?;
                at = at.max(range.end);
                if tensor.is_scanned() {
                    scanner.stream(stream, range.len(), (&tensor, 0), options)?
                } else {
                    skip(stream, range.len(), Some(&tensor), options)?;
                    Tally::default()
                }
            }
            Data::Owned(bytes) => {
                scanner.stream(&mut &bytes[..], bytes.len(), (&tensor, 0), options)?
            }
            Data::Other { .. } | Data::Decoded(_) | Data::Column(_) => {
                return Err(Error::NoStream { format, hint: None });
            }
        };
        scanned.push((tensor, tally));
    }
    match end {
        End::At(end) => {
            skip(stream, end - at, None, options)?;
            match stream.read(&mut [0]).map_err(Error::Io)? {
                0 => Ok(scanned),
                _ => Err(Error::Trailing(end)),
            }
        }
        End::Padded(most) => {
            let rest = io::copy(stream, &mut io::sink()).map_err(Error::Io)?;
            let rest = usize::try_from(rest).unwrap_or(usize::MAX);
            if rest > most {
                let rest = at..at.saturating_add(rest);
                let tensor = Tensor::unreferenced(rest, Tensor::NO_TENSOR);
                scanned.push((tensor, Tally::default()));
            }
            Ok(scanned)
        }
    }
}

/// Skips the bytes before a tensor, or its own bytes, which must be there.
fn skip(
    stream: &mut dyn Read,
    length: usize,
    tensor: Option<&Tensor>,
    options: &Options,
) -> Result<(), Error> {
    let skipped = io::copy(&mut stream.take(length as u64), &mut io::sink()).map_err(Error::Io)?;
    // No more than `length`.
    let missing = length - skipped as usize;
    if missing > 0 {
        let error = ends_early(missing);
        return Err(match tensor {
            Some(tensor) => Error::Decode { tensor: tensor.label(), error },
            None => Error::Io(error),
        });
    }
    options.advance(length)
}
