//! Screens of x86: the greatest lane of some lines.

use crate::isa::Isa;
use crate::isa::lanes::Blend;
use crate::lines::Line;
use crate::rule::Screen;

/// [`Isa::screen`]. Elements of 8 bytes are compared by their upper halves: AVX2 has no maximum of
/// 64-bit lanes, and that of AVX-512 takes twice the time. An element may be above the limit if its
/// upper half is at least the upper half of `limit + 1`.
#[inline(always)]
pub(super) fn limits<I: Isa, const W: usize>(isa: I, screen: Screen) -> [I::V; 3] {
    let limit = if W == 8 { screen.limit + 1 } else { screen.limit };
    [screen.mask, screen.flip as u64, limit as u64].map(|bits| isa.splat::<W>(bits))
}

/// The greatest lanes of some lines, masked and, with `FLIP`, xored with `flip`, for
/// [`Isa::may_hit`]. A maximum is one instruction, while a comparison would also have to be
/// narrowed, and a group takes one branch. There are two maxima, so that neither waits for the
/// other.
///
/// ```text
/// group of 4 lines, registers of 32 bytes
///                  0   1   2   3   4   5   6   7        & mask
///         a = max( 0 ,     2 ,     4 ,     6    )       lane by lane
///         b = max(     1 ,     3 ,     5 ,     7)
/// no hit if max(a, b) <= limit in every lane
/// ```
#[inline(always)]
pub(super) fn greatest<'x, I: Blend, const W: usize, const FLIP: bool>(
    isa: I,
    lines: impl IntoIterator<Item = &'x Line>,
    mask: I::V,
    flip: I::V,
) -> I::V {
    let max = |a, b| if W == 8 { isa.sort::<4>(a, b)[1] } else { isa.sort::<W>(a, b)[1] };
    let mut most: [Option<I::V>; 2] = [None; 2];
    let mut which = 0;
    for line in lines {
        for i in 0..64 / I::BYTES {
            let mut lanes = isa.and(isa.load(line, i * I::BYTES), mask);
            if FLIP {
                lanes = isa.xor(lanes, flip);
            }
            if let Some(most) = most[which % 2] {
                lanes = max(most, lanes);
            }
            most[which % 2] = Some(lanes);
            which += 1;
        }
    }
    match most {
        [Some(a), Some(b)] => max(a, b),
        [Some(a), None] => a,
        _ => isa.splat::<1>(0),
    }
}
