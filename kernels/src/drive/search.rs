//! Searches: the first hit, how many there are, the census. A screen looks for groups of blocks that may hold a hit, a visitor
//! looks closer.

use core::marker::PhantomData;

use super::{again, unites, until_aligned};
use crate::isa::{Blocks, RUN};
use crate::lane::{BLOCK, Block, Lane};
use crate::rule::{Equal, Greater, Ones, Op, Operation, Pair};

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
    let exact = Exact::<L, I, O, false>::new(isa, pair);
    let mut count = Count {
        exact,
        monotone: S::OP == Operation::Ones && unites::<O>(),
        full: false,
        class: Class::default(),
    };
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
        full: false,
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
    #[inline(always)]
    fn visit_run(&mut self, index: usize, blocks: &[Block<L>]) -> Next {
        self.visit(index, blocks)
    }

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
    if let (1.., Some(first)) = (head, x.first_chunk())
        && visitor.visit_part(0, !(u64::MAX << head), first) == Next::Stop
    {
        return;
    }
    let (blocks, rest) = x[head..].as_chunks::<BLOCK>();
    let mut left = blocks;
    while let Some((group, after)) = left.split_at_checked(Group::<L>::AT_ONCE) {
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

/// The same in blocks.
pub(crate) struct Group<L>(PhantomData<L>);

impl<L: Lane> Group<L> {
    pub(crate) const AT_ONCE: usize = GROUP / size_of::<Block<L>>();
}

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

    /// See [`Blocks::all_hit`].
    #[inline(always)]
    fn all(&self, blocks: &[Block<L>]) -> bool {
        self.isa.all_hit::<O>(again(blocks), self.constants())
    }
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
    /// Whether [`Blocks::all_hit`] can be asked.
    monotone: bool,
    /// Whether all elements of the last visit were hits.
    full: bool,
    class: Class,
}

impl<L: Lane, I: Blocks<L>, O: Op> Visitor<L> for Count<L, I, O> {
    #[inline(always)]
    fn visit(&mut self, index: usize, blocks: &[Block<L>]) -> Next {
        let elements = blocks.as_flattened().len();
        if unites::<O>() && self.full && self.exact.all(blocks) {
            self.class.count += elements;
            return Next::Visit;
        }
        let count = self.exact.count(blocks);
        self.full = self.monotone && count == elements;
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
    /// Whether the last visit saw nothing but NaN.
    full: bool,
    census: Census,
}

impl<L: Lane, I: Blocks<L>> Visitor<L> for Take<L, I> {
    /// Block by block: most have no hit.
    #[inline(always)]
    fn visit(&mut self, mut index: usize, blocks: &[Block<L>]) -> Next {
        let with_special = self.special.constants();
        let nan_before = self.census.nan.count;
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
        self.full = self.census.nan.count - nan_before == blocks.as_flattened().len();
        next_after(count, blocks.len())
    }

    #[inline(always)]
    fn visit_run(&mut self, index: usize, blocks: &[Block<L>]) -> Next {
        let elements = blocks.as_flattened().len();
        if self.full && self.nan.all(blocks) {
            self.census.nan.count += elements;
            return Next::Visit;
        }
        let (isa, with_special, with_nan) = (self.nan.isa, self.special.constants(), self.nan.constants());
        let (mut specials, mut nans) = (isa.uncounted(), isa.uncounted());
        for block in again(blocks) {
            specials = isa.count::<Ones>(specials, block, with_special);
            nans = isa.count::<Greater>(nans, block, with_nan);
        }
        let (special, nan) = (isa.total(specials), isa.total(nans));
        self.full = nan == elements;
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
