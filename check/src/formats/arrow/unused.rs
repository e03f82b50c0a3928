//! Bytes that belong to no message and no buffer, and metadata that is not text.

use std::ops::Range;

use arrow_ipc::KeyValue;
use flatbuffers::{ForwardsUOffset, Vector};

use crate::formats::unread;
use crate::model::{Data, Tensor, is_text};

/// Bytes that nothing refers to.
pub(super) fn bytes(range: Range<usize>) -> Tensor {
    // A stream has passed them, so nobody can look at them again.
    let data = Data::Owned(Vec::new());
    Tensor { data, ..Tensor::unreferenced(range, "no column refers to these bytes") }
}

/// Metadata of a user that is not text, each value as a tensor that is not looked at.
pub(super) fn metadata<'a>(
    pairs: Option<Vector<'a, ForwardsUOffset<KeyValue<'a>>>>,
) -> impl Iterator<Item = Tensor> {
    let pairs = pairs.into_iter().flatten();
    pairs.filter_map(|pair| {
        let (key, value) = (pair.key().unwrap_or_default(), pair.value().unwrap_or_default());
        if is_text(key.as_bytes()) && is_text(value.as_bytes()) {
            return None;
        }
        let size = key.len() + value.len();
        let why = "metadata that is not text".to_owned();
        Some(unread::tensor(format!("metadata {key}"), size, why, Data::Owned(Vec::new())))
    })
}

/// The alignment of buffers in a body.
const ALIGNMENT: usize = 8;

/// The bytes of a buffer that hold its numbers, which take `length` bytes. pyarrow lengthens the
/// buffer of a slice to the alignment, by the bytes that follow the slice in memory. These belong
/// to the buffer.
pub(super) fn with_padding(buffer: Range<usize>, length: usize) -> Range<usize> {
    let length = length.checked_next_multiple_of(ALIGNMENT).unwrap_or(usize::MAX);
    buffer.start..buffer.end.min(buffer.start.saturating_add(length))
}

/// The parts of a body that lie in none of these ranges, which are in order.
pub(super) fn between(body: Range<usize>, used: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut gaps, mut at) = (Vec::new(), body.start);
    for range in used.iter().chain([&(body.end..body.end)]) {
        if range.start > at {
            gaps.push(at..range.start);
        }
        at = at.max(range.end);
    }
    gaps
}
