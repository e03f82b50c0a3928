//! Copies of elements that the kernels cannot read, because the bytes are swapped or a stride is no
//! multiple of an element. Copies of small arrays, for which a copy is faster than a loop over
//! strides.

use std::mem::MaybeUninit;
use std::slice;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use super::{Array, Kind};

impl<'py> Array<'py> {
    /// Whether the kernels cannot read the elements where they are: the bytes are in the order of
    /// other machines, or strides are in bytes, because one is no multiple of an element (fields of
    /// records).
    #[inline]
    pub(crate) fn needs_copy(&self) -> bool {
        self.swapped || self.unit != self.item
    }

    /// The same elements, which the kernels can read: copied if needed. Integers are never read, so
    /// they stay where they are.
    ///
    /// # Errors
    /// MemoryError if there is no memory for the copy.
    #[inline]
    pub(crate) fn readable(self) -> PyResult<Self> {
        match self.kind {
            Kind::Float(format) if self.needs_copy() => {
                let copy = Array::copy(format, self.row_major_bytes()?, &self.shape)?;
                Ok(Self { span: self.span, ..copy })
            }
            _ => Ok(self),
        }
    }

    /// The bytes of all elements in row-major order, in the order of the machine.
    fn row_major_bytes(&self) -> PyResult<Vec<u8>> {
        let (sizes, strides) = (self.shape.sizes(), self.shape.strides());
        let elements = self.shape.len();
        let (len, mut copy) = (elements.saturating_mul(self.item), Vec::new());
        // A broadcast array has more elements than its memory.
        copy.try_reserve_exact(len).map_err(|_| {
            PyMemoryError::new_err(format!("no memory for a copy of x, which takes {len} bytes"))
        })?;
        let mut coordinate = vec![0; sizes.len()];
        let bytes = self.bytes();
        for _ in 0..elements {
            let place = |at: isize, (&i, &stride): (&usize, &isize)| {
                at + i.cast_signed() * stride * self.unit.cast_signed()
            };
            let dimensions = coordinate.iter().zip(strides);
            let at = dimensions.fold(self.offset.cast_signed(), place).cast_unsigned();
            let element = &bytes[at..at + self.item];
            if self.swapped {
                copy.extend(element.iter().rev());
            } else {
                copy.extend(element);
            }
            for (i, &size) in coordinate.iter_mut().zip(sizes).rev() {
                *i += 1;
                if *i < size {
                    break;
                }
                *i = 0;
            }
        }
        Ok(copy)
    }
}

/// Bytes of the largest array that is copied to be read faster.
const SMALL: usize = 1024;

/// Room for a copy of a small array.
pub(crate) struct Room([MaybeUninit<u64>; SMALL / 8]);

impl Room {
    #[inline]
    pub(crate) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; SMALL / 8])
    }

    /// Copies the elements of an array in row-major order, in the order of the machine. Strides are
    /// in units of `unit` bytes. `None` if the array is too large.
    ///
    /// # Safety
    /// Each element that sizes and strides name, counted from `data`, can be read, and has `item`
    /// bytes. There are as many strides as sizes.
    #[inline]
    pub(super) unsafe fn copy(
        &mut self,
        data: *const u8,
        sizes: &[usize],
        strides: &[isize],
        (unit, item): (usize, usize),
        swapped: bool,
    ) -> Option<&[u8]> {
        let elements = sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size))?;
        let len = elements.checked_mul(item).filter(|&len| len <= SMALL)?;
        if len == 0 {
            return Some(&[]);
        }
        let dimensions = Dimensions { sizes, strides, unit: unit.cast_signed(), swapped };
        let out = self.0.as_mut_ptr().cast::<u8>();
        // SAFETY: the elements can be read by the contract of this function. `len` is no more than
        // the bytes of the room, and `copy` writes all `len` bytes.
        unsafe {
            match item {
                1 => _ = dimensions.copy::<1>(data.cast(), out.cast(), 0),
                2 => _ = dimensions.copy::<2>(data.cast(), out.cast(), 0),
                4 => _ = dimensions.copy::<4>(data.cast(), out.cast(), 0),
                8 => _ = dimensions.copy::<8>(data.cast(), out.cast(), 0),
                _ => return None,
            }
            Some(slice::from_raw_parts(out, len))
        }
    }
}

struct Dimensions<'a> {
    sizes: &'a [usize],
    strides: &'a [isize],
    unit: isize,
    swapped: bool,
}

impl Dimensions<'_> {
    /// Copies the elements of the dimensions from number `first` on, and returns the place behind
    /// the last copy.
    ///
    /// # Safety
    /// The elements can be read, and there is room for all of them from `out` on.
    unsafe fn copy<const N: usize>(
        &self,
        from: *const [u8; N],
        mut out: *mut [u8; N],
        first: usize,
    ) -> *mut [u8; N] {
        let Some(&size) = self.sizes.get(first) else {
            // SAFETY: no dimension is left: one element. An array of bytes has no alignment.
            unsafe {
                let mut element = *from;
                if self.swapped {
                    element.reverse();
                }
                *out = element;
                return out.add(1);
            }
        };
        // May wrap: the stride of a dimension of size 1 may be any number, and is not used.
        let stride = self.strides[first].wrapping_mul(self.unit);
        let innermost = first + 1 == self.sizes.len() && !self.swapped;
        for i in 0..size {
            let from = from.wrapping_byte_offset(i.cast_signed() * stride);
            // SAFETY: `from` is an element, or the first of a row of elements, that sizes and
            // strides name. There is room by the contract of this function.
            out = unsafe {
                if innermost {
                    *out = *from;
                    out.add(1)
                } else {
                    self.copy(from, out, first + 1)
                }
            };
        }
        out
    }
}
