//! The elements of a small tensor in one piece.

use super::Tensor;
use super::copy::copy;
use super::dims::{TILE_DIMS, walk};

/// Copies the elements of a tensor to the first bytes of `room`, in row-major order. Returns these
/// bytes.
///
/// # Panics
/// If `room` is too short, or if more than 16 dimensions are left after neighbours are merged.
pub fn gather<'r>(x: &Tensor<'_>, room: &'r mut [u8]) -> &'r [u8] {
    let (element, room) = (x.element, &mut room[..x.len() * x.element]);
    let mut dims = x.dims();
    dims.list_mut().iter_mut().for_each(|dim| dim.row = 0);
    dims.merge();
    let (inner, outer) = dims.split_at(dims.len().min(TILE_DIMS));
    assert!(outer.len() <= TILE_DIMS, "a tensor of {} dimensions", dims.len());
    let to = room.as_mut_ptr();
    if !x.is_empty() {
        walk(outer, &mut |input, output, _| {
            let from = x.start.wrapping_offset(input * element as isize);
            // SAFETY: the elements can be read, as the tensor vouches. `room` is ours and has a
            // place for each, so no element lies in `room`.
            unsafe { copy(element, from, to.offset(output * element as isize), inner) };
        });
    }
    room
}
