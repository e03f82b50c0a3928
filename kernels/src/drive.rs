//! One driver per sink, the same for every instruction set. Each takes at least one block; the remainder is one
//! more block that overlaps the last, so nothing outside the slices is touched.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::isa::Blocks;
use crate::lane::{BLOCK, Block, Lane};
use crate::rule::{Equal, Greater, Ones, Op, Pair};

/// One result per element into `out`, which is as long as `x`.
#[inline(always)]
pub(crate) fn mask<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    let with = isa.constants(pair);
    if size_of::<L>() <= 2 {
        mask_by::<4, L, I, O, NEGATE>(isa, x, with, out);
    } else {
        mask_by::<2, L, I, O, NEGATE>(isa, x, with, out);
    }
    if let (Some(last), Some(out)) = (x.last_chunk(), out.last_chunk_mut()) {
        isa.store::<O, NEGATE>(last, with, out);
    }
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
        for (block, out) in group.iter().zip(out) {
            isa.store::<O, NEGATE>(block, with, out);
        }
    }
    for (block, out) in rest.iter().zip(out_rest) {
        isa.store::<O, NEGATE>(block, with, out);
    }
}

/// As [`mask`] for hits that are rare: looks for them first, which is cheaper, and compares only where there are some.
#[inline(always)]
pub(crate) fn screened_mask<L: Lane, I: Blocks<L>, O: Op>(
    isa: I,
    x: &[L::Raw],
    screen: Pair<L>,
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    // Few, so that reading does not wait for long while results are written.
    if size_of::<L>() <= 2 {
        screened_mask_by::<4, L, I, O>(isa, x, screen, pair, out);
    } else {
        screened_mask_by::<2, L, I, O>(isa, x, screen, pair, out);
    }
}

/// Screens `BLOCKS` at a time.
#[inline(always)]
fn screened_mask_by<const BLOCKS: usize, L: Lane, I: Blocks<L>, O: Op>(
    isa: I,
    x: &[L::Raw],
    screen: Pair<L>,
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    let (screen, with) = (isa.constants(screen), isa.constants(pair));
    let (groups, rest) = x.as_chunks::<BLOCK>().0.as_chunks::<BLOCKS>();
    let (out_groups, out_rest) = out.as_chunks_mut::<BLOCK>().0.as_chunks_mut::<BLOCKS>();
    let mut exact = 0;
    for ((group, same), out) in groups.iter().zip(again(groups)).zip(out_groups) {
        if exact == 0 {
            let mut seen = isa.unseen::<Ones, false>();
            for block in group {
                seen = isa.fold::<Ones, false>(seen, block, screen);
            }
            if !isa.hit::<Ones, false>(seen, screen) {
                out.as_flattened_mut().fill(MaybeUninit::new(false));
                continue;
            }
            // Where one is, more may be: a branch that cannot be foretold costs more than comparing.
            exact = AFTER_HIT;
        }
        exact -= 1;
        for (block, out) in same.iter().zip(out) {
            isa.store::<O, false>(block, with, out);
        }
    }
    for (block, out) in rest.iter().zip(out_rest) {
        isa.store::<O, false>(block, with, out);
    }
    if let (Some(last), Some(out)) = (x.last_chunk(), out.last_chunk_mut()) {
        isa.store::<O, false>(last, with, out);
    }
}

/// Groups of blocks, the one with a hit among them, that are compared before one is screened again.
const AFTER_HIT: usize = 8;

/// One bit per element, least significant first, from bit `offset` (0..8) of `out` on, which ends with the byte of
/// the last result. Bits before and behind stay.
#[inline(always)]
pub(crate) fn bits<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    pair: Pair<L>,
    out: &mut [u8],
    offset: u32,
) {
    let with = isa.constants(pair);
    let (blocks, rest) = x.as_chunks::<BLOCK>();
    let Some(last) = x.last_chunk::<BLOCK>() else { return };
    let Some((words, end)) = out.split_at_mut_checked(blocks.len() * 8) else { return };
    let words = words.as_chunks_mut::<8>().0;
    // The bits that go below the next 64.
    let mut carry = 0;
    if offset == 0 {
        for (block, word) in blocks.iter().zip(words) {
            *word = isa.bits::<O, NEGATE>(block, with).to_le_bytes();
        }
    } else {
        carry = words.first().map_or(0, |word| u64::from_le_bytes(*word)) & !(u64::MAX << offset);
        for (block, word) in blocks.iter().zip(words) {
            let bits = isa.bits::<O, NEGATE>(block, with);
            *word = (carry | bits << offset).to_le_bytes();
            carry = bits >> (BLOCK as u32 - offset);
        }
    }
    let fresh = rest.len() as u32;
    let bits = match fresh {
        0 => 0,
        _ => isa.bits::<O, NEGATE>(last, with) >> (BLOCK as u32 - fresh),
    };
    merge(end, u128::from(carry) | u128::from(bits) << offset, offset + fresh);
}

/// Overwrites the low `count` (0..128) bits of the little-endian bytes in `out`, as many as there are.
#[inline(always)]
pub(crate) fn merge(out: &mut [u8], bits: u128, count: u32) {
    let keep = (u128::MAX << count).to_le_bytes();
    for ((byte, new), keep) in out.iter_mut().zip(bits.to_le_bytes()).zip(keep) {
        *byte = *byte & keep | new & !keep;
    }
}

/// The index of the first hit.
#[inline(always)]
pub(crate) fn position<L: Lane, I: Blocks<L>, S: Op, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    screen: Pair<L>,
    pair: Pair<L>,
) -> Option<usize> {
    let mut find = Find { exact: Exact::<L, I, O, NEGATE>::new(isa, pair), first: None };
    search::<L, I, S, NEGATE>(isa, x, screen, &mut find);
    find.first
}

/// How many hits there are, and the first.
#[inline(always)]
pub(crate) fn tally<L: Lane, I: Blocks<L>, S: Op, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    screen: Pair<L>,
    pair: Pair<L>,
) -> Class {
    let mut count = Count { exact: Exact::<L, I, O, NEGATE>::new(isa, pair), class: Class::default() };
    search::<L, I, S, NEGATE>(isa, x, screen, &mut count);
    count.class
}

/// NaN, +Inf and -Inf of an IEEE format in one pass. `special` holds where the exponent is all ones.
#[inline(always)]
pub(crate) fn census<L: Lane, I: Blocks<L>>(
    isa: I,
    x: &[L::Raw],
    special: Pair<L>,
    nan: Pair<L>,
    pos_inf: Pair<L>,
) -> Census {
    let mut take = Take {
        special: Exact::new(isa, special),
        nan: Exact::new(isa, nan),
        pos_inf: Exact::new(isa, pos_inf),
        census: Census::default(),
    };
    search::<L, I, Ones, false>(isa, x, special, &mut take);
    take.census
}

/// The elements of one class: how many, and the index of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Class {
    /// How many elements belong to the class.
    pub count: usize,
    /// The index of the first of them.
    pub first: Option<usize>,
}

impl Class {
    #[inline(always)]
    fn add(&mut self, index: usize, bits: u64) {
        if bits != 0 {
            self.first.get_or_insert(index + bits.trailing_zeros() as usize);
            self.count += bits.count_ones() as usize;
        }
    }
}

/// What a tensor holds besides finite elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Census {
    /// NaN, quiet or signalling, of either sign.
    pub nan: Class,
    /// Positive infinity.
    pub pos_inf: Class,
    /// Negative infinity.
    pub neg_inf: Class,
}

/// What a search does with blocks that may hold a hit.
trait Visitor<L: Lane> {
    /// The first `skip` elements of the first block were visited before; `index` is that of the next. True stops the search.
    fn visit(&mut self, index: usize, skip: u32, blocks: &[Block<L>]) -> bool;
}

/// Visits every block that may hold a hit of the screening test, in order.
#[inline(always)]
fn search<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    screen: Pair<L>,
    visitor: &mut impl Visitor<L>,
) {
    let with = isa.constants(screen);
    let (blocks, rest) = x.as_chunks::<BLOCK>();
    let groups = blocks.chunks_exact(const { GROUP / size_of::<Block<L>>() });
    let single = groups.remainder();
    let mut index = 0;
    for group in groups {
        let mut seen = isa.unseen::<O, NEGATE>();
        for block in group {
            seen = isa.fold::<O, NEGATE>(seen, block, with);
        }
        if isa.hit::<O, NEGATE>(seen, with) && visitor.visit(index, 0, group) {
            return;
        }
        index += group.len() * BLOCK;
    }
    if visitor.visit(index, 0, single) {
        return;
    }
    if let (false, Some(last)) = (rest.is_empty(), x.last_chunk()) {
        let skip = BLOCK - rest.len();
        visitor.visit(x.len() - rest.len(), skip as u32, core::slice::from_ref(last));
    }
}

/// Bytes that are folded before a look at what was seen.
pub(crate) const GROUP: usize = 1024;

/// The comparison that decides, behind the one that screens.
struct Exact<L, I, O, const NEGATE: bool> {
    isa: I,
    pair: Pair<L>,
    op: PhantomData<O>,
}

impl<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool> Exact<L, I, O, NEGATE> {
    #[inline(always)]
    fn new(isa: I, pair: Pair<L>) -> Self {
        Self { isa, pair, op: PhantomData }
    }

    /// Made when a search has found something, lest it hold registers before.
    #[inline(always)]
    fn constants(&self) -> I::Constants {
        self.isa.constants(*again(&self.pair))
    }

    #[inline(always)]
    fn bits(&self, block: &Block<L>, with: I::Constants) -> u64 {
        self.isa.bits::<O, NEGATE>(block, with)
    }
}

/// Hides that this was read before: the compiler would keep it in more registers than there are, and spill.
#[inline(always)]
fn again<T: ?Sized>(value: &T) -> &T {
    core::hint::black_box(value)
}

struct Find<L, I, O, const NEGATE: bool> {
    exact: Exact<L, I, O, NEGATE>,
    first: Option<usize>,
}

impl<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool> Visitor<L> for Find<L, I, O, NEGATE> {
    #[inline(always)]
    fn visit(&mut self, mut index: usize, skip: u32, blocks: &[Block<L>]) -> bool {
        let with = self.exact.constants();
        for block in again(blocks) {
            let bits = self.exact.bits(block, with) >> skip;
            if bits != 0 {
                self.first = Some(index + bits.trailing_zeros() as usize);
                return true;
            }
            index += BLOCK;
        }
        false
    }
}

struct Count<L, I, O, const NEGATE: bool> {
    exact: Exact<L, I, O, NEGATE>,
    class: Class,
}

impl<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool> Visitor<L> for Count<L, I, O, NEGATE> {
    #[inline(always)]
    fn visit(&mut self, mut index: usize, skip: u32, blocks: &[Block<L>]) -> bool {
        let with = self.exact.constants();
        for block in again(blocks) {
            self.class.add(index, self.exact.bits(block, with) >> skip);
            index += BLOCK;
        }
        false
    }
}

struct Take<L, I> {
    special: Exact<L, I, Ones, false>,
    nan: Exact<L, I, Greater, false>,
    pos_inf: Exact<L, I, Equal, false>,
    census: Census,
}

impl<L: Lane, I: Blocks<L>> Visitor<L> for Take<L, I> {
    #[inline(always)]
    fn visit(&mut self, mut index: usize, skip: u32, blocks: &[Block<L>]) -> bool {
        let with_special = self.special.constants();
        for block in again(blocks) {
            let special = self.special.bits(block, with_special) >> skip;
            if special != 0 {
                let block = again(block);
                let nan = self.nan.bits(block, self.nan.constants()) >> skip;
                let pos_inf = self.pos_inf.bits(block, self.pos_inf.constants()) >> skip;
                self.census.nan.add(index, nan);
                self.census.pos_inf.add(index, pos_inf);
                self.census.neg_inf.add(index, special & !nan & !pos_inf);
            }
            index += BLOCK;
        }
        false
    }
}
