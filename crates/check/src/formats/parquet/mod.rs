//! Apache Parquet, as parquet-format describes it: every column of floats (FLOAT, DOUBLE, FLOAT16)
//! is a tensor with one element for each row. Its name is its path in the schema.
//!
//! In lists the coordinate is the row, since their lengths vary. Nulls have no bytes in this format
//! and are not looked at. The crate `parquet` reads metadata and encodings; it is not hardened
//! against hostile files. If it panics, the panic becomes an error of the footer or of the column.
//! This requires that panics unwind, which is Rust's default. Stack overflows and failed
//! allocations end the process instead, so this module first verifies the schema, the headers of
//! pages and lengths itself. A decompressed page takes at most 256 MiB of memory. Each thread has
//! one page and one dictionary. A few bytes can decode to a page of many equal numbers or nulls;
//! [`Options::max_bytes`](crate::Options::max_bytes) is the limit.
//!
//! Pages of version 1 whose levels are packed bits (BIT_PACKED, deprecated) are refused: the
//! crate `parquet` reads them in another order of bits than parquet-format says.
//!
//! Columns of floats are unreadable on big-endian machines. There the crate `parquet` returns FLOAT
//! and DOUBLE in the byte order of the file, and bit-packed values change in a round trip (version
//! 60.1, in an emulator of s390x).

mod column;
mod pages;
mod schema;
mod thrift;

use std::fmt;
use std::sync::Arc;

use ::parquet::basic::{CompressionCodec, Encoding, LogicalType, Type};
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use ::parquet::schema::types::ColumnDescriptor;

use self::column::{Chunk, Numbers};
use self::pages::Codec;
use crate::formats::signatures;
use crate::formats::unwinding::unwinding;
use crate::model::reader::{Read, Reader, Refused};
use crate::model::{ByteOrder, Content, Data, FileFormat, Input, Tensor};

impl FileFormat {
    /// Apache Parquet; see [`parquet`](crate::formats::parquet).
    pub const PARQUET: Self = Self::named("parquet");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::PARQUET,
    endings: &[".parquet"],
    begins: signatures::is_parquet,
    read: Read::Whole(|input| Ok(tensors(input)?.into())),
    shards: None,
};

/// How a file begins and ends.
const MAGIC: &[u8] = signatures::PARQUET;
/// The end of a file whose footer is encrypted.
const ENCRYPTED: &[u8] = b"PARE";

fn bad(why: impl fmt::Display) -> Refused {
    format!("bad Parquet footer: {why}").into()
}

fn too_large(what: &str) -> Refused {
    bad(format_args!("the {what} cannot be"))
}

/// The columns of all row groups, in the order of the schema.
fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Refused> {
    const TRUNCATED: &str = "the Parquet file does not end with its footer";
    let rest = input.bytes.strip_prefix(MAGIC).ok_or("not a Parquet file")?;
    if rest.ends_with(ENCRYPTED) {
        return Err("the footer of the Parquet file is encrypted".into());
    }
    let rest = rest.strip_suffix(MAGIC).ok_or(TRUNCATED)?;
    let (rest, length) = rest.split_last_chunk().ok_or(TRUNCATED)?;
    let length = u32::from_le_bytes(*length) as usize;
    let start = rest.len().checked_sub(length).ok_or(TRUNCATED)?;
    // A copy, since another process may write to the map.
    let footer = rest[start..].to_vec();
    schema::verify(&footer)?;
    let metadata = unwinding(|| ParquetMetaDataReader::decode_metadata(&footer));
    let metadata = metadata.ok_or_else(|| bad("its reader gave up"))?.map_err(bad)?;

    let mut used = 0usize;
    let columns = metadata.file_metadata().schema_descr().columns().iter().enumerate();
    let tensors = columns
        .map(|(index, column)| tensor(&metadata, index, column, input.bytes.len(), &mut used));
    tensors.collect()
}

fn tensor(
    metadata: &ParquetMetaData,
    index: usize,
    column: &Arc<ColumnDescriptor>,
    file: usize,
    used: &mut usize,
) -> Result<Tensor, Refused> {
    let name = column.path().string();
    let numbers = numbers(column);
    let format = numbers.map(Numbers::format);
    let (mut chunks, mut rows, mut bytes) = (Vec::new(), 0usize, 0usize);
    let mut unreadable = cfg!(target_endian = "big")
        .then(|| "not supported on machines of big-endian byte order".to_owned());
    for group in metadata.row_groups() {
        let count = usize::try_from(group.num_rows()).map_err(|_| too_large("number of rows"))?;
        let first = rows;
        let end = rows.checked_add(count).filter(|&rows| rows <= isize::MAX as usize);
        rows = end.ok_or_else(|| too_large("number of rows"))?;
        let Some(format) = format else { continue };
        let data = group.columns().get(index).ok_or_else(|| too_large("number of columns"))?;
        // The offset of an empty chunk has no meaning: pyarrow writes 0.
        if count == 0 && data.num_values() == 0 {
            continue;
        }
        let codec = match codec(data) {
            Ok(codec) => codec,
            Err(why) => {
                unreadable = Some(why);
                continue;
            }
        };
        let range = range(data, file);
        let range = range.ok_or_else(|| format!("column {name:?} lies outside of the file"))?;
        // Chunks that together are longer than the file share bytes, and are refused below.
        *used = used.saturating_add(range.len());
        let values = usize::try_from(data.num_values());
        let values = values.map_err(|_| too_large("number of values"))?;
        let length = values.checked_mul(format.size_in_bytes());
        bytes = length
            .and_then(|length| bytes.checked_add(length))
            .ok_or_else(|| too_large("number of values"))?;
        chunks.push(Chunk { range, codec, first, rows: count, values });
    }
    if *used > file {
        return Err(bad("columns that overlap"));
    }
    if bytes > isize::MAX as usize {
        return Err(too_large("number of values"));
    }
    let mut data = Data::Owned(Vec::new());
    let content = match (numbers, unreadable) {
        (None, _) => Content::NotFloat,
        (Some(_), Some(why)) => Content::Unreadable(why.into()),
        (Some(numbers), None) => {
            data = Data::Column(Box::new(column::Column::new(Arc::clone(column), numbers, chunks)));
            Content::Floats { format: numbers.format(), parts: 1, order: ByteOrder::NATIVE }
        }
    };
    let dtype = match numbers {
        Some(Numbers::Half) => "FLOAT16".to_owned(),
        Some(Numbers::Float | Numbers::Double) | None => column.physical_type().to_string(),
    };
    Ok(Tensor::new(name, dtype, vec![rows], content, data))
}

/// The type of the numbers of a column of floats.
fn numbers(column: &ColumnDescriptor) -> Option<Numbers> {
    match column.physical_type() {
        Type::FLOAT => Some(Numbers::Float),
        Type::DOUBLE => Some(Numbers::Double),
        Type::FIXED_LEN_BYTE_ARRAY => {
            let is_half = matches!(column.logical_type_ref(), Some(LogicalType::Float16));
            (is_half && column.type_length() == 2).then_some(Numbers::Half)
        }
        _ => None,
    }
}

/// Writers name it where there are no levels. Levels that are packed in this way are refused with
/// their page.
#[expect(deprecated, reason = "writers name it")]
const BIT_PACKED: Encoding = Encoding::BIT_PACKED;

/// How a chunk is compressed, or why it cannot be read.
fn codec(chunk: &ColumnChunkMetaData) -> Result<Codec, String> {
    if chunk.file_path().is_some() {
        return Err("its data is in another file".to_owned());
    }
    // FLOAT16 may have other encodings, but their decoder allocates the length that a page claims.
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
        // Some writers write 0 for a chunk without a dictionary.
        Some(offset) if offset > 0 => offset.min(chunk.data_page_offset()),
        _ => chunk.data_page_offset(),
    };
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(chunk.compressed_size()).ok()?)?;
    (end <= file).then_some(start..end)
}
