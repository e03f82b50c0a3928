//! Files that come as a stream: standard input, a download.

use std::io::{self, Read};

use crate::formats::{FileFormat, Stream};
use crate::raw;
use crate::report::{Report, TensorReport};
use crate::scan::Scanner;
use crate::tally::Tally;
use crate::tensor::{Data, Tensor};
use crate::{Error, Options};

/// Bytes by which formats are told apart.
const BEGINNING: usize = 16;

/// What is known of a file when its header has been read from a stream.
pub(crate) struct Described {
    /// The tensors, in the order of their data. Ranges are [`Data::Input`], from the begin of the
    /// file on.
    pub(crate) tensors: Vec<Tensor>,
    /// Bytes of the header, all read.
    pub(crate) header: usize,
    /// Where the file ends.
    pub(crate) end: usize,
}

/// Tensors, and what was found in each.
pub(crate) type Scanned = Vec<(Tensor, Tally)>;

/// Checks a file that comes as a stream, with one thread, reading it once and to its end. Memory is
/// that of a header and some chunks of data. With Arrow it is that of the metadata of a batch (up
/// to 256 MiB, as long as they really are) and, while a column is looked at, of what tells its
/// nulls and lists in a batch (up to 256 MiB, decompressed): if that is more, the stream is
/// refused, and the path of the file has to be given.
///
/// # Errors
/// [`Error::NoStream`] for formats that do not tell what data is before it comes; otherwise as
/// [`crate::check_file`].
pub fn check_stream(mut stream: impl Read, options: &Options) -> Result<Report, Error> {
    let mut beginning = Vec::new();
    stream.by_ref().take(BEGINNING as u64).read_to_end(&mut beginning).map_err(Error::Io)?;
    if beginning.is_empty() {
        return Err(Error::Empty);
    }
    let format = crate::detect(&beginning, None)?;
    let mut stream = beginning.chain(stream);
    let tensors = match format.stream()? {
        Stream::Described(describe) => {
            described(format, describe(&mut stream)?, &mut stream, options)?
        }
        #[cfg(feature = "arrow")]
        Stream::InParts(scan) => scan(&mut stream, options)?,
    };
    let report = |(tensor, tally)| TensorReport::new(tensor, &tally, options);
    Ok(Report { format, tensors: tensors.into_iter().map(report).collect() })
}

/// The tensors of a stream whose header has been read, and what is found in them.
fn described(
    format: FileFormat,
    Described { tensors, header, end }: Described,
    stream: &mut dyn Read,
    options: &Options,
) -> Result<Scanned, Error> {
    if let Some(observer) = &options.observer {
        observer.started((end - header) as u64);
    }
    let mut scanner = Scanner::new(options.stats);
    let (mut at, mut scanned) = (header, Vec::new());
    for mut tensor in tensors {
        raw::apply(&mut tensor, &options.raw);
        let Data::Input(range) = &tensor.data else { return Err(Error::NoStream(format)) };
        let range = range.clone();
        skip(stream, range.start.saturating_sub(at), options)?;
        let tally = if tensor.is_scanned() {
            scanner.stream(stream, range.len(), &tensor, options)?
        } else {
            skip(stream, range.len(), options)?;
            Tally::default()
        };
        at = range.end;
        scanned.push((tensor, tally));
    }
    skip(stream, end - at, options)?;
    match stream.read(&mut [0]).map_err(Error::Io)? {
        0 => Ok(scanned),
        _ => Err(Error::Trailing(end)),
    }
}

/// Reads over bytes that must be there.
pub(crate) fn skip(stream: &mut dyn Read, length: usize, options: &Options) -> Result<(), Error> {
    let skipped = io::copy(&mut stream.take(length as u64), &mut io::sink()).map_err(Error::Io)?;
    if skipped < length as u64 {
        return Err(Error::Io(io::ErrorKind::UnexpectedEof.into()));
    }
    options.advance(length)
}
