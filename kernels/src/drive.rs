//! One driver per sink, the same for every instruction set. Each takes at least one block; the remainder is one
//! more block that overlaps the last, so nothing outside the slices is touched.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use crate::isa::{Blocks, RUN};
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
    if !x.len().is_multiple_of(BLOCK) {
        if let (Some(last), Some(out)) = (x.last_chunk(), out.last_chunk_mut()) {
            isa.store::<O, NEGATE>(last, with, out);
        }
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
    if let (1.., Some(first), Some(out)) = (head, x.first_chunk(), out.first_chunk_mut()) {
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
    let (x, out) = head_of_mask::<L, I, O, false>(isa, x, with, out);
    let (groups, rest) = x.as_chunks::<BLOCK>().0.as_chunks::<BLOCKS>();
    let (out_groups, out_rest) = out.as_chunks_mut::<BLOCK>().0.as_chunks_mut::<BLOCKS>();
    let (mut exact, mut next_exact) = (0, AFTER_HIT);
    for ((group, same), out) in groups.iter().zip(again(groups)).zip(out_groups) {
        if exact == 0 {
            let mut seen = isa.unseen::<Ones, false>();
            for block in group {
                seen = isa.fold::<Ones, false>(seen, block, screen);
            }
            if !isa.hit::<Ones, false>(seen, screen) {
                out.as_flattened_mut().fill(MaybeUninit::new(false));
                next_exact = AFTER_HIT;
                continue;
            }
            // Where one is, more may be: a branch that cannot be foretold costs more than comparing.
            exact = next_exact;
            next_exact = AFTER_HITS;
        }
        exact -= 1;
        for (block, out) in same.iter().zip(out) {
            isa.store::<O, false>(block, with, out);
        }
    }
    for (block, out) in rest.iter().zip(out_rest) {
        isa.store::<O, false>(block, with, out);
    }
    last_of_mask::<L, I, O, false>(isa, x, with, out);
}

/// Groups of blocks, the one with a hit among them, that are compared before one is screened again.
const AFTER_HIT: usize = 8;

/// The same, when the group that was screened last had a hit too.
const AFTER_HITS: usize = 64;

/// One bit per element, least significant first, from bit `offset` (0..8) of `out` on, which ends with the byte of
/// the last result. Bits before and behind stay. With a screen, hits of the positive test are looked for first.
#[inline(always)]
pub(crate) fn bits<L: Lane, I: Blocks<L>, S: Op, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    screen: Option<Pair<L>>,
    pair: Pair<L>,
    (out, offset): (&mut [u8], u32),
) {
    let with = isa.constants(pair);
    let (blocks, rest) = x.as_chunks::<BLOCK>();
    let Some((words, end)) = out.split_at_mut_checked(blocks.len() * 8) else { return };
    let words = words.as_chunks_mut::<8>().0;
    // The bits that go below the next 64.
    let first = words.first().map_or(0, |word| u64::from_le_bytes(*word));
    let carry = Carry { bits: first & !(u64::MAX << offset), offset };
    let carry = match (screen, offset) {
        (Some(screen), 0) => {
            words_of::<L, I, S, O, NEGATE, true, false>(isa, blocks, screen, pair, words, carry)
        }
        (Some(screen), _) => {
            words_of::<L, I, S, O, NEGATE, true, true>(isa, blocks, screen, pair, words, carry)
        }
        (None, 0) => words_of::<L, I, S, O, NEGATE, false, false>(isa, blocks, pair, pair, words, carry),
        (None, _) => words_of::<L, I, S, O, NEGATE, false, true>(isa, blocks, pair, pair, words, carry),
    };
    let (fresh, mut bits) = (rest.len() as u32, 0);
    if let (1.., Some(last)) = (fresh, x.last_chunk()) {
        bits = isa.bits::<O, NEGATE>(last, with) >> (BLOCK as u32 - fresh);
    }
    merge(end, u128::from(carry.bits) | u128::from(bits) << offset, offset + fresh);
}

/// Bits below bit `offset` of the next word.
#[derive(Clone, Copy)]
struct Carry {
    bits: u64,
    offset: u32,
}

impl Carry {
    #[inline(always)]
    fn put<const SHIFTED: bool>(&mut self, bits: u64, word: &mut [u8; 8]) {
        if SHIFTED {
            *word = (self.bits | bits << self.offset).to_le_bytes();
            self.bits = bits >> (BLOCK as u32 - self.offset);
        } else {
            *word = bits.to_le_bytes();
        }
    }
}

/// The words of whole blocks.
#[inline(always)]
fn words_of<
    L: Lane,
    I: Blocks<L>,
    S: Op,
    O: Op,
    const NEGATE: bool,
    const SCREENED: bool,
    const SHIFTED: bool,
>(
    isa: I,
    blocks: &[Block<L>],
    screen: Pair<L>,
    pair: Pair<L>,
    words: &mut [[u8; 8]],
    mut carry: Carry,
) -> Carry {
    let (screen, with) = (isa.constants(screen), isa.constants(pair));
    if !SCREENED {
        for (block, word) in blocks.iter().zip(words) {
            carry.put::<SHIFTED>(isa.bits::<O, NEGATE>(block, with), word);
        }
        return carry;
    }
    let (groups, rest) = blocks.as_chunks::<SCREENED_BLOCKS>();
    let (word_groups, word_rest) = words.as_chunks_mut::<SCREENED_BLOCKS>();
    let (mut exact, mut next_exact) = (0, AFTER_HIT);
    for ((group, same), words) in groups.iter().zip(again(groups)).zip(word_groups) {
        if exact == 0 {
            let mut seen = isa.unseen::<S, false>();
            for block in group {
                seen = isa.fold::<S, false>(seen, block, screen);
            }
            if !isa.hit::<S, false>(seen, screen) {
                for word in words {
                    carry.put::<SHIFTED>(if NEGATE { u64::MAX } else { 0 }, word);
                }
                next_exact = AFTER_HIT;
                continue;
            }
            exact = next_exact;
            next_exact = AFTER_HITS;
        }
        exact -= 1;
        for (block, word) in same.iter().zip(words) {
            carry.put::<SHIFTED>(isa.bits::<O, NEGATE>(block, with), word);
        }
    }
    for (block, word) in rest.iter().zip(word_rest) {
        carry.put::<SHIFTED>(isa.bits::<O, NEGATE>(block, with), word);
    }
    carry
}

/// Blocks of packed bits that are screened together.
const SCREENED_BLOCKS: usize = 4;

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
pub(crate) fn tally<L: Lane, I: Blocks<L>, S: Op, O: Op>(
    isa: I,
    x: &[L::Raw],
    screen: Pair<L>,
    pair: Pair<L>,
) -> Class {
    let mut count = Count { exact: Exact::<L, I, O, false>::new(isa, pair), class: Class::default() };
    search::<L, I, S, false>(isa, x, screen, &mut count);
    count.class
}

/// NaN, +Inf and -Inf of an IEEE format in one pass. `special` holds where the exponent is all ones.
#[inline(always)]
pub(crate) fn census<L: Lane, I: Blocks<L>>(
    isa: I,
    x: &[L::Raw],
    [special, nan, pos_inf, neg_inf]: [Pair<L>; 4],
) -> Census {
    let mut take = Take {
        special: Exact::new(isa, special),
        nan: Exact::new(isa, nan),
        pos_inf: Exact::new(isa, pos_inf),
        neg_inf: Exact::new(isa, neg_inf),
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
    /// Adds elements that follow those known so far, `bits` from `index` on.
    #[inline(always)]
    fn add(&mut self, index: usize, bits: u64) {
        if bits != 0 {
            self.first.get_or_insert(index + bits.trailing_zeros() as usize);
            self.count += bits.count_ones() as usize;
        }
    }

    /// Adds the `count` hits among the blocks from `index` on, which follow those known so far.
    #[inline(always)]
    fn add_counted<L: Lane, I: Blocks<L>, O: Op>(
        &mut self,
        count: usize,
        hits: &Exact<L, I, O, false>,
        index: usize,
        blocks: &[Block<L>],
    ) {
        if count != 0 && self.first.is_none() {
            self.first = hits.first(index, blocks);
        }
        self.count += count;
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

/// What comes after a visit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Screening.
    Screen,
    /// A visit to what follows, without screening: hits are dense here.
    Visit,
    /// Nothing: the search is over.
    Stop,
}

/// What a search does with blocks that may hold a hit.
trait Visitor<L: Lane> {
    /// Visits what a screen has found something in. `index` is that of the first element.
    fn visit(&mut self, index: usize, blocks: &[Block<L>]) -> Next;

    /// Visits [`RUN`] bytes or less that were not screened.
    fn visit_run(&mut self, index: usize, blocks: &[Block<L>]) -> Next;

    /// Visits the elements of a block whose bits are set in `keep`. `index` is that of the first element of the block.
    fn visit_part(&mut self, index: usize, keep: u64, block: &Block<L>) -> Next;
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
    let head = until_aligned::<L>(x);
    if let (1.., Some(first)) = (head, x.first_chunk()) {
        if visitor.visit_part(0, !(u64::MAX << head), first) == Next::Stop {
            return;
        }
    }
    let (blocks, rest) = x[head..].as_chunks::<BLOCK>();
    let mut left = blocks;
    while let Some((group, after)) = left.split_at_checked(const { GROUP / size_of::<Block<L>>() }) {
        let mut seen = isa.unseen::<O, NEGATE>();
        for block in group {
            seen = isa.fold::<O, NEGATE>(seen, block, with);
        }
        if !isa.hit::<O, NEGATE>(seen, with) {
            left = after;
            continue;
        }
        let end = x.len() - rest.len();
        let mut next = visitor.visit(end - left.len() * BLOCK, group);
        left = after;
        while next == Next::Visit && !left.is_empty() {
            let (run, after) = left.split_at(left.len().min(const { RUN / size_of::<Block<L>>() }));
            next = visitor.visit_run(end - left.len() * BLOCK, run);
            left = after;
        }
        if next == Next::Stop {
            return;
        }
    }
    if !left.is_empty() && visitor.visit(x.len() - rest.len() - left.len() * BLOCK, left) == Next::Stop {
        return;
    }
    if let (false, Some(last)) = (rest.is_empty(), x.last_chunk()) {
        visitor.visit_part(x.len() - BLOCK, u64::MAX << (BLOCK - rest.len()), last);
    }
}

/// Bytes that are folded before a look at what was seen.
const GROUP: usize = 1024;

/// How many elements stand before the first cache line, if that many are worth an extra block: loads and stores that cross
/// lines take twice the time.
#[inline(always)]
fn until_aligned<L: Lane>(x: &[L::Raw]) -> usize {
    let head = x.as_ptr().align_offset(BLOCK);
    if head < BLOCK && size_of_val(x) >= ALIGN_FROM { head } else { 0 }
}

/// Bytes of an input from which on it is read from a cache line on.
const ALIGN_FROM: usize = 4096;

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

    /// The hits among the elements of a block whose bits are set in `keep`.
    #[inline(always)]
    fn part(&self, keep: u64, block: &Block<L>) -> u64 {
        self.bits(again(block), self.constants()) & keep
    }

    /// The first hit.
    #[inline(always)]
    fn first(&self, mut index: usize, blocks: &[Block<L>]) -> Option<usize> {
        let with = self.constants();
        for block in again(blocks) {
            let bits = self.bits(block, with);
            if bits != 0 {
                return Some(index + bits.trailing_zeros() as usize);
            }
            index += BLOCK;
        }
        None
    }
}

impl<L: Lane, I: Blocks<L>, O: Op> Exact<L, I, O, false> {
    /// How many hits [`RUN`] bytes or less hold.
    #[inline(always)]
    fn count(&self, blocks: &[Block<L>]) -> usize {
        let with = self.constants();
        let mut counts = self.isa.uncounted();
        for block in again(blocks) {
            counts = self.isa.count::<O>(counts, block, with);
        }
        self.isa.total(counts)
    }
}

/// Hides that this was read before: the compiler would keep it in more registers than there are, and spill.
#[inline(always)]
fn again<T: ?Sized>(value: &T) -> &T {
    core::hint::black_box(value)
}

/// Where one element in 32 is a hit, to screen what follows would be in vain.
#[inline(always)]
fn next_after(hits: usize, blocks: usize) -> Next {
    if hits > blocks * (BLOCK / 32) { Next::Visit } else { Next::Screen }
}

struct Find<L, I, O, const NEGATE: bool> {
    exact: Exact<L, I, O, NEGATE>,
    first: Option<usize>,
}

impl<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool> Visitor<L> for Find<L, I, O, NEGATE> {
    #[inline(always)]
    fn visit(&mut self, index: usize, blocks: &[Block<L>]) -> Next {
        self.first = self.exact.first(index, blocks);
        if self.first.is_some() { Next::Stop } else { Next::Screen }
    }

    #[inline(always)]
    fn visit_run(&mut self, index: usize, blocks: &[Block<L>]) -> Next {
        self.visit(index, blocks)
    }

    #[inline(always)]
    fn visit_part(&mut self, index: usize, keep: u64, block: &Block<L>) -> Next {
        let bits = self.exact.part(keep, block);
        if bits == 0 {
            return Next::Screen;
        }
        self.first = Some(index + bits.trailing_zeros() as usize);
        Next::Stop
    }
}

struct Count<L, I, O> {
    exact: Exact<L, I, O, false>,
    class: Class,
}

impl<L: Lane, I: Blocks<L>, O: Op> Visitor<L> for Count<L, I, O> {
    #[inline(always)]
    fn visit(&mut self, index: usize, blocks: &[Block<L>]) -> Next {
        self.visit_run(index, blocks)
    }

    #[inline(always)]
    fn visit_run(&mut self, index: usize, blocks: &[Block<L>]) -> Next {
        let count = self.exact.count(blocks);
        self.class.add_counted(count, &self.exact, index, blocks);
        next_after(count, blocks.len())
    }

    #[inline(always)]
    fn visit_part(&mut self, index: usize, keep: u64, block: &Block<L>) -> Next {
        self.class.add(index, self.exact.part(keep, block));
        Next::Screen
    }
}

struct Take<L, I> {
    special: Exact<L, I, Ones, false>,
    nan: Exact<L, I, Greater, false>,
    pos_inf: Exact<L, I, Equal, false>,
    neg_inf: Exact<L, I, Equal, false>,
    census: Census,
}

impl<L: Lane, I: Blocks<L>> Visitor<L> for Take<L, I> {
    /// Block by block: most have no hit.
    #[inline(always)]
    fn visit(&mut self, mut index: usize, blocks: &[Block<L>]) -> Next {
        let with_special = self.special.constants();
        let mut count = 0;
        for block in again(blocks) {
            let special = self.special.bits(block, with_special);
            if special != 0 {
                let nan = self.nan.part(special, block);
                let pos_inf = self.pos_inf.part(special, block);
                self.census.nan.add(index, nan);
                self.census.pos_inf.add(index, pos_inf);
                self.census.neg_inf.add(index, special & !nan & !pos_inf);
                count += special.count_ones() as usize;
            }
            index += BLOCK;
        }
        next_after(count, blocks.len())
    }

    #[inline(always)]
    fn visit_run(&mut self, index: usize, blocks: &[Block<L>]) -> Next {
        let (isa, with_special, with_nan) = (self.nan.isa, self.special.constants(), self.nan.constants());
        let (mut specials, mut nans) = (isa.uncounted(), isa.uncounted());
        for block in again(blocks) {
            specials = isa.count::<Ones>(specials, block, with_special);
            nans = isa.count::<Greater>(nans, block, with_nan);
        }
        let (special, nan) = (isa.total(specials), isa.total(nans));
        let pos_inf = if special == nan { 0 } else { self.pos_inf.count(blocks) };
        let neg_inf = special - nan - pos_inf;
        self.census.nan.add_counted(nan, &self.nan, index, blocks);
        self.census.pos_inf.add_counted(pos_inf, &self.pos_inf, index, blocks);
        self.census.neg_inf.add_counted(neg_inf, &self.neg_inf, index, blocks);
        next_after(special, blocks.len())
    }

    #[inline(always)]
    fn visit_part(&mut self, index: usize, keep: u64, block: &Block<L>) -> Next {
        self.census.nan.add(index, self.nan.part(keep, block));
        self.census.pos_inf.add(index, self.pos_inf.part(keep, block));
        self.census.neg_inf.add(index, self.neg_inf.part(keep, block));
        Next::Screen
    }
}
