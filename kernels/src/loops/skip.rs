//! Screens: which groups of elements cannot hold a hit. Most tensors hold few special elements or
//! none, so all other loops skip with this one.
//!
//! ```text
//! may_hit(group):
//!     a = b = 0
//!     for each pair of lines:
//!         a = max(a, even line & mask)                    lane by lane, unsigned
//!         b = max(b, odd line & mask)                     neither waits for the other
//!     return any lane of max(a, b) >= least
//!
//! skip(x):                                                how many bytes hold no hit
//!     for each group of 1 KiB:
//!         if may_hit(group): return the bytes before the group
//!     return the bytes of all groups
//! ```
//!
//! ```text
//! group of 1 KiB:   line 0   line 1   line 2   ..   line 15
//!                     |        |        |             |         & mask
//!                   a = max(line 0, line 2, ..)                 even lines
//!                   b = max(line 1, line 3, ..)                 odd lines
//! no hit if         max(a, b) < least                           in every lane
//! ```
//!
//! One maximum replaces a comparison and the work of narrowing, and there is one branch for each
//! group.
//!
//! ```text
//! rule                        there may be a hit if
//! (bits & mask) >  bound      max(bits & mask) >= bound + 1
//! (bits & mask) == bound      max(bits & ones) >= ones     ones: the run of ones of the bound,
//!                                                          from the bit below the sign on
//! bits == bound, one byte     max(bits ^ !bound) == FF
//! ```
//!
//! A negated rule has the screen of the rule that it negates.
//!
//! Where hits are dense, a screen only costs time. So each loop works without a screen for a while
//! after a hit:
//!
//! ```text
//! loop            screens from   group       after a hit
//! mask, W > 1     2 KiB          512 bytes   16 KiB without a screen
//! bits            2 KiB          1 KiB       16 KiB without a screen
//! position        1 KiB          1 KiB       the group is compared; the hit ends the search
//! count, census   1 KiB          1 KiB       1 KiB without a screen; up to 16 KiB while more than
//!                                            one element a KiB is a hit
//! replace         1 KiB          1 KiB       the group is compared and written
//! ```

use crate::rule::Screen;
pub(super) use crate::simd::GROUP;
use crate::simd::{Line, Simd, lines};

/// Whether one of the lines may hold a hit.
#[inline(always)]
pub(super) fn may_hit<I: Simd, const W: usize, const FLIP: bool>(
    isa: I,
    lines: &[Line],
    screen: I::Screen,
) -> bool {
    let mut seen = isa.accumulator();
    for pair in lines.as_chunks().0 {
        seen = isa.accumulate::<W, FLIP>(seen, pair, screen);
    }
    isa.any_hit::<W>(seen, screen)
}

/// The number of bytes at the beginning of `x` without a hit, in whole groups of [`GROUP`] bytes.
#[inline(always)]
pub(super) fn skip<I: Simd, const W: usize>(isa: I, x: &[u8], screen: Screen) -> usize {
    match screen {
        Screen::Masked { .. } => skip_by::<I, W, false>(isa, x, screen),
        Screen::Flipped { .. } if W == 1 => skip_by::<I, W, true>(isa, x, screen),
        _ => 0,
    }
}

#[inline(always)]
fn skip_by<I: Simd, const W: usize, const FLIP: bool>(isa: I, x: &[u8], screen: Screen) -> usize {
    let with = isa.screen::<W>(screen);
    let groups = lines(x).0.as_chunks::<{ GROUP / 64 }>().0;
    // Not a closure: it might not be inlined, and then would not be compiled for the instruction
    // set.
    for (i, group) in groups.iter().enumerate() {
        if may_hit::<I, W, FLIP>(isa, group, with) {
            return i * GROUP;
        }
    }
    groups.len() * GROUP
}

/// The bytes of the next run without a screen, if a run of `run` bytes had dense hits.
#[inline(always)]
pub(super) fn longer(run: usize) -> usize {
    (run * 4).clamp(GROUP, 16 * GROUP)
}
