//! The memory of other owners: numpy, DLPack, Arrow, the buffer protocol.
//!
//! All unsafe code of this crate is here. Each file reads the structures of one owner and returns
//! an [`Array`], whose methods are safe.

pub(crate) mod arrow;
pub(crate) mod buffer;
pub(crate) mod capsule;
pub(crate) mod dlpack;
mod gather;
pub(crate) mod new;
pub(crate) mod numpy;
mod shape;
pub(crate) mod torch;

use std::ops::Range;
use std::slice;

use nonfinite::{Elements, Error, Format, MaskView, TensorView};
use pyo3::prelude::*;

use crate::arrays::error::value;
pub(crate) use shape::Shape;

/// The most dimensions that an array may have. numpy, torch and memoryview stop at 64.
const MOST_DIMENSIONS: usize = 64;

/// What the elements of an array are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Float(Format),
    /// One byte, 0 or 1.
    Bool,
    /// Integers: all are finite.
    Integer,
}

/// The elements of an array of numpy or a tensor of torch that lie one after the other in the order
/// of the machine, without the steps that an [`Array`] takes for any layout. `None` for other
/// objects, and for everything that is an error. Signs may be wrong if the type of `x` is not
/// `numpy.ndarray` itself: see [`Array::tensor`].
#[inline]
pub(crate) fn flat<'a>(x: &'a Bound<'_, PyAny>) -> Option<(&'a [u8], Format)> {
    if numpy::is_exact(x) { numpy::flat(x) } else { dlpack::flat(x) }
}

/// Keeps the memory of an [`Array`] alive. The fields are only dropped.
#[expect(dead_code, reason = "the fields are dropped, never read")]
pub(crate) enum Owner<'py> {
    Object(Bound<'py, PyAny>),
    Copy(Vec<u8>),
    Tensor(capsule::Managed),
    Buffer(buffer::Held),
}

/// An array of another owner: its memory, and the layout of its elements.
pub(crate) struct Array<'py> {
    pub(crate) kind: Kind,
    /// The first byte of the element with the lowest address.
    lowest: *mut u8,
    /// Bytes from `lowest` to the end of the element with the highest address.
    len: usize,
    /// Bytes from `lowest` to the element at coordinate 0.
    offset: usize,
    /// Bytes of the unit of strides: the size of an element, or 1.
    unit: usize,
    /// Bytes of an element. Of integers, which are never read, it may be fewer.
    item: usize,
    pub(crate) shape: Shape,
    /// Whether the bytes of each element are in the other order than those of this machine.
    pub(crate) swapped: bool,
    pub(crate) writable: bool,
    /// Whether the owner is a tensor, which may have torch's negative bit.
    pub(crate) tensor: bool,
    /// The addresses of the owner's elements, also after [`Array::readable`] has copied them.
    span: Range<usize>,
    /// The bitmap of Arrow and its first bit: 0 for a null.
    validity: Option<(*const u8, usize)>,
    #[expect(dead_code, reason = "keeps the memory alive")]
    owner: Owner<'py>,
}

impl<'py> Array<'py> {
    /// The array whose coordinate 0 is at `data`, with strides in units of `unit` bytes: 1, or the
    /// `item` bytes of an element.
    ///
    /// # Errors
    /// ValueError if `data` is null although there are elements, if no memory has this extent, or
    /// for too many dimensions.
    ///
    /// # Safety
    /// If the shape has elements and `data` is not null: all elements lie in one allocation with
    /// the one at `data`. The memory stays valid as long as `owner` lives, and may be written to if
    /// the caller sets `writable`.
    #[inline]
    unsafe fn new(
        kind: Kind,
        data: *mut u8,
        (unit, item): (usize, usize),
        shape: Shape,
        owner: Owner<'py>,
    ) -> PyResult<Self> {
        let rank = shape.sizes().len();
        if rank > MOST_DIMENSIONS {
            return Err(value(format!("x has {rank} dimensions, more than {MOST_DIMENSIONS}")));
        }
        let empty = shape.sizes().contains(&0);
        let extent = if empty { Some((0, 0)) } else { shape.extent(unit, item) };
        let (offset, len) = extent.ok_or_else(|| value("the layout of x fits into no memory"))?;
        if data.is_null() && !empty {
            return Err(value("x has elements, but no memory: it is a fake or freed tensor"));
        }
        let lowest = data.wrapping_sub(offset);
        let first = lowest.addr();
        Ok(Self {
            kind,
            lowest,
            len,
            offset,
            unit,
            item,
            shape,
            swapped: false,
            writable: false,
            tensor: false,
            span: first..first.saturating_add(len),
            validity: None,
            owner,
        })
    }

    /// A copy of elements in the order of the machine, with the sizes of `like`.
    pub(crate) fn copy(format: Format, mut bytes: Vec<u8>, like: &Shape) -> PyResult<Self> {
        let (shape, item) = (like.row_major(), format.size_in_bytes());
        assert_eq!(bytes.len(), shape.len() * item, "one place for each element");
        let (kind, data) = (Kind::Float(format), bytes.as_mut_ptr());
        // SAFETY: a row-major shape without padding names `shape.len() * item` bytes, and the
        // assertion has found as many in the vector. The vector becomes the owner. Moving a vector
        // does not move its allocation.
        unsafe { Self::new(kind, data, (item, item), shape, Owner::Copy(bytes)) }
    }

    /// The bytes from the lowest to the highest element.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self.len {
            0 => &[],
            // SAFETY: `new` demands that these bytes lie in one allocation, which `owner` keeps
            // alive at least as long as the result, which borrows from `self`.
            len => unsafe { slice::from_raw_parts(self.lowest, len) },
        }
    }

    /// The same bytes, for writing. `None` if the array may not be written to.
    ///
    /// The caller holds no other slice of this memory: see [`Array::overlaps`].
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match (self.writable, self.len) {
            (false, _) => None,
            (true, 0) => Some(&mut []),
            // SAFETY: as in `bytes`. `new` demands that writable memory may be written to. `&mut
            // self` excludes the slices that this array gave.
            (true, len) => Some(unsafe { slice::from_raw_parts_mut(self.lowest, len) }),
        }
    }

    /// As [`Array::bytes_mut`], if the elements lie in row-major order without padding.
    pub(crate) fn row_major_bytes_mut(&mut self) -> Option<&mut [u8]> {
        let in_place = !self.needs_copy() && self.shape.is_row_major();
        if in_place { self.bytes_mut() } else { None }
    }

    /// As [`Array::bytes_mut`], if every byte belongs to one element, in the order of the machine:
    /// for changes that do not depend on the order of elements.
    pub(crate) fn block_mut(&mut self) -> Option<&mut [u8]> {
        let in_place = !self.needs_copy() && self.shape.is_block();
        if in_place { self.bytes_mut() } else { None }
    }

    /// The places of a mask. The array must hold bytes that may be written to.
    ///
    /// # Errors
    /// As [`MaskView::strided`].
    ///
    /// # Panics
    /// If the array is read-only, or if its elements are no bool.
    pub(crate) fn mask_view(&mut self) -> Result<MaskView<'_>, Error> {
        assert!(self.writable && self.kind == Kind::Bool, "a writable array of bool");
        let bytes: &mut [u8] = match self.len {
            0 => &mut [],
            // SAFETY: as in `bytes_mut`. The array is writable, and `self` stays borrowed.
            len => unsafe { slice::from_raw_parts_mut(self.lowest, len) },
        };
        let (sizes, strides) = (self.shape.sizes(), self.shape.strides());
        Ok(MaskView::strided(bytes, self.offset, sizes, strides)?)
    }

    /// Whether the owner's memory and that of another array may have a byte in common.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.span.start < other.span.end && other.span.start < self.span.end
    }

    /// The bitmap of validity, and its first bit.
    fn validity(&self) -> Option<(&[u8], usize)> {
        let (bitmap, first) = self.validity?;
        let bytes = (first + self.shape.sizes()[0]).div_ceil(8);
        // SAFETY: `arrow::read`, the only writer of `validity`, stores a bitmap with `first + len`
        // bits, where `len` is the only size. The owner keeps the bitmap alive.
        Some((unsafe { slice::from_raw_parts(bitmap, bytes) }, first))
    }

    /// The elements, and which of them are null. Integers are not read: the view has as many
    /// elements, all of them finite.
    ///
    /// # Errors
    /// As [`TensorView::strided`].
    ///
    /// # Panics
    /// If the bytes are swapped, or if strides are in bytes: see [`Array::readable`].
    pub(crate) fn view(&self) -> Result<TensorView<'_>, Error> {
        /// All values of this format are finite.
        const FINITE: Format = Format::F4E2M1Fn;
        static STRIDES: [isize; MOST_DIMENSIONS] = [0; MOST_DIMENSIONS];
        let view = if let Kind::Float(format) = self.kind {
            assert!(!self.needs_copy(), "elements in the order of the machine");
            let elements = Elements::from_bytes(self.bytes(), format)?;
            let offset = self.offset / format.size_in_bytes();
            TensorView::strided(elements, offset, self.shape.sizes(), self.shape.strides())?
        } else {
            let strides = &STRIDES[..self.shape.sizes().len()];
            let elements = Elements::from_bytes(&[0], FINITE)?;
            TensorView::strided(elements, 0, self.shape.sizes(), strides)?
        };
        match self.validity() {
            Some((bitmap, first)) => view.with_validity(bitmap, first),
            None => Ok(view),
        }
    }
}
