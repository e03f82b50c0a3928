//! Groups without a hit are what most tensors are made of. This is the loop that skips them.
//!
//! ```text
//! group of 1 KiB:   line 0   line 1   line 2  ..  line 15
//!                     |and     |and     |and        |and     mask
//!                     a = max( .  ,     . ,   ..    )        even lines
//!                     b = max( .  ,     . ,   ..    )        odd lines
//! skipped if        max(a, b) < least                        in every lane
//! ```
//!
//! One look at the largest masked element answers for the whole group.

use crate::rule::Screen;
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

/// Bytes at the beginning of `x` that hold no hit: whole groups of [`GROUP`] bytes.
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
    // A closure would not be inlined, and so not be compiled for the instruction set.
    for (i, group) in groups.iter().enumerate() {
        if may_hit::<I, W, FLIP>(isa, group, with) {
            return i * GROUP;
        }
    }
    groups.len() * GROUP
}

/// Bytes that are looked at before a branch.
pub(super) const GROUP: usize = 1024;
