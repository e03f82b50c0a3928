//! Elements that do not lie in one piece are brought together, a few at a time: what follows is the work of the
//! dense kernels, whatever the question.

use crate::lane::Lane;

use super::walk::Walk;
use super::{Dim, Grid, outside};

/// Bytes of elements that are brought together.
pub(super) const ROOM: usize = 2048;

/// Goes through the elements of a grid in order.
pub(super) struct Gather<'g> {
    walk: Walk<'g>,
    line: Dim,
    /// Elements of the line that are done.
    done: usize,
    more: bool,
}

impl<'g> Gather<'g> {
    /// The grid must not be empty.
    pub(super) fn new(grid: Grid<'g>) -> Self {
        Self { walk: Walk::lines(grid), line: grid.line(), done: 0, more: true }
    }

    /// The next stretch of the line, at most `most` elements; none at the end of the grid: where it starts in the input
    /// and in the output, and how long it is.
    #[inline(always)]
    pub(super) fn stretch(&mut self, most: usize) -> Option<(usize, usize, usize)> {
        if self.done == self.line.size {
            self.more = self.more && self.walk.next();
            self.done = 0;
        }
        if !self.more {
            return None;
        }
        let size = most.min(self.line.size - self.done);
        let at = |start: usize, step: isize| start.wrapping_add_signed(step.wrapping_mul(self.done as isize));
        let stretch = (at(self.walk.input, self.line.input), at(self.walk.output, self.line.output), size);
        self.done += size;
        Some(stretch)
    }

    /// Brings the next elements of `size` bytes together in `room`, as many as there are and as fit. None at the end.
    ///
    /// # Panics
    /// If one is not in `x`.
    pub(super) fn fill<'r>(&mut self, x: &[u8], size: usize, room: &'r mut [u8; ROOM]) -> Option<&'r [u8]> {
        let bytes = self.fill_some(x, size, room, usize::MAX);
        (!bytes.is_empty()).then_some(bytes)
    }

    /// As [`Gather::fill`], at most `most` elements.
    pub(super) fn fill_some<'r>(
        &mut self,
        x: &[u8],
        size: usize,
        room: &'r mut [u8; ROOM],
        most: usize,
    ) -> &'r [u8] {
        let room = &mut room[..ROOM.min(most.saturating_mul(size))];
        let filled = match size {
            1 => self.fill_lanes::<i8>(x, room),
            2 => self.fill_lanes::<i16>(x, room),
            4 => self.fill_lanes::<i32>(x, room),
            _ => self.fill_lanes::<i64>(x, room),
        };
        &room[..filled * size]
    }

    fn fill_lanes<L: Lane>(&mut self, x: &[u8], room: &mut [u8]) -> usize {
        let (x, room) = (L::lanes(x), L::lanes_mut(room));
        let mut filled = 0;
        while filled < room.len()
            && let Some((start, _, size)) = self.stretch(room.len() - filled)
        {
            pick(x, start, self.line.input, &mut room[filled..filled + size]);
            filled += size;
        }
        filled
    }
}

/// Copies lane `start + i * step` to `out[i]`.
///
/// # Panics
/// If one is not in `x`.
#[inline(always)]
fn pick<R: Copy>(x: &[R], start: usize, step: isize, out: &mut [R]) {
    let Some(last) = out.len().checked_sub(1) else { return };
    let reach = last.checked_mul(step.unsigned_abs());
    let end = match step {
        0.. => reach.and_then(|reach| start.checked_add(reach)),
        _ => reach.and_then(|reach| start.checked_sub(reach)),
    };
    match end {
        Some(end) if start < x.len() && end < x.len() => {}
        _ => outside(),
    }
    if step == 1 {
        copy(&x[start..=start + last], out);
        return;
    }
    for (i, out) in out.iter_mut().enumerate() {
        // No overflow: `i` is at most `last`, and `last` steps lead to `end`.
        let at = start.wrapping_add_signed(step.wrapping_mul(i as isize));
        // SAFETY: `at` lies between `start` and `end`, which both are in `x`.
        *out = unsafe { *x.get_unchecked(at) };
    }
}

/// A copy of lanes for which a call would cost more. Both are equally long.
#[inline(always)]
fn copy<R: Copy>(x: &[R], out: &mut [R]) {
    match x.len() {
        64.. => out.copy_from_slice(x),
        16.. => pieces::<16, R>(x, out),
        4.. => pieces::<4, R>(x, out),
        _ => pieces::<1, R>(x, out),
    }
}

/// Piece by piece; the last overlaps the one before.
#[inline(always)]
fn pieces<const N: usize, R: Copy>(x: &[R], out: &mut [R]) {
    for (piece, out) in x.as_chunks::<N>().0.iter().zip(out.as_chunks_mut::<N>().0) {
        *out = *piece;
    }
    if let (Some(piece), Some(out)) = (x.last_chunk::<N>(), out.last_chunk_mut::<N>()) {
        *out = *piece;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{Gather, pick};
    use crate::strided::{Dim, Grid};
    use std::panic::catch_unwind;

    #[test]
    fn picks_what_is_there() {
        let x = [0u8, 1, 2, 3, 4, 5, 6];
        for (start, step, want) in [(0, 3, [0, 3, 6]), (6, -3, [6, 3, 0]), (2, 0, [2; 3]), (4, 1, [4, 5, 6])]
        {
            let mut out = [9; 3];
            pick(&x, start, step, &mut out);
            assert_eq!(out, want);
        }
        pick(&x, 1000, isize::MIN, &mut []);
    }

    /// Also where the multiples of a step wrap around to something that is there.
    #[test]
    #[cfg(panic = "unwind")]
    fn refuses_what_is_not() {
        let half = isize::MAX / 2 + 1;
        for (start, step) in [
            (5, 1),
            (7, 0),
            (1, -1),
            (usize::MAX, 1),
            (usize::MAX, -1),
            (0, half),
            (0, -half),
            (1, isize::MIN),
            (0, isize::MAX),
            (2, isize::MAX),
            (0, isize::MAX / 2 + 2),
        ] {
            let picked = catch_unwind(|| pick(&[0u8; 7], start, step, &mut [9; 3]));
            assert!(picked.is_err(), "{start} {step}");
            let line = [Dim { size: 5, input: step, output: 1 }];
            let gathered = catch_unwind(|| {
                Gather::new(Grid { input: start, output: 0, dims: &line })
                    .fill(&[0; 7], 1, &mut [0; _])
                    .is_some()
            });
            assert!(gathered.is_err(), "{start} {step}");
        }
    }
}
