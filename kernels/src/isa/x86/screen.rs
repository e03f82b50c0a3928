//! Screens of x86: the greatest lane of some lines.

use crate::isa::Isa;
use crate::lines::Line;
use crate::rule::Screen;

/// The greatest lanes of some lines, for [`Isa::may_hit`]. A maximum is one instruction, while a
/// comparison would also have to be narrowed, and a group takes one branch. There are two maxima,
/// so that neither waits for the other.
///
/// ```text
/// group of 4 lines, registers of 32 bytes
///                  0   1   2   3   4   5   6   7        & mask
///         a = max( 0 ,     2 ,     4 ,     6    )       lane by lane
///         b = max(     1 ,     3 ,     5 ,     7)
/// no hit if max(a, b) <= limit in every lane
/// ```
pub(crate) trait Greatest: Isa {
    /// The greater of `a` and `b` in each lane. For `W` of 8, only upper halves need be compared.
    fn max<const W: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    /// [`Isa::screen`]. Of elements of 8 bytes, the upper halves are compared: AVX2 has no maximum
    /// of 64-bit lanes, and that of AVX-512 takes twice the time. An element may be above the limit
    /// if its upper half is at least the upper half of `limit + 1`.
    #[inline(always)]
    fn limits<const W: usize>(self, screen: Screen) -> [Self::V; 3] {
        let limit = if W == 8 { screen.limit + 1 } else { screen.limit };
        [screen.mask, screen.flip as u64, limit as u64].map(|bits| self.splat::<W>(bits))
    }

    /// The greatest lanes of at least one line, masked and, with `FLIP`, xored with `flip`.
    #[inline(always)]
    fn greatest<'x, const W: usize, const FLIP: bool>(
        self,
        lines: impl IntoIterator<Item = &'x Line>,
        mask: Self::V,
        flip: Self::V,
    ) -> Self::V {
        let mut most: [Option<Self::V>; 2] = [None; 2];
        let mut which = 0;
        for line in lines {
            for i in 0..64 / Self::BYTES {
                let mut lanes = self.and(self.load(line, i * Self::BYTES), mask);
                if FLIP {
                    lanes = self.xor(lanes, flip);
                }
                if let Some(most) = most[which % 2] {
                    lanes = self.max::<W>(most, lanes);
                }
                most[which % 2] = Some(lanes);
                which += 1;
            }
        }
        match most {
            [Some(a), Some(b)] => self.max::<W>(a, b),
            [Some(a), None] => a,
            _ => self.splat::<1>(0),
        }
    }
}
