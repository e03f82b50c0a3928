//! Replacing what is not finite, by the bits alone: no floating-point instruction touches the data.
//!
//! Groups of blocks are searched as the other sinks do it. Where nothing is found, nothing is written in place, and a
//! copy is all that is made into another slice; where something is found, whole blocks are selected anew.

use core::hint::black_box;

use crate::drive::Group;
use crate::isa::Blocks;
use crate::lane::{BLOCK, Block, Lane};
use crate::path::{Path, Sink, Tests, scalar};
use crate::rule::{Op, Operation, Pair, Rule, Test, holds};

/// The bits to be put in the place of elements that are not finite; the low bytes count, as many as an element has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Values {
    /// In the place of NaN.
    pub nan: u64,
    /// In the place of +Inf.
    pub pos_inf: u64,
    /// In the place of -Inf.
    pub neg_inf: u64,
}

/// Replaces every element of `x` that is not finite, and tells how many there were. `nan` is the rule for NaN; as in
/// [`crate::census`] it tells whether there are infinities and where. `path` is the active one if `None`. Bytes behind the
/// last whole element stay.
///
/// # Panics
/// If `nan` is none of: a constant; [`Rule::greater`] as [`crate::census`] has it; [`Rule::equal`] for elements of a byte; or,
/// for wider ones, [`Rule::equal`] with `mask == bound` among the top 15 bits below the sign.
#[inline(always)]
pub fn replace(path: Option<Path>, x: &mut [u8], nan: &Rule, values: Values) -> usize {
    match Codes::new(nan, values) {
        None => 0,
        Some((test, codes)) if x.len() / test.size() < BLOCK => scalar::<InPlace>(&[], &test, (x, &codes)),
        Some((test, codes)) => long_replace(path, x, &test, &codes),
    }
}

/// As [`replace`], with the results in `out`, whose elements become a copy of those of `x` but for what is replaced.
///
/// # Panics
/// If `out` is not as long as `x`, or as [`replace`] does; nothing is written then.
#[inline(always)]
#[track_caller]
pub fn replace_into(path: Option<Path>, x: &[u8], out: &mut [u8], nan: &Rule, values: Values) -> usize {
    let (elements, results) = (x.len() / nan.size(), out.len() / nan.size());
    assert!(x.len() == out.len(), "{elements} elements, but an output for {results}");
    match Codes::new(nan, values) {
        None => {
            out.copy_from_slice(x);
            0
        }
        Some((test, codes)) if elements < BLOCK => scalar::<Copying>(x, &test, (out, &codes)),
        Some((test, codes)) => long_replace_into(path, x, out, &test, &codes),
    }
}

#[inline(never)]
fn long_replace(path: Option<Path>, x: &mut [u8], test: &Test, codes: &Codes) -> usize {
    Path::run::<InPlace>(path, &[], test, (x, codes))
}

#[inline(never)]
fn long_replace_into(path: Option<Path>, x: &[u8], out: &mut [u8], test: &Test, codes: &Codes) -> usize {
    Path::run::<Copying>(path, x, test, (out, codes))
}

/// What takes whose place, besides NaN wherever the test holds.
#[derive(Clone, Copy)]
pub(crate) struct Codes {
    values: Values,
    pos_inf: u64,
    neg_inf: u64,
}

impl Codes {
    /// With the test for elements to be replaced; `None` if there are none.
    #[inline(always)]
    fn new(nan: &Rule, values: Values) -> Option<(Test, Self)> {
        let test = match *nan {
            Rule::Constant { answer: false, .. } => return None,
            Rule::Constant { answer: true, size } => match Rule::equal(size, 0, 0) {
                Rule::Test(always) => always,
                Rule::Constant { .. } => unreachable!(),
            },
            Rule::Test(test) => test,
        };
        let special = test.special();
        let known = match special.0.operation() {
            Operation::Ones => true,
            Operation::Equal => special.0.size() == 1,
            Operation::Greater | Operation::Least => false,
        };
        assert!(known && !special.0.negate(), "no rule for NaN: it compares otherwise");
        Some(match special {
            (test, Some([pos_inf, neg_inf])) => (test, Self { values, pos_inf, neg_inf }),
            // Without infinities every element to be replaced is NaN, whatever its code.
            (test, None) => {
                let all = Values { pos_inf: values.nan, neg_inf: values.nan, ..values };
                (test, Self { values: all, pos_inf: 0, neg_inf: 0 })
            }
        })
    }

    #[inline(always)]
    fn swap<L: Lane>(&self, special: Pair<L>) -> Swap<L> {
        Swap {
            special,
            nan: L::truncate(self.values.nan),
            infinities: [
                (L::truncate(self.pos_inf), L::truncate(self.values.pos_inf)),
                (L::truncate(self.neg_inf), L::truncate(self.values.neg_inf)),
            ],
        }
    }
}

/// The codes in the width of a lane.
#[derive(Clone, Copy)]
pub(crate) struct Swap<L> {
    /// Holds where something is to be replaced.
    pub(crate) special: Pair<L>,
    /// What is put there, unless it is infinite.
    pub(crate) nan: L,
    /// The codes of +Inf and -Inf, each with what is put in its place.
    pub(crate) infinities: [(L, L); 2],
}

impl<L: Lane> Swap<L> {
    /// What is put in the place of a lane for which the test holds.
    #[inline(always)]
    fn value(&self, lane: L) -> L {
        let [(pos_inf, for_pos), (neg_inf, for_neg)] = self.infinities;
        if lane == pos_inf {
            for_pos
        } else if lane == neg_inf {
            for_neg
        } else {
            self.nan
        }
    }

    /// The lane, or what takes its place, and whether it does.
    #[inline(always)]
    pub(crate) fn select(&self, operation: Operation, lane: L) -> (L, bool) {
        let special = holds(operation, self.special, lane);
        (if special { self.value(lane) } else { lane }, special)
    }
}

/// What an instruction set must offer beyond [`Blocks`].
pub(crate) trait Select<L: Lane>: Blocks<L> {
    /// A [`Swap`] as the selection wants it.
    type Swap: Copy;

    fn swap(self, swap: Swap<L>) -> Self::Swap;

    /// Replaces what the test holds for, and tells how many lanes that were.
    fn select<O: Op>(self, block: &mut Block<L>, with: Self::Swap) -> usize;

    /// Copies a block, and notes as [`Blocks::fold`] does whether it holds a hit.
    fn copy<O: Op>(
        self,
        seen: Self::Seen,
        block: &Block<L>,
        out: &mut Block<L>,
        with: Self::Constants,
    ) -> Self::Seen;
}

/// Replaces in a group that holds a hit.
#[inline(always)]
fn fix<L: Lane, I: Select<L>, O: Op>(
    isa: I,
    group: &mut [Block<L>],
    special: Pair<L>,
    codes: &Codes,
) -> usize {
    // Made only now, lest the search hold registers for it.
    let (special, codes) = black_box((&special, codes));
    let (with, swap) = (isa.constants(*special), isa.swap(codes.swap(*special)));
    let mut found = 0;
    for block in black_box(group) {
        if isa.hit::<O, false>(isa.fold::<O, false>(isa.unseen::<O, false>(), block, with), with) {
            found += isa.select::<O>(block, swap);
        }
    }
    found
}

/// Replaces in what is left over behind the blocks. It is not overlapped with the last block: what has just been put there would
/// be replaced again, if it is not finite.
#[inline(always)]
fn fix_rest<L: Lane, I: Select<L>, O: Op>(
    isa: I,
    rest: &mut [L::Raw],
    special: Pair<L>,
    codes: &Codes,
) -> usize {
    if rest.is_empty() {
        return 0;
    }
    let zero = L::truncate(0);
    let mut block = [zero.raw(); BLOCK];
    block[..rest.len()].copy_from_slice(rest);
    let found = fix::<L, I, O>(isa, core::slice::from_mut(&mut block), special, codes);
    let padding = if holds(O::OP, special, zero) { BLOCK - rest.len() } else { 0 };
    if found > padding {
        rest.copy_from_slice(&block[..rest.len()]);
    }
    found - padding
}

/// Element by element. Blocks of 64 elements without a hit are not written.
#[inline(always)]
fn fix_lanes<L: Lane>(x: &mut [L::Raw], operation: Operation, swap: Swap<L>) -> usize {
    let mut all = 0;
    for block in x.chunks_mut(BLOCK) {
        let found = block.iter().filter(|&&raw| holds(operation, swap.special, L::read(raw))).count();
        if found != 0 {
            for raw in block {
                *raw = swap.select(operation, L::read(*raw)).0.raw();
            }
            all += found;
        }
    }
    all
}

/// Replaces in place: the output is the input, and there is no other.
struct InPlace;

impl Sink for InPlace {
    const TESTS: Tests = Tests::Masked;
    type Out<'o> = (&'o mut [u8], &'o Codes);
    type Output = usize;

    #[inline(always)]
    fn vector<L: Lane, I: Select<L>, O: Op, const NEGATE: bool>(
        isa: I,
        _: &[L::Raw],
        test: &Test,
        (x, codes): (&mut [u8], &Codes),
    ) -> usize {
        let special = test.pair();
        let with = isa.constants(special);
        let (blocks, rest) = L::lanes_mut(x).as_chunks_mut::<BLOCK>();
        let mut groups = blocks.chunks_exact_mut(Group::<L>::AT_ONCE);
        let mut found = 0;
        for group in &mut groups {
            let mut seen = isa.unseen::<O, false>();
            for block in &*group {
                seen = isa.fold::<O, false>(seen, block, with);
            }
            if isa.hit::<O, false>(seen, with) {
                found += fix::<L, I, O>(isa, group, special, codes);
            }
        }
        found += fix::<L, I, O>(isa, groups.into_remainder(), special, codes);
        found + fix_rest::<L, I, O>(isa, rest, special, codes)
    }

    #[inline(always)]
    fn scalar<L: Lane>(_: &[L::Raw], test: &Test, (x, codes): (&mut [u8], &Codes)) -> usize {
        fix_lanes::<L>(L::lanes_mut(x), test.operation(), codes.swap(test.pair()))
    }
}

/// Replaces on the way into an output.
struct Copying;

impl Sink for Copying {
    const TESTS: Tests = Tests::Masked;
    type Out<'o> = (&'o mut [u8], &'o Codes);
    type Output = usize;

    #[inline(always)]
    fn vector<L: Lane, I: Select<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        (out, codes): (&mut [u8], &Codes),
    ) -> usize {
        let special = test.pair();
        let with = isa.constants(special);
        let (blocks, rest) = x.as_chunks::<BLOCK>();
        let (out_blocks, out_rest) = L::lanes_mut(out).as_chunks_mut::<BLOCK>();
        let groups = blocks.chunks_exact(Group::<L>::AT_ONCE);
        let mut out_groups = out_blocks.chunks_exact_mut(Group::<L>::AT_ONCE);
        let singles = groups.remainder();
        let mut found = 0;
        for (group, out) in groups.zip(&mut out_groups) {
            let mut seen = isa.unseen::<O, false>();
            for (block, out) in group.iter().zip(&mut *out) {
                seen = isa.copy::<O>(seen, block, out, with);
            }
            if isa.hit::<O, false>(seen, with) {
                found += fix::<L, I, O>(isa, out, special, codes);
            }
        }
        let out_singles = out_groups.into_remainder();
        out_singles.copy_from_slice(singles);
        found += fix::<L, I, O>(isa, out_singles, special, codes);
        out_rest.copy_from_slice(rest);
        found + fix_rest::<L, I, O>(isa, out_rest, special, codes)
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, (out, codes): (&mut [u8], &Codes)) -> usize {
        let out = L::lanes_mut(out);
        out.copy_from_slice(x);
        fix_lanes::<L>(out, test.operation(), codes.swap(test.pair()))
    }
}
