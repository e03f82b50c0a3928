//! Apache Parquet, as parquet-format describes it: every column of floats (FLOAT, DOUBLE, FLOAT16)
//! is a tensor with one element for each row. Its name is its path in the schema.
//!
//! In lists the coordinate is the row, since their lengths vary. Nulls have no bytes in this format
//! and are not looked at. The crate `parquet` reads the file, a column of a row group at a time and
//! some rows at a time, and `nonfinite-arrow` shows the values. Memory is that of `parquet`: a page
//! and a dictionary for each thread, which may claim up to 2 GiB each. If `parquet` panics, the
//! panic becomes an error of the footer or of the column. A few bytes can decode to a page of many
//! equal numbers or nulls; [`Options::max_bytes`](crate::Options::max_bytes) is the limit.
//!
//! Pages of version 1 whose levels are packed bits (BIT_PACKED, deprecated) are refused: the
//! crate `parquet` reads them in another order of bits than parquet-format says.
//!
//! Columns of floats are unreadable on big-endian machines. There the crate `parquet` returns FLOAT
//! and DOUBLE in the byte order of the file, and bit-packed values change in a round trip (version
//! 60.1, in an emulator of s390x).

use std::fmt::Display;
use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use ::parquet::basic::{CompressionCodec, Encoding, LogicalType, Type};
use ::parquet::column::page::Page;
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::serialized_reader::SerializedPageReader;
use ::parquet::schema::types::ColumnDescriptor;
use bytes::Bytes;
use nonfinite::Format;

use super::columns::{self, Kind, Leaf, Walk, bad, guarded};
use super::signatures;
use super::unwinding::unwinding;
use crate::model::reader::{Read, Reader, Refused};
use crate::model::{self, Data, FileFormat, Run, See, Shared, ShowError, Tensor};

impl FileFormat {
    /// Apache Parquet; see [`parquet`](crate::formats::parquet).
    pub const PARQUET: Self = Self::named("parquet");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::PARQUET,
    endings: &[".parquet"],
    begins: signatures::is_parquet,
    read: Read::Shared(|bytes| Ok(tensors(bytes)?.into())),
    shards: None,
};

/// About as many numbers are decoded at a time.
const NUMBERS: usize = 64 << 10;

fn refused(why: impl Display) -> Refused {
    format!("bad Parquet footer: {why}").into()
}

fn length<N>(value: N, what: &str) -> Result<usize, Refused>
where
    usize: TryFrom<N>,
{
    let value = usize::try_from(value).ok().filter(|&value| value <= isize::MAX as usize);
    value.ok_or_else(|| refused(format_args!("the {what} cannot be")))
}

/// The columns of all row groups, in the order of the schema.
fn tensors(bytes: Shared) -> Result<Vec<Tensor>, Refused> {
    let file = Bytes::from_owner(bytes);
    // The types are those of Parquet, whatever a schema of Arrow in the footer says.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = unwinding(|| ArrowReaderMetadata::load(&file, options)).map_err(refused)?;
    let metadata = metadata.map_err(refused)?;
    let mut walk = Walk::new(usize::MAX);
    for field in metadata.schema().fields() {
        walk.column(field).ok_or_else(|| refused("lists that cannot be"))?;
    }
    let columns = metadata.parquet_schema().columns();
    if walk.leaves.len() != columns.len() {
        return Err(refused("a group without columns"));
    }
    let columns = columns.iter().zip(walk.leaves).enumerate();
    let tensor = |(index, (column, leaf)): (usize, (&Arc<ColumnDescriptor>, _))| {
        tensor(&file, &metadata, index, column, leaf)
    };
    columns.map(tensor).collect()
}

fn tensor(
    file: &Bytes,
    metadata: &ArrowReaderMetadata,
    index: usize,
    column: &ColumnDescriptor,
    leaf: Leaf,
) -> Result<Tensor, Refused> {
    let format = format(column);
    let (mut groups, mut rows, mut bytes) = (Vec::new(), 0usize, 0usize);
    let mut unreadable = cfg!(target_endian = "big")
        .then(|| "not supported on machines of big-endian byte order".to_owned());
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let (first, count) = (rows, length(group.num_rows(), "number of rows")?);
        rows = length(first.saturating_add(count), "number of rows")?;
        let Some(format) = format else { continue };
        let data = group.columns().get(index).ok_or_else(|| refused("too few columns"))?;
        let values = length(data.num_values(), "number of values")?;
        if column.max_rep_level() == 0 && values != count {
            return Err(refused(format_args!("column {} has not all rows", column.path())));
        }
        if count == 0 {
            continue;
        }
        unreadable = unreadable.or_else(|| why_unreadable(data));
        let size = values.saturating_mul(format.size_in_bytes());
        bytes = length(bytes.saturating_add(size), "number of values")?;
        groups.push(Group { number, first, rows: count, values });
    }
    let dtype = match format {
        Some(Format::F16) => "FLOAT16".to_owned(),
        _ => column.physical_type().to_string(),
    };
    let (content, data) = match (format, unreadable) {
        (None, _) => (Kind::NotFloat.content(), Data::Owned(Vec::new())),
        (Some(_), Some(why)) => (model::Content::Unreadable(why.into()), Data::Owned(Vec::new())),
        (Some(format), None) => {
            let schema = metadata.parquet_schema();
            // Maps are read with all their columns. Otherwise the leaf is the only one.
            let (mask, path) = if leaf.in_map {
                let root = schema.get_column_root_idx(index);
                (ProjectionMask::roots(schema, [root]), leaf.path)
            } else {
                (ProjectionMask::leaves(schema, [index]), vec![0; leaf.path.len()])
            };
            let (file, metadata) = (file.clone(), metadata.clone());
            let size = format.size_in_bytes();
            let column = Column { file, metadata, index, mask, path, size, groups };
            (Kind::Floats(format).content(), Data::Column(Box::new(column)))
        }
    };
    Ok(Tensor::new(column.path().string(), dtype, vec![rows], content, data))
}

/// The format of the numbers of a column of floats.
fn format(column: &ColumnDescriptor) -> Option<Format> {
    match column.physical_type() {
        Type::FLOAT => Some(Format::F32),
        Type::DOUBLE => Some(Format::F64),
        Type::FIXED_LEN_BYTE_ARRAY => {
            let is_half = matches!(column.logical_type_ref(), Some(LogicalType::Float16));
            (is_half && column.type_length() == 2).then_some(Format::F16)
        }
        _ => None,
    }
}

/// Why the column of a row group cannot be read, if so.
fn why_unreadable(chunk: &ColumnChunkMetaData) -> Option<String> {
    if chunk.file_path().is_some() {
        return Some("its data is in another file".to_owned());
    }
    match chunk.compression_codec() {
        CompressionCodec::UNCOMPRESSED
        | CompressionCodec::SNAPPY
        | CompressionCodec::GZIP
        | CompressionCodec::ZSTD
        | CompressionCodec::LZ4
        | CompressionCodec::LZ4_RAW => None,
        other => Some(format!("compressed by {other:?}, which is not supported")),
    }
}

/// A column of floats.
struct Column {
    file: Bytes,
    metadata: ArrowReaderMetadata,
    /// Its index among the columns of the file.
    index: usize,
    /// The columns that are read, and the way to the floats in their array.
    mask: ProjectionMask,
    path: Vec<usize>,
    /// Bytes of a number.
    size: usize,
    groups: Vec<Group>,
}

/// A row group that is not empty.
struct Group {
    /// Its number in the file.
    number: usize,
    /// The number of its first row, counted over the file.
    first: usize,
    rows: usize,
    /// Numbers and nulls.
    values: usize,
}

impl Column {
    /// Refuses pages whose levels are packed bits. Reads the pages only if the footer names this
    /// encoding. Many writers name it for levels that are not there.
    #[expect(deprecated, reason = "old files have it")]
    fn refuse_packed(&self, group: &Group) -> Result<(), ShowError> {
        let metadata = self.metadata.metadata().row_group(group.number);
        let chunk = metadata.column(self.index);
        let column = chunk.column_descr();
        let levels = [column.max_def_level(), column.max_rep_level()].map(|most| most > 0);
        let is_named = chunk.encodings().any(|encoding| encoding == Encoding::BIT_PACKED);
        if !is_named || levels == [false; 2] {
            return Ok(());
        }
        let file = Arc::new(self.file.clone());
        for page in SerializedPageReader::new(file, chunk, group.rows, None).map_err(bad)? {
            if let Page::DataPage { def_level_encoding, rep_level_encoding, .. } =
                page.map_err(bad)?
            {
                let encodings = [def_level_encoding, rep_level_encoding];
                let mut encodings = encodings.into_iter().zip(levels);
                if encodings.any(|of| of == (Encoding::BIT_PACKED, true)) {
                    return Err(bad("levels that are packed bits (BIT_PACKED) are not read").into());
                }
            }
        }
        Ok(())
    }

    fn show_group(&self, group: &Group, finite: bool, see: &mut See<'_>) -> Result<(), ShowError> {
        self.refuse_packed(group)?;
        let (file, metadata) = (self.file.clone(), self.metadata.clone());
        let rows_at_once = (NUMBERS as u128 * group.rows as u128 / group.values.max(1) as u128)
            .clamp(1, NUMBERS as u128) as usize;
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_projection(self.mask.clone())
            .with_row_groups(vec![group.number])
            .with_batch_size(rows_at_once);
        let mut rows = 0;
        for batch in reader.build().map_err(bad)? {
            let batch = batch.map_err(bad)?;
            columns::show(batch.column(0), &self.path, group.first + rows, finite, see)?;
            rows += batch.num_rows();
            // The caller may stop although no number was shown.
            see(Run { numbers: &[], place: &|index| index, valid: None })
                .map_err(ShowError::Seen)?;
        }
        match rows == group.rows {
            true => Ok(()),
            false => Err(bad("fewer rows than its footer says").into()),
        }
    }
}

impl model::Column for Column {
    fn parts(&self) -> Vec<usize> {
        self.groups.iter().map(|group| group.values * self.size).collect()
    }

    fn show(&self, part: usize, finite: bool, see: &mut See<'_>) -> Result<(), ShowError> {
        guarded(|| self.show_group(&self.groups[part], finite, see))
    }
}
