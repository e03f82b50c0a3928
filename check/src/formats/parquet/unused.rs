//! Bytes of a file that belong to no part of it, and metadata that is not text.

use std::ops::Range;

use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::MAGIC;
use super::thrift::{Thrift, Value};
use crate::formats::unread;
use crate::model::{Data, Tensor, gaps, is_text};

/// What nobody looks at in a file whose footer begins at this byte.
pub(super) fn tensors(file: &[u8], metadata: &ParquetMetaData, footer: usize) -> Vec<Tensor> {
    let mut used = vec![0..MAGIC.len(), footer..file.len()];
    // A hostile footer can name one place many times. A bound on all bytes read keeps the time
    // linear; a byte of a good file is read at most twice.
    let mut left = file.len().saturating_mul(2);
    for chunk in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let ranges = [
            pages(chunk, file.len()),
            description(chunk, file, &mut left),
            place(chunk.column_index_offset(), chunk.column_index_length(), file.len()),
            place(chunk.offset_index_offset(), chunk.offset_index_length(), file.len()),
            bloom_filter(chunk, file, &mut left),
        ];
        // What is in another file is not looked at as a whole.
        used.extend(ranges.into_iter().flatten().filter(|_| chunk.file_path().is_none()));
    }
    let why = "no column refers to these bytes";
    let gaps = gaps(file, used).into_iter().map(|gap| Tensor::unreferenced(gap, why));
    let pairs = metadata.file_metadata().key_value_metadata().into_iter().flatten();
    let pairs = pairs.filter_map(|pair| {
        let value = pair.value.as_deref().unwrap_or_default();
        if is_text(pair.key.as_bytes()) && is_text(value.as_bytes()) {
            return None;
        }
        let (name, size) = (format!("metadata {}", pair.key), pair.key.len() + value.len());
        let why = "metadata that is not text".to_owned();
        Some(unread::tensor(name, size, why, Data::Owned(Vec::new())))
    });
    pairs.chain(gaps).collect()
}

/// The pages of a chunk. Of a chunk without values, some writers say only where the dictionary is,
/// and write 0 as the place of the pages.
fn pages(chunk: &ColumnChunkMetaData, file: usize) -> Option<Range<usize>> {
    if chunk.data_page_offset() > 0 {
        return super::range(chunk, file);
    }
    let start = usize::try_from(chunk.dictionary_page_offset()?).ok().filter(|&start| start > 0)?;
    let end = start.checked_add(usize::try_from(chunk.compressed_size()).ok()?)?;
    (end <= file).then_some(start..end)
}

/// The description of a chunk, which Polars repeats behind the pages. The footer names a place that
/// is wrong for a chunk with a dictionary.
fn description(chunk: &ColumnChunkMetaData, file: &[u8], left: &mut usize) -> Option<Range<usize>> {
    const COMPRESSED_SIZE: i64 = 7;
    const DATA_PAGE_OFFSET: i64 = 9;
    let start = pages(chunk, file.len())?.end;
    let (mut size, mut offset) = (None, None);
    let end = integers(file, start, left, &mut |field, number| match field {
        COMPRESSED_SIZE => size = Some(number),
        DATA_PAGE_OFFSET => offset = Some(number),
        _ => {}
    })?;
    let is_of_chunk =
        size == Some(chunk.compressed_size()) && offset == Some(chunk.data_page_offset());
    is_of_chunk.then_some(start..end)
}

/// Reads the struct that begins at `start`: passes the numbers and the values of its integer fields
/// to `of_field`, and returns its end. Reads at most `left` bytes, and subtracts those it read.
fn integers(
    file: &[u8],
    start: usize,
    left: &mut usize,
    of_field: &mut dyn FnMut(i64, i64),
) -> Option<usize> {
    let rest = file.get(start..)?;
    let rest = &rest[..rest.len().min(*left)];
    let mut thrift = Thrift { rest };
    let read = thrift.fields(&mut |_, field, _, value| {
        if let Value::Number(number) = value {
            of_field(field, number);
        }
        Some(false)
    });
    let length = rest.len() - thrift.rest.len();
    *left -= length;
    read.map(|()| start + length)
}

fn place(offset: Option<i64>, length: Option<i32>, file: usize) -> Option<Range<usize>> {
    let start = usize::try_from(offset?).ok()?;
    let end = start.checked_add(usize::try_from(length?).ok()?)?;
    (end <= file).then_some(start..end)
}

/// Where the Bloom filter of a chunk lies. Older writers do not say how long it is, except in its
/// header.
fn bloom_filter(
    chunk: &ColumnChunkMetaData,
    file: &[u8],
    left: &mut usize,
) -> Option<Range<usize>> {
    let offset = chunk.bloom_filter_offset();
    if let Some(range) = place(offset, chunk.bloom_filter_length(), file.len()) {
        return Some(range);
    }
    let start = usize::try_from(offset?).ok()?;
    let mut length = None;
    let header = integers(file, start, left, &mut |field, number| {
        if field == 1 {
            length = usize::try_from(number).ok();
        }
    })?;
    let end = header.checked_add(length?)?;
    (end <= file.len()).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_to_read_run_out() {
        // Field 1 of kind I32 is 3, and the struct ends.
        let file = [0x15, 6, 0];
        let mut left = 2 * file.len();
        let mut read = |start| {
            let mut fields = Vec::new();
            let mut of_field = |field, number| fields.push((field, number));
            let end = integers(&file, start, &mut left, &mut of_field);
            (end, fields)
        };
        for _ in 0..2 {
            assert_eq!(read(0), (Some(3), vec![(1, 3)]));
        }
        assert_eq!(read(0), (None, Vec::new()));
        assert_eq!(read(4), (None, Vec::new()));
    }
}
