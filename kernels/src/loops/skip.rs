//! Screens: which groups of elements cannot hold a hit. Most tensors hold few special elements or
//! none, so the other loops skip such groups.
//!
//! ```text
//! may_hit(group):
//!     a = b = 0
//!     for each pair of lines:
//!         a = max(a, even line & mask)                    lane by lane, unsigned
//!         b = max(b, odd line & mask)                     neither waits for the other
//!     return any lane of max(a, b) >= least
//!
//! skip(x):                                                how many bytes hold no hit
//!     if there are fewer than 256 bytes: return 0
//!     if may_hit(the first 128 bytes): return 0           dense hits end the call here
//!     from the first cache line on, for each group of 1 KiB:
//!         if may_hit(group): return the bytes before the group, or those of the answers written
//!         if there is a mask: write the answers of 1 KiB      see below
//!     if there is a mask: return the bytes of the answers written
//!     the same for each 256 bytes of the rest             the last 256 bytes of x overlap others
//!     return all bytes
//! ```
//!
//! A maximum may see an element twice. So the first 128 and the last 256 bytes may overlap others.
//! All other loads begin at a cache line, if elements are aligned to their width.
//!
//! ```text
//! group of 1 KiB:   line 0   line 1   line 2   ..   line 15
//!                     |        |        |             |         & mask
//!                   a = max(line 0, line 2, ..)                 even lines
//!                   b = max(line 1, line 3, ..)                 odd lines
//! no hit if         max(a, b) < least                           in every lane
//! ```
//!
//! One maximum replaces a comparison and the work of narrowing, and there is one branch for each
//! group.
//!
//! ```text
//! rule                        there may be a hit if
//! (bits & mask) >  bound      max(bits & mask) >= bound + 1
//! (bits & mask) == bound      max(bits & ones) >= ones     ones: the bound without its sign
//! bits == bound, one byte     max(bits ^ !bound) == FF
//! ```
//!
//! A negated rule has the screen of the rule that it negates.
//!
//! Where hits are dense, a screen only costs time. So each loop works without a screen for a while
//! after a hit:
//!
//! ```text
//! loop            screens from            after a hit
//! mask, W > 1     2 KiB, AVX-512 8 KiB    16 KiB without a screen
//! bits            2 KiB                   16 KiB without a screen
//! position        512 bytes               the group is compared; the hit ends the search
//! count, census   256 bytes, 64 elements  1 KiB without a screen; up to 16 KiB while more than one
//!                                         element a KiB is a hit; no screen while more than one in
//!                                         128 bytes is
//! replace         256 bytes               the group is compared and written
//! ```
//!
//! The answers of a group are written when its screen finds no hit. They go to the next free places
//! of the mask. The mask begins with the first element, and the groups begin at a cache line. So
//! the screen runs up to 63 bytes ahead of the mask:
//!
//! ```text
//! input   head | group 0 | group 1 | group 2 ..
//! mask    answers of 0   | of 1    | of 2 ..         the head is part of the first 128 bytes
//! ```

use core::mem::{MaybeUninit, take};

use crate::rule::{Comparison, Screen};
pub(super) use crate::simd::GROUP;
use crate::simd::{Line, Loop, SameAs, Simd, lines, until_line};

/// For masks and bits: bytes to compare without a screen after a hit.
pub(super) const AFTER_HIT: usize = 16 << 10;

/// Whether one of the lines may hold a hit.
#[inline(always)]
pub(super) fn may_hit<I: Simd, const W: usize, const FLIP: bool>(
    isa: I,
    lines: &[Line],
    screen: I::Screen,
) -> bool {
    let mut seen = isa.accumulator();
    for pair in lines.as_chunks().0 {
        seen = isa.accumulate::<W, FLIP>(seen, pair, screen);
    }
    isa.any_hit::<W>(seen, screen)
}

/// A number of bytes at the beginning of the input without a hit: all, or those before a group that
/// may have one. 0 if the input is shorter than 256 bytes. One function for all questions, so that
/// its code exists once.
pub(super) struct Skip<const W: usize>;

/// What [`Skip`] looks for.
pub(super) enum Look<'o> {
    /// Hits of the comparison before a negation: see [`Comparison::screen`]. If there is a mask, a
    /// place for each element, it gets the answers of the elements that are skipped, and only whole
    /// groups are skipped. Of single bytes none are: comparing them is as fast.
    Hits(&'o mut [MaybeUninit<bool>]),
    /// NaN and infinities, by the comparison for NaN of a format that has infinities.
    Special,
}

impl<const W: usize> SameAs<Skip<1>> for Skip<W> {}

impl<const W: usize> Loop for Skip<W> {
    type Out<'o> = Look<'o>;
    type Output = usize;

    #[inline(always)]
    fn vector<I: Simd>(isa: I, x: &[u8], comparison: &Comparison, look: Look<'_>) -> usize {
        let (screen, out) = match look {
            Look::Hits(out) if W == 1 && !out.is_empty() => return 0,
            Look::Hits(out) => (comparison.screen(), out),
            Look::Special => (special(comparison), &mut [][..]),
        };
        let [usual, _] = comparison.answers();
        match screen {
            Screen::Masked { .. } => skip_by::<I, W, false>(isa, x, screen, usual, out),
            Screen::Flipped { .. } if W == 1 => skip_by::<I, W, true>(isa, x, screen, usual, out),
            _ => 0,
        }
    }
}

/// The screen for NaN and infinities, by the comparison for NaN.
#[inline(always)]
pub(super) fn special(nan: &Comparison) -> Screen {
    Screen::Masked { mask: nan.bound(), least: nan.bound() }
}

#[inline(always)]
fn skip_by<I: Simd, const W: usize, const FLIP: bool>(
    isa: I,
    x: &[u8],
    screen: Screen,
    usual: u64,
    mut out: &mut [MaybeUninit<bool>],
) -> usize {
    let Some(last) = x.len().checked_sub(256) else { return 0 };
    let with = isa.screen::<W>(screen);
    match lines(x).0.first_chunk::<2>() {
        Some(first) if !may_hit::<I, W, FLIP>(isa, first, with) => {}
        _ => return 0,
    }
    // The mask begins with the first byte, and the groups at a line: they run ahead of the mask.
    let (mut done, masked) = (until_line(x, W), !out.is_empty());
    let ahead = if masked { done } else { 0 };
    // Not a closure: it might not be inlined, and then would not be compiled for the instruction
    // set.
    for group in lines(x.get(done..).unwrap_or_default()).0.as_chunks::<{ GROUP / 64 }>().0 {
        if may_hit::<I, W, FLIP>(isa, group, with) {
            return done - ahead;
        }
        if W > 1
            && let Some((mask, behind)) = take(&mut out).split_at_mut_checked(GROUP / W)
        {
            for slots in mask.as_chunks_mut().0 {
                isa.fill(usual, slots);
            }
            out = behind;
        }
        done += GROUP;
    }
    if masked {
        return done - ahead;
    }
    while done < x.len() {
        let start = done.min(last);
        match lines(x.get(start..).unwrap_or_default()).0.first_chunk::<4>() {
            Some(four) if !may_hit::<I, W, FLIP>(isa, four, with) => done = start + 256,
            _ => return done,
        }
    }
    done
}

/// The bytes of a run without a screen, and what follows: `run` bytes or up to 64 bytes less, so
/// that the run ends at a cache line, or all of `x`. `run` is at least 1 KiB.
#[inline(always)]
pub(super) fn split_run(x: &[u8], width: usize, run: usize) -> (&[u8], &[u8]) {
    let head = x.get(run..).map_or(0, |rest| until_line(rest, width));
    x.split_at_checked(if head == 0 { run } else { run + head - 64 }).unwrap_or((x, &[]))
}

/// How many bytes follow without a hit after a run of `bytes` bytes with `hits` hits, by a screen,
/// and the length of the next run.
///
/// If more than one element in 128 bytes was a hit, the next 128 bytes are likely to have one, and
/// a screen would end there.
#[inline(always)]
pub(super) fn after_run(hits: usize, bytes: usize, skip: impl FnOnce() -> usize) -> (usize, usize) {
    let clean = if hits * 128 > bytes { 0 } else { skip() };
    let frequent = clean == 0 && hits * GROUP > bytes;
    (clean, if frequent { longer(bytes) } else { GROUP })
}

/// The bytes of the next run without a screen, if a run of `run` bytes had dense hits.
#[inline(always)]
pub(super) fn longer(run: usize) -> usize {
    (run * 4).clamp(GROUP, 16 * GROUP)
}
