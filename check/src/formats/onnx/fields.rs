//! The fields of the messages of ONNX, and what stands in others.
//!
//! The reader looks at the fields that it knows. A field of another number could be anything, and
//! so could text that is none. The numbers are those of onnx.proto (IR version 13).

use std::ops::Range;

use super::error::MAX_TENSORS;
use crate::containers::protobuf::{Fields, Malformed, Value};
use crate::model::{Tensor, may_hold_numbers};

/// How deep messages may be nested; types of values nest without graphs.
const MAX_DEPTH: usize = 256;

/// A message: its name, and its fields by their numbers.
pub(super) struct Message {
    name: &'static str,
    /// Integers, one or packed.
    integers: &'static [u64],
    /// Text, or bytes that often are text.
    text: &'static [u64],
    /// Floats that the reader looks at, one each.
    floats: &'static [u64],
    /// Packed floats, and bytes of numbers, which the reader looks at.
    packed: &'static [u64],
    messages: &'static [(u64, &'static Message)],
}

/// A message of this name with integers, text and messages.
const fn message(
    name: &'static str,
    integers: &'static [u64],
    text: &'static [u64],
    messages: &'static [(u64, &'static Message)],
) -> Message {
    Message { name, integers, text, floats: &[], packed: &[], messages }
}

pub(super) static MODEL: Message = message(
    "ModelProto",
    &[1, 5],
    &[2, 3, 4, 6],
    &[(7, &GRAPH), (8, &OPSET), (14, &ENTRY), (20, &TRAINING), (25, &FUNCTION), (26, &DEVICES)],
);
static GRAPH: Message = message(
    "GraphProto",
    &[],
    &[2, 10],
    &[
        (1, &NODE),
        (5, &TENSOR),
        (11, &VALUE),
        (12, &VALUE),
        (13, &VALUE),
        (14, &ANNOTATION),
        (15, &SPARSE),
        (16, &ENTRY),
    ],
);
static NODE: Message = message(
    "NodeProto",
    &[],
    &[1, 2, 3, 4, 6, 7, 8],
    &[(5, &ATTRIBUTE), (9, &ENTRY), (10, &NODE_DEVICES)],
);
static ATTRIBUTE: Message = Message {
    floats: &[2, 7],
    packed: &[7],
    ..message(
        "AttributeProto",
        &[3, 8, 20],
        &[1, 4, 9, 13, 21],
        &[
            (5, &TENSOR),
            (6, &GRAPH),
            (10, &TENSOR),
            (11, &GRAPH),
            (14, &TYPE),
            (15, &TYPE),
            (22, &SPARSE),
            (23, &SPARSE),
        ],
    )
};
pub(super) static TENSOR: Message = Message {
    floats: &[4, 10],
    packed: &[4, 9, 10],
    ..message(
        "TensorProto",
        &[1, 2, 5, 7, 11, 14],
        &[6, 8, 12],
        &[(3, &SEGMENT), (13, &ENTRY), (16, &ENTRY)],
    )
};
static SEGMENT: Message = message("Segment", &[1, 2], &[], &[]);
static SPARSE: Message = message("SparseTensorProto", &[3], &[], &[(1, &TENSOR), (2, &TENSOR)]);
static FUNCTION: Message = message(
    "FunctionProto",
    &[],
    &[1, 4, 5, 6, 8, 10, 13],
    &[(7, &NODE), (9, &OPSET), (11, &ATTRIBUTE), (12, &VALUE), (14, &ENTRY)],
);
static TRAINING: Message =
    message("TrainingInfoProto", &[], &[], &[(1, &GRAPH), (2, &GRAPH), (3, &ENTRY), (4, &ENTRY)]);
static OPSET: Message = message("OperatorSetIdProto", &[2], &[1], &[]);
static ENTRY: Message = message("StringStringEntryProto", &[], &[1, 2], &[]);
static ANNOTATION: Message = message("TensorAnnotation", &[], &[1], &[(2, &ENTRY)]);
static VALUE: Message = message("ValueInfoProto", &[], &[1, 3], &[(2, &TYPE), (4, &ENTRY)]);
static TYPE: Message = message(
    "TypeProto",
    &[],
    &[6],
    &[
        (1, &TENSOR_TYPE),
        (4, &ELEMENT_TYPE),
        (5, &MAP_TYPE),
        (7, &ENTRY),
        (8, &TENSOR_TYPE),
        (9, &ELEMENT_TYPE),
    ],
);
static TENSOR_TYPE: Message = message("TypeProto.Tensor", &[1], &[], &[(2, &SHAPE)]);
static ELEMENT_TYPE: Message = message("TypeProto.Sequence", &[], &[], &[(1, &TYPE)]);
static MAP_TYPE: Message = message("TypeProto.Map", &[1], &[], &[(2, &TYPE)]);
static SHAPE: Message = message("TensorShapeProto", &[], &[], &[(1, &DIMENSION)]);
static DIMENSION: Message = message("TensorShapeProto.Dimension", &[1], &[2, 3], &[]);
static DEVICES: Message = message("DeviceConfigurationProto", &[2], &[1, 3], &[]);
static NODE_DEVICES: Message =
    message("NodeDeviceConfigurationProto", &[3], &[1], &[(2, &SHARDING)]);
static SHARDING: Message = message("ShardingSpecProto", &[2], &[1], &[(3, &GROUP), (4, &SHARDED)]);
static GROUP: Message = message("IntIntListEntryProto", &[1, 2], &[], &[]);
static SHARDED: Message = message("ShardedDimProto", &[1], &[], &[(2, &SIMPLE)]);
static SIMPLE: Message = message("SimpleShardedDimProto", &[1, 3], &[2], &[]);

/// What a message of this kind holds in fields that nobody looks at, as tensors.
///
/// # Errors
/// [`Malformed`] if the bytes are not a message.
pub(super) fn unknown(
    file: &[u8],
    bytes: Range<usize>,
    message: &'static Message,
) -> Result<Vec<Tensor>, Malformed> {
    let mut walk = Walk { file, found: Vec::new() };
    walk.message(bytes, message, 0)?;
    Ok(walk.found)
}

struct Walk<'a> {
    file: &'a [u8],
    found: Vec<Tensor>,
}

impl Walk<'_> {
    fn message(
        &mut self,
        bytes: Range<usize>,
        message: &'static Message,
        depth: usize,
    ) -> Result<(), Malformed> {
        for field in Fields::new(self.file, bytes) {
            let (number, value) = field?;
            let inner = message.messages.iter().find(|(known, _)| *known == number);
            match (inner, value) {
                // No float is a varint.
                (_, Value::Varint(_)) => {}
                (_, Value::Fixed(_)) if message.floats.contains(&number) => {}
                (_, Value::Bytes(_))
                    if message.packed.contains(&number) || message.integers.contains(&number) => {}
                (Some((_, inner)), Value::Bytes(range)) => {
                    let is_read =
                        depth < MAX_DEPTH && self.message(range.clone(), inner, depth + 1).is_ok();
                    if !is_read {
                        self.add(range, &format!("no {} that can be read", inner.name));
                    }
                }
                (_, Value::Bytes(range)) if message.text.contains(&number) => {
                    let why = format!("field {number} of {} is not text", message.name);
                    self.add(range, &why);
                }
                (_, Value::Bytes(range) | Value::Fixed(range)) => {
                    let why = format!("field {number} of {} is not known", message.name);
                    self.add(range, &why);
                }
            }
        }
        Ok(())
    }

    /// Adds a part, up to one more than a model may have: the caller refuses the model then.
    fn add(&mut self, range: Range<usize>, why: &str) {
        if self.found.len() <= MAX_TENSORS && may_hold_numbers(&self.file[range.clone()]) {
            self.found.push(Tensor::unreferenced(range, why));
        }
    }
}
