//! Searches.
//!
//! ```text
//! Clean       the first group that passes the screen
//! Find        compares the lines of this group, one by one
//!
//! groups      up to 256 bytes    registers of 16 bytes: each line (SSE2: of any length); others:
//!                                the first and the last line, or four lines, which may overlap
//!             up to 1 KiB        4 lines each, the last group overlaps
//!             more               2 lines, where dense hits end the search; then 8 lines each, from
//!                                a cache line on, and what is left by groups of 4 lines
//! ```
//!
//! Where the screen is exact ([`Rule::exact`]), a group that passes has a hit. Otherwise it may
//! have none. Then `Find` stops after 8 lines and says where, and the driver begins there anew: few
//! groups pass, so the loop over groups and the loop over lines need not share their registers.

use crate::dispatch::tables;
use crate::isa::{Isa, op};
use crate::lines::{Cursor, Hit, Line, Long};
use crate::plain;
use crate::question::{On, Question};
use crate::rule::Rule;
use crate::tuning::EIGHT_FROM;

/// The bytes before the first group with an element that passes the screen of the rule. All bytes
/// if there is no such group.
pub(crate) struct Clean;

tables!(Clean);

impl Question for Clean {
    type Input<'x> = Long<'x>;
    type Asked<'a> = &'a Rule;
    type Out<'o> = ();
    type Answer = usize;

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(x: Long<'_>, rule: &Rule, (): ()) -> usize {
        plain::blocks_without::<W, BLOCK>(x.bytes(), |bits| rule.passes_of::<W>(bits))
    }
}

impl<I: Isa> On<I> for Clean {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: Long<'_>, rule: &Rule, (): ()) -> usize {
        first_group::<I, W>(isa, x, rule).map_or(x.len(), Cursor::offset)
    }
}

/// The first line with a hit of a rule that is no opposite. If there is none: the place where the
/// search stopped, which is the end of the input unless a group without a hit passed.
pub(crate) struct Find;

tables!(Find);

impl Question for Find {
    type Input<'x> = Long<'x>;
    type Asked<'a> = &'a Rule;
    type Out<'o> = ();
    type Answer = Hit;

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(x: Long<'_>, rule: &Rule, (): ()) -> Hit {
        let hit = |bits| rule.hits_of::<W>(bits);
        let Some(first) = plain::first::<W, BLOCK>(x.bytes(), hit) else { return Hit::none_in(x) };
        // The line that begins with the hit, or the last line.
        let (at, line) = x.line_at(first * W);
        Hit { at, bits: line_word::<W, BLOCK>(line, rule) }
    }
}

impl<I: Isa> On<I> for Find {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: Long<'_>, rule: &Rule, (): ()) -> Hit {
        let Some(mut line) = first_group::<I, W>(isa, x, rule) else { return Hit::none_in(x) };
        let with = isa.with::<W>(rule);
        // 8 lines: `one` is 1. The compiler does not know that, so it does not unroll the loop.
        for _ in 0..8 * rule.one {
            let bits = match rule.tilted {
                false => isa.line_bits::<W, { op::FLIPPED }>(&line.here::<1>()[0], &with),
                true => isa.line_bits::<W, { op::TILTED }>(&line.here::<1>()[0], &with),
            };
            if bits != 0 {
                return Hit { at: line.offset(), bits };
            }
            let Some(next) = line.next::<1>() else { return Hit::none_in(x) };
            line = next;
        }
        Hit { at: line.offset(), bits: 0 }
    }
}

/// Not inlined: beside it, the compilers of wasm keep too few variables of the search in registers.
#[inline(never)]
fn line_word<const W: usize, const BLOCK: usize>(line: &Line, rule: &Rule) -> u64 {
    plain::word::<W, BLOCK>(line, rule)
}

/// The first group that passes the screen. No element before it passes.
#[inline(always)]
fn first_group<'x, I: Isa, const W: usize>(isa: I, x: Long<'x>, rule: &Rule) -> Option<Cursor<'x>> {
    let screen = isa.screen::<W>(rule.screen());
    if rule.screen_flips::<W>() {
        group::<I, W, true>(isa, x, screen)
    } else {
        group::<I, W, false>(isa, x, screen)
    }
}

#[inline(always)]
fn group<'x, I: Isa, const W: usize, const FLIP: bool>(
    isa: I,
    x: Long<'x>,
    screen: [I::V; 3],
) -> Option<Cursor<'x>> {
    let mut at = x.cursor();
    if I::BYTES == 16 && (!I::GROUPS || x.len() <= 256) {
        while !isa.may_hit::<W, FLIP>(at.here::<1>(), screen) {
            at = at.next::<1>()?;
        }
        return Some(at);
    }
    if x.len() <= 256 {
        let [first, second, third, last] = x.four();
        let passes = if x.len() <= 128 {
            isa.may_hit::<W, FLIP>([first, last], screen)
        } else {
            isa.may_hit::<W, FLIP>([first, second, third, last], screen)
        };
        return passes.then_some(at);
    }
    if x.len() >= EIGHT_FROM {
        if isa.may_hit::<W, FLIP>(at.here::<2>(), screen) {
            return Some(at);
        }
        at = at.next::<2>()?.aligned(W);
        while let Some(next) = at.next::<8>() {
            if isa.may_hit::<W, FLIP>(at.here::<8>(), screen) {
                return Some(at);
            }
            at = next;
        }
    }
    while !isa.may_hit::<W, FLIP>(at.here::<4>(), screen) {
        at = at.next::<4>()?;
    }
    Some(at)
}
