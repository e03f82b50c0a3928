//! Choosing between lanes.

use super::{Avx2, V};
use crate::registers::Blend;

impl Blend for Avx2 {
    #[inline(always)]
    fn blend<const W: usize>(self, a: V, b: V, hits: V) -> V {
        self.choose_bytes(a, b, hits)
    }
}
