//! One driver per sink, the same for every instruction set. Each takes at least one block; the remainder is one
//! more block that overlaps the last, so nothing outside the slices is touched.

use core::mem::MaybeUninit;

use crate::isa::{Blocks, MaskBlock};
use crate::lane::{BLOCK, Block, Lane};
use crate::rule::{Ones, Op, Operation, Pair};

mod bits;
mod search;

pub(crate) use bits::bits;
pub use search::{Census, Class};
pub(crate) use search::{Group, census, position, tally};

/// One result per element into `out`, which is as long as `x`.
#[inline(always)]
pub(crate) fn mask<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    let with = isa.constants(pair);
    let (x, out) = head_of_mask::<L, I, O, NEGATE>(isa, x, with, out);
    if size_of::<L>() <= 2 {
        mask_by::<4, L, I, O, NEGATE>(isa, x, with, out);
    } else {
        mask_by::<2, L, I, O, NEGATE>(isa, x, with, out);
    }
    last_of_mask::<L, I, O, NEGATE>(isa, x, with, out);
}

/// What is behind the last whole block of a mask.
#[inline(always)]
fn last_of_mask<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    with: I::Constants,
    out: &mut [MaybeUninit<bool>],
) {
    if !x.len().is_multiple_of(BLOCK)
        && let (Some(last), Some(out)) = (x.last_chunk(), out.last_chunk_mut())
    {
        isa.store::<O, NEGATE>(last, with, out);
    }
}

/// What is left of a mask and its input from the first cache line of input on; what is before is written.
#[inline(always)]
fn head_of_mask<'x, 'o, L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &'x [L::Raw],
    with: I::Constants,
    out: &'o mut [MaybeUninit<bool>],
) -> (&'x [L::Raw], &'o mut [MaybeUninit<bool>]) {
    let head = until_aligned::<L>(x);
    if head == 0 {
        return (x, out);
    }
    if let (Some(first), Some(out)) = (x.first_chunk(), out.first_chunk_mut()) {
        isa.store::<O, NEGATE>(first, with, out);
    }
    (&x[head..], &mut out[head..])
}

/// The whole blocks of a mask, `BLOCKS` in each round.
#[inline(always)]
fn mask_by<const BLOCKS: usize, L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    with: I::Constants,
    out: &mut [MaybeUninit<bool>],
) {
    let (groups, rest) = x.as_chunks::<BLOCK>().0.as_chunks::<BLOCKS>();
    let (out_groups, out_rest) = out.as_chunks_mut::<BLOCK>().0.as_chunks_mut::<BLOCKS>();
    for (group, out) in groups.iter().zip(out_groups) {
        store_all::<BLOCKS, L, I, O, NEGATE>(isa, group, with, out);
    }
    for (block, out) in rest.iter().zip(out_rest) {
        isa.store::<O, NEGATE>(block, with, out);
    }
}

/// The mask of a group of blocks.
#[inline(always)]
fn store_all<const BLOCKS: usize, L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    group: &[Block<L>; BLOCKS],
    with: I::Constants,
    out: &mut [MaskBlock; BLOCKS],
) {
    for (block, out) in group.iter().zip(out) {
        isa.store::<O, NEGATE>(block, with, out);
    }
}

/// As [`mask`] for hits that are rare: looks for them first, which is cheaper, and compares only where there are some.
#[inline(always)]
pub(crate) fn screened_mask<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    screen: Pair<L>,
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    let (screen, with) = (isa.constants(screen), isa.constants(pair));
    let (x, out) = head_of_mask::<L, I, O, NEGATE>(isa, x, with, out);
    // Few, so that reading does not wait for long while results are written.
    let (groups, rest) = x.as_chunks::<BLOCK>().0.as_chunks::<2>();
    let (out_groups, out_rest) = out.as_chunks_mut::<BLOCK>().0.as_chunks_mut::<2>();
    let mut left = Left { x: groups, out: out_groups };
    loop {
        let mut clean = 0;
        for (group, out) in left.x.iter().zip(left.out.iter_mut()) {
            let mut seen = isa.unseen::<Ones, false>();
            for block in group {
                seen = isa.fold::<Ones, false>(seen, block, screen);
            }
            if isa.hit::<Ones, false>(seen, screen) {
                break;
            }
            out.as_flattened_mut().fill(MaybeUninit::new(NEGATE));
            clean += 1;
        }
        left.take(clean);
        if left.x.is_empty() {
            break;
        }
        if unites::<O>() {
            // A tensor of nothing but NaN: as long as it goes on.
            let mut full = 0;
            for (group, out) in left.x.iter().zip(left.out.iter_mut()) {
                if !isa.all_hit::<O>(group, with) {
                    break;
                }
                out.as_flattened_mut().fill(MaybeUninit::new(!NEGATE));
                full += 1;
            }
            left.take(full);
        }
        // Where one is, more may be: a branch that cannot be foretold costs more than comparing.
        let (groups, out) = left.take(if clean == 0 { AFTER_HITS } else { AFTER_HIT });
        for (group, out) in groups.iter().zip(out) {
            store_all::<2, L, I, O, NEGATE>(isa, group, with, out);
        }
    }
    for (block, out) in rest.iter().zip(out_rest) {
        isa.store::<O, NEGATE>(block, with, out);
    }
    last_of_mask::<L, I, O, NEGATE>(isa, x, with, out);
}

/// Whether [`Blocks::all_hit`] can be asked, if the test has a screen or is `Ones`: equality with one number tells nothing about
/// what has more bits than that.
#[inline(always)]
const fn unites<O: Op>() -> bool {
    matches!(O::OP, Operation::Ones | Operation::Greater)
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

/// Overwrites the low `count` (0..128) bits of the little-endian bytes in `out`, as many as there are.
#[inline(always)]
pub(crate) fn merge(out: &mut [u8], bits: u128, count: u32) {
    let keep = (u128::MAX << count).to_le_bytes();
    for ((byte, new), keep) in out.iter_mut().zip(bits.to_le_bytes()).zip(keep) {
        *byte = *byte & keep | new & !keep;
    }
}

/// How many elements stand before the first cache line, if that many are worth an extra block: loads and stores that cross
/// lines take twice the time.
#[inline(always)]
fn until_aligned<L: Lane>(x: &[L::Raw]) -> usize {
    if size_of_val(x) < ALIGN_FROM {
        return 0;
    }
    let head = x.as_ptr().align_offset(BLOCK);
    if head < BLOCK { head } else { 0 }
}

/// Bytes of an input from which on it is read from a cache line on.
const ALIGN_FROM: usize = 4096;

/// Hides that this was read before: the compiler would keep it in more registers than there are, and spill.
#[inline(always)]
fn again<T: ?Sized>(value: &T) -> &T {
    core::hint::black_box(value)
}
