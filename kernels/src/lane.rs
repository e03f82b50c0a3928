//! The four widths of elements, each with the loops for it.

use core::mem::MaybeUninit;

use crate::backend::{Question, Row};
use crate::found::{ClassCounts, Counted};
use crate::loops::bits::Bits;
use crate::loops::census::Census;
use crate::loops::count::Count;
#[cfg(feature = "stats")]
use crate::loops::driver::Statistics;
use crate::loops::mask::Mask;
use crate::loops::position::Position;
#[cfg(feature = "replace")]
use crate::loops::replace::InPlace;
use crate::rule::Comparison;
use crate::scalar;
#[cfg(feature = "stats")]
use crate::tally::Tally;

impl<const W: usize> Question for Mask<W> {
    fn scalar(x: &[u8], comparison: &Comparison, out: &mut [MaybeUninit<bool>]) {
        scalar::mask::<W>(x, comparison, out);
    }
}

impl<const W: usize> Question for Bits<W> {
    fn scalar(x: &[u8], comparison: &Comparison, out: &mut [[u8; 8]]) -> u64 {
        scalar::bits::<W>(x, comparison, out)
    }
}

impl<const W: usize> Question for Position<W> {
    fn scalar(x: &[u8], comparison: &Comparison, (): ()) -> Option<usize> {
        scalar::position::<W>(x, comparison)
    }
}

impl<const W: usize> Question for Count<W> {
    fn scalar(x: &[u8], comparison: &Comparison, (): ()) -> Counted {
        scalar::count::<W>(x, comparison)
    }
}

impl<const W: usize> Question for Census<W> {
    fn scalar(x: &[u8], nan: &Comparison, (): ()) -> ClassCounts {
        scalar::census::<W>(x, nan)
    }
}

#[cfg(feature = "stats")]
impl<const W: usize> Question for Statistics<W> {
    fn scalar(x: &[u8], _: &Comparison, (numbers, want): Self::Out<'_>) -> Tally {
        scalar::stats::<W>(x, numbers, want)
    }
}

/// The loops of one width, by question. A caller links no other loops.
pub(crate) trait Loops: 'static {
    const MASK: &'static Row<Mask<1>>;
    const PACKED_BITS: &'static Row<Bits<1>>;
    const POSITION: &'static Row<Position<1>>;
    const COUNT: &'static Row<Count<1>>;
    const CENSUS: &'static Row<Census<1>>;
    #[cfg(feature = "replace")]
    const REPLACE: &'static Row<InPlace<1>>;
    #[cfg(feature = "stats")]
    const STATS: &'static Row<Statistics<1>>;
}

/// Of the loops for elements of 1, 2, 4 and 8 bytes, the one for elements of `size` bytes, and the
/// size. If `size` is 0, as that of a rule may be, any loop and its size: the entries compare it
/// with the rule.
#[inline(always)]
pub(crate) fn of_width<T>(size: usize, widths: &'static [&'static T; 4]) -> (&'static T, usize) {
    let i = width(size);
    (widths[i], 1 << i)
}

/// Which of the four widths an element of `size` bytes has. Any of them if `size` is 0.
#[inline(always)]
pub(crate) fn width(size: usize) -> usize {
    size.trailing_zeros() as usize % 4
}

/// An unsigned integer as wide as an element: `u8`, `u16`, `u32` or `u64`.
#[expect(private_bounds, reason = "no other type has loops")]
pub trait Lane: Loops {
    /// Bytes of an element.
    const SIZE: usize;
}

// Each row is a static. The rows of a constant `&Row::of()` would be copied into each crate that
// uses them, and the loops compiled again there: 3 KB in a program with the whole API.
macro_rules! lanes {
    ($($lane:ident $width:literal;)*) => { $(
        impl Lane for $lane {
            const SIZE: usize = $width;
        }

        impl Loops for $lane {
            const MASK: &'static Row<Mask<1>> = {
                static ROW: Row<Mask<1>> = Row::of::<Mask<$width>>();
                &ROW
            };
            const PACKED_BITS: &'static Row<Bits<1>> = {
                static ROW: Row<Bits<1>> = Row::of::<Bits<$width>>();
                &ROW
            };
            const POSITION: &'static Row<Position<1>> = {
                static ROW: Row<Position<1>> = Row::of::<Position<$width>>();
                &ROW
            };
            const COUNT: &'static Row<Count<1>> = {
                static ROW: Row<Count<1>> = Row::of::<Count<$width>>();
                &ROW
            };
            const CENSUS: &'static Row<Census<1>> = {
                static ROW: Row<Census<1>> = Row::of::<Census<$width>>();
                &ROW
            };
            #[cfg(feature = "replace")]
            const REPLACE: &'static Row<InPlace<1>> = {
                static ROW: Row<InPlace<1>> = Row::of::<InPlace<$width>>();
                &ROW
            };
            #[cfg(feature = "stats")]
            const STATS: &'static Row<Statistics<1>> = {
                static ROW: Row<Statistics<1>> = Row::of::<Statistics<$width>>();
                &ROW
            };
        }
    )* };
}
lanes! {
    u8 1;
    u16 2;
    u32 4;
    u64 8;
}
