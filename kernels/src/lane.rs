//! The four widths of elements, each with the loops for it.

use core::mem::MaybeUninit;

use crate::backend::{Backend, Question, Row, row};
#[cfg(feature = "replace")]
use crate::codes::Codes;
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
#[cfg(feature = "stats")]
use crate::numbers::Numbers;
use crate::rule::Comparison;
use crate::scalar;
#[cfg(feature = "stats")]
use crate::tally::{Tally, Want};

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

mod sealed {
    #[cfg(feature = "replace")]
    use super::Codes;
    use super::{Backend, ClassCounts, Comparison, Counted};
    #[cfg(feature = "stats")]
    use super::{Numbers, Tally, Want};
    use core::mem::MaybeUninit;

    /// Runs the loops of one width. A caller links no other loops.
    pub trait Loops {
        fn mask(
            backend: Option<Backend>,
            x: &[u8],
            comparison: &Comparison,
            out: &mut [MaybeUninit<bool>],
        );
        fn bits(
            backend: Option<Backend>,
            x: &[u8],
            comparison: &Comparison,
            out: &mut [[u8; 8]],
        ) -> u64;
        fn position(backend: Option<Backend>, x: &[u8], comparison: &Comparison) -> Option<usize>;
        fn count(backend: Option<Backend>, x: &[u8], comparison: &Comparison) -> Counted;
        fn census(backend: Option<Backend>, x: &[u8], nan: &Comparison) -> ClassCounts;
        #[cfg(feature = "replace")]
        fn replace(
            backend: Option<Backend>,
            x: &mut [u8],
            comparison: &Comparison,
            codes: &Codes,
        ) -> usize;
        #[cfg(feature = "stats")]
        fn stats(
            backend: Option<Backend>,
            x: &[u8],
            non_finite: &Comparison,
            numbers: &Numbers,
            want: Want<'_>,
        ) -> Tally;
    }
}
pub(crate) use sealed::Loops;

/// Of the loops for elements of 1, 2, 4 and 8 bytes, the one for elements of `size` bytes, and the
/// size. If `size` is 0, as that of a rule may be, any loop and its size: the entries compare it
/// with the rule.
pub(crate) fn of_width<T: Copy>(size: usize, widths: [T; 4]) -> (T, usize) {
    let i = size.trailing_zeros() as usize % 4;
    (widths[i], 1 << i)
}

/// An unsigned integer as wide as an element: `u8`, `u16`, `u32` or `u64`.
pub trait Lane: Loops {
    /// Bytes of an element.
    const SIZE: usize;
}

/// The rows are statics, so that the loops are compiled in this crate, once.
macro_rules! lanes {
    ($($lane:ident $width:literal;)*) => { $(
        impl Lane for $lane {
            const SIZE: usize = $width;
        }

        impl Loops for $lane {
            #[inline]
            fn mask(
                backend: Option<Backend>,
                x: &[u8],
                comparison: &Comparison,
                out: &mut [MaybeUninit<bool>],
            ) {
                static ROW: Row<Mask<$width>> = row::<Mask<$width>>();
                Backend::run::<Mask<$width>>(backend, &ROW, x, comparison, out);
            }

            #[inline]
            fn bits(
                backend: Option<Backend>,
                x: &[u8],
                comparison: &Comparison,
                out: &mut [[u8; 8]],
            ) -> u64 {
                static ROW: Row<Bits<$width>> = row::<Bits<$width>>();
                Backend::run::<Bits<$width>>(backend, &ROW, x, comparison, out)
            }

            #[inline]
            fn position(
                backend: Option<Backend>,
                x: &[u8],
                comparison: &Comparison,
            ) -> Option<usize> {
                static ROW: Row<Position<$width>> = row::<Position<$width>>();
                Backend::run::<Position<$width>>(backend, &ROW, x, comparison, ())
            }

            #[inline]
            fn count(backend: Option<Backend>, x: &[u8], comparison: &Comparison) -> Counted {
                static ROW: Row<Count<$width>> = row::<Count<$width>>();
                Backend::run::<Count<$width>>(backend, &ROW, x, comparison, ())
            }

            #[inline]
            fn census(backend: Option<Backend>, x: &[u8], nan: &Comparison) -> ClassCounts {
                static ROW: Row<Census<$width>> = row::<Census<$width>>();
                Backend::run::<Census<$width>>(backend, &ROW, x, nan, ())
            }

            #[cfg(feature = "replace")]
            fn replace(
                backend: Option<Backend>,
                x: &mut [u8],
                comparison: &Comparison,
                codes: &Codes,
            ) -> usize {
                static ROW: Row<InPlace<$width>> = row::<InPlace<$width>>();
                Backend::run::<InPlace<$width>>(backend, &ROW, &[], comparison, (x, codes))
            }

            #[cfg(feature = "stats")]
            fn stats(
                backend: Option<Backend>,
                x: &[u8],
                non_finite: &Comparison,
                numbers: &Numbers,
                want: Want<'_>,
            ) -> Tally {
                static ROW: Row<Statistics<$width>> = row::<Statistics<$width>>();
                Backend::run::<Statistics<$width>>(backend, &ROW, x, non_finite, (numbers, want))
            }
        }
    )* };
}
lanes! {
    u8 1;
    u16 2;
    u32 4;
    u64 8;
}
