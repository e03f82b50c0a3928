//! Files with one tensor (TensorProto), such as `input_0.pb` in the test data of ONNX.

use std::ops::RangeInclusive;

use super::tensor::Proto;
use crate::containers::protobuf::{Fields, Value};
use crate::model::reader::{Read, Reader};
use crate::model::{Content, FileFormat, Tensor};

impl FileFormat {
    /// A tensor of ONNX in a file of its own; see [`onnx`](crate::formats::onnx).
    pub const ONNX_TENSOR: Self = Self::named("onnx tensor");
}

pub(in crate::formats) static READER: Reader = Reader {
    format: FileFormat::ONNX_TENSOR,
    // Graphs of TensorFlow also end in `.pb`, so only the bytes tell the format.
    endings: &[],
    begins: |bytes| tensor(bytes).is_some(),
    read: Read::Whole(|input| Ok(vec![tensor(input.bytes).ok_or("not a tensor of ONNX")?].into())),
    shards: None,
};

/// The fields of TensorProto.
const FIELDS: RangeInclusive<u64> = 1..=16;

/// Whether these bytes may be the beginning of a tensor in a file: the fields that are whole are
/// those of a tensor, in their encodings. So an endless text is no tensor.
pub(in crate::formats) fn may_begin(bytes: &[u8]) -> bool {
    let of_tensor = |(number, value)| match value {
        // Dimensions, types and integers; float_data and double_data.
        Value::Varint(_) => matches!(number, 1 | 2 | 5 | 7 | 11 | 14),
        Value::Fixed(range) => (number, range.len()) == (4, 4) || (number, range.len()) == (10, 8),
        Value::Bytes(_) => FIELDS.contains(&number),
    };
    let mut whole = Fields::new(bytes, 0..bytes.len()).map_while(Result::ok).peekable();
    whole.peek().is_some() && whole.all(of_tensor)
}

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
    let proto =
        Proto::read(bytes, 0..bytes.len()).ok().filter(|proto| typed && proto.is_plain())?;
    let raw = proto.raw_length();
    let mut none = |_: &str| Err("external data".into());
    let tensor = proto.tensor(&mut none).ok()?;
    match &tensor.content {
        // The length of the data then fits the shape.
        Content::Floats { .. } => Some(tensor),
        // Integers of 1, 2, 4 or 8 bytes.
        Content::NotFloat => {
            let fits = |size| raw.is_some() && tensor.elements().checked_mul(size) == raw;
            [1, 2, 4, 8].into_iter().any(fits).then_some(tensor)
        }
        _ => None,
    }
}
