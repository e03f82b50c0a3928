//! One driver per sink, the same for every instruction set. Each takes at least one block; the remainder is one
//! more block that overlaps the last, so nothing outside the slices is touched.

use core::mem::MaybeUninit;

use crate::isa::{Blocks, MaskBlock};
use crate::lane::{BLOCK, Block, Lane};
use crate::rule::{Ones, Op, Operation, Pair};

mod bits;
mod screened;
mod search;

use screened::{Results, screened};

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
        Bytes.compare::<O, NEGATE>(isa, group, with, out);
    }
    Bytes.compare::<O, NEGATE>(isa, rest, with, out_rest);
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
    let (blocks, places) = (x.as_chunks().0, out.as_chunks_mut().0);
    // Few, so that reading does not wait for long while results are written.
    screened::<2, L, I, Ones, O, _, NEGATE>(isa, blocks, screen, with, places, &mut Bytes);
    last_of_mask::<L, I, O, NEGATE>(isa, x, with, out);
}

/// The blocks of a mask.
struct Bytes;

impl<L: Lane, I: Blocks<L>> Results<L, I> for Bytes {
    type Place = MaskBlock;

    #[inline(always)]
    fn compare<O: Op, const NEGATE: bool>(
        &mut self,
        isa: I,
        blocks: &[Block<L>],
        with: I::Constants,
        out: &mut [MaskBlock],
    ) {
        for (block, out) in blocks.iter().zip(out) {
            isa.store::<O, NEGATE>(block, with, out);
        }
    }

    #[inline(always)]
    fn fill<const BLOCKS: usize>(&mut self, answer: bool, out: &mut [MaskBlock; BLOCKS]) {
        out.as_flattened_mut().fill(MaybeUninit::new(answer));
    }
}

/// Whether [`Blocks::all_hit`] can be asked, if the test has a screen or is `Ones`: equality with one number tells nothing about
/// what has more bits than that.
#[inline(always)]
const fn unites<O: Op>() -> bool {
    matches!(O::OP, Operation::Ones | Operation::Greater)
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
