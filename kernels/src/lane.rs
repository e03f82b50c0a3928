//! The four widths of elements, each with the loops for it.

use core::mem::MaybeUninit;

#[cfg(feature = "replace")]
use crate::codes::Codes;
use crate::loops::bits::Bits;
use crate::loops::census::{Census, Taken};
use crate::loops::count::{Count, Counted};
use crate::loops::mask::Mask;
use crate::loops::position::Position;
#[cfg(feature = "replace")]
use crate::loops::replace::{Copying, InPlace};
use crate::loops::stream::Streamed;
use crate::path::{Path, Question, Row, row};
use crate::rule::Test;
use crate::scalar;

impl<const W: usize> Question for Mask<W> {
    fn scalar(x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]) {
        scalar::mask::<W>(x, test, out);
    }
}

impl<const W: usize> Question for Streamed<W> {
    fn scalar(x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]) {
        scalar::mask::<W>(x, test, out);
    }
}

impl<const W: usize> Question for Bits<W> {
    fn scalar(x: &[u8], test: &Test, out: &mut [[u8; 8]]) -> u64 {
        scalar::bits::<W>(x, test, out)
    }
}

impl<const W: usize> Question for Position<W> {
    fn scalar(x: &[u8], test: &Test, (): ()) -> Option<usize> {
        scalar::position::<W>(x, test)
    }
}

impl<const W: usize> Question for Count<W> {
    fn scalar(x: &[u8], test: &Test, (): ()) -> Counted {
        scalar::count::<W>(x, test)
    }
}

impl<const W: usize> Question for Census<W> {
    fn scalar(x: &[u8], nan: &Test, (): ()) -> Taken {
        scalar::census::<W>(x, nan)
    }
}

mod sealed {
    #[cfg(feature = "replace")]
    use super::Codes;
    use super::{Counted, Path, Taken, Test};
    use core::mem::MaybeUninit;

    /// Runs the loops of one width: a caller links no others.
    pub trait Loops {
        fn mask(path: Option<Path>, x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]);
        fn streamed(path: Option<Path>, x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]);
        fn bits(path: Option<Path>, x: &[u8], test: &Test, out: &mut [[u8; 8]]) -> u64;
        fn position(path: Option<Path>, x: &[u8], test: &Test) -> Option<usize>;
        fn count(path: Option<Path>, x: &[u8], test: &Test) -> Counted;
        fn census(path: Option<Path>, x: &[u8], nan: &Test) -> Taken;
        #[cfg(feature = "replace")]
        fn replace(path: Option<Path>, x: &mut [u8], test: &Test, codes: &Codes) -> usize;
        #[cfg(feature = "replace")]
        fn replace_into(
            path: Option<Path>,
            x: &[u8],
            test: &Test,
            out: &mut [u8],
            codes: &Codes,
        ) -> usize;
    }
}
pub(crate) use sealed::Loops;

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
            fn mask(path: Option<Path>, x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]) {
                static ROW: Row<Mask<$width>> = row::<Mask<$width>>();
                Path::run::<Mask<$width>>(path, &ROW, x, test, out);
            }

            fn streamed(path: Option<Path>, x: &[u8], test: &Test, out: &mut [MaybeUninit<bool>]) {
                static ROW: Row<Streamed<$width>> = row::<Streamed<$width>>();
                Path::run::<Streamed<$width>>(path, &ROW, x, test, out);
            }

            #[inline]
            fn bits(path: Option<Path>, x: &[u8], test: &Test, out: &mut [[u8; 8]]) -> u64 {
                static ROW: Row<Bits<$width>> = row::<Bits<$width>>();
                Path::run::<Bits<$width>>(path, &ROW, x, test, out)
            }

            #[inline]
            fn position(path: Option<Path>, x: &[u8], test: &Test) -> Option<usize> {
                static ROW: Row<Position<$width>> = row::<Position<$width>>();
                Path::run::<Position<$width>>(path, &ROW, x, test, ())
            }

            #[inline]
            fn count(path: Option<Path>, x: &[u8], test: &Test) -> Counted {
                static ROW: Row<Count<$width>> = row::<Count<$width>>();
                Path::run::<Count<$width>>(path, &ROW, x, test, ())
            }

            #[inline]
            fn census(path: Option<Path>, x: &[u8], nan: &Test) -> Taken {
                static ROW: Row<Census<$width>> = row::<Census<$width>>();
                Path::run::<Census<$width>>(path, &ROW, x, nan, ())
            }

            #[cfg(feature = "replace")]
            fn replace(path: Option<Path>, x: &mut [u8], test: &Test, codes: &Codes) -> usize {
                static ROW: Row<InPlace<$width>> = row::<InPlace<$width>>();
                Path::run::<InPlace<$width>>(path, &ROW, &[], test, (x, codes))
            }

            #[cfg(feature = "replace")]
            fn replace_into(
                path: Option<Path>,
                x: &[u8],
                test: &Test,
                out: &mut [u8],
                codes: &Codes,
            ) -> usize {
                static ROW: Row<Copying<$width>> = row::<Copying<$width>>();
                Path::run::<Copying<$width>>(path, &ROW, x, test, (out, codes))
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
