//! An array of another owner.

use std::ops::Range;
use std::slice;

use nonfinite::{Elements, Format, MaskView, TensorView};

use crate::shape::MOST_DIMENSIONS;
use crate::{Error, Shape, layout};

/// What the elements of an array are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Floating-point numbers of this format.
    Float(Format),
    /// One byte, 0 or 1.
    Bool,
    /// Integers: all are finite.
    Integer,
}

/// Keeps the memory of an [`Array`] alive. The fields are only dropped.
#[expect(dead_code, reason = "the fields are dropped, never read")]
enum Keep<O> {
    Copy(Vec<u8>),
    Owner(O),
}

/// An array of another owner: its memory, and the layout of its elements. `O` keeps the memory
/// alive.
pub struct Array<O> {
    /// What the elements are.
    pub kind: Kind,
    /// Whether the bytes of each element are in the other order than those of this machine.
    pub swapped: bool,
    /// Whether the owner is a tensor, which may have torch's negative bit.
    pub tensor: bool,
    /// The first byte of the element with the lowest address.
    lowest: *mut u8,
    /// Bytes from `lowest` to the end of the element with the highest address.
    len: usize,
    /// Bytes from `lowest` to the element at coordinate 0.
    pub(crate) offset: usize,
    /// Bytes of the unit of strides: the size of an element, or 1.
    pub(crate) unit: usize,
    /// Bytes of an element. Of integers, which are never read, it may be fewer.
    pub(crate) item: usize,
    shape: Shape,
    writable: bool,
    /// The addresses of the owner's elements, also after [`Array::readable`] has copied them.
    pub(crate) span: Range<usize>,
    /// The bitmap of Arrow: its address, its bytes, and its first bit: 0 for a null.
    validity: Option<(*const u8, usize, usize)>,
    #[expect(dead_code, reason = "keeps the memory alive")]
    owner: Keep<O>,
}

impl<O> Array<O> {
    /// The array whose coordinate 0 is at `data`, with strides in units of `unit` bytes: 1, or the
    /// `item` bytes of an element.
    ///
    /// # Errors
    /// [`Error::Layout`] if `data` is null although there are elements, and if no memory has this
    /// extent.
    ///
    /// # Safety
    /// If the shape has elements and `data` is not null: all elements lie in one allocation with
    /// the one at `data`, provided that their addresses do not overflow. The memory stays valid as
    /// long as `owner` lives, and may be written to if `writable` is set.
    #[inline]
    pub unsafe fn new(
        kind: Kind,
        data: *mut u8,
        (unit, item): (usize, usize),
        shape: Shape,
        writable: bool,
        owner: O,
    ) -> Result<Self, Error> {
        // SAFETY: by the contract of this function.
        unsafe { Self::kept(kind, data, (unit, item), shape, writable, Keep::Owner(owner)) }
    }

    /// As [`Array::new`].
    #[inline]
    unsafe fn kept(
        kind: Kind,
        data: *mut u8,
        (unit, item): (usize, usize),
        shape: Shape,
        writable: bool,
        owner: Keep<O>,
    ) -> Result<Self, Error> {
        let empty = shape.sizes().contains(&0);
        if data.is_null() && !empty {
            return Err(layout("x has elements, but no memory: it is a fake or freed tensor"));
        }
        let extent = if empty { Some((0, 0)) } else { shape.extent(unit, item) };
        let span = extent.and_then(|(offset, len)| {
            let first = data.addr().checked_sub(offset)?;
            Some((offset, first..first.checked_add(len)?))
        });
        let (offset, span) = span.ok_or_else(|| layout("the layout of x fits into no memory"))?;
        Ok(Self {
            kind,
            lowest: data.wrapping_sub(offset),
            len: span.len(),
            offset,
            unit,
            item,
            shape,
            swapped: false,
            writable,
            tensor: false,
            span,
            validity: None,
            owner,
        })
    }

    /// A copy of elements in the order of the machine, with the sizes of `like`.
    ///
    /// # Errors
    /// None: this layout fits into memory.
    ///
    /// # Panics
    /// If there is not one place for each element.
    pub fn copy(format: Format, mut bytes: Vec<u8>, like: &Shape) -> Result<Self, Error> {
        let (shape, item) = (like.row_major(), format.size_in_bytes());
        assert_eq!(bytes.len(), shape.elements() * item, "one place for each element");
        let (kind, data) = (Kind::Float(format), bytes.as_mut_ptr());
        // SAFETY: a row-major shape without padding names `shape.elements() * item` bytes, and the
        // assertion has found as many in the vector. The vector becomes the owner. Moving a vector
        // does not move its allocation.
        unsafe { Self::kept(kind, data, (item, item), shape, false, Keep::Copy(bytes)) }
    }

    /// Of an array with one dimension: takes the bits from `first` on for those of nulls, which are
    /// 0.
    ///
    /// # Errors
    /// [`Error::Layout`] if no memory has this extent.
    ///
    /// # Safety
    /// The bitmap has a bit for each of the first `first` elements and of those of this array. It
    /// stays valid as long as the owner lives.
    pub(crate) unsafe fn with_validity(
        self,
        bitmap: *const u8,
        first: usize,
    ) -> Result<Self, Error> {
        let bytes = first.checked_add(self.shape.elements()).map(|bits| bits.div_ceil(8));
        let bytes = bytes.filter(|&bytes| bitmap.addr().checked_add(bytes).is_some());
        let bytes = bytes.ok_or_else(|| layout("the bitmap of x fits into no memory"))?;
        Ok(Self { validity: Some((bitmap, bytes, first)), ..self })
    }

    /// Its sizes and strides.
    #[inline]
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Whether its memory may be written to.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// The same, not to be written to.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { writable: false, ..self }
    }

    /// The bytes from the lowest to the highest element.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
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
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match (self.writable, self.len) {
            (false, _) => None,
            (true, 0) => Some(&mut []),
            // SAFETY: as in `bytes`. `new` demands that writable memory may be written to. `&mut
            // self` excludes the slices that this array gave.
            (true, len) => Some(unsafe { slice::from_raw_parts_mut(self.lowest, len) }),
        }
    }

    /// As [`Array::bytes_mut`], if the elements lie in row-major order without padding.
    pub fn row_major_bytes_mut(&mut self) -> Option<&mut [u8]> {
        let in_place = !self.needs_copy() && self.shape.is_row_major();
        if in_place { self.bytes_mut() } else { None }
    }

    /// As [`Array::bytes_mut`], if every byte belongs to one element, in the order of the machine:
    /// for changes that do not depend on the order of elements.
    pub fn block_mut(&mut self) -> Option<&mut [u8]> {
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
    pub fn mask_view(&mut self) -> Result<MaskView<'_>, nonfinite::Error> {
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
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.span.start < other.span.end && other.span.start < self.span.end
    }

    /// The elements, and which of them are null. Integers are not read: the view has as many
    /// elements, all of them finite.
    ///
    /// # Errors
    /// As [`TensorView::strided`].
    ///
    /// # Panics
    /// If the bytes are swapped, or if strides are in bytes: see [`Array::readable`].
    pub fn view(&self) -> Result<TensorView<'_>, nonfinite::Error> {
        self.view_as(self.shape.sizes(), self.shape.strides())
    }

    /// As [`Array::view`], with other sizes and strides for as many elements.
    ///
    /// # Errors
    /// As [`TensorView::strided`].
    ///
    /// # Panics
    /// As [`Array::view`], and for more than 65 dimensions.
    pub fn view_as<'a>(
        &'a self,
        sizes: &'a [usize],
        strides: &'a [isize],
    ) -> Result<TensorView<'a>, nonfinite::Error> {
        /// All values of this format are finite.
        const FINITE: Format = Format::F4E2M1Fn;
        static STRIDES: [isize; MOST_DIMENSIONS + 1] = [0; MOST_DIMENSIONS + 1];
        let view = if let Kind::Float(format) = self.kind {
            assert!(!self.needs_copy(), "elements in the order of the machine");
            let elements = Elements::from_bytes(self.bytes(), format)?;
            let offset = self.offset / format.size_in_bytes();
            TensorView::strided(elements, offset, sizes, strides)?
        } else {
            let strides = &STRIDES[..sizes.len()];
            let elements = Elements::from_bytes(&[0], FINITE)?;
            TensorView::strided(elements, 0, sizes, strides)?
        };
        match self.validity {
            // SAFETY: `with_validity` demands a bitmap of so many bytes, which the owner keeps
            // alive.
            Some((bitmap, bytes, first)) => unsafe {
                view.with_validity(slice::from_raw_parts(bitmap, bytes), first)
            },
            None => Ok(view),
        }
    }
}
