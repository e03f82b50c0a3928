//! Tensors whose elements are not adjacent.
//!
//! A [`Source`] names elements by a base and strides. A question is cut into tiles of a few
//! thousand elements, and a dense kernel answers it for each tile. The kernel gets a tile in one of
//! two ways. If the elements are close together, it gets the span: the elements and the bytes
//! between them, and the results of the latter are dropped. Otherwise it gets the elements gathered
//! in a buffer. Under nulls (`valid.rs`) the elements of a tile are in row-major order, and so are
//! their bits. This module has no vector loop.
#![expect(unsafe_code, reason = "elements lie at a base and strides, in no slice")]

mod across;
mod answers;
#[cfg(feature = "ndarray")]
mod array;
mod block;
mod copy;
mod cut;
mod dims;
mod interleave;
mod mask;
mod rows;
#[cfg(feature = "stats")]
mod stats;
mod unordered;
#[cfg(feature = "validity")]
mod valid;

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::backend::Backend;
use crate::entry;
use crate::out::MaskOut;
use crate::rule::Rule;

pub use answers::Rows;
#[cfg(feature = "ndarray")]
pub use array::{Array, ArrayMut};
use dims::{Dim, Dims, sort};
pub use rows::rows;
#[cfg(feature = "stats")]
pub use stats::{stats, stats_of_rows};
#[cfg(feature = "validity")]
pub use valid::{ValidTile, valid_tiles};

/// The elements of a tensor, anywhere in memory: each exists, and nothing writes to it.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The address that the input of `dims` counts from.
    start: *const u8,
    /// Bytes of an element.
    element: usize,
    /// The dimensions in row-major order. The output is the row-major index, and `row` is the
    /// number of the dimension.
    dims: Dims,
    /// The number of elements.
    len: usize,
    /// Whether all bytes from the first element to the last may be read.
    gaps: bool,
    lifetime: PhantomData<&'a [u8]>,
}

impl<'a> Source<'a> {
    /// The tensor of these dimensions, innermost first, each with its size and its stride in
    /// elements of `element` bytes; its coordinate 0 is element `offset` of `x`. A dimension of
    /// size 1 may have any stride, and a tensor without elements any offset and strides.
    ///
    /// # Panics
    /// If an element is not in `x`, if `element` is not 1, 2, 4 or 8, or if there are more elements
    /// than a `usize` counts.
    #[must_use]
    pub fn new(
        x: &'a [u8],
        element: usize,
        offset: usize,
        dims: impl Iterator<Item = (usize, isize)> + Clone,
    ) -> Self {
        check(x.len() / element, offset, dims.clone());
        let start = x.as_ptr().wrapping_add(offset.wrapping_mul(element));
        // SAFETY: every element is in `x` (just checked), and so is all between them.
        unsafe { Self::from_raw(start, element, dims, true) }
    }

    /// The tensor of these dimensions, given as in [`Source::new`], with coordinate 0 at `start`.
    /// `gaps` says whether all bytes from the first element to the last may be read, including the
    /// bytes between elements.
    ///
    /// # Panics
    /// If `element` is not 1, 2, 4 or 8, or if there are more elements than a `usize` counts.
    ///
    /// # Safety
    /// During `'a` each element can be read, is initialised, and nothing writes to it; with `gaps`
    /// the same holds for all between them. All of them are in one allocation.
    #[must_use]
    pub unsafe fn from_raw(
        start: *const u8,
        element: usize,
        dims: impl Iterator<Item = (usize, isize)> + Clone,
        gaps: bool,
    ) -> Self {
        assert!(matches!(element, 1 | 2 | 4 | 8), "elements of 1, 2, 4 or 8 bytes");
        let (dims, len) = dims_of(dims);
        Self { start, element, dims, len, gaps, lifetime: PhantomData }
    }

    /// The number of elements: the product of the sizes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether a size is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements in the order of memory, for questions that do not depend on order. Broadcast
    /// elements occur once. Also returns how often the tensor repeats each element.
    fn unordered(&self) -> (Dims, usize) {
        let mut repeats = 1;
        let mut dims = Dims::new();
        for dim in &*self.dims {
            match dim.input {
                0 => repeats *= dim.size,
                _ => dims.push(Dim { output: 0, row: 0, ..*dim }),
            }
        }
        dims.forwards();
        sort(dims.list_mut(), |dim| dim.input as usize);
        dims.merge();
        (dims, repeats)
    }
}

/// The output of the mask of a tensor: one byte for each element.
#[derive(Debug)]
pub struct Target<'o> {
    /// Coordinate 0.
    start: *mut u8,
    /// The dimensions. The input is the place of a byte. `None` means row-major without gaps.
    dims: Option<Dims>,
    len: usize,
    lifetime: PhantomData<&'o mut [MaybeUninit<bool>]>,
}

impl<'o> Target<'o> {
    /// The bytes of these dimensions, innermost first, each with its size and its stride in bytes;
    /// coordinate 0 is byte `offset` of `out`.
    ///
    /// # Panics
    /// If a byte is not in `out`, or if there are more than a `usize` counts.
    #[must_use]
    pub fn new(
        out: &'o mut MaskOut<'_>,
        offset: usize,
        dims: impl Iterator<Item = (usize, isize)> + Clone,
    ) -> Self {
        check(out.len(), offset, dims.clone());
        // SAFETY: every byte is in `out` (just checked), which is ours for as long.
        unsafe { Self::from_raw(out.slots_mut().as_mut_ptr().wrapping_add(offset).cast(), dims) }
    }

    /// The bytes of these dimensions, as [`Target::new`] has them, with coordinate 0 at `start`.
    ///
    /// # Panics
    /// If there are more bytes than a `usize` counts.
    ///
    /// # Safety
    /// During `'o` each byte can be written, and nothing else uses it. All of them are in one
    /// allocation.
    #[must_use]
    pub unsafe fn from_raw(
        start: *mut u8,
        dims: impl Iterator<Item = (usize, isize)> + Clone,
    ) -> Self {
        let (dims, len) = dims_of(dims);
        Self { start, dims: Some(dims), len, lifetime: PhantomData }
    }

    /// All bytes of `out`, in row-major order.
    #[must_use]
    pub fn contiguous(out: MaskOut<'o>) -> Self {
        let out = out.slots();
        Self { start: out.as_mut_ptr().cast(), dims: None, len: out.len(), lifetime: PhantomData }
    }
}

/// Writes to each coordinate of `out` the answer for the element at this coordinate: 1 if the rule
/// holds, otherwise 0. Other bytes keep their values. `None` means the active backend.
///
/// # Panics
/// If `x` and `out` have not the same sizes; nothing is written then.
pub fn mask(backend: Option<Backend>, x: &Source<'_>, rule: &Rule, out: Target<'_>) {
    let mut dims = x.dims.clone();
    let same = out.dims.as_ref().is_none_or(|out| {
        let to = dims.list_mut().iter_mut();
        out.len() == to.len()
            && to.zip(&**out).all(|(dim, out)| {
                dim.output = out.input;
                (dim.size, dim.row) == (out.size, out.row)
            })
    });
    assert!(
        same && out.len == x.len,
        "a mask of {} for {} elements, or of other sizes",
        out.len,
        x.len
    );
    // The answer of a constant rule is computed for one element and broadcast.
    let constant = matches!(rule, Rule::Constant { .. });
    for dim in dims.list_mut() {
        (dim.row, dim.input) = (0, if constant { 0 } else { dim.input });
    }
    if !x.is_empty() {
        // SAFETY: elements of `x`, and the place of each.
        unsafe { mask::mask(backend.unwrap_or_else(Backend::active), x, dims, rule, out.start) }
    }
}

/// Writes one bit for each element in row-major order, from bit `offset` on, like [`crate::bits`].
/// `None` means the active backend.
///
/// # Panics
/// If `out` ends before the last result; some may have been written then.
pub fn bits(backend: Option<Backend>, x: &Source<'_>, rule: &Rule, out: &mut [u8], offset: usize) {
    match rule {
        _ if x.is_empty() => {}
        Rule::Constant { answer, .. } => {
            let end = x.len.saturating_add(offset % 8).div_ceil(8);
            entry::fill_bits(*answer, x.len, &mut out[offset / 8..][..end], offset % 8);
        }
        _ => mask::bits(backend.unwrap_or_else(Backend::active), x, rule, out, offset),
    }
}

/// Whether the rule holds for any element. `None` means the active backend.
#[must_use]
pub fn any(backend: Option<Backend>, x: &Source<'_>, rule: &Rule) -> bool {
    match rule {
        Rule::Constant { answer, .. } => *answer && !x.is_empty(),
        _ if x.is_empty() => false,
        _ => unordered::find(backend.unwrap_or_else(Backend::active), x, &x.unordered().0, rule)
            .is_some(),
    }
}

/// The row-major index of the first element for which the rule holds. `None` means the active
/// backend.
#[must_use]
pub fn position(backend: Option<Backend>, x: &Source<'_>, rule: &Rule) -> Option<usize> {
    if let Rule::Constant { answer, .. } = rule {
        return (*answer && !x.is_empty()).then_some(0);
    }
    if x.is_empty() {
        return None;
    }
    // If any coordinate of a broadcast dimension has a hit, its first coordinate has one.
    let mut dims = Dims::new();
    x.dims.iter().filter(|dim| dim.input != 0).for_each(|dim| dims.push(Dim { row: 0, ..*dim }));
    dims.merge();
    let mut reach = 0;
    let in_order = dims.iter().all(|dim| {
        let before = reach;
        reach += (dim.size as isize - 1) * dim.input;
        dim.input > before
    });
    let backend = backend.unwrap_or_else(Backend::active);
    if in_order {
        return unordered::find(backend, x, &dims, rule).map(|index| index as usize);
    }
    // In the order of memory, the absence of a hit is found faster.
    unordered::find(backend, x, &x.unordered().0, rule)
        .and_then(|_| mask::position(backend, x, &dims, rule))
}

/// The number of elements for which each rule holds. `search` must hold wherever any of them does.
/// `None` means the active backend.
#[must_use]
pub fn counts<const RULES: usize>(
    backend: Option<Backend>,
    x: &Source<'_>,
    search: &Rule,
    rules: [&Rule; RULES],
) -> [usize; RULES] {
    if rules.iter().all(|rule| matches!(rule, Rule::Constant { .. })) {
        let all = |rule: &Rule| matches!(rule, Rule::Constant { answer: true, .. });
        return rules.map(|rule| usize::from(all(rule)) * x.len);
    }
    let mut counts = [0; RULES];
    if !x.is_empty() {
        let (dims, repeats) = x.unordered();
        unordered::occurrences(
            backend.unwrap_or_else(Backend::active),
            x,
            &dims,
            search,
            &rules,
            &mut counts,
        );
        counts = counts.map(|count| count * repeats);
    }
    counts
}

/// The dimensions larger than 1 in row-major order, and the number of elements.
fn dims_of(sizes: impl Iterator<Item = (usize, isize)> + Clone) -> (Dims, usize) {
    let mut dims = Dims::new();
    if sizes.clone().any(|(size, _)| size == 0) {
        return (dims, 0);
    }
    let mut len = 1usize;
    for (number, (size, input)) in sizes.enumerate() {
        dims.push(Dim { size, input, output: len as isize, row: number as isize });
        len = len.checked_mul(size).expect("elements that a usize counts");
    }
    (dims, len)
}

/// Checks that every element is among `elements`.
///
/// # Panics
/// If an element is not.
fn check(elements: usize, offset: usize, dims: impl Iterator<Item = (usize, isize)> + Clone) {
    if dims.clone().any(|(size, _)| size == 0) {
        return;
    }
    let (mut first, mut last) = (Some(offset), Some(offset));
    for (size, stride) in dims {
        // A number that overflows is outside of any slice.
        let reach = (size - 1).checked_mul(stride.unsigned_abs());
        let end = if stride < 0 { &mut first } else { &mut last };
        *end = end.zip(reach).and_then(|(end, reach)| {
            if stride < 0 { end.checked_sub(reach) } else { end.checked_add(reach) }
        });
    }
    let inside = first.is_some() && last.is_some_and(|last| last < elements);
    assert!(inside, "the tensor reaches outside of the slice");
}

/// The dense kernels. Not inlined, so that each is compiled once.
mod dense {
    use core::mem::MaybeUninit;

    use crate::Occurrences;
    use crate::backend::Backend;
    use crate::rule::Rule;

    #[inline(never)]
    pub(super) fn mask<'o>(
        backend: Backend,
        x: &[u8],
        rule: &Rule,
        out: &'o mut [MaybeUninit<bool>],
    ) -> &'o mut [bool] {
        crate::mask_uninit(Some(backend), x, rule, out)
    }

    #[inline(never)]
    pub(super) fn bits(backend: Backend, x: &[u8], rule: &Rule, out: &mut [u8], offset: usize) {
        crate::bits(Some(backend), x, rule, out, offset);
    }

    #[inline(never)]
    pub(super) fn position(backend: Backend, x: &[u8], rule: &Rule) -> Option<usize> {
        crate::position(Some(backend), x, rule)
    }

    #[inline(never)]
    pub(super) fn occurrences(backend: Backend, x: &[u8], rule: &Rule) -> Occurrences {
        crate::occurrences(Some(backend), x, rule)
    }

    #[inline(never)]
    pub(super) fn count(backend: Backend, x: &[u8], rule: &Rule) -> usize {
        crate::count(Some(backend), x, rule)
    }
}
