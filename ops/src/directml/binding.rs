//! DML_BUFFER_BINDING and its rules.

use core::ops::Range;

use super::desc::Place;
use super::{BufferTensorDesc, Error, Property, Rule};

/// `DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT`.
const LEAST_ALIGNMENT: u64 = 16;

/// `DML_BUFFER_BINDING` of an input: a range of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferBinding<'a> {
    /// The buffer.
    pub buffer: &'a [u8],
    /// The offset of the range in the buffer, in bytes.
    pub offset: u64,
    /// The length of the range, in bytes.
    pub size_in_bytes: u64,
}

/// `DML_BUFFER_BINDING` of an output: a range of a buffer.
#[derive(Debug)]
pub struct BufferBindingMut<'a> {
    /// The buffer.
    pub buffer: &'a mut [u8],
    /// The offset of the range in the buffer, in bytes.
    pub offset: u64,
    /// The length of the range, in bytes.
    pub size_in_bytes: u64,
}

/// The whole buffer.
impl<'a> From<&'a [u8]> for BufferBinding<'a> {
    fn from(buffer: &'a [u8]) -> Self {
        Self { buffer, offset: 0, size_in_bytes: buffer.len() as u64 }
    }
}

/// The whole buffer.
impl<'a> From<&'a mut [u8]> for BufferBindingMut<'a> {
    fn from(buffer: &'a mut [u8]) -> Self {
        let size_in_bytes = buffer.len() as u64;
        Self { buffer, offset: 0, size_in_bytes }
    }
}

impl<'a> BufferBinding<'a> {
    /// The bytes of the tensor: `TotalTensorSizeInBytes` of them.
    pub(super) fn tensor(
        &self,
        place: Place,
        desc: &BufferTensorDesc<'_>,
    ) -> Result<&'a [u8], Error> {
        Ok(&self.buffer[range(self.buffer.len(), self.offset, self.size_in_bytes, place, desc)?])
    }
}

impl<'a> BufferBindingMut<'a> {
    /// The bytes of the tensor: `TotalTensorSizeInBytes` of them.
    pub(super) fn tensor(
        self,
        place: Place,
        desc: &BufferTensorDesc<'_>,
    ) -> Result<&'a mut [u8], Error> {
        let range = range(self.buffer.len(), self.offset, self.size_in_bytes, place, desc)?;
        Ok(&mut self.buffer[range])
    }
}

/// The range of the tensor in a buffer of `length` bytes.
fn range(
    length: usize,
    offset: u64,
    size: u64,
    place: Place,
    desc: &BufferTensorDesc<'_>,
) -> Result<Range<usize>, Error> {
    let within = Rule::WithinBuffer(length as u64);
    if offset > length as u64 {
        return Err(place.error(Property::Offset, None, offset, within));
    }
    if size > length as u64 - offset {
        return Err(place.error(Property::SizeInBytes, None, size, within));
    }
    let alignment = LEAST_ALIGNMENT.max(desc.guaranteed_base_offset_alignment.into());
    if !offset.is_multiple_of(alignment) {
        return Err(place.error(Property::Offset, None, offset, Rule::OffsetAlignment(alignment)));
    }
    let total = desc.total_tensor_size_in_bytes;
    if size < total {
        return Err(place.error(Property::SizeInBytes, None, size, Rule::RangeSize(total)));
    }
    // Both are within the buffer, and so within a `usize`.
    Ok(offset as usize..(offset + total) as usize)
}
