//! A batch of rows: how long its nodes are and where their buffers lie.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_ipc as fb;

use super::compression::Codec;
use super::schema::{At, Fields};
use super::{missing, refused, too_large, truncated};
use crate::model::reader::Refused;

/// A batch of rows of a table or of a dictionary.
pub(super) struct Batch {
    /// The number of its first row, counted over the file.
    pub(super) first: usize,
    pub(super) rows: usize,
    pub(super) codec: Option<Codec>,
    /// The nodes of the fields, in the order of the fields.
    pub(super) nodes: Vec<Node>,
    /// The range of each buffer in the file.
    buffers: Vec<Range<usize>>,
    /// How many buffers the fields of views have before each of them, without the first two.
    views: Vec<usize>,
    /// Whether unions have a buffer more: before version 5.
    old: bool,
    /// The dictionaries that the rows refer to: the batches of each, by its id.
    pub(super) dictionaries: Arc<Versions>,
}

/// The batches of each dictionary at one point of a file, by its id.
pub(super) type Versions = BTreeMap<i64, Range<usize>>;

/// A node of a batch.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) length: usize,
    /// Whether some of its elements are null.
    pub(super) has_nulls: bool,
}

impl Batch {
    /// Reads the batch in this body. `first` is the number of its first row. `old` is true for
    /// metadata before version 5.
    pub(super) fn read(
        batch: fb::RecordBatch<'_>,
        body: Range<usize>,
        first: usize,
        fields: &Fields,
        old: bool,
    ) -> Result<Self, Refused> {
        let rows = length(batch.length(), "length of a batch")?;
        first.checked_add(rows).ok_or_else(|| too_large("number of rows"))?;
        let codec = match batch.compression() {
            None => None,
            Some(compression) => Some(match compression.codec() {
                fb::CompressionType::LZ4_FRAME => Codec::Lz4,
                fb::CompressionType::ZSTD => Codec::Zstd,
                fb::CompressionType(other) => {
                    return Err(format!("Arrow compression {other} is not known").into());
                }
            }),
        };
        let nodes = batch.nodes().into_iter().flatten().map(|node| {
            let length = length(node.length(), "length of a node")?;
            Ok(Node { length, has_nulls: node.null_count() != 0 })
        });
        let nodes = nodes.collect::<Result<Vec<_>, Refused>>()?;
        let mut views = vec![0];
        for count in batch.variadicBufferCounts().into_iter().flatten() {
            let count = length(count, "number of buffers")?;
            let sum = views.last().and_then(|sum: &usize| sum.checked_add(count));
            views.push(sum.ok_or_else(|| too_large("number of buffers"))?);
        }
        let buffers = buffers(batch, body)?;
        let dictionaries = Arc::default();
        let batch = Self { first, rows, codec, nodes, buffers, views, old, dictionaries };
        if fields.end.nodes > batch.nodes.len() {
            return Err(missing("nodes"));
        }
        let end = batch.index(fields.end);
        if end.is_none_or(|end| end > batch.buffers.len()) {
            return Err(missing("buffers"));
        }
        Ok(batch)
    }

    /// The number of the row behind the last.
    pub(super) fn end(&self) -> usize {
        self.first + self.rows
    }

    /// The index of the first buffer of a field. None if the batch does not tell how many buffers
    /// the fields before it have.
    fn index(&self, at: At) -> Option<usize> {
        let more = self.views.get(at.views)? + if self.old { at.unions } else { 0 };
        more.checked_add(at.buffers)
    }

    /// Where a buffer of a field lies in the file.
    pub(super) fn buffer(&self, at: At, index: usize) -> Range<usize> {
        let first = self.index(at).unwrap_or(usize::MAX);
        self.buffers.get(first.saturating_add(index)).cloned().unwrap_or_default()
    }
}

fn length(value: i64, what: &'static str) -> Result<usize, Refused> {
    usize::try_from(value).map_err(|_| too_large(what))
}

/// The ranges of the buffers. They lie in the body, one after the other.
fn buffers(batch: fb::RecordBatch<'_>, body: Range<usize>) -> Result<Vec<Range<usize>>, Refused> {
    let mut end = 0;
    let mut buffers = Vec::new();
    for buffer in batch.buffers().into_iter().flatten() {
        let (offset, length) = (
            length(buffer.offset(), "offset of a buffer")?,
            length(buffer.length(), "length of a buffer")?,
        );
        if length == 0 {
            buffers.push(0..0);
            continue;
        }
        if offset < end {
            return Err(refused("data that overlaps"));
        }
        end = offset.checked_add(length).ok_or_else(|| too_large("length of a buffer"))?;
        if end > body.len() {
            return Err(truncated("buffers"));
        }
        buffers.push(body.start + offset..body.start + end);
    }
    Ok(buffers)
}
