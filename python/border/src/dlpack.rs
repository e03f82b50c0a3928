//! Tensors by DLPack (dlpack.h of DLPack 1.3).

use std::{ptr, slice};

use nonfinite::Format;

use crate::shape::MOST_DIMENSIONS;
use crate::{Array, Error, Kind, Shape, at, kind, layout, rank};

/// `DLTensor`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields of dlpack.h")]
pub struct Tensor {
    pub data: *mut u8,
    pub device_type: i32,
    pub device_id: i32,
    pub ndim: i32,
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
    pub shape: *const i64,
    pub strides: *const i64,
    pub byte_offset: u64,
}

impl Tensor {
    /// All fields are 0.
    #[must_use]
    pub fn empty() -> Self {
        let (data, shape, strides) = (ptr::null_mut(), ptr::null(), ptr::null());
        let (device_type, device_id, ndim, byte_offset) = (0, 0, 0, 0);
        let (code, bits, lanes) = (0, 0, 0);
        Self { data, device_type, device_id, ndim, code, bits, lanes, shape, strides, byte_offset }
    }

    /// The elements that lie one after the other in the memory of the CPU, without the steps that
    /// an [`Array`] takes for any layout. `None` for everything else, and for all that is an error.
    ///
    /// # Safety
    /// A producer has described the tensor: pointers that are not null point to `ndim` numbers, and
    /// to memory with all elements if their addresses do not overflow. The memory stays valid as
    /// long as the result.
    #[inline]
    #[must_use]
    pub unsafe fn flat<'a>(&self) -> Option<(&'a [u8], Format)> {
        let pointers = [self.data.cast_const().cast(), self.shape, self.strides];
        if self.device_type != 1 || pointers.iter().any(|pointer| pointer.is_null()) {
            return None;
        }
        let format = self.format()?;
        let rank = usize::try_from(self.ndim).ok().filter(|&rank| rank <= MOST_DIMENSIONS)?;
        let mut len = 1i64;
        for i in (0..rank).rev() {
            // SAFETY: by the contract of this function.
            let (size, stride) = unsafe { (at(self.shape, i), at(self.strides, i)) };
            if size != 1 && (stride != len || size < 0) {
                return None;
            }
            len = len.checked_mul(size)?;
        }
        let bytes = len.checked_mul(format.size_in_bytes() as i64)? as usize;
        let first = self.data.addr().checked_add(self.byte_offset as usize)?;
        first.checked_add(bytes)?;
        let data = self.data.wrapping_add(self.byte_offset as usize);
        // SAFETY: `data` is not null, as the addition did not overflow. `bytes` is no negative
        // number. By the contract of this function the elements lie there.
        Some((unsafe { slice::from_raw_parts(data, bytes) }, format))
    }

    /// The array that the tensor describes.
    ///
    /// # Errors
    /// [`Error::Kind`] for another device and for formats that have no [`Kind`], and
    /// [`Error::Layout`] for a description that contradicts itself.
    ///
    /// # Safety
    /// As [`Tensor::flat`]. `owner` keeps the memory alive, which may be written to if `writable`
    /// is set.
    #[inline]
    pub unsafe fn array<O>(&self, writable: bool, owner: O) -> Result<Array<O>, Error> {
        check_device(self.device_type, self.device_id)?;
        let (kind, item) = self.kind()?;
        let rank = rank(self.ndim, self.shape)?;
        // SAFETY: `ndim` sizes lie at `shape`, and as many strides at `strides` if it is not null.
        // An i64 is an isize: the wheel is for 64-bit machines.
        let dimension = |i: usize| unsafe {
            let stride = if self.strides.is_null() { 1 } else { at(self.strides, i) };
            (at(self.shape, i) as isize, stride as isize)
        };
        let shape = Shape::new(rank, dimension)?;
        let shape = if self.strides.is_null() { shape.row_major() } else { shape };
        let data = match self.data.is_null() {
            true => self.data,
            false => {
                let end = self.data.addr().checked_add(self.byte_offset as usize);
                end.ok_or_else(|| layout("the offset of x leads out of memory"))?;
                self.data.wrapping_add(self.byte_offset as usize)
            }
        };
        // SAFETY: by the contract of this function, and DLPack's strides are in elements.
        let mut array = unsafe { Array::new(kind, data, (item, item), shape, writable, owner)? };
        array.tensor = true;
        Ok(array)
    }

    /// The format of the elements, if they are floating-point numbers: `DLDataTypeCode`.
    #[inline]
    fn format(&self) -> Option<Format> {
        // The most frequent one without a table, on whose answer the next steps would wait.
        if (self.code, self.bits, self.lanes) == (2, 32, 1) {
            return Some(Format::F32);
        }
        match (self.code, self.bits) {
            _ if self.lanes != 1 => None,
            (2, 16) => Some(Format::F16),
            (2, 64) => Some(Format::F64),
            (4, 16) => Some(Format::Bf16),
            (7, 8) => Some(Format::F8E3M4),
            (8, 8) => Some(Format::F8E4M3),
            (9, 8) => Some(Format::F8E4M3B11FnUz),
            (10, 8) => Some(Format::F8E4M3Fn),
            (11, 8) => Some(Format::F8E4M3FnUz),
            (12, 8) => Some(Format::F8E5M2),
            (13, 8) => Some(Format::F8E5M2FnUz),
            (14, 8) => Some(Format::F8E8M0Fnu),
            (15, 8) => Some(Format::F6E2M3Fn),
            (16, 8) => Some(Format::F6E3M2Fn),
            (17, 8) => Some(Format::F4E2M1Fn),
            _ => None,
        }
    }

    /// What the elements are, and the bytes of one.
    fn kind(&self) -> Result<(Kind, usize), Error> {
        if let Some(format) = self.format() {
            return Ok((Kind::Float(format), format.size_in_bytes()));
        }
        match (self.code, self.bits, self.lanes) {
            (0 | 1, 8 | 16 | 32 | 64, 1) => {
                return Ok((Kind::Integer, usize::from(self.bits) / 8));
            }
            (6, 8, 1) => return Ok((Kind::Bool, 1)),
            _ => {}
        }
        Err(match (self.code, self.bits) {
            (5, _) => kind("x is complex: ask about x.real and x.imag"),
            (17, 4) => kind("x has two numbers of FP4 in a byte: all of them are finite"),
            (code, bits) => kind(format!(
                "x has elements of DLPack's type {code} with {bits} bits and {} lanes, which is \
                 unknown to nonfinite",
                self.lanes
            )),
        })
    }
}

/// Whether the CPU reads the memory of a device of this type.
///
/// # Errors
/// [`Error::Kind`] if the CPU does not.
#[inline]
pub fn check_device(device: i32, id: i32) -> Result<(), Error> {
    // The CPU, and memory of the CPU that CUDA or ROCm has pinned.
    if matches!(device, 1 | 3 | 11) {
        return Ok(());
    }
    Err(elsewhere(device, id))
}

#[cold]
fn elsewhere(device: i32, id: i32) -> Error {
    let (name, how) = match device {
        2 | 13 => ("CUDA", "x.cpu() of torch, x.get() of cupy, jax.device_get(x) of jax"),
        8 => ("Metal", "x.cpu() of torch"),
        10 => ("ROCm", "x.cpu() of torch, x.get() of cupy"),
        14 => ("oneAPI", "x.cpu() of torch"),
        _ => ("another kind", "x.cpu() of torch, jax.device_get(x) of jax"),
    };
    kind(format!(
        "x is on device {id} of {name} (DLPack's device type {device}), and nonfinite reads the \
         memory of the CPU: bring a copy here with {how}"
    ))
}
