//! How loops see memory: lines of 64 bytes, at any address, and a cursor that moves over an input
//! by groups of lines. The last group overlaps the group before, so that no loop goes element by
//! element.
//!
//! ```text
//! x         0 ---------------------------------------------- len
//! groups    [ 4 lines ][ 4 lines ][ 4 lines ]
//!                                       [ 4 lines ]           the last group
//! ```
#![expect(unsafe_code, reason = "arrays inside of a slice")]

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::slice;

/// 64 bytes of input, the size of a cache line.
pub(crate) type Line = [u8; 64];

/// Four lines.
pub(crate) type Four = [Line; 4];

/// 64 elements of `W` bytes.
pub(crate) type Block<const W: usize> = [Line; W];

/// Places for answers: a byte each. A function that takes places writes all, or returns how far.
pub(crate) type Places = [MaybeUninit<bool>];

/// Bytes that are counted before the counters of one byte are added up. With two registers of 16
/// bytes a counter reaches 128.
pub(crate) const COUNTED: usize = 4096;

/// Bytes of a group of 16 lines: one branch decides whether they are skipped.
pub(crate) const GROUP: usize = 1024;

/// At least 64 bytes of whole elements: what a loop takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Long<'x>(&'x [u8]);

impl<'x> Long<'x> {
    /// `None` if there are fewer than 64 bytes.
    #[inline(always)]
    pub(crate) const fn new(x: &'x [u8]) -> Option<Self> {
        if x.len() >= 64 { Some(Self(x)) } else { None }
    }

    /// # Panics
    /// If there are fewer than 64 bytes.
    #[inline(always)]
    pub(crate) const fn of(x: &'x [u8]) -> Self {
        assert!(x.len() >= 64);
        Self(x)
    }

    /// The bytes from `at` on, or the last line if that begins earlier.
    #[inline(always)]
    pub(crate) fn from(self, at: usize) -> Self {
        Self(&self.0[at.min(self.0.len() - 64)..])
    }

    /// About the first `bytes` bytes, at least 64, and the bytes behind them: none, or at least 64.
    #[inline(always)]
    pub(crate) fn split_after(self, bytes: usize) -> (Self, &'x [u8]) {
        let end = if self.0.len() < bytes + 64 { self.0.len() } else { bytes };
        (Self::of(&self.0[..end]), &self.0[end..])
    }

    #[inline(always)]
    pub(crate) const fn bytes(self) -> &'x [u8] {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn len(self) -> usize {
        self.0.len()
    }

    /// Four lines that cover an input of 64 to 256 bytes: two from the beginning and two up to the
    /// end.
    #[inline(always)]
    pub(crate) fn four(self) -> [&'x Line; 4] {
        let last = self.0.len() - 64;
        let second = last.min(64);
        // SAFETY: each place is at most `last`, so 64 bytes follow.
        let line = |at| unsafe { &*self.0.as_ptr().add(at).cast() };
        [line(0), line(second), line(last - second), line(last)]
    }

    /// A cursor at the first line.
    #[inline(always)]
    pub(crate) const fn cursor(self) -> Cursor<'x> {
        Cursor { x: self, at: self.0.as_ptr() }
    }

    /// The byte where a line begins, and the line: the one at byte `bytes`, or the last line if
    /// that begins earlier.
    #[inline(always)]
    pub(crate) fn line_at(self, bytes: usize) -> (usize, &'x Line) {
        let at = bytes.min(self.0.len() - 64);
        // SAFETY: 64 bytes follow `at`.
        (at, unsafe { &*self.0.as_ptr().add(at).cast() })
    }
}

/// What a search finds: a line with hits.
///
/// The index of the hit would be known later. A branch leads to the line, and CPUs predict
/// branches, so the code after a search can begin with the line at once.
#[derive(Clone, Copy)]
pub(crate) struct Hit {
    /// The bytes before the line. No element in these bytes is a hit.
    pub(crate) at: usize,
    /// Bit `i` for element `i` of the line. 0 if no hit was found.
    pub(crate) bits: u64,
}

impl Hit {
    /// No hit, and all of an input looked at.
    #[inline(always)]
    pub(crate) const fn none_in(x: Long<'_>) -> Self {
        Self { at: x.len(), bits: 0 }
    }

    #[inline(always)]
    pub(crate) const fn is_some(self) -> bool {
        self.bits != 0
    }

    /// The index of the first hit, among elements of `width` bytes.
    #[inline(always)]
    pub(crate) const fn index(self, width: usize) -> Option<usize> {
        let first = self.bits.trailing_zeros() as usize;
        if self.is_some() { Some(elements(self.at, width) + first) } else { None }
    }
}

/// A place in an input that moves by groups of lines: as many at a time as each call asks for.
///
/// Holds a pointer and no index: on many CPUs an instruction with a base and an index takes more
/// slots than one with a base.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'x> {
    x: Long<'x>,
    /// The group begins here, or at the last place where it fits. Neither before the input nor
    /// behind its end.
    at: *const u8,
}

impl<'x> Cursor<'x> {
    /// Where the last group of `N` lines begins.
    #[inline(always)]
    const fn last<const N: usize>(self) -> *const u8 {
        self.x.0.as_ptr().wrapping_add(self.x.len()).wrapping_sub(64 * N)
    }

    /// The lines of the group.
    ///
    /// # Panics
    /// If the input is shorter than `N` lines.
    #[inline(always)]
    pub(crate) fn here<const N: usize>(self) -> &'x [Line; N] {
        assert!(N == 1 || self.x.len() >= 64 * N);
        // SAFETY: `at` is not before the input. A `Long` has a line, and `N` lines are there (just
        // checked). They follow the last place, so they follow the lesser of both.
        unsafe { &*self.at.min(self.last::<N>()).cast() }
    }

    /// The place `N` lines further on, unless this is the last group of `N` lines.
    #[inline(always)]
    pub(crate) fn next<const N: usize>(self) -> Option<Self> {
        if self.at >= self.last::<N>() {
            return None;
        }
        // `here` clamps the place with `min`. `next` must not: then each load would wait for the
        // comparison of the load before. `at` is before the last group, so the sum is before the
        // end of the input, and does not wrap.
        Some(Self { at: self.at.wrapping_add(64 * N), ..self })
    }

    /// The place moved back to the start of its cache line, if elements are aligned to their width;
    /// otherwise a line would begin within an element.
    #[inline(always)]
    pub(crate) fn aligned(self, width: usize) -> Self {
        let mask = alignment(self.x.0, width);
        Self { at: self.at.map_addr(|at| at & mask).max(self.x.0.as_ptr()), ..self }
    }

    /// The bytes between the beginning of the input and the group of one line.
    #[inline(always)]
    pub(crate) fn offset(self) -> usize {
        self.at.min(self.last::<1>()).addr() - self.x.0.as_ptr().addr()
    }
}

/// Groups of `N` lines of elements of `W` bytes, and the places of their answers.
pub(crate) struct Groups<'a, const W: usize, const N: usize> {
    x: *const u8,
    /// The group begins here: at or between `x` and `last`.
    at: *const u8,
    last: *const u8,
    /// As many places as elements follow `x`.
    out: *mut MaybeUninit<bool>,
    /// For the address of the next group: see [`alignment`].
    alignment: usize,
    /// The bytes by which groups begin behind the multiples of `alignment`.
    skew: usize,
    both: PhantomData<(&'a [u8], &'a mut Places)>,
}

impl<'a, const W: usize, const N: usize> Groups<'a, W, N> {
    /// The first group. The groups after it begin at cache lines if `align` says so, and if
    /// elements are aligned to their width. Elements of one byte have as many bytes of answers, and
    /// then the answers begin at cache lines: a store that crosses two costs more than a load.
    ///
    /// # Panics
    /// If the input is shorter than a group, or if there are not as many places as elements.
    #[inline(always)]
    pub(crate) fn new(x: &'a [u8], out: &'a mut Places, align: bool) -> Self {
        assert!(x.len() >= 64 * N && x.len() == out.len() * W);
        let alignment = if align { alignment(x, W) } else { !0 };
        let (at, out) = (x.as_ptr(), out.as_mut_ptr());
        let last = at.wrapping_add(x.len()).wrapping_sub(64 * N);
        let skew = if W == 1 { at.addr().wrapping_sub(out.addr()) % 64 } else { 0 };
        Self { x: at, at, last, out, alignment, skew, both: PhantomData }
    }

    /// The lines of the group and their places.
    #[inline(always)]
    pub(crate) fn here(&mut self) -> (&[Line; N], &mut Places) {
        let element = (self.at.addr() - self.x.addr()) / W;
        // SAFETY: `N` lines follow `last`, and `at` is at or between `x` and `last`. As many places
        // as elements follow `out`, so the places of `N` lines follow the place of the element at
        // `at`. Nothing else refers to the places, which are borrowed with `self`.
        unsafe {
            let places = slice::from_raw_parts_mut(self.out.add(element), 64 * N / W);
            (&*self.at.cast(), places)
        }
    }

    #[inline(always)]
    pub(crate) fn is_last(&self) -> bool {
        self.at >= self.last
    }

    /// Moves to the next group, which begins after this group, or 63 bytes earlier at most.
    #[inline(always)]
    pub(crate) fn advance(&mut self) {
        let line = |at: usize| (at.wrapping_sub(self.skew) & self.alignment) + self.skew;
        self.at = self.at.wrapping_add(64 * N).map_addr(line).min(self.last);
    }
}

/// The `N` places that begin at `at`, or the last `N`.
///
/// # Panics
/// If there are fewer than `N`.
#[inline(always)]
pub(crate) fn places<const N: usize>(out: &mut Places, at: usize) -> &mut [MaybeUninit<bool>; N] {
    assert!(out.len() >= N);
    let at = at.min(out.len() - N);
    // SAFETY: `at + N` is at most the length.
    unsafe { &mut *out.as_mut_ptr().add(at).cast() }
}

/// The mask for an address that makes groups begin at cache lines, if elements are aligned. Loads
/// that cross cache lines take twice the time.
#[inline(always)]
pub(crate) fn alignment(x: &[u8], width: usize) -> usize {
    if x.as_ptr().addr() & (width - 1) == 0 { !63 } else { !0 }
}

/// The bytes before the first cache line of an input, if its elements are aligned, else 0. At most
/// the length of the input.
#[inline(always)]
pub(crate) fn until_line(x: &[u8], width: usize) -> usize {
    let head = x.as_ptr().addr().wrapping_neg() % 64;
    if head & (width - 1) == 0 { head.min(x.len()) } else { 0 }
}

/// The number of whole elements of `width` bytes in `bytes` bytes. By a shift: a division by a
/// width that is known only at run time takes as long as a search of 64 bytes.
#[inline(always)]
pub(crate) const fn elements(bytes: usize, width: usize) -> usize {
    bytes >> width.trailing_zeros()
}
