//! Copies of elements: those whose bytes are swapped or whose strides are no multiples of an
//! element, and small arrays, for which a copy is faster than a loop over strides.

use std::mem::MaybeUninit;
use std::slice;

use pyo3::prelude::*;

use super::{Array, Kind};

impl<'py> Array<'py> {
    /// Whether the kernels cannot read the elements where they are: the bytes are in the order of
    /// other machines, or the strides are no multiples of an element (fields of records).
    #[inline]
    pub(crate) fn needs_copy(&self) -> bool {
        self.swapped || self.unit != self.item
    }

    /// The same elements, which the kernels can read: copied if needed.
    #[inline]
    pub(crate) fn readable(self) -> PyResult<Self> {
        match self.kind {
            Kind::Float(format) if self.needs_copy() => {
                Array::copy(format, self.row_major_bytes(), &self.shape)
            }
            _ => Ok(self),
        }
    }

    /// The bytes of all elements in row-major order, in the order of the machine.
    fn row_major_bytes(&self) -> Vec<u8> {
        let (sizes, strides) = (self.shape.sizes(), self.shape.strides());
        let elements = self.shape.len();
        let mut copy = Vec::with_capacity(elements * self.item);
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
        copy
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
        // SAFETY: the elements can be read by the contract of this function, and the room has space
        // for `elements` numbers of `item` bytes, which are all initialised then.
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
        let stride = self.strides[first] * self.unit;
        let innermost = first + 1 == self.sizes.len() && !self.swapped;
        for i in 0..size {
            let from = from.wrapping_byte_offset(i.cast_signed() * stride);
            // SAFETY: an element or a row of elements that the sizes name.
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
