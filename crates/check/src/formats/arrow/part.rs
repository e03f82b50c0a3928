//! A part of a column as an array: a message with the buffers of this part only, which `arrow-ipc`
//! reads.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use arrow_buffer::bit_chunk_iterator::UnalignedBitChunk;
use arrow_ipc as fb;
use arrow_schema::{DataType, Field, Schema};
use flatbuffers::FlatBufferBuilder;
use nonfinite::Format;

use super::batch::Batch;
use super::compression::open;
use super::message::first_line;
use super::schema::{At, Link, Step};
use super::{bad, guarded};
use crate::model::{ByteOrder, swap_bytes};

/// How often the elements of a list view may be referred to, on average. An array of views can
/// stand for far more numbers than there are.
pub(super) const MOST_VIEWED: u64 = 16;

/// Some rows of a column in a batch.
pub(super) struct Part<'a> {
    pub(super) input: &'a [u8],
    pub(super) order: ByteOrder,
    pub(super) batch: &'a Batch,
    pub(super) links: &'a [Link],
    pub(super) format: Format,
    /// A multiple of 8, so that bits of validity need not be shifted. 0 for columns that
    /// [`can_be_cut`] refuses.
    pub(super) rows: Range<usize>,
}

/// A message while it is written.
#[derive(Default)]
struct Message {
    nodes: Vec<fb::FieldNode>,
    buffers: Vec<fb::Buffer>,
    body: Vec<u8>,
    /// How often an element is referred to on average, by all list views together.
    viewed: u64,
}

/// Whether a part of the rows needs only a part of the buffers.
pub(super) fn can_be_cut(links: &[Link]) -> bool {
    !links.iter().any(|link| matches!(link.step, Step::Views { .. } | Step::Runs))
}

fn end() -> io::Error {
    io::Error::from(io::ErrorKind::UnexpectedEof)
}

impl Part<'_> {
    /// The array of this part. None if it has only nulls: some writers leave out their numbers.
    pub(super) fn array(
        &self,
        dictionaries: &HashMap<i64, ArrayRef>,
    ) -> io::Result<Option<ArrayRef>> {
        let Some(message) = self.message()? else { return Ok(None) };
        let mut builder = FlatBufferBuilder::new();
        let arguments = fb::RecordBatchArgs {
            length: self.rows.len() as i64,
            nodes: Some(builder.create_vector(&message.nodes)),
            buffers: Some(builder.create_vector(&message.buffers)),
            ..fb::RecordBatchArgs::default()
        };
        let batch = fb::RecordBatch::create(&mut builder, &arguments);
        builder.finish(batch, None);
        let batch = flatbuffers::root::<fb::RecordBatch<'_>>(builder.finished_data());
        let batch = batch.map_err(|error| io::Error::other(first_line(error)))?;
        let schema = Arc::new(Schema::new(vec![field(self.links, self.format)]));
        let (body, version) = (Buffer::from_vec(message.body), fb::MetadataVersion::V5);
        let read = guarded(|| {
            fb::reader::read_record_batch(&body, batch, schema, dictionaries, None, &version)
        });
        let read = read.map_err(|why| bad(&why))?;
        Ok(read.columns().first().cloned())
    }

    fn message(&self) -> io::Result<Option<Message>> {
        let mut message = Message::default();
        // The elements of a link that the rows consist of.
        let mut range = self.rows.clone();
        for (index, Link { at, step }) in self.links.iter().enumerate() {
            let node = self.batch.nodes[at.nodes];
            if range.end > node.length {
                return Err(bad("a column that is shorter than its batch or its list"));
            }
            let below = self.links.get(index + 1).map(|link| self.batch.nodes[link.at.nodes]);
            let below = below.map_or(0, |node| node.length);
            let mut nulls = 0;
            if !matches!(step, Step::Runs) {
                let bits =
                    if node.has_nulls { range.start / 8..range.end.div_ceil(8) } else { 0..0 };
                let bits = self.append((*at, 0), bits, 1, &mut message)?;
                if node.has_nulls {
                    let bits = UnalignedBitChunk::new(&message.body[bits], 0, range.len());
                    nulls = range.len() - bits.count_ones();
                }
            }
            message.nodes.push(fb::FieldNode::new(range.len() as i64, nulls as i64));
            let size = match step {
                Step::Struct => continue,
                Step::Fixed(size) => {
                    let times = |index: usize| index.checked_mul(*size).ok_or_else(end);
                    range = times(range.start)?..times(range.end)?;
                    continue;
                }
                Step::List { wide } => {
                    range = self.list(*at, *wide, range, below, &mut message)?;
                    continue;
                }
                Step::Views { wide } => {
                    self.views(*at, *wide, range, below, &mut message)?;
                    range = 0..below;
                    continue;
                }
                Step::Runs => {
                    range = 0..below;
                    continue;
                }
                Step::Ends(data_type) | Step::Indices(data_type, _) => {
                    data_type.primitive_width().ok_or_else(end)?
                }
                Step::Leaf => self.format.size_in_bytes(),
            };
            let is_left_out = nulls > 0 && nulls == range.len();
            let may_be_empty = is_left_out && !matches!(step, Step::Ends(_));
            if may_be_empty && self.batch.buffer(*at, 1).is_empty() {
                return Ok(None);
            }
            self.append((*at, 1), range, size, &mut message)?;
            // The values of runs are as many as their ends.
            range = 0..below;
        }
        Ok(Some(message))
    }

    /// Appends a range of units of a buffer of a field, in the byte order of the machine. Returns
    /// its place in the body.
    fn append(
        &self,
        (at, index): (At, usize),
        units: Range<usize>,
        size: usize,
        message: &mut Message,
    ) -> io::Result<Range<usize>> {
        let Message { body, buffers, .. } = message;
        body.resize(body.len().next_multiple_of(16), 0);
        let first = body.len();
        if !units.is_empty() {
            let bytes = |units: usize| units.checked_mul(size).ok_or_else(end);
            let (start, stop) = (bytes(units.start)?, bytes(units.end)?);
            let buffer = self.input.get(self.batch.buffer(at, index)).ok_or_else(end)?;
            open(buffer, self.batch.codec)?.append(start..stop, body)?;
        }
        let place = first..body.len();
        buffers.push(fb::Buffer::new(first as i64, place.len() as i64));
        if self.order != ByteOrder::NATIVE && size > 1 {
            swap_bytes(&mut body[place.clone()], size);
        }
        Ok(place)
    }

    /// Appends the offsets of lists. Returns the elements that these lists consist of, among
    /// `below` elements. Offsets count from the first of these.
    fn list(
        &self,
        at: At,
        wide: bool,
        lists: Range<usize>,
        below: usize,
        message: &mut Message,
    ) -> io::Result<Range<usize>> {
        // Without lists, even the first offset may be missing.
        if lists.is_empty() {
            self.append((at, 1), 0..0, 1, message)?;
            return Ok(0..0);
        }
        let size = if wide { 8 } else { 4 };
        let place = self.append((at, 1), lists.start..lists.end + 1, size, message)?;
        let offsets = &mut message.body[place];
        let get = |bytes: &[u8]| match bytes.first_chunk() {
            Some(bytes) => i64::from_ne_bytes(*bytes),
            None => bytes.first_chunk().map_or(0, |bytes| i32::from_ne_bytes(*bytes).into()),
        };
        let ends = [get(&offsets[..size]), get(&offsets[offsets.len() - size..])];
        let [Ok(first), Ok(last)] = ends.map(usize::try_from) else {
            return Err(bad("offsets of lists that do not rise or lead outside"));
        };
        if first > last || last > below {
            return Err(bad("offsets of lists that do not rise or lead outside"));
        }
        let first = if can_be_cut(self.links) { first / 8 * 8 } else { 0 };
        for offset in offsets.chunks_exact_mut(size) {
            let rest = get(offset).wrapping_sub(first as i64);
            match wide {
                true => offset.copy_from_slice(&rest.to_ne_bytes()),
                false => offset.copy_from_slice(&(rest as i32).to_ne_bytes()),
            }
        }
        Ok(first..last)
    }

    /// Appends the offsets and sizes of list views over `below` elements.
    fn views(
        &self,
        at: At,
        wide: bool,
        lists: Range<usize>,
        below: usize,
        message: &mut Message,
    ) -> io::Result<()> {
        let size = if wide { 8 } else { 4 };
        self.append((at, 1), lists.clone(), size, message)?;
        let sizes = self.append((at, 2), lists, size, message)?;
        let sizes = message.body[sizes].chunks_exact(size).map(|bytes| match bytes.first_chunk() {
            Some(bytes) => u64::from_ne_bytes(*bytes),
            None => bytes.first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes).into()),
        });
        let viewed = sizes.fold(0, u64::saturating_add);
        let viewed = viewed.div_ceil(below.max(1) as u64).max(1);
        message.viewed = message.viewed.max(1).saturating_mul(viewed);
        match message.viewed <= MOST_VIEWED {
            true => Ok(()),
            false => Err(bad("list views that share their elements too often")),
        }
    }
}

/// The field of a column, without the fields beside it.
fn field(links: &[Link], format: Format) -> Field {
    let Some((Link { step, .. }, rest)) = links.split_first() else {
        return Field::new("", DataType::Null, true);
    };
    let below = || Arc::new(field(rest, format));
    let data_type = match step {
        Step::Struct => DataType::Struct(vec![below()].into()),
        Step::Fixed(size) => DataType::FixedSizeList(below(), *size as i32),
        Step::List { wide: false } => DataType::List(below()),
        Step::List { wide: true } => DataType::LargeList(below()),
        Step::Views { wide: false } => DataType::ListView(below()),
        Step::Views { wide: true } => DataType::LargeListView(below()),
        Step::Runs => {
            let ends = Field::clone(&below()).with_nullable(false);
            let values = field(&rest[1..], format);
            DataType::RunEndEncoded(ends.into(), values.into())
        }
        Step::Ends(ends) => ends.clone(),
        Step::Indices(indices, id) => return rows_of(indices, *id, format),
        Step::Leaf => float(format),
    };
    Field::new("", data_type, true)
}

#[expect(deprecated, reason = "arrow-ipc takes the id in no other way")]
fn rows_of(indices: &DataType, id: i64, format: Format) -> Field {
    let data_type = DataType::Dictionary(Box::new(indices.clone()), Box::new(float(format)));
    Field::new_dict("", data_type, true, id, false)
}

/// The type of floats of this format.
fn float(format: Format) -> DataType {
    match format {
        Format::F16 => DataType::Float16,
        Format::F32 => DataType::Float32,
        _ => DataType::Float64,
    }
}
