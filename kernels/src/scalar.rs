//! The scalar path: the rule, element by element. Every other path must give the same answers, and inputs shorter
//! than a block are answered here without a choice of path. The compiler may vectorise these loops.

use core::mem::MaybeUninit;

use crate::drive::{Census, Class, merge};
use crate::lane::{BLOCK, Lane};
use crate::rule::{Compare, Ieee, Pair, Test};

/// Whether the test hits this element.
#[inline(always)]
fn hit<L: Lane>(test: Test, raw: L::Raw) -> bool {
    Test::holds(test.compare, Pair::<L>::new(test), L::read(raw)) != test.negate
}

/// Calls `run` with the test's two choices fixed, so that the loop in it is compiled once for each.
#[inline(always)]
fn fixed<T>(test: Test, run: impl FnOnce(Test) -> T) -> T {
    use Compare::{Equal, Greater};
    match (test.compare, test.negate) {
        (Equal, false) => run(Test { compare: Equal, negate: false, ..test }),
        (Equal, true) => run(Test { compare: Equal, negate: true, ..test }),
        (Greater, false) => run(Test { compare: Greater, negate: false, ..test }),
        (Greater, true) => run(Test { compare: Greater, negate: true, ..test }),
    }
}

#[inline(always)]
pub(crate) fn mask<L: Lane>(x: &[L::Raw], test: Test, out: &mut [MaybeUninit<bool>]) {
    fixed(test, |test| {
        for (&raw, out) in x.iter().zip(out) {
            out.write(hit::<L>(test, raw));
        }
    });
}

#[inline(always)]
pub(crate) fn bits<L: Lane>(x: &[L::Raw], test: Test, out: &mut [u8], offset: u32) {
    for (i, block) in x.chunks(BLOCK).enumerate() {
        let bits = fixed(test, |test| {
            block.iter().rev().fold(0, |bits, &raw| bits << 1 | u64::from(hit::<L>(test, raw)))
        });
        let low = out.get(8 * i).copied().unwrap_or(0) & !(u8::MAX << offset);
        let bits = u128::from(low) | u128::from(bits) << offset;
        merge(out.get_mut(8 * i..).unwrap_or(&mut []), bits, offset + block.len() as u32);
    }
}

#[inline(always)]
pub(crate) fn position<L: Lane>(x: &[L::Raw], test: Test) -> Option<usize> {
    fixed(test, |test| x.iter().position(|&raw| hit::<L>(test, raw)))
}

#[inline(always)]
pub(crate) fn tally<L: Lane>(x: &[L::Raw], test: Test) -> Class {
    let count = fixed(test, |test| x.iter().filter(|&&raw| hit::<L>(test, raw)).count());
    Class { count, first: if count == 0 { None } else { position::<L>(x, test) } }
}

#[inline(always)]
pub(crate) fn census<L: Lane>(x: &[L::Raw], ieee: Ieee) -> Census {
    Census {
        nan: tally::<L>(x, ieee.nan()),
        pos_inf: tally::<L>(x, ieee.pos_inf()),
        neg_inf: tally::<L>(x, ieee.neg_inf()),
    }
}
