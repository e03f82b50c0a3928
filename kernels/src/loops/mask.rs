//! Byte masks: 1 where the answer is yes, else 0.
//!
//! ```text
//! Mask        less than a group, and tilted rules, which are rare: groups of one line
//!             more: groups of several lines; of 4 KiB and more, from a cache line on
//! MaskClean   writes the answers of groups of 16 lines without a hit, from the beginning on
//! ```
//!
//! A group has four lines, or eight for elements of 8 bytes on AVX-512. A group of NaN in f32
//! (`W` = 4):
//!
//! ```text
//! input       line 0          line 1          line 2          line 3
//!             x0 .. x15       x16 .. x31      x32 .. x47      x48 .. x63      32 bits each
//!   & mask    |               |               |               |               7FFF_FFFF
//!   > limit   |               |               |               |               7F80_0000
//! hits        0 or -1         0 or -1         0 or -1         0 or -1         32 bits each
//!   narrow    +-------+-------+               +-------+-------+
//!                     +---------------+---------------+                       8 bits each
//! mask        m0 m1 m2 ..                                          m63        0 or 1 each
//! ```
//!
//! AVX-512 compares into mask registers. AVX2 and NEON compare into lanes of all ones and narrow
//! them. AVX2 mixes the order of lanes when it narrows, and a permutation restores the order.
//!
//! A rule for ones ([`Rule::ones`]) asks for bits in the top 16 of an element. Then the tops of
//! elements are brought together first, and one register is compared instead of two or more.
//! `Finite` and `NonFinite` of all IEEE formats are such rules.
//!
//! `MaskClean` writes answers to the next free places when the screen of a group finds no hit. The
//! mask begins with the first element, and groups begin at a cache line: the screen is ahead by up
//! to 63 bytes.
//!
//! ```text
//! input   head | group 0 | group 1 | group 2 ..
//! mask    answers of 0   | of 1    | of 2 ..         the head is part of the first 128 bytes
//! ```

use core::mem::MaybeUninit;

use crate::dispatch::tables;
use crate::element::elements;
use crate::isa::{Isa, op};
use crate::lines::{GROUP, Groups, Long, Places, until_line};
use crate::plain;
use crate::question::{On, Question};
use crate::rule::Rule;
use crate::tuning::ALIGN_FROM;

/// Bytes of a group of four lines.
pub(crate) const FOUR_LINES: usize = 256;

/// A byte for each element: 1 where the answer is yes. There are as many places as elements.
pub(crate) struct Mask;

tables!(Mask);

impl Question for Mask {
    type Input<'x> = Long<'x>;
    type Asked<'a> = &'a Rule;
    type Out<'o> = &'o mut Places;
    type Answer = ();

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(x: Long<'_>, rule: &Rule, out: &mut Places) {
        for (bits, place) in elements::<W>(x.bytes()).zip(out) {
            place.write(rule.holds_of::<W>(bits));
        }
    }
}

impl<I: Isa> On<I> for Mask {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: Long<'_>, rule: &Rule, out: &mut Places) {
        let eight = W == 8 && I::MASK_REGISTERS;
        if rule.tilted {
            all::<I, W, 1, { op::TILTED }>(isa, x, rule, out);
        } else if !I::GROUPS || x.len() < if eight { 512 } else { FOUR_LINES } {
            all::<I, W, 1, { op::FLIPPED }>(isa, x, rule, out);
        } else if eight {
            by_rule::<I, W, 8>(isa, x, rule, out);
        } else {
            by_rule::<I, W, 4>(isa, x, rule, out);
        }
    }
}

#[inline(always)]
fn by_rule<I: Isa, const W: usize, const N: usize>(
    isa: I,
    x: Long<'_>,
    rule: &Rule,
    out: &mut Places,
) {
    if !rule.ones {
        if rule.greater && !rule.opposite {
            all::<I, W, N, { op::GREATER }>(isa, x, rule, out);
        } else {
            all::<I, W, N, { op::FLIPPED }>(isa, x, rule, out);
        }
    } else if rule.opposite {
        all::<I, W, N, { op::NOT_ONES }>(isa, x, rule, out);
    } else {
        all::<I, W, N, { op::ONES }>(isa, x, rule, out);
    }
}

#[inline(always)]
fn all<I: Isa, const W: usize, const N: usize, const OP: u8>(
    isa: I,
    x: Long<'_>,
    rule: &Rule,
    out: &mut Places,
) {
    let align = N > 1 && x.len() >= ALIGN_FROM;
    let with = isa.with_answer::<W>(rule);
    let mut groups = Groups::<W, N>::new(x.bytes(), out, align);
    loop {
        match groups.here() {
            (lines, out) if N == 1 => isa.answer_line::<W, OP>(&lines[0], &with, out, 0),
            (lines, out) => isa.answer_group::<W, OP>(lines, &with, out),
        }
        if groups.is_last() {
            return;
        }
        groups.advance();
    }
}

/// Writes the answers of groups without a hit, from the beginning on. Returns the bytes whose
/// answers are written.
pub(crate) struct MaskClean;

tables!(MaskClean);

impl Question for MaskClean {
    type Input<'x> = Long<'x>;
    type Asked<'a> = &'a Rule;
    type Out<'o> = &'o mut Places;
    type Answer = usize;

    #[inline(always)]
    fn plain<const W: usize, const BLOCK: usize>(
        x: Long<'_>,
        rule: &Rule,
        out: &mut Places,
    ) -> usize {
        if W == 1 || BLOCK == 1 {
            return 0;
        }
        let mut done = 0;
        for (block, out) in x.bytes().chunks_exact(BLOCK * W).zip(out.chunks_exact_mut(BLOCK)) {
            if plain::any::<W>(block, |bits| rule.passes_of::<W>(bits)) {
                break;
            }
            out.fill(MaybeUninit::new(rule.opposite));
            done += block.len();
        }
        done
    }
}

impl<I: Isa> On<I> for MaskClean {
    #[inline(always)]
    fn vector<const W: usize>(isa: I, x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
        if W == 1 || !I::GROUPS {
            // A comparison is as fast.
            return 0;
        }
        let screen = isa.screen::<W>(rule.screen());
        let answer = isa.splat::<1>(rule.opposite.into());
        match x.bytes().as_chunks::<64>().0.first_chunk::<2>() {
            Some(first) if !isa.may_hit::<W, false>(first, screen) => {}
            _ => return 0,
        }
        let rest = x.bytes().get(until_line(x.bytes(), W)..).unwrap_or_default();
        clean_groups::<I, W>(isa, rest, screen, answer, out)
    }
}

#[inline(always)]
fn clean_groups<I: Isa, const W: usize>(
    isa: I,
    x: &[u8],
    screen: [I::V; 3],
    answer: I::V,
    mut out: &mut Places,
) -> usize {
    let mut done = 0;
    for group in x.as_chunks::<GROUP>().0 {
        if isa.may_hit::<W, false>(group.as_chunks().0, screen) {
            break;
        }
        let Some((places, behind)) = out.split_at_mut_checked(GROUP / W) else { break };
        for places in places.as_chunks_mut().0 {
            isa.fill(answer, places);
        }
        (done, out) = (done + GROUP, behind);
    }
    done
}
