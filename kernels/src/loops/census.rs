//! NaN, +Inf and -Inf, counted in one pass.

use super::count::{DENSE, DENSE_RUN};
use super::skip::{GROUP, may_hit, skip};
use crate::rule::{Screen, Test};
use crate::simd::{COUNTED, Loop, Simd, lines, until_line};

/// Numbers of NaN, +Inf and -Inf, in this order.
pub(crate) type Three = [usize; 3];

/// Classifies every element. The test is that for NaN of a format that has infinities.
pub(crate) struct Classify<const W: usize>;

impl<const W: usize> Loop for Classify<W> {
    type Out<'o> = ();
    type Output = Three;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], nan: &Test, (): ()) -> Three {
        let with = isa.classes::<W>(nan);
        let pairs = lines(x).0.as_chunks::<2>().0;
        let screen = isa.screen::<W>(special(nan));
        // Where hits are sparse, most pairs of pairs hold none.
        let sparse = x.len() <= GROUP;
        let mut sums = [isa.no_sums(); 3];
        for part in pairs.chunks(COUNTED / 128) {
            let mut counts = [isa.uncounted(); 3];
            for four in part.chunks(2) {
                if sparse && !may_hit::<I, W, false>(isa, four.as_flattened(), screen) {
                    continue;
                }
                for pair in four {
                    counts = isa.classify::<W>(counts, pair, with);
                }
            }
            for (sums, counts) in sums.iter_mut().zip(counts) {
                *sums = isa.add(*sums, counts);
            }
        }
        let mut three = [isa.total(sums[0]), isa.total(sums[1]), isa.total(sums[2])];
        for few in x[pairs.len() * 128..].chunks(63 * W) {
            few_classes::<I, W>(isa, few, nan, &mut three);
        }
        // Infinities of either sign have been counted.
        [three[0], three[1] - three[2], three[2]]
    }
}

/// Fewer than 64 elements.
#[inline(always)]
fn few_classes<I: Simd, const W: usize>(isa: I, x: &[u8], nan: &Test, three: &mut Three) {
    let Some([special, _, neg]) = nan.infinities() else { return };
    let special = isa.bits_few::<W>(x, &special);
    if special != 0 {
        let nan = isa.bits_few::<W>(x, nan);
        let neg = isa.bits_few::<W>(x, &neg);
        add(three, [nan, special & !nan, neg].map(|bits: u64| bits.count_ones() as usize));
    }
}

#[inline(always)]
fn add(three: &mut Three, more: Three) {
    for (count, more) in three.iter_mut().zip(more) {
        *count += more;
    }
}

/// The screen for NaN and infinities, by the test for NaN.
#[inline(always)]
fn special(nan: &Test) -> Screen {
    Screen::Masked { mask: nan.bound(), least: nan.bound() }
}

/// The numbers, and for each class where a run of bytes begins that holds the first, in elements.
pub struct Taken {
    pub(crate) three: Three,
    /// Only for a class that is there.
    pub(crate) from: Three,
}

/// Skips what is finite.
pub(crate) struct Census<const W: usize>;

impl<const W: usize> Loop for Census<W> {
    type Out<'o> = ();
    type Output = Taken;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], nan: &Test, (): ()) -> Taken {
        let mut taken = Taken { three: [0; 3], from: [0; 3] };
        let screen = special(nan);
        let (mut done, mut run) = (0, until_line::<W>(x));
        if run == 0 {
            done = skip::<I, W>(isa, x, screen);
            run = GROUP;
        }
        loop {
            let end = (done + run).min(x.len());
            if done == end {
                return taken;
            }
            let three = isa.run::<Classify<W>>(&x[done..end], nan, ());
            for ((class, from), more) in taken.three.iter_mut().zip(&mut taken.from).zip(three) {
                if *class == 0 {
                    *from = done / W;
                }
                *class += more;
            }
            // Where hits are dense, to look for them first is in vain.
            let dense = (three[0] + three[1] + three[2]) * DENSE > (end - done) / W;
            run = if dense { DENSE_RUN } else { GROUP };
            done = end;
            let clean = skip::<I, W>(isa, &x[done..], screen);
            done += clean;
            if clean != 0 {
                run = GROUP;
            }
        }
    }
}
