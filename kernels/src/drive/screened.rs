//! Blocks whose hits are rare: looked for in groups, and compared only where there are some.

use super::unites;
use crate::isa::Blocks;
use crate::lane::{Block, Lane};
use crate::rule::{Op, Operation};

/// The results of whole blocks, as one sink writes them, in order.
pub(super) trait Results<L: Lane, I: Blocks<L>> {
    /// Where the results of one block go.
    type Place;

    /// Compares blocks one by one.
    fn compare<O: Op, const NEGATE: bool>(
        &mut self,
        isa: I,
        blocks: &[Block<L>],
        with: I::Constants,
        out: &mut [Self::Place],
    );

    /// The results of a group of blocks that all have the same answer.
    fn fill<const BLOCKS: usize>(&mut self, answer: bool, out: &mut [Self::Place; BLOCKS]);
}

/// The results of whole blocks, of which `BLOCKS` are screened at a time: `S` hits wherever `O` does.
#[inline(always)]
pub(super) fn screened<
    const BLOCKS: usize,
    L: Lane,
    I: Blocks<L>,
    S: Op,
    O: Op,
    R: Results<L, I>,
    const NEGATE: bool,
>(
    isa: I,
    blocks: &[Block<L>],
    screen: I::Constants,
    with: I::Constants,
    out: &mut [R::Place],
    results: &mut R,
) {
    let (groups, rest) = blocks.as_chunks::<BLOCKS>();
    let (out_groups, out_rest) = out.as_chunks_mut::<BLOCKS>();
    let mut left = Left { x: groups, out: out_groups };
    loop {
        let mut clean = 0;
        for (group, out) in left.x.iter().zip(left.out.iter_mut()) {
            let mut seen = isa.unseen::<S, false>();
            for block in group {
                seen = isa.fold::<S, false>(seen, block, screen);
            }
            if isa.hit::<S, false>(seen, screen) {
                break;
            }
            results.fill(NEGATE, out);
            clean += 1;
        }
        left.take(clean);
        if left.x.is_empty() {
            break;
        }
        if S::OP == Operation::Ones && unites::<O>() {
            // A tensor of nothing but NaN: as long as it goes on.
            let mut full = 0;
            for (group, out) in left.x.iter().zip(left.out.iter_mut()) {
                if !isa.all_hit::<O>(group, with) {
                    break;
                }
                results.fill(!NEGATE, out);
                full += 1;
            }
            left.take(full);
        }
        // Where one is, more may be: a branch that cannot be foretold costs more than comparing.
        let (groups, out) = left.take(if clean == 0 { AFTER_HITS } else { AFTER_HIT });
        for (group, out) in groups.iter().zip(out) {
            results.compare::<O, NEGATE>(isa, group, with, out);
        }
    }
    results.compare::<O, NEGATE>(isa, rest, with, out_rest);
}

/// Groups of blocks, the one with a hit among them, that are compared before one is screened again.
const AFTER_HIT: usize = 8;

/// The same, when the group that is screened right after those has a hit too.
const AFTER_HITS: usize = 64;

/// What is left of an input and of its output, in groups.
struct Left<'x, 'o, X, O> {
    x: &'x [X],
    out: &'o mut [O],
}

impl<'x, 'o, X, O> Left<'x, 'o, X, O> {
    /// The first `count`, if there are as many, which are left no longer.
    #[inline(always)]
    fn take(&mut self, count: usize) -> (&'x [X], &'o mut [O]) {
        let count = count.min(self.x.len());
        let (x, x_left) = self.x.split_at_checked(count).unwrap_or_default();
        let (out, out_left) = core::mem::take(&mut self.out).split_at_mut_checked(count).unwrap_or_default();
        (self.x, self.out) = (x_left, out_left);
        (x, out)
    }
}
