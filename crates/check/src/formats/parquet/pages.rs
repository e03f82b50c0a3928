//! The pages of a column. The lengths in their headers are verified, and the memory for
//! decompressed data is limited.
//!
//! This replaces `SerializedPageReader` of the crate `parquet`, which allocates the length that a
//! header claims, up to 2 GiB for a page, and decompresses gzip without a limit.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};

use super::thrift::{Thrift, Value};
use crate::containers::decompress;

/// The largest decompressed page. Writers make pages of 1 MiB, or of all rows of a group.
const MAX_PAGE: usize = 256 << 20;
/// The most numbers and nulls in a page of lists. The levels of such a page are all in memory.
const MAX_LISTED: u32 = 16 << 20;

/// How pages are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    None,
    Snappy,
    Gzip,
    Zstd,
    Lz4,
}

fn bad(why: &str) -> ParquetError {
    ParquetError::General(why.to_owned())
}

/// The header of a page. Lengths are in bytes.
#[derive(Default)]
struct Header {
    kind: i64,
    uncompressed: usize,
    compressed: usize,
    values: u32,
    encoding: i64,
    definition: i64,
    repetition: i64,
    nulls: u32,
    rows: u32,
    definition_length: u32,
    repetition_length: u32,
    is_compressed: bool,
}

// Kinds of pages.
const DATA: i64 = 0;
const INDEX: i64 = 1;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

/// The encoding of levels as runs. Without levels, writers put any number there.
const RLE: i64 = 3;

impl Header {
    /// Reads the header at the beginning of the bytes. Returns it and the bytes behind it.
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut thrift = Thrift { rest: bytes };
        let mut header = Self { is_compressed: true, ..Self::default() };
        let (mut uncompressed, mut compressed) = (None, None);
        thrift.fields(&mut |thrift, number, _, value| {
            match (number, value) {
                (1, Value::Number(kind)) => header.kind = kind,
                (2, Value::Number(length)) => uncompressed = usize::try_from(length).ok(),
                (3, Value::Number(length)) => compressed = usize::try_from(length).ok(),
                (5 | 7 | 8, Value::Struct) => {
                    thrift.fields(&mut |_, inner, _, value| {
                        header.set(number, inner, value).map(|()| false)
                    })?;
                    return Some(true);
                }
                _ => {}
            }
            Some(false)
        })?;
        (header.uncompressed, header.compressed) = (uncompressed?, compressed?);
        Some((header, thrift.rest))
    }

    /// A field of the header that holds the header of a page kind: 5 for data pages, 7 for
    /// dictionaries, 8 for data pages of version 2.
    fn set(&mut self, header: i64, field: i64, value: Value) -> Option<()> {
        let small =
            |number: i64| u32::try_from(number).ok().filter(|&number| number <= i32::MAX as u32);
        match (header, field, value) {
            (_, 1, Value::Number(values)) => self.values = small(values)?,
            (5 | 7, 2, Value::Number(encoding)) | (8, 4, Value::Number(encoding)) => {
                self.encoding = encoding
            }
            (5, 3, Value::Number(encoding)) => self.definition = encoding,
            (5, 4, Value::Number(encoding)) => self.repetition = encoding,
            (8, 2, Value::Number(nulls)) => self.nulls = small(nulls)?,
            (8, 3, Value::Number(rows)) => self.rows = small(rows)?,
            (8, 5, Value::Number(length)) => self.definition_length = small(length)?,
            (8, 6, Value::Number(length)) => self.repetition_length = small(length)?,
            (8, 7, Value::Bool(compressed)) => self.is_compressed = compressed,
            _ => {}
        }
        Some(())
    }

    /// Bytes of levels at the beginning of a page of version 2. Levels are never compressed there.
    fn levels(&self) -> usize {
        if self.kind == DATA_V2 {
            self.definition_length as usize + self.repetition_length as usize
        } else {
            0
        }
    }
}

fn encoding(number: i64) -> Result<Encoding> {
    Ok(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return Err(ParquetError::NYI(format!("encoding {number} of floats"))),
    })
}

/// The pages of a column chunk.
pub(super) struct Pages<'a> {
    /// The bytes of the chunk that are not read yet.
    rest: &'a [u8],
    codec: Codec,
    /// Bytes of a number. A dictionary has the length that follows from its header.
    size: usize,
    /// Whether the column may have nulls.
    nulls: bool,
    /// Whether the column may have lists.
    lists: bool,
}

impl<'a> Pages<'a> {
    pub(super) fn new(
        chunk: &'a [u8],
        codec: Codec,
        size: usize,
        (nulls, lists): (bool, bool),
    ) -> Self {
        Self { rest: chunk, codec, size, nulls, lists }
    }

    /// The next header and its data. Skips index pages, as the format allows.
    fn header(&mut self) -> Result<Option<(Header, &'a [u8])>> {
        while !self.rest.is_empty() {
            let (header, behind) =
                Header::read(self.rest).ok_or_else(|| bad("a bad page header"))?;
            let page = behind.split_at_checked(header.compressed);
            let (data, behind) = page.ok_or_else(|| bad("a page that ends behind its column"))?;
            self.rest = behind;
            match header.kind {
                INDEX => {}
                DATA | DICTIONARY | DATA_V2 => return Ok(Some((header, data))),
                _ => return Err(bad("a page of unknown kind")),
            }
        }
        Ok(None)
    }

    fn data(&self, header: &Header, data: &[u8]) -> Result<Bytes> {
        let length = header.uncompressed;
        if length > MAX_PAGE {
            return Err(ParquetError::NYI(format!("a page of {length} bytes")));
        }
        let levels = header.levels();
        let (levels, data) =
            data.split_at_checked(levels).ok_or_else(|| bad("levels longer than their page"))?;
        let length =
            length.checked_sub(levels.len()).ok_or_else(|| bad("levels longer than their page"))?;
        let codec = if header.is_compressed { self.codec } else { Codec::None };
        let mut page = levels.to_vec();
        // The page holds only nulls, so it has no compressed data.
        if length > 0 {
            decompressed(codec, data, length, &mut page)?;
        }
        if page.len() == header.uncompressed {
            Ok(page.into())
        } else {
            Err(bad("a page of another length than it says"))
        }
    }
}

/// Appends the decompressed data, which must have this length, to the page.
fn decompressed(codec: Codec, data: &[u8], length: usize, page: &mut Vec<u8>) -> Result<()> {
    // Reads one byte more than allowed, to detect data that is too long.
    let mut all =
        |stream: &mut dyn Read| stream.take(length as u64 + 1).read_to_end(page).map(drop);
    match codec {
        Codec::None => page.extend_from_slice(data),
        Codec::Gzip => all(&mut flate2::read::MultiGzDecoder::new(data))?,
        Codec::Zstd => all(&mut decompress::zstd(data)?)?,
        // The largest expansion: Snappy makes 64 bytes of 3, and LZ4 makes 255 bytes of 1.
        Codec::Snappy => block(data, length, 22, page, |data, out| {
            snap::raw::Decoder::new().decompress(data, out).ok()
        })?,
        Codec::Lz4 => block(data, length, 255, page, |data, out| {
            lz4_flex::block::decompress_into(data, out).ok()
        })?,
    }
    Ok(())
}

/// Appends the decompressed bytes of a block to a page. An input byte decompresses to at most
/// `expansion` bytes. `decompress` returns how many bytes it wrote.
fn block(
    data: &[u8],
    length: usize,
    expansion: usize,
    page: &mut Vec<u8>,
    decompress: impl FnOnce(&[u8], &mut [u8]) -> Option<usize>,
) -> Result<()> {
    if length > data.len().saturating_mul(expansion).saturating_add(64) {
        return Err(bad("a page of more data than it can hold"));
    }
    let start = page.len();
    page.resize(start + length, 0);
    let done = decompress(data, &mut page[start..]);
    page.truncate(start + done.ok_or_else(|| bad("a page that cannot be decompressed"))?);
    Ok(())
}

impl Pages<'_> {
    /// The next page, and its number of numbers and nulls. The number is 0 for a dictionary.
    pub(super) fn next(&mut self) -> Result<Option<(Page, u32)>> {
        let Some((header, data)) = self.header()? else { return Ok(None) };
        let buf = self.data(&header, data)?;
        let Header { values: num_values, is_compressed, .. } = header;
        if self.lists && header.kind != DICTIONARY && num_values > MAX_LISTED {
            return Err(ParquetError::NYI(format!("a page of {num_values} values in lists")));
        }
        let encoding = encoding(header.encoding)?;
        Ok(Some(match header.kind {
            DICTIONARY => {
                if (num_values as usize)
                    .checked_mul(self.size)
                    .is_none_or(|length| length > buf.len())
                {
                    return Err(bad("a dictionary of more values than it has"));
                }
                (Page::DictionaryPage { buf, num_values, encoding, is_sorted: false }, 0)
            }
            DATA => {
                let levels = [(self.nulls, header.definition), (self.lists, header.repetition)];
                // Packed bits, as old files may have them, begin with the highest bit of a byte.
                // The decoder of `parquet` begins with the lowest, and would take values for nulls.
                if let Some((_, other)) =
                    levels.iter().find(|(is_there, encoding)| *is_there && *encoding != RLE)
                {
                    return Err(ParquetError::NYI(format!("encoding {other} of levels")));
                }
                let page = Page::DataPage {
                    buf,
                    num_values,
                    encoding,
                    def_level_encoding: Encoding::RLE,
                    rep_level_encoding: Encoding::RLE,
                    statistics: None,
                };
                (page, num_values)
            }
            _ => {
                let page = Page::DataPageV2 {
                    buf,
                    num_values,
                    encoding,
                    num_nulls: header.nulls,
                    num_rows: header.rows,
                    def_levels_byte_len: header.definition_length,
                    rep_levels_byte_len: header.repetition_length,
                    is_compressed,
                    statistics: None,
                };
                (page, num_values)
            }
        }))
    }
}

/// Passes one page at a time to the decoders of `parquet`, which need a reader that owns its data.
/// The decoding loop adds the next page when the decoders have used the last one.
#[derive(Clone, Default)]
pub(super) struct Slot(Arc<Mutex<Option<Page>>>);

impl Slot {
    pub(super) fn put(&self, page: Page) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(page);
    }
}

impl Iterator for Slot {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Slot {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).take())
    }

    /// Claims that there is no next page. The decoder then ends the last record of each page, which
    /// is correct here: the caller counts rows by levels, so a row may continue in the next page.
    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.get_next_page().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks go behind the levels that the page begins with. A page cannot claim more memory than
    /// its data can decompress to.
    #[test]
    fn blocks() {
        let data = [7; 1000];
        let snappy = snap::raw::Encoder::new().compress_vec(&data).expect("short data");
        let lz4 = lz4_flex::block::compress(&data);
        for (codec, packed, expansion) in [(Codec::Snappy, snappy, 22), (Codec::Lz4, lz4, 255)] {
            for levels in [&[][..], &[1, 2]] {
                let mut page = levels.to_vec();
                decompressed(codec, &packed, data.len(), &mut page).expect("good data");
                assert_eq!(page, [levels, &data].concat(), "{codec:?}");
            }
            let most = packed.len() * expansion + 64;
            let claim = |length| decompressed(codec, &packed, length, &mut Vec::new());
            assert!(claim(most).is_ok(), "{codec:?}");
            let error = claim(most + 1).expect_err("too much").to_string();
            assert!(error.contains("more data than it can hold"), "{error}");
        }
    }
}
