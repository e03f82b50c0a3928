//! A writer of Arrow IPC, after the specification: messages of tables of FlatBuffers, and bodies of
//! buffers.

use arrow_ipc as fb;
use flatbuffers::{FlatBufferBuilder, WIPOffset};

/// A type.
#[derive(Clone)]
pub(crate) enum Kind {
    Float(fb::Precision),
    Int,
    Text,
    Struct(Vec<Field>),
    List(Box<Field>),
    Fixed(i32, Box<Field>),
    Union(fb::UnionMode, Vec<Field>),
    /// A type without parameters, or with their defaults.
    Other(fb::Type, Vec<Field>),
}

#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The number of its dictionary.
    pub(crate) dictionary: Option<i64>,
    /// The bits of an index of the dictionary, and whether indices have a sign.
    pub(crate) index: (i32, bool),
}

pub(crate) fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, dictionary: None, index: (32, true) }
}

/// The bits of f32.
pub(crate) const NAN: u64 = 0x7FC0_0000;
pub(crate) const ONE: u64 = 0x3F80_0000;
pub(crate) const INF: u64 = 0x7F80_0000;

pub(crate) fn f32s(name: &'static str) -> Field {
    field(name, Kind::Float(fb::Precision::SINGLE))
}

/// The buffer of the offsets of lists.
pub(crate) fn offsets(offsets: &[i32]) -> Vec<u8> {
    offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect()
}

/// A node of a batch with its buffers; those of its children follow. Only a column of views has
/// more than three buffers.
#[derive(Clone, Default)]
pub(crate) struct Node {
    pub(crate) length: i64,
    pub(crate) nulls: i64,
    pub(crate) buffers: Vec<Vec<u8>>,
}

/// Numbers of this many bytes each, with the bits of those that are not null; none for no nulls.
pub(crate) fn numbers(values: &[u64], size: usize, valid: Option<&[bool]>) -> Node {
    let data = values.iter().flat_map(|value| value.to_le_bytes()[..size].to_vec()).collect();
    let nulls = valid.map_or(0, |valid| valid.iter().filter(|valid| !**valid).count());
    Node { length: values.len() as i64, nulls: nulls as i64, buffers: vec![bits(valid), data] }
}

/// A bit for each, the lowest first.
pub(crate) fn bits(valid: Option<&[bool]>) -> Vec<u8> {
    let byte = |eight: &[bool]| eight.iter().rev().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    valid.unwrap_or_default().chunks(8).map(byte).collect()
}

#[derive(Clone)]
pub(crate) enum Message {
    Batch(i64, Vec<Node>),
    Dictionary(i64, i64, Vec<Node>),
    /// One that adds entries.
    Delta(i64, i64, Vec<Node>),
}

/// How a table is written. What it says of buffers has to be true of those of the messages, if it
/// is to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    /// A file, or a stream.
    pub(crate) file: bool,
    pub(crate) order: fb::Endianness,
    pub(crate) codec: Option<fb::CompressionType>,
    /// How much longer bodies are said to be than they are.
    pub(crate) excess: i64,
    pub(crate) version: fb::MetadataVersion,
}

/// A stream of messages, or a file with them, plain and in the little order.
pub(crate) fn arrow(fields: &[Field], messages: &[Message], file: bool) -> Vec<u8> {
    Form::plain(file).arrow(fields, messages)
}

impl Form {
    pub(crate) fn plain(file: bool) -> Self {
        let (order, version) = (fb::Endianness::Little, fb::MetadataVersion::V5);
        Self { file, order, codec: None, excess: 0, version }
    }

    /// Files and streams, in both orders.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let orders = [fb::Endianness::Little, fb::Endianness::Big];
        let forms =
            [true, false].map(|file| orders.map(|order| Self { order, ..Self::plain(file) }));
        forms.into_iter().flatten()
    }

    /// A node whose second buffer is of offsets or numbers of this many bytes each, in the little
    /// order, in that of the form.
    pub(crate) fn turned(self, mut node: Node, size: usize) -> Node {
        if self.order == fb::Endianness::Big
            && let Some(buffer) = node.buffers.get_mut(1)
        {
            buffer.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        node
    }

    pub(crate) fn arrow(self, fields: &[Field], messages: &[Message]) -> Vec<u8> {
        let (mut bytes, batches, dictionaries) = framed(self, fields, messages);
        if self.file {
            close(&mut bytes, self, fields, &batches, &dictionaries);
        }
        bytes
    }
}

/// A file with one batch. The footer names this batch `times` times, and then a batch at the offset
/// `last`.
pub(crate) fn repeating(
    fields: &[Field],
    message: Message,
    times: usize,
    last: Option<i64>,
) -> Vec<u8> {
    let form = Form::plain(true);
    let (mut bytes, mut batches, _) = framed(form, fields, &[message]);
    batches.resize(times, batches[0]);
    batches.extend(last.map(|at| fb::Block::new(at, 0, 0)));
    close(&mut bytes, form, fields, &batches, &[]);
    bytes
}

/// The messages, and the blocks of batches and of dictionaries.
fn framed(
    form: Form,
    fields: &[Field],
    messages: &[Message],
) -> (Vec<u8>, Vec<fb::Block>, Vec<fb::Block>) {
    let mut bytes = if form.file { b"ARROW1\0\0".to_vec() } else { Vec::new() };
    let mut builder = FlatBufferBuilder::new();
    let schema = schema(&mut builder, form, fields);
    finish(&mut builder, form, fb::MessageHeader::Schema, schema.as_union_value(), 0);
    frame(&mut bytes, builder.finished_data(), &[]);
    let (mut batches, mut dictionaries) = (Vec::new(), Vec::new());
    for message in messages {
        let at = bytes.len();
        let (Message::Batch(rows, nodes)
        | Message::Dictionary(_, rows, nodes)
        | Message::Delta(_, rows, nodes)) = message;
        let body = body(nodes);
        let mut builder = FlatBufferBuilder::new();
        let batch = batch(&mut builder, form, *rows, nodes);
        let (kind, header, blocks) = match message {
            Message::Batch(..) => {
                (fb::MessageHeader::RecordBatch, batch.as_union_value(), &mut batches)
            }
            Message::Dictionary(id, ..) | Message::Delta(id, ..) => {
                let is_delta = matches!(message, Message::Delta(..));
                let arguments =
                    fb::DictionaryBatchArgs { id: *id, data: Some(batch), isDelta: is_delta };
                let dictionary = fb::DictionaryBatch::create(&mut builder, &arguments);
                (fb::MessageHeader::DictionaryBatch, dictionary.as_union_value(), &mut dictionaries)
            }
        };
        finish(&mut builder, form, kind, header, body.len() as i64 + form.excess);
        let metadata = frame(&mut bytes, builder.finished_data(), &body);
        blocks.push(fb::Block::new(at as i64, metadata as i32, body.len() as i64));
    }
    bytes.extend(b"\xFF\xFF\xFF\xFF\0\0\0\0");
    (bytes, batches, dictionaries)
}

/// Ends a file.
fn close(
    bytes: &mut Vec<u8>,
    form: Form,
    fields: &[Field],
    batches: &[fb::Block],
    dictionaries: &[fb::Block],
) {
    let footer = footer(form, fields, batches, dictionaries);
    bytes.extend_from_slice(&footer);
    bytes.extend((footer.len() as i32).to_le_bytes());
    bytes.extend(b"ARROW1");
}

/// The buffers, each at a multiple of 8.
fn body(nodes: &[Node]) -> Vec<u8> {
    let mut body = Vec::new();
    for buffer in nodes.iter().flat_map(|node| &node.buffers) {
        body.extend_from_slice(buffer);
        body.resize(body.len().next_multiple_of(8), 0);
    }
    body
}

/// Adds a message; returns the length of what is before its body.
fn frame(bytes: &mut Vec<u8>, metadata: &[u8], body: &[u8]) -> usize {
    let length = metadata.len().next_multiple_of(8);
    bytes.extend(b"\xFF\xFF\xFF\xFF");
    bytes.extend((length as i32).to_le_bytes());
    bytes.extend_from_slice(metadata);
    bytes.resize(bytes.len() + length - metadata.len(), 0);
    bytes.extend_from_slice(body);
    length + 8
}

type Builder<'a> = FlatBufferBuilder<'a>;

fn finish(
    builder: &mut Builder<'_>,
    form: Form,
    kind: fb::MessageHeader,
    header: WIPOffset<flatbuffers::UnionWIPOffset>,
    body: i64,
) {
    let arguments = fb::MessageArgs {
        version: form.version,
        header_type: kind,
        header: Some(header),
        bodyLength: body,
        custom_metadata: None,
    };
    let message = fb::Message::create(builder, &arguments);
    builder.finish(message, None);
}

fn footer(
    form: Form,
    fields: &[Field],
    batches: &[fb::Block],
    dictionaries: &[fb::Block],
) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let arguments = fb::FooterArgs {
        version: form.version,
        schema: Some(schema(&mut builder, form, fields)),
        dictionaries: Some(builder.create_vector(dictionaries)),
        recordBatches: Some(builder.create_vector(batches)),
        custom_metadata: None,
    };
    let footer = fb::Footer::create(&mut builder, &arguments);
    builder.finish(footer, None);
    builder.finished_data().to_vec()
}

fn schema<'a>(
    builder: &mut Builder<'a>,
    form: Form,
    fields: &[Field],
) -> WIPOffset<fb::Schema<'a>> {
    let fields: Vec<_> = fields.iter().map(|field| write(builder, field)).collect();
    let fields = Some(builder.create_vector(&fields));
    let endianness = form.order;
    fb::Schema::create(builder, &fb::SchemaArgs { fields, endianness, ..fb::SchemaArgs::default() })
}

fn write<'a>(builder: &mut Builder<'a>, field: &Field) -> WIPOffset<fb::Field<'a>> {
    let children: Vec<_> = match &field.kind {
        Kind::Struct(fields) | Kind::Union(_, fields) | Kind::Other(_, fields) => {
            fields.iter().map(|field| write(builder, field)).collect()
        }
        Kind::List(child) | Kind::Fixed(_, child) => vec![write(builder, child)],
        Kind::Float(_) | Kind::Int | Kind::Text => Vec::new(),
    };
    let (type_type, type_) = match &field.kind {
        Kind::Float(precision) => {
            let arguments = fb::FloatingPointArgs { precision: *precision };
            let kind = fb::FloatingPoint::create(builder, &arguments);
            (fb::Type::FloatingPoint, kind.as_union_value())
        }
        Kind::Int => {
            let kind = fb::Int::create(builder, &fb::IntArgs { bitWidth: 32, is_signed: true });
            (fb::Type::Int, kind.as_union_value())
        }
        Kind::Text => {
            (fb::Type::Utf8, fb::Utf8::create(builder, &fb::Utf8Args {}).as_union_value())
        }
        Kind::Struct(_) => {
            (fb::Type::Struct_, fb::Struct_::create(builder, &fb::Struct_Args {}).as_union_value())
        }
        Kind::List(_) => {
            (fb::Type::List, fb::List::create(builder, &fb::ListArgs {}).as_union_value())
        }
        Kind::Fixed(size, _) => {
            let kind =
                fb::FixedSizeList::create(builder, &fb::FixedSizeListArgs { listSize: *size });
            (fb::Type::FixedSizeList, kind.as_union_value())
        }
        Kind::Union(mode, _) => {
            let kind = fb::Union::create(builder, &fb::UnionArgs { mode: *mode, typeIds: None });
            (fb::Type::Union, kind.as_union_value())
        }
        // A table without a field.
        Kind::Other(kind, _) => {
            (*kind, fb::Null::create(builder, &fb::NullArgs {}).as_union_value())
        }
    };
    let dictionary = field.dictionary.map(|id| {
        let (bits, is_signed) = field.index;
        let index = fb::Int::create(builder, &fb::IntArgs { bitWidth: bits, is_signed });
        let arguments =
            fb::DictionaryEncodingArgs { id, indexType: Some(index), ..Default::default() };
        fb::DictionaryEncoding::create(builder, &arguments)
    });
    let arguments = fb::FieldArgs {
        name: Some(builder.create_string(field.name)),
        nullable: true,
        type_type,
        type_: (type_type != fb::Type::NONE).then_some(type_),
        dictionary,
        children: Some(builder.create_vector(&children)),
        custom_metadata: None,
    };
    fb::Field::create(builder, &arguments)
}

fn batch<'a>(
    builder: &mut Builder<'a>,
    form: Form,
    rows: i64,
    nodes: &[Node],
) -> WIPOffset<fb::RecordBatch<'a>> {
    let mut at = 0;
    let buffers = nodes.iter().flat_map(|node| &node.buffers).map(|buffer| {
        let entry = fb::Buffer::new(at as i64, buffer.len() as i64);
        at = (at + buffer.len()).next_multiple_of(8);
        entry
    });
    let buffers: Vec<_> = buffers.collect();
    // A column of views says how many buffers follow its first two.
    let counts = nodes.iter().map(|node| node.buffers.len() as i64);
    let counts: Vec<_> = counts.filter(|&count| count > 3).map(|count| count - 2).collect();
    let nodes: Vec<_> =
        nodes.iter().map(|node| fb::FieldNode::new(node.length, node.nulls)).collect();
    let compression = form.codec.map(|codec| {
        let arguments = fb::BodyCompressionArgs { codec, ..fb::BodyCompressionArgs::default() };
        fb::BodyCompression::create(builder, &arguments)
    });
    let arguments = fb::RecordBatchArgs {
        length: rows,
        compression,
        nodes: Some(builder.create_vector(&nodes)),
        buffers: Some(builder.create_vector(&buffers)),
        variadicBufferCounts: Some(builder.create_vector(&counts)),
    };
    fb::RecordBatch::create(builder, &arguments)
}
