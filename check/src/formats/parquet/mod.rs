//! Apache Parquet, as parquet-format describes it: every column of floats (FLOAT, DOUBLE, FLOAT16)
//! is a tensor of one element a row, of the name that its path has in the schema.
//!
//! In lists the coordinate is the row, since their lengths vary. Nulls have no bytes in this format
//! and are not looked at. Metadata and encodings are read by the crate `parquet`. It is not meant
//! for hostile files: if it panics, the panic ends here and becomes [`Error::Panic`] or an error of
//! the column (the process must unwind, which is Rust's default, and the message of the panic still
//! goes to standard error). A stack that overflows and an allocation that fails do not unwind but
//! end the process, and so the schema, headers of pages and lengths are read and verified here
//! first. A page is decompressed into no more memory than 256 MiB; each thread has one, and a
//! dictionary. A few bytes can be a page of many equal numbers or nulls: how many are taken is
//! bounded by [`crate::Options::expansion`].
//!
//! On machines of big-endian byte order columns of floats are reported as unreadable: that crate
//! hands FLOAT and DOUBLE over in the order of the file, and there (60.1, in an emulator of s390x)
//! what its writer packs into bits does not come back as it was.

mod column;
mod pages;
mod schema;
mod thrift;

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use ::parquet::basic::{CompressionCodec, Encoding, LogicalType, Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use ::parquet::schema::types::ColumnDescriptor;
use nonfinite::Format;

use self::column::Chunk;
use self::pages::Codec;
use crate::source::Input;
use crate::tensor::{ByteOrder, Content, Data, Layout, Tensor};

/// How a file begins and ends.
pub const MAGIC: &[u8] = super::PARQUET_FILE;
/// The end of a file whose footer is encrypted.
const ENCRYPTED: &[u8] = b"PARE";

/// Why bytes are no Parquet file that can be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file does not begin with [`MAGIC`].
    Magic,
    /// The file does not end with a footer.
    Truncated,
    /// The footer is encrypted.
    Encrypted,
    /// The footer is not what the format has there.
    Metadata(ParquetError),
    /// The crate `parquet` panicked over the footer.
    Panic,
    /// The schema is not what the format has there, or claims more columns than it has.
    Schema,
    /// Groups of the schema are nested too deeply.
    Depth,
    /// A length or an offset is negative or too large.
    Length(&'static str),
    /// Names of columns, with those of the groups they are in, are far longer than the footer.
    Names,
    /// The data of a column lies outside of the file.
    Outside(String),
    /// The columns take more bytes than the file has.
    Overlap,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("not a Parquet file"),
            Self::Truncated => f.write_str("the Parquet file does not end with its footer"),
            Self::Encrypted => f.write_str("the footer of the Parquet file is encrypted"),
            Self::Metadata(error) => write!(f, "bad Parquet footer: {error}"),
            Self::Schema => f.write_str("bad Parquet footer: a schema that is not whole"),
            Self::Depth => f.write_str("bad Parquet footer: groups that are nested too deeply"),
            Self::Panic => f.write_str("bad Parquet footer: its reader gave up"),
            Self::Length(what) => write!(f, "bad Parquet footer: the {what} cannot be"),
            Self::Names => f.write_str("bad Parquet footer: names that are far longer than it"),
            Self::Outside(name) => write!(f, "column {name:?} lies outside of the file"),
            Self::Overlap => f.write_str("bad Parquet footer: columns that overlap"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Metadata(error) => Some(error),
            _ => None,
        }
    }
}

/// The columns of all row groups, in the order of the schema.
///
/// # Errors
/// [`enum@Error`] for anything but a whole file.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Error> {
    let rest = input.bytes.strip_prefix(MAGIC).ok_or(Error::Magic)?;
    if rest.ends_with(ENCRYPTED) {
        return Err(Error::Encrypted);
    }
    let rest = rest.strip_suffix(MAGIC).ok_or(Error::Truncated)?;
    let (rest, length) = rest.split_last_chunk().ok_or(Error::Truncated)?;
    let length = u32::from_le_bytes(*length) as usize;
    let start = rest.len().checked_sub(length).ok_or(Error::Truncated)?;
    // A copy, since another process may write to the map.
    let footer = rest[start..].to_vec();
    schema::verify(&footer)?;
    let metadata =
        unwinding(|| ParquetMetaDataReader::decode_metadata(&footer)).ok_or(Error::Panic)?;
    let metadata = metadata.map_err(Error::Metadata)?;

    let mut used = 0usize;
    let columns = metadata.file_metadata().schema_descr().columns().iter().enumerate();
    columns
        .map(|(index, column)| tensor(&metadata, index, column, input.bytes.len(), &mut used))
        .collect()
}

/// What a function returns, unless it panics.
fn unwinding<T>(function: impl FnOnce() -> T) -> Option<T> {
    panic::catch_unwind(AssertUnwindSafe(function)).ok()
}

fn tensor(
    metadata: &ParquetMetaData,
    index: usize,
    column: &Arc<ColumnDescriptor>,
    file: usize,
    used: &mut usize,
) -> Result<Tensor, Error> {
    let name = column.path().string();
    let format = format(column);
    let (mut chunks, mut rows, mut bytes) = (Vec::new(), 0usize, 0usize);
    let mut unreadable = cfg!(target_endian = "big")
        .then(|| "not supported on machines of big-endian byte order".to_owned());
    for group in metadata.row_groups() {
        let count =
            usize::try_from(group.num_rows()).map_err(|_| Error::Length("number of rows"))?;
        let first = rows;
        let end = rows.checked_add(count).filter(|&rows| rows <= isize::MAX as usize);
        rows = end.ok_or(Error::Length("number of rows"))?;
        let Some(format) = format else { continue };
        let data = group.columns().get(index).ok_or(Error::Length("number of columns"))?;
        let codec = match codec(data) {
            Ok(codec) => codec,
            Err(why) => {
                unreadable = Some(why);
                continue;
            }
        };
        let range = range(data, file).ok_or_else(|| Error::Outside(name.clone()))?;
        // What lies in a file once is looked at once.
        *used = used.saturating_add(range.len());
        let values =
            usize::try_from(data.num_values()).map_err(|_| Error::Length("number of values"))?;
        let length = values.checked_mul(format.size_in_bytes());
        bytes = length
            .and_then(|length| bytes.checked_add(length))
            .ok_or(Error::Length("number of values"))?;
        chunks.push(Chunk { range, codec, first, rows: count, values });
    }
    if *used > file {
        return Err(Error::Overlap);
    }
    if bytes > isize::MAX as usize {
        return Err(Error::Length("number of values"));
    }
    let mut data = Data::Owned(Vec::new());
    let content = match (format, unreadable) {
        (None, _) => Content::NotFloat,
        (Some(_), Some(why)) => Content::Unreadable(why),
        (Some(format), None) => {
            data = Data::Column(Box::new(column::Column::new(Arc::clone(column), format, chunks)));
            Content::Floats { format, parts: 1, order: ByteOrder::NATIVE }
        }
    };
    let dtype = if format == Some(Format::F16) {
        "FLOAT16".to_owned()
    } else {
        column.physical_type().to_string()
    };
    Ok(Tensor {
        name: Some(name),
        file: None,
        dtype,
        shape: vec![rows],
        layout: Layout::RowMajor,
        content,
        data,
    })
}

/// The format of a column of floats.
fn format(column: &ColumnDescriptor) -> Option<Format> {
    match (column.physical_type(), column.logical_type_ref()) {
        (Type::FLOAT, _) => Some(Format::F32),
        (Type::DOUBLE, _) => Some(Format::F64),
        (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) if column.type_length() == 2 => {
            Some(Format::F16)
        }
        _ => None,
    }
}

/// Old files have their levels in it.
#[expect(deprecated, reason = "old files have it")]
const BIT_PACKED: Encoding = Encoding::BIT_PACKED;

/// How a chunk is compressed, or why it cannot be read.
fn codec(chunk: &ColumnChunkMetaData) -> Result<Codec, String> {
    if chunk.file_path().is_some() {
        return Err("its data is in another file".to_owned());
    }
    // The decoder of the others that halves may have allocates whatever a page claims.
    let known = |encoding: &Encoding| {
        let levels = [Encoding::RLE, BIT_PACKED];
        let values = [Encoding::PLAIN, Encoding::PLAIN_DICTIONARY, Encoding::RLE_DICTIONARY];
        levels.contains(encoding)
            || values.contains(encoding)
            || *encoding == Encoding::BYTE_STREAM_SPLIT
    };
    if let Some(other) = chunk.encodings().find(|encoding| !known(encoding)) {
        return Err(format!("encoded by {other}, which is not supported"));
    }
    match chunk.compression_codec() {
        CompressionCodec::UNCOMPRESSED => Ok(Codec::None),
        CompressionCodec::SNAPPY => Ok(Codec::Snappy),
        CompressionCodec::GZIP => Ok(Codec::Gzip),
        CompressionCodec::ZSTD => Ok(Codec::Zstd),
        CompressionCodec::LZ4_RAW => Ok(Codec::Lz4),
        other => Err(format!("compressed by {other:?}, which is not supported")),
    }
}

/// Where a chunk lies in the file: its dictionary, if there is one, and its pages.
fn range(chunk: &ColumnChunkMetaData, file: usize) -> Option<std::ops::Range<usize>> {
    let start = match chunk.dictionary_page_offset() {
        // Some writers say 0 if there is none.
        Some(offset) if offset > 0 => offset.min(chunk.data_page_offset()),
        _ => chunk.data_page_offset(),
    };
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(chunk.compressed_size()).ok()?)?;
    (end <= file).then_some(start..end)
}
