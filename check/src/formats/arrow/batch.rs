//! A batch of rows: how long its nodes are and where their buffers lie.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_ipc as fb;

use super::compression::Codec;
use super::error::Error;
use super::schema::{Buffers, Fields, Step};

/// A batch of rows.
pub(super) struct Batch {
    /// The first of its rows, counted over the file.
    pub(super) first: usize,
    pub(super) rows: usize,
    pub(super) codec: Option<Codec>,
    /// In the order of the fields.
    pub(super) nodes: Vec<NodeData>,
    /// Where they lie in the file.
    buffers: Vec<Range<usize>>,
    /// The batches of each dictionary that its rows refer to, by the id of the dictionary.
    pub(super) dictionaries: Arc<Versions>,
}

/// The batches that each dictionary is made of at some point of a file.
pub(super) type Versions = BTreeMap<i64, Range<usize>>;

/// A node of a batch.
pub(super) struct NodeData {
    pub(super) length: usize,
    /// Whether some of its elements are null.
    pub(super) nulls: bool,
    /// Its first buffer.
    buffer: usize,
}

impl Batch {
    /// The batch in this body, whose first row is `first`. `old` is before version 5.
    pub(super) fn read(
        batch: fb::RecordBatch<'_>,
        body: Range<usize>,
        first: usize,
        fields: &Fields,
        old: bool,
    ) -> Result<Self, Error> {
        let rows = length(batch.length(), "length of a batch")?;
        first.checked_add(rows).ok_or(Error::Length("number of rows"))?;
        let codec = match batch.compression() {
            None => None,
            Some(compression) => Some(match compression.codec() {
                fb::CompressionType::LZ4_FRAME => Codec::Lz4,
                fb::CompressionType::ZSTD => Codec::Zstd,
                fb::CompressionType(other) => return Err(Error::Codec(other)),
            }),
        };
        let buffers = buffers(batch, body)?;
        let mut views = batch.variadicBufferCounts().into_iter().flatten();
        let mut data = batch.nodes().into_iter().flatten();
        let (mut nodes, mut used) = (Vec::new(), 0usize);
        for node in &fields.nodes {
            let field = data.next().ok_or(Error::Missing("nodes"))?;
            let count = match node.buffers {
                Buffers::Count(count) => count,
                Buffers::Union(count) => count + usize::from(old),
                Buffers::Views => {
                    let more = length(
                        views.next().ok_or(Error::Missing("buffers"))?,
                        "number of buffers",
                    )?;
                    more.checked_add(2).ok_or(Error::Length("number of buffers"))?
                }
            };
            let length = length(field.length(), "length of a node")?;
            // One that is too long is found where it matters: in the bits and numbers that it
            // needs.
            let least = match node.parent {
                None => Some(rows),
                Some(parent) => match fields.nodes[parent].step {
                    Step::Same => Some(nodes_length(&nodes, parent)),
                    Step::Fixed(size) => nodes_length(&nodes, parent).checked_mul(size),
                    Step::List { .. } | Step::Other => Some(0),
                },
            };
            if least.is_none_or(|least| length < least) {
                return Err(Error::Length("length of a node"));
            }
            nodes.push(NodeData { length, nulls: field.null_count() != 0, buffer: used });
            used = used.saturating_add(count);
        }
        if used > buffers.len() {
            return Err(Error::Missing("buffers"));
        }
        Ok(Self { first, rows, codec, nodes, buffers, dictionaries: Arc::default() })
    }

    /// The row behind its last.
    pub(super) fn end(&self) -> usize {
        self.first + self.rows
    }

    /// Where a buffer of a node lies in the file.
    pub(super) fn buffer(&self, node: usize, index: usize) -> Range<usize> {
        self.buffers[self.nodes[node].buffer + index].clone()
    }
}

fn nodes_length(nodes: &[NodeData], index: usize) -> usize {
    nodes[index].length
}

fn length(value: i64, what: &'static str) -> Result<usize, Error> {
    usize::try_from(value).map_err(|_| Error::Length(what))
}

/// The buffers, which lie in the body, one after the other.
fn buffers(batch: fb::RecordBatch<'_>, body: Range<usize>) -> Result<Vec<Range<usize>>, Error> {
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
            return Err(Error::Overlap);
        }
        end = offset.checked_add(length).ok_or(Error::Length("length of a buffer"))?;
        if end > body.len() {
            return Err(Error::Truncated("buffers"));
        }
        buffers.push(body.start + offset..body.start + end);
    }
    Ok(buffers)
}
