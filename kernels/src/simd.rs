//! The trait of an instruction set. The loops are written once, over this trait.
//!
//! Memory is read in lines of 64 bytes. `W` is the width of an element in bytes: 1, 2, 4 or 8. `W`
//! lines make a block of 64 elements: one line of mask bytes, one `u64` of packed bits.
#![expect(unsafe_code, reason = "a loop needs the CPU that its token proves")]

use core::mem::MaybeUninit;

#[cfg(feature = "replace")]
use crate::codes::Codes;
pub(crate) use crate::line::{Block, COUNTED, GROUP, Line, Slots, last_block, lines, until_line};
#[cfg(feature = "stats")]
use crate::numbers::{Numbers, Range};
use crate::rule::{Comparison, Screen};
#[cfg(feature = "stats")]
use crate::scan::{Found, Given, Groups};

/// The operation of a loop: [`crate::rule::Operation`] as a constant, so that each loop is compiled
/// for one operation. `ONES_NOT` and `EQUAL_NOT` are the negations of `ONES` and `EQUAL`. All other
/// negations happen after the comparison.
pub(crate) mod op {
    pub(crate) const ONES: u8 = 0;
    pub(crate) const ONES_NOT: u8 = 1;
    pub(crate) const EQUAL: u8 = 2;
    pub(crate) const GREATER: u8 = 3;
    /// The negation of `EQUAL`: for byte masks, if [`super::Simd::store`] does not negate.
    pub(crate) const EQUAL_NOT: u8 = 4;
}

/// A loop that is compiled for each instruction set, as a separate function. Its arguments fit into
/// registers.
pub(crate) trait Loop: 'static {
    /// The output, unless results are returned.
    type Out<'o>;
    /// The return value.
    type Output;

    /// Must be `#[inline(always)]`, and so must every function with vectors that it calls.
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        comparison: &Comparison,
        out: Self::Out<'_>,
    ) -> Self::Output;
}

/// A loop that does the same as `L`, for elements of another width. Implemented beside each loop
/// and for no other one. Unsafe code relies on it: what stands for a mask writes all of the mask.
pub(crate) trait SameAs<L: Loop>:
    for<'o> Loop<Out<'o> = <L as Loop>::Out<'o>, Output = <L as Loop>::Output>
{
}

/// A loop of an instruction set that the CPU has. Loops that differ only in the width of an element
/// have one type, that for elements of one byte. So what calls them is compiled once.
pub(crate) struct Call<L: Loop>(
    /// Of an instruction set whose token was at hand.
    unsafe fn(&[u8], &Comparison, L::Out<'_>) -> L::Output,
);

impl<L: Loop> Call<L> {
    /// The loop for elements of one width.
    #[inline(always)]
    pub(crate) fn of<M: SameAs<L>, I: Simd>(_isa: I) -> Self {
        Self(I::vectorize::<M>)
    }

    /// Runs the loop.
    #[inline(always)]
    pub(crate) fn run(&self, x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        // SAFETY: `of`, which alone makes a `Call`, was given a token of the instruction set.
        unsafe { (self.0)(x, comparison, out) }
    }
}

/// A token that proves that the CPU can run the instructions behind it.
///
/// Methods take lines or blocks, never a pointer. All of them are `#[inline(always)]`.
pub(crate) trait Simd: Counting + Replacing + Scaling + Ordering + Copy + 'static {
    /// Runs a loop in a function with the target features. Takes no token, so that the loops of all
    /// instruction sets have the same function type.
    ///
    /// # Safety
    /// The CPU must have the instructions that a token of this type proves.
    unsafe fn vectorize<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output;

    /// [`Simd::vectorize`]. rustc (1.95) obeys `inline(never)` of a function with target features
    /// only where the caller has these features too. So the call stands in such a function, and not
    /// in [`Simd::run`].
    ///
    /// # Safety
    /// As [`Simd::vectorize`].
    unsafe fn call<L: Loop>(x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output;

    /// Calls a loop from another one, without inlining it.
    #[inline(always)]
    fn run<L: Loop>(self, x: &[u8], comparison: &Comparison, out: L::Out<'_>) -> L::Output {
        // SAFETY: `self` is a token.
        unsafe { Self::call::<L>(x, comparison, out) }
    }

    /// The registers of a comparison.
    type With: Copy;

    /// Call once, outside of a loop.
    fn with<const W: usize>(self, comparison: &Comparison) -> Self::With;

    /// Whether [`Simd::store`] negates `EQUAL` and `GREATER` if the comparison is negated. If not,
    /// the caller has to.
    const STORES_NEGATED: bool;

    /// Shorter inputs of masks, in bytes, are compared without a screen. The faster a backend
    /// compares, the later a screen pays.
    const MASK_SCREEN_FROM: usize = 2048;

    /// The mask of a block: a byte of 0 or 1 for each element.
    fn store<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: Self::With,
        out: &mut Slots,
    );

    /// The same answer for a block.
    #[inline(always)]
    fn fill(self, answer: u64, out: &mut Slots) {
        out.fill(MaybeUninit::new(answer != 0));
    }

    /// The mask of fewer than 64 elements, negated if the comparison is. Returns whether all of it
    /// is written. If not, the caller asks for bits and spreads them.
    #[inline(always)]
    fn store_few<const W: usize>(
        self,
        _x: &[u8],
        _comparison: &Comparison,
        _out: &mut [MaybeUninit<bool>],
    ) -> bool {
        false
    }

    /// Whether [`Simd::put_bits`] compares into mask registers. Then `ONES` is the same as `EQUAL`,
    /// and `ONES_NOT` is a comparison of its own. If not, it knows no `ONES_NOT`.
    const BITS_COMPARED: bool = false;

    /// Bit `i` for element `i` of a block or of half a block of wide elements. Not negated. `OP` is
    /// `ONES`, `EQUAL` or `GREATER`.
    fn word<const W: usize, const OP: u8>(self, lines: &[Line], with: Self::With) -> u64;

    /// [`Simd::word`] in the order of bytes of a little-endian machine, xored with `usual`.
    #[inline(always)]
    fn put_bits<const W: usize, const OP: u8>(
        self,
        block: &Block<W>,
        with: Self::With,
        usual: u64,
        word: &mut [u8; 8],
    ) {
        *word = (self.word::<W, OP>(block, with) ^ usual).to_le_bytes();
    }

    /// Bit `i` for element `i` of fewer than 64 elements, negated if the comparison is.
    fn bits_few<const W: usize>(self, x: &[u8], comparison: &Comparison) -> u64;

    /// The index of the first hit in a line, negated if the comparison is. 64 or more if there is
    /// none.
    fn find<const W: usize>(self, line: &Line, comparison: &Comparison, with: Self::With) -> usize;

    /// Fewer than 64 bytes as a line, with zeros behind them.
    #[inline(always)]
    fn padded(self, few: &[u8]) -> Line {
        let mut line = [0; 64];
        line[..few.len()].copy_from_slice(few);
        line
    }

    /// Mask (or flip) and least hit of a [`Screen`], in registers.
    type Screen: Copy;

    /// Call once, outside of a loop. Every element passes the screen made of `Screen::None`.
    fn screen<const W: usize>(self, screen: Screen) -> Self::Screen;

    /// The largest elements seen so far.
    type Accumulator: Copy;

    /// Nothing seen yet.
    fn accumulator(self) -> Self::Accumulator;

    /// Looks at two lines. `FLIP` is for `Screen::Flipped`.
    fn accumulate<const W: usize, const FLIP: bool>(
        self,
        seen: Self::Accumulator,
        lines: &[Line; 2],
        screen: Self::Screen,
    ) -> Self::Accumulator;

    /// Whether one of the largest elements reaches the least hit.
    fn any_hit<const W: usize>(self, seen: Self::Accumulator, screen: Self::Screen) -> bool;
}

/// Counting, for a backend.
///
/// Methods are `#[inline(always)]`, as are those of [`Replacing`] and [`Scaling`].
pub(crate) trait Counting {
    /// The number of hits in at most [`COUNTED`] bytes, not negated. `OP` is `EQUAL` or `GREATER`.
    fn count<const W: usize, const OP: u8>(
        self,
        pairs: &[[Line; 2]],
        comparison: &Comparison,
    ) -> usize;

    /// The numbers of NaN, of infinities and of -Inf in at most [`COUNTED`] bytes. `nan` is the
    /// comparison for NaN of a format that has infinities.
    fn classify<const W: usize>(self, pairs: &[[Line; 2]], nan: &Comparison) -> [usize; 3];
}

/// Replacing, for a backend.
#[cfg(feature = "replace")]
pub(crate) trait Replacing {
    /// Replaces the hits in at most [`COUNTED`] bytes. The comparison is that for `EQUAL`. Returns
    /// the number of hits.
    fn replace<const W: usize>(
        self,
        lines: &mut [Line],
        comparison: &Comparison,
        codes: &Codes,
    ) -> usize;
}

/// Multiplying, for a backend.
#[cfg(feature = "scale")]
pub(crate) trait Scaling {
    /// A factor in registers.
    type Factor: Copy;

    /// Call once, outside of a loop. `F` is a [`crate::float::format`].
    fn factor<const F: u8>(self, factor: f64) -> Self::Factor;

    /// Multiplies the elements of a line.
    fn multiply<const F: u8>(self, line: &mut Line, factor: Self::Factor);
}

/// Comparing numbers with each other, for a backend.
#[cfg(feature = "stats")]
pub(crate) trait Ordering: Sized {
    /// The registers of a range.
    type Bounds: Copy;

    /// To be called once, outside of a loop.
    fn bounds<const W: usize>(self, range: Range) -> Self::Bounds;

    /// Whether all elements of some lines are in the range. It may say no if they are.
    fn within<const W: usize>(self, pairs: &[[Line; 2]], bounds: Self::Bounds) -> bool;

    /// Whether there are scans.
    const SCANS: bool = false;

    /// After this many bytes groups are screened. Parts before that have at most this many bytes.
    fn screened_from<const W: usize>(self) -> usize {
        GROUP
    }

    /// Looks at lines as long as all elements are what the constant of [`expect`] says, and adds
    /// the outermost codes of each group to `outer`, and of all elements that were as expected. The
    /// format must be [`Numbers::is_sign_magnitude`]. At most [`crate::scan::SCANNED`] bytes. With
    /// `NULLS` the scan ends where the bitmap has no more words.
    #[inline(always)]
    fn scan<const W: usize, const EXPECT: u8, const NULLS: bool>(
        self,
        _: &[Line],
        _: &Numbers,
        _: Given<'_>,
        _outer: &mut [Groups; 2],
    ) -> Found {
        Found::default()
    }

    /// The highest code of the last line as an unsigned integer after an xor with `flip`, and the
    /// first line that has that code.
    #[inline(always)]
    fn outermost<const W: usize>(self, _: &[Line], _flip: u64) -> (u64, usize) {
        (0, 0)
    }

    /// In at most [`COUNTED`] bytes: extends the lowest and the highest key of finite elements, of
    /// which there is one. Returns how many elements have a magnitude of zero, how many one below
    /// the least normal number, and how many are not finite.
    fn order<const W: usize>(
        self,
        pairs: &[[Line; 2]],
        numbers: &Numbers,
        keys: &mut [i64; 2],
    ) -> [usize; 3];

    /// [`Ordering::within`], of the elements of blocks whose bit is 1 in the word of the block. No
    /// if there are too few words.
    fn within_valid<const W: usize>(
        self,
        blocks: &[Block<W>],
        words: &mut impl Iterator<Item = u64>,
        bounds: Self::Bounds,
    ) -> bool;

    /// Copies element `i` of a block where bit `i` of `valid` is 1. Elsewhere writes `filling`.
    fn fill_nulls<const W: usize>(
        self,
        block: &Block<W>,
        valid: u64,
        filling: u64,
        out: &mut [MaybeUninit<Line>; W],
    );
}

/// What all elements of a scan are, as a constant, so that each scan is compiled for one of them.
#[cfg(feature = "stats")]
pub(crate) mod expect {
    /// Normal numbers of the sign that all numbers had so far.
    pub(crate) const ONE_SIGN: u8 = 0;
    /// Normal numbers, where the numbers so far are on both sides of zero, or zero.
    pub(crate) const NORMAL: u8 = 1;
    /// The same with zeros and subnormal numbers.
    pub(crate) const FINITE: u8 = 2;
    /// NaN and infinities too. No scan takes these.
    pub(crate) const ANYTHING: u8 = 3;
}

/// Nothing without the feature.
#[cfg(not(feature = "stats"))]
pub(crate) trait Ordering {}
#[cfg(not(feature = "stats"))]
impl<T> Ordering for T {}

/// Nothing without the feature.
#[cfg(not(feature = "replace"))]
pub(crate) trait Replacing {}
#[cfg(not(feature = "replace"))]
impl<T> Replacing for T {}

/// Empty without the feature.
#[cfg(not(feature = "scale"))]
pub(crate) trait Scaling {}
#[cfg(not(feature = "scale"))]
impl<T> Scaling for T {}
