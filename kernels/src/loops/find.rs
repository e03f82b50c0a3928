//! The search: the first line with an element for which the answer is yes.
//!
//! ```text
//! find(x):
//!     compare the first line                        a hit is often at the very beginning
//!     of 64 bytes: end
//!     of 128 bytes and less: compare the last line
//!     skip groups of lines that cannot hold a hit   4 lines; of 1 KiB and more, 8 lines from a
//!                                                   cache line on; the last group overlaps
//!     compare line by line after them               the last line overlaps
//! ```
//!
//! A group may pass the screen without a hit, if the screen is not exact: see [`Rule::is_screen`].
//! Then all lines after the group are compared, so the driver cuts such inputs into pieces. In
//! elements of 8 bytes, NaN and infinities can have the same upper half: there only 8 lines are
//! compared before the next groups are skipped.

use crate::isa::Isa;
use crate::pieces::{Hit, Long, Windows};
use crate::rule::Rule;

/// From this many bytes on, groups have 8 lines, as long as 8 are left.
const EIGHT_FROM: usize = 1024;

/// The first line with an element for which the answer is yes.
#[inline(always)]
pub(crate) fn find<I: Isa, const W: usize>(isa: I, x: Long<'_>, rule: &Rule) -> Hit {
    let (with, tilted) = (isa.with::<W>(rule), rule.is_tilted());
    let bits = isa.answers::<W>(x.first(), tilted, &with);
    if bits != 0 {
        return Hit { at: 0, bits };
    }
    let mut line = x.windows().after(1);
    loop {
        match rule.screen::<W>() {
            Some(screen) if x.len() > 128 => {
                let with = isa.screen::<W>(screen);
                let dirty = if W == 1 && screen.flip != 0 {
                    skip::<I, W, true>(isa, x, line, with)
                } else {
                    skip::<I, W, false>(isa, x, line, with)
                };
                let Some(dirty) = dirty else { return Hit::NONE };
                line = dirty;
            }
            _ if x.len() == 64 => return Hit::NONE,
            _ => {}
        }
        // 8 lines of elements of 8 bytes: `size` is 8. The compiler does not see that, so it does
        // not unroll the loop.
        let mut lines = if W == 8 { rule.size() } else { usize::MAX };
        while lines != 0 {
            let bits = isa.answers::<W>(&line.here::<1>()[0], tilted, &with);
            if bits != 0 {
                return Hit { at: line.place(), bits };
            }
            if line.is_last::<1>() {
                return Hit::NONE;
            }
            line = line.after(1);
            lines -= 1;
        }
    }
}

/// The first line of the first group from `at` on that may hold a hit. The lines before hold none.
#[inline(always)]
fn skip<'x, I: Isa, const W: usize, const FLIP: bool>(
    isa: I,
    x: Long<'x>,
    mut at: Windows<'x>,
    screen: I::Screen,
) -> Option<Windows<'x>> {
    if x.len() < 256 {
        return isa.may_hit::<W, FLIP>(x.four(), screen).then_some(at);
    }
    if x.len() >= EIGHT_FROM {
        at = at.aligned(W);
        while !at.is_last::<8>() {
            if isa.may_hit::<W, FLIP>(at.here::<8>(), screen) {
                return Some(at);
            }
            at = at.after(8);
        }
    }
    while !isa.may_hit::<W, FLIP>(at.here::<4>(), screen) {
        if at.is_last::<4>() {
            return None;
        }
        at = at.after(4);
    }
    Some(at)
}
