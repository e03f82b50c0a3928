//! Converts pointers of C to slices of Rust, with all checks that are possible.
#![expect(unsafe_code, reason = "C's pointers become slices")]

use core::ffi::{c_char, c_void};
use core::hint::black_box;
use core::ops::Range;
use core::slice;

use nonfinite::{Elements, Format};

use crate::status::{
    NF_ERR_INTERNAL, NF_ERR_LENGTH, NF_ERR_MISALIGNED, NF_ERR_NAME, NF_ERR_NULL,
    NF_ERR_OUTPUT_LENGTH, NF_ERR_OVERLAP, NF_OK, Status,
};

/// Runs the body of an exported function and returns its status.
#[inline]
pub(crate) fn border(body: impl FnOnce() -> Result<(), Status>) -> Status {
    match body() {
        Ok(()) => NF_OK,
        Err(status) => status,
    }
}

/// Longer than any name of a format or a backend. At most this many bytes of a name are read.
pub(crate) const LONGEST_NAME: usize = 64;

/// The text at `name`.
///
/// # Safety
/// Unless null, `name` leads to a NUL or to `LONGEST_NAME` bytes, which nothing writes to during
/// `'a`.
pub(crate) unsafe fn text<'a>(name: *const c_char) -> Result<&'a str, Status> {
    if name.is_null() {
        return Err(NF_ERR_NULL);
    }
    // With a known number of bytes the compiler writes the loop out 64 times, in 1 KB.
    let most = black_box(LONGEST_NAME);
    // SAFETY: not null; `i` is below `LONGEST_NAME`, and no byte before it is the NUL, so this byte
    // is there (the caller).
    let length = (0..most).find(|&i| unsafe { name.add(i).read() } == 0).ok_or(NF_ERR_NAME)?;
    // SAFETY: these bytes were just read, and stay as they are (the caller).
    let bytes = unsafe { slice::from_raw_parts(name.cast(), length) };
    core::str::from_utf8(bytes).map_err(|_| NF_ERR_NAME)
}

/// A run of bytes from C, with the checks that are possible: the pointer is not null, and the bytes
/// are no more than an object can have and do not wrap around the address space. For 0 bytes, any
/// pointer is accepted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: *const u8,
    bytes: usize,
}

impl Span {
    pub(crate) fn new(start: *const c_void, items: usize, item: usize) -> Result<Self, Status> {
        let bytes = items.checked_mul(item).filter(|&bytes| isize::try_from(bytes).is_ok());
        let bytes = bytes.ok_or(NF_ERR_LENGTH)?;
        if bytes != 0 && start.is_null() {
            return Err(NF_ERR_NULL);
        }
        if bytes != 0 && start.addr().checked_add(bytes).is_none() {
            return Err(NF_ERR_LENGTH);
        }
        Ok(Self { start: start.cast(), bytes })
    }

    fn addresses(&self) -> Range<usize> {
        // No overflow: `new` has computed the end. Without bytes, the end is not used.
        if self.bytes == 0 { 0..0 } else { self.start.addr()..self.start.addr() + self.bytes }
    }

    pub(crate) fn apart_from(&self, other: &Self) -> Result<(), Status> {
        let (a, b) = (self.addresses(), other.addresses());
        if a.start < b.end && b.start < a.end { Err(NF_ERR_OVERLAP) } else { Ok(()) }
    }

    /// # Safety
    /// For all of `'a` the bytes, if any, must be readable and initialised, and nothing may write
    /// to them.
    pub(crate) unsafe fn bytes<'a>(&self) -> &'a [u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: `start` is not null and a `u8` has no alignment; the bytes do not exceed
        // `isize::MAX` and do not wrap (all from `new`; a `part` is inside); they are initialised,
        // readable and left alone (the caller).
        unsafe { slice::from_raw_parts(self.start, self.bytes) }
    }

    /// The elements in these bytes.
    ///
    /// # Safety
    /// As [`Span::bytes`].
    pub(crate) unsafe fn elements<'a>(&self, format: Format) -> Result<Elements<'a>, Status> {
        // SAFETY: as the caller vouches.
        let bytes = unsafe { self.bytes() };
        // The length of the span is a whole number of elements.
        Elements::from_bytes(bytes, format).map_err(|_| NF_ERR_INTERNAL)
    }

    /// The bytes of this range. It must be in order and inside of the span.
    fn part(&self, range: Range<usize>) -> Self {
        debug_assert!(range.start <= range.end && range.end <= self.bytes);
        Self { start: self.start.wrapping_add(range.start), bytes: range.len() }
    }

    /// These bytes as an output of values of one byte each.
    ///
    /// # Safety
    /// For all of `'a` the bytes, if any, must be writable and valid as `B`, and nothing else may
    /// read or write them. The pointer given to [`Span::new`] must have been one that may write.
    pub(crate) unsafe fn output<'a, B>(&self) -> &'a mut [B] {
        const { assert!(size_of::<B>() == 1) };
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: `start` is not null, and the bytes do not exceed `isize::MAX` and do not wrap
        // (all from `new`; a `part` is inside); a `B` takes one byte, so it has no alignment; the
        // bytes are valid, writable and ours alone (the caller).
        unsafe { slice::from_raw_parts_mut(self.start.cast_mut().cast(), self.bytes) }
    }
}

/// The bytes that hold `bits` bits of a bitmap, from bit `offset` on, and the place of the first
/// bit in the first of these bytes. None if there are too many bits.
fn bits(offset: usize, bits: usize) -> Option<(Range<usize>, usize)> {
    let (first, shift) = (offset / 8, offset % 8);
    let used = shift.checked_add(bits)?.div_ceil(8);
    // No overflow: both numbers were divided by 8.
    Some((first..first + used, shift))
}

/// The bytes of a bitmap that get results, from bit `offset` on, and the bit of the first result in
/// the first of them.
pub(crate) fn bitmap(
    start: *mut u8,
    bytes: usize,
    offset: usize,
    results: usize,
) -> Result<(Span, usize), Status> {
    let bitmap = Span::new(start.cast(), bytes, 1)?;
    let used = bits(offset, results).filter(|(range, _)| range.end <= bytes);
    let (range, shift) = used.ok_or(NF_ERR_OUTPUT_LENGTH)?;
    Ok((bitmap.part(range), shift))
}

/// The bytes of a validity bitmap with the bits of `elements` elements, from bit `offset` on, and
/// the bit of the first element in the first of them. None if `start` is null.
pub(crate) fn validity(
    start: *const u8,
    offset: usize,
    elements: usize,
) -> Result<Option<(Span, usize)>, Status> {
    if start.is_null() || elements == 0 {
        return Ok(None);
    }
    let (range, shift) = bits(offset, elements).ok_or(NF_ERR_LENGTH)?;
    Ok(Some((Span::new(start.cast(), range.end, 1)?.part(range), shift)))
}

/// The array of C at `start`, and its bytes.
///
/// # Safety
/// Unless null or misaligned, `start` must lead to `len` values that are initialised and that
/// nothing writes to during `'a`.
pub(crate) unsafe fn array<'a, T>(start: *const T, len: usize) -> Result<(&'a [T], Span), Status> {
    let span = Span::new(start.cast(), len, size_of::<T>())?;
    if len == 0 {
        return Ok((&[], span));
    }
    check(start)?;
    // SAFETY: not null and aligned (just checked), no more than `isize::MAX` bytes and no wrapping
    // (`Span::new`); initialised and left alone (the caller).
    Ok((unsafe { slice::from_raw_parts(start, len) }, span))
}

/// Checks a pointer to one value.
pub(crate) fn check<T>(pointer: *const T) -> Result<(), Status> {
    if pointer.is_null() {
        Err(NF_ERR_NULL)
    } else if pointer.is_aligned() {
        Ok(())
    } else {
        Err(NF_ERR_MISALIGNED)
    }
}

/// The place of one result. A raw pointer, since it may point into the input, which is read until
/// the result is computed.
pub(crate) struct Slot<T>(*mut T);

impl<T> Slot<T> {
    /// # Safety
    /// Unless null or misaligned, `pointer` must lead to memory for a `T` that may be written as
    /// long as the slot is there.
    pub(crate) unsafe fn new(pointer: *mut T) -> Result<Self, Status> {
        check(pointer)?;
        Ok(Self(pointer))
    }

    pub(crate) fn set(self, value: T) {
        // SAFETY: not null, aligned and writable: `new` has checked the former two, and its caller
        // vouches for the latter.
        unsafe { self.0.write(value) }
    }
}

/// The place of one number for each dimension, or of none. A raw pointer, as that of a [`Slot`].
pub(crate) struct Places(*mut usize, usize);

impl Places {
    /// # Safety
    /// Unless null or misaligned, `start` must lead to memory for `len` numbers that may be written
    /// as long as the places are there.
    pub(crate) unsafe fn new(start: *mut usize, len: usize) -> Result<Self, Status> {
        if start.is_null() || len == 0 {
            return Ok(Self(start, 0));
        }
        check(start)?;
        Span::new(start.cast(), len, size_of::<usize>())?;
        Ok(Self(start, len))
    }

    pub(crate) fn set(self, values: impl Iterator<Item = usize>) {
        let Self(start, len) = self;
        for (i, value) in values.enumerate().take(len) {
            // SAFETY: one of `len` numbers, not null, aligned, without wrapping and writable: `new`
            // has checked the former three, and its caller vouches for the last.
            unsafe { start.add(i).write(value) }
        }
    }
}
