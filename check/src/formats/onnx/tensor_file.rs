//! Files with one tensor (TensorProto), such as `input_0.pb` in the test data of ONNX.

use std::ops::RangeInclusive;

use super::fields::{TENSOR, unknown};
use super::tensor::Proto;
use crate::containers::protobuf::{Fields, Value};
use crate::model::reader::Reader;
use crate::model::{self, Content, FileFormat, Input, Tensor};

impl FileFormat {
    /// A tensor of ONNX in a file of its own; see [`onnx`](crate::formats::onnx).
    pub const ONNX_TENSOR: Self = Self::named("onnx tensor");
}

pub(in crate::formats) static READER: Reader = Reader {
    format: FileFormat::ONNX_TENSOR,
    // Graphs of TensorFlow also end in `.pb`, so only the bytes tell the format.
    endings: &[],
    begins: |bytes| tensor(bytes).is_some(),
    contents: |input| Ok(tensors(input)?.into()),
    stream: None,
    shards: None,
    is_fixable: false,
};

/// The fields of TensorProto.
const FIELDS: RangeInclusive<u64> = 1..=16;

/// The tensor, if all bytes are one valid TensorProto. The format has no signature, so any oddity
/// means that this is another format.
fn tensor(bytes: &[u8]) -> Option<Tensor> {
    let mut fields = Fields::new(bytes, 0..bytes.len());
    // Every tensor has a type.
    let mut typed = false;
    fields.try_for_each(|field| match field.ok()? {
        (2, Value::Varint(_)) => {
            typed = true;
            Some(())
        }
        (number, _) => FIELDS.contains(&number).then_some(()),
    })?;
    // Nobody looks at what stands in other fields.
    let unknown = unknown(bytes, 0..bytes.len(), &TENSOR).ok()?;
    unknown.is_empty().then_some(())?;
    let proto =
        Proto::read(bytes, 0..bytes.len()).ok().filter(|proto| typed && proto.is_plain())?;
    let raw = proto.raw_length();
    let mut none = |name: &str| Err(model::Error::Outside(name.to_owned()));
    let tensor = proto.tensor(&mut none).ok()?;
    match &tensor.content {
        // The length of the data then fits the shape.
        Content::Floats { .. } => Some(tensor),
        // Integers of 1, 2, 4 or 8 bytes.
        Content::NotFloat => {
            let fits = |size| tensor.elements().checked_mul(size) == raw;
            [1, 2, 4, 8].into_iter().any(fits).then_some(tensor)
        }
        Content::Blocks { .. }
        | Content::AlwaysFinite
        | Content::Unreadable(_)
        | Content::Damaged(_) => None,
    }
}

fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, super::Error> {
    tensor(input.bytes).map(|tensor| vec![tensor]).ok_or(super::Error::NoTensor)
}
