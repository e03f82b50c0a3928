//! Byte masks that no cache can hold. They are written past the caches, which saves reading each
//! line before it is overwritten. A piece of the mask is made in a buffer on the stack and copied
//! from there.

use core::mem::MaybeUninit;

use super::mask::Mask;
use crate::rule::Comparison;
use crate::simd::{Aligned, Loop, Simd, Slots};

/// A byte mask past the caches.
pub(crate) struct Streamed<const W: usize>;

#[expect(unsafe_code, reason = "slots are taken as cache lines")]
impl<const W: usize> Loop for Streamed<W> {
    type Out<'o> = &'o mut [MaybeUninit<bool>];
    type Output = ();

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, out: &mut [MaybeUninit<bool>]) {
        if !I::STREAMS {
            return isa.run::<Mask<W>>(x, comparison, out);
        }
        // SAFETY: `Aligned` is 64 bytes that need not be initialised, as are 64 slots.
        let (head, lines, tail) = unsafe { out.align_to_mut::<Aligned>() };
        let (x_head, x) = x.split_at(head.len() * W);
        let (x, x_tail) = x.split_at(lines.len() * 64 * W);
        isa.run::<Mask<W>>(x_head, comparison, head);
        for (x, lines) in x.chunks(LINES * 64 * W).zip(lines.chunks_mut(LINES)) {
            let mut buffer: [Slots; LINES] = [[MaybeUninit::uninit(); 64]; LINES];
            let buffer = &mut buffer[..lines.len()];
            isa.run::<Mask<W>>(x, comparison, buffer.as_flattened_mut());
            isa.run::<Copy>(&[], comparison, (buffer, lines));
        }
        isa.run::<Mask<W>>(x_tail, comparison, tail);
        isa.fence();
    }
}

/// Copies lines past the caches.
struct Copy;

impl Loop for Copy {
    type Out<'o> = (&'o [Slots], &'o mut [Aligned]);
    type Output = ();

    #[inline(always)]
    fn vector<I: Simd>(isa: I, _: &[u8], _: &Comparison, (from, to): (&[Slots], &mut [Aligned])) {
        for (from, to) in from.iter().zip(to) {
            isa.stream(from, to);
        }
    }
}

/// Lines of the buffer.
const LINES: usize = 64;
