//! Replacing what is not finite. Where nothing is found, nothing is written in place.

use super::skip::{GROUP, may_hit, skip};
use crate::replace::Codes;
use crate::rule::{Screen, Test};
use crate::simd::{Line, Loop, Simd, lines};

/// Replaces every hit of the test. The input is the output.
pub(crate) struct Exact<const W: usize>;

impl<const W: usize> Loop for Exact<W> {
    type Out<'o> = (&'o mut [u8], &'o Codes);
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, _: &[u8], test: &Test, (x, codes): (&mut [u8], &Codes)) -> usize {
        let with = isa.codes::<W>(test, codes);
        let (lines, few) = x.as_chunks_mut();
        let mut found = 0;
        for line in lines {
            found += isa.replace::<W>(line, with);
        }
        if few.is_empty() {
            return found;
        }
        // With zeros behind the last element: where zero is a hit, they are counted too.
        let mut line: Line = [0; 64];
        line[..few.len()].copy_from_slice(few);
        let padding = if test.holds(0) { (64 - few.len()) / W } else { 0 };
        found += isa.replace::<W>(&mut line, with) - padding;
        few.copy_from_slice(&line[..few.len()]);
        found
    }
}

/// Replaces in place, skipping what holds no hit.
pub(crate) struct InPlace<const W: usize>;

impl<const W: usize> Loop for InPlace<W> {
    type Out<'o> = (&'o mut [u8], &'o Codes);
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, _: &[u8], test: &Test, (mut x, codes): (&mut [u8], &Codes)) -> usize {
        let mut found = 0;
        loop {
            let clean = skip::<I, W, GROUP>(isa, x, test.screen());
            x = &mut x[clean..];
            let (group, rest) = x.split_at_mut(x.len().min(GROUP));
            if group.is_empty() {
                return found;
            }
            found += isa.run::<Exact<W>>(&[], test, (group, codes));
            x = rest;
        }
    }
}

/// Copies, and replaces in the copy.
pub(crate) struct Copying<const W: usize>;

impl<const W: usize> Loop for Copying<W> {
    /// As long as the input.
    type Out<'o> = (&'o mut [u8], &'o Codes);
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], test: &Test, (out, codes): (&mut [u8], &Codes)) -> usize {
        match test.screen() {
            Screen::Flipped { .. } if W == 1 => copying::<I, W, true>(isa, x, test, out, codes),
            _ => copying::<I, W, false>(isa, x, test, out, codes),
        }
    }
}

#[inline(always)]
fn copying<I: Simd, const W: usize, const FLIP: bool>(
    isa: I,
    x: &[u8],
    test: &Test,
    out: &mut [u8],
    codes: &Codes,
) -> usize {
    let mut found = 0;
    let screen = isa.screen::<W>(test.screen());
    let groups = lines(x).0.as_chunks::<{ GROUP / 64 }>().0;
    let (out_groups, out_rest) = out.split_at_mut(groups.len() * GROUP);
    let out_groups = out_groups.as_chunks_mut::<64>().0.as_chunks_mut::<{ GROUP / 64 }>().0;
    for (group, out) in groups.iter().zip(out_groups) {
        *out = *group;
        if may_hit::<I, W, FLIP>(isa, group, screen) {
            found += isa.run::<Exact<W>>(&[], test, (out.as_flattened_mut(), codes));
        }
    }
    out_rest.copy_from_slice(&x[groups.len() * GROUP..]);
    found + isa.run::<Exact<W>>(&[], test, (out_rest, codes))
}
