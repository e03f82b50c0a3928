//! A batch of rows: how long its nodes are and where their buffers lie.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_ipc as fb;

use super::compression::Codec;
use super::error::Error;
use super::schema::{Buffers, Fields, Step};
use super::unused;

/// A batch of rows of a table or of a dictionary.
pub(super) struct Batch {
    /// The number of its first row, counted over the file.
    pub(super) first: usize,
    pub(super) rows: usize,
    pub(super) codec: Option<Codec>,
    /// The nodes of the fields, in the order of the fields.
    pub(super) nodes: Vec<NodeData>,
    /// The range of each buffer in the file.
    buffers: Vec<Range<usize>>,
    /// The parts of the body that lie in no buffer of a node, and behind the numbers of one.
    pub(super) unused: Vec<Range<usize>>,
    /// The dictionaries that the rows refer to: the batches of each, by its id.
    pub(super) dictionaries: Arc<Versions>,
}

#[cfg(test)]
impl Batch {
    /// A batch whose nodes have these lengths and nulls. Each has two buffers of this length.
    pub(super) fn with_nodes(
        (first, rows): (usize, usize),
        nodes: &[(usize, bool)],
        buffer: usize,
    ) -> Self {
        let node = |(index, &(length, nulls))| NodeData { length, nulls, buffer: 2 * index };
        Self {
            first,
            rows,
            codec: None,
            nodes: nodes.iter().enumerate().map(node).collect(),
            buffers: vec![0..buffer; 2 * nodes.len()],
            unused: Vec::new(),
            dictionaries: Arc::default(),
        }
    }
}

/// The batches of each dictionary at one point of a file, by its id.
pub(super) type Versions = BTreeMap<i64, Range<usize>>;

/// A node of a batch.
pub(super) struct NodeData {
    pub(super) length: usize,
    /// Whether some of its elements are null.
    pub(super) nulls: bool,
    /// The index of its first buffer.
    buffer: usize,
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
        let buffers = buffers(batch, body.clone())?;
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
            // A length that is too large fails later, when its bits or numbers are read.
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
        let dictionaries = Arc::default();
        let unused = Vec::new();
        let mut batch = Self { first, rows, codec, nodes, buffers, unused, dictionaries };
        batch.unused = batch.find_unused(body, fields, used);
        Ok(batch)
    }

    /// [`Batch::unused`] if the nodes use `buffers` buffers.
    fn find_unused(
        &self,
        body: Range<usize>,
        fields: &Fields,
        buffers: usize,
    ) -> Vec<Range<usize>> {
        let mut used = self.buffers[..buffers].to_vec();
        if self.codec.is_none() {
            let columns = fields.columns.iter().filter(|column| column.dictionary.is_none());
            let floats =
                columns.filter_map(|column| Some((column.format()?, *column.chain.last()?)));
            // Those of a dictionary of plain floats are its only node.
            for (format, node) in floats.chain(fields.entries.map(|format| (format, 0))) {
                let length = self.nodes[node].length.saturating_mul(format.size_in_bytes());
                let numbers = &mut used[self.nodes[node].buffer + 1];
                *numbers = unused::with_padding(numbers.clone(), length);
            }
        }
        used.retain(|range| !range.is_empty());
        unused::between(body, &used)
    }

    /// The number of the row behind the last.
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

/// The ranges of the buffers. They lie in the body, one after the other.
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
