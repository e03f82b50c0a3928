//! Replacing non-finite elements. In place, 1 KiB without a non-finite element is not written to.

use super::skip::{GROUP, Look, Skip};
use crate::codes::Codes;
use crate::rule::Comparison;
use crate::simd::{COUNTED, Line, Loop, SameAs, Simd};

/// Replaces every hit of the comparison in at most a group. The input is the output.
struct Exact<const W: usize>;

impl<const W: usize> Loop for Exact<W> {
    type Out<'o> = (&'o mut [u8], &'o Codes);
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        _: &[u8],
        comparison: &Comparison,
        (x, codes): (&mut [u8], &Codes),
    ) -> usize {
        let (lines, few) = x.as_chunks_mut();
        let mut found = isa.replace::<W>(lines, comparison, codes);
        if few.is_empty() {
            return found;
        }
        // Zeros fill the last line. If zero is a hit, these zeros are counted too, so subtract
        // them.
        let mut line: Line = [0; 64];
        line[..few.len()].copy_from_slice(few);
        let padding = if comparison.holds(0) { (64 - few.len()) / W } else { 0 };
        found += isa.run::<Self>(&[], comparison, (&mut line, codes)) - padding;
        few.copy_from_slice(&line[..few.len()]);
        found
    }
}

// A group does not overflow the counters.
const _: () = assert!(GROUP <= COUNTED);

/// Replaces in place, and skips groups without a hit.
pub(crate) struct InPlace<const W: usize>;

impl<const W: usize> SameAs<InPlace<1>> for InPlace<W> {}

impl<const W: usize> Loop for InPlace<W> {
    type Out<'o> = (&'o mut [u8], &'o Codes);
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(
        isa: I,
        _: &[u8],
        comparison: &Comparison,
        (mut x, codes): (&mut [u8], &Codes),
    ) -> usize {
        let mut found = 0;
        loop {
            let clean = isa.run::<Skip<W>>(x, comparison, Look::Hits(&mut []));
            x = &mut x[clean..];
            let (group, rest) = x.split_at_mut(x.len().min(GROUP));
            if group.is_empty() {
                return found;
            }
            found += isa.run::<Exact<W>>(&[], comparison, (group, codes));
            x = rest;
        }
    }
}
