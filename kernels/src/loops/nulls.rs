//! Statistics of a column with nulls: the loops over its validity bitmap.
//!
//! ```text
//! skip(x, bitmap):                     as skip in stats.rs
//!     for each group of 1 KiB: seen = max(seen, element - low) where the element is valid
//!
//! fill(x, bitmap, filling):
//!     for each block of 64 elements: out = x where valid, otherwise filling
//! ```
//!
//! Groups that change nothing are skipped. A scan of others replaces nulls in registers, by an
//! element that was seen before. Parts with NaN or infinities are copied, nulls filled with such an
//! element, and the loops of stats.rs look at the copy. Elements keep their places, so an index in
//! the copy is an index in the column.
#![expect(unsafe_code, reason = "lines that a loop has written")]

use core::mem::MaybeUninit;
use core::slice;

use crate::bitmap::Bitmap;
use crate::numbers::Range;
use crate::rule::{Comparison, UNUSED};
use crate::simd::{Call, GROUP, Line, Loop, SameAs, Simd, lines};
use crate::tally::Room;

/// Fills rooms with elements of one width.
pub(crate) struct Filler {
    fill: Call<Fill<1>>,
    width: usize,
}

impl Filler {
    pub(crate) fn of<I: Simd, const W: usize>(isa: I) -> Self {
        Self { fill: Call::of::<Fill<W>, I>(isa), width: W }
    }

    /// The first bytes of a column, at most [`crate::tally::ROOM`], with an element in place of
    /// nulls. The bitmap begins with the same element.
    pub(crate) fn fill<'r>(
        &self,
        room: &'r mut Room,
        x: &[u8],
        bytes: usize,
        (bitmap, filling): (Bitmap<'_>, u64),
    ) -> &'r [u8] {
        let lines = &mut room.0[..bytes.div_ceil(64).next_multiple_of(self.width)];
        self.fill.run(x, &UNUSED, (bitmap, filling, lines));
        // SAFETY: `lines` are whole blocks, and `fill`, which is a `Fill` as `of` shows, has
        // written each line of them.
        let lines: &[Line] = unsafe { slice::from_raw_parts(lines.as_ptr().cast(), lines.len()) };
        &lines.as_flattened()[..bytes]
    }
}

/// Finds how many bytes at the beginning are groups whose valid elements are in the range.
pub(crate) struct SkipValid<const W: usize>;

impl<const W: usize> SameAs<SkipValid<1>> for SkipValid<W> {}

impl<const W: usize> Loop for SkipValid<W> {
    type Out<'o> = (Range, Bitmap<'o>);
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        _: &Comparison,
        (range, bitmap): (Range, Bitmap<'_>),
    ) -> usize {
        let (bounds, mut words) = (isa.bounds::<W>(range), bitmap.words());
        let groups = lines(x).0.as_chunks::<{ GROUP / 64 }>().0;
        for (i, group) in groups.iter().enumerate() {
            if !isa.within_valid::<W>(group.as_chunks().0, &mut words, bounds) {
                return i * GROUP;
            }
        }
        groups.len() * GROUP
    }
}

/// Writes lines from the first elements of a column, with an element in place of nulls. Behind the
/// last element stand zeros.
struct Fill<const W: usize>;

impl<const W: usize> SameAs<Fill<1>> for Fill<W> {}

impl<const W: usize> Loop for Fill<W> {
    /// Lines of whole blocks.
    type Out<'o> = (Bitmap<'o>, u64, &'o mut [MaybeUninit<Line>]);
    type Output = ();

    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        x: &[u8],
        unused: &Comparison,
        (bitmap, filling, out): Self::Out<'_>,
    ) {
        let blocks = out.as_chunks_mut::<W>().0;
        let mut done = 0;
        let whole = lines(x).0.as_chunks::<W>().0.iter().zip(bitmap.words());
        for ((block, valid), out) in whole.zip(blocks.iter_mut()) {
            isa.fill_nulls::<W>(block, valid, filling, out);
            done += 1;
        }
        let left = &mut blocks[done..];
        if !left.is_empty() {
            // The column ends, and its bitmap within the next two words.
            let (few, bits) = (&x[64 * W * done..], &bitmap.bytes[8 * done..]);
            let (mut last, mut words) = ([[[0; 64]; W]; 2], [0; 24]);
            last.as_flattened_mut().as_flattened_mut()[..few.len()].copy_from_slice(few);
            let words_left = bits.len().min(words.len());
            words[..words_left].copy_from_slice(&bits[..words_left]);
            let bitmap = Bitmap { bytes: &words, ..bitmap };
            let out = (bitmap, filling, left.as_flattened_mut());
            isa.run::<Self>(last.as_flattened().as_flattened(), unused, out);
        }
    }
}
