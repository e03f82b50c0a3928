//! Multiplying.

use super::Portable;
use crate::lane::{Block, Lane};
use crate::rule::{Operation, Pair, Test, holds};
use crate::scale::{self, Arithmetic, Float, Multiply, Scale};

impl Scale for Portable {
    #[inline(always)]
    fn scale(self, x: &mut [u8], float: Float, factor: f64) -> bool {
        scale::vector(self, x, float, factor)
    }
}

impl<F: Arithmetic> Multiply<F> for Portable {
    type With = (Pair<F::Lane>, F::Factor);
    type Seen = bool;

    #[inline(always)]
    fn with(self, non_finite: &Test, factor: F::Factor) -> Self::With {
        (non_finite.pair(), factor)
    }

    #[inline(always)]
    fn unseen(self) -> bool {
        false
    }

    #[inline(always)]
    fn multiply(self, mut seen: bool, block: &mut Block<F::Lane>, (non_finite, factor): Self::With) -> bool {
        for raw in block {
            let lane = F::Lane::read(*raw);
            seen |= holds(Operation::Ones, non_finite, lane);
            *raw = F::multiply(lane, factor).raw();
        }
        seen
    }

    #[inline(always)]
    fn hit(self, seen: bool, _: Self::With) -> bool {
        seen
    }
}
