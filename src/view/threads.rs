//! The questions with several threads: a view is halved until its parts are small.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nonfinite_kernels::{MaskOut, Rule};

use super::TensorView;
use super::part::Part;

/// Inputs of no more bytes than this are answered on the calling thread. Handing work to a sleeping
/// pool and waiting for it took 11 us (measured on Zen 5). One thread reads 1 to 2 MiB from a cache
/// in that time.
const ALONE: usize = 2 << 20;

/// The largest part of a longer input, in bytes. From this size to 4 MiB, all sizes were within 3 %
/// of each other and of two threads that only read (8 MiB of input). With 32 KiB the loss was up to
/// 7 %. In small parts a search stops sooner.
const GRAIN: usize = 256 << 10;

/// Bytes that a search reads before it wakes other threads.
const HEAD: usize = 32 << 10;

/// Parts of dense views begin at a multiple of this number of results, counted in the output: whole
/// words of bits, whole cache lines of a mask.
const BORDER: usize = 64;

impl<'a> TensorView<'a> {
    /// The view to share among threads, if `par` was called and the input is large enough. A
    /// broadcast view names few elements many times, so one thread answers.
    #[inline]
    pub(super) fn shared(&self) -> Option<Threads<'_, 'a>> {
        // Asked first, since rayon starts its threads when it is asked for their number.
        if self.threads { self.shared_if_large() } else { None }
    }

    #[inline(never)]
    fn shared_if_large(&self) -> Option<Threads<'_, 'a>> {
        let whole = Part::whole(self);
        let mut steps = self.sizes().iter().zip(self.strides());
        let mut broadcast = || steps.any(|(&size, &stride)| size > 1 && stride == 0);
        let pays = whole.bytes() > ALONE && !broadcast() && rayon::current_num_threads() > 1;
        pays.then_some(Threads(whole))
    }
}

/// A view that several threads share. Its questions are not inlined, so that a call on one thread
/// has no registers to save for them.
pub(super) struct Threads<'v, 'a>(Part<'v, 'a>);

impl<'v, 'a> Threads<'v, 'a> {
    #[inline(never)]
    pub(super) fn mask(&self, rule: &Rule, out: MaskOut<'_>) {
        let mask = |part: Part<'_, '_>, out: MaskOut<'_>| part.mask(rule, out);
        halves(self.0, out, &mask, &|(), ()| ());
    }

    /// Packed bits from bit `offset` of `out` on. `bits` writes the bits of a part.
    #[inline(never)]
    pub(super) fn bits(
        &self,
        out: &mut [u8],
        offset: usize,
        bits: &(impl Fn(Part<'v, 'a>, &mut [u8], usize) + Sync),
    ) {
        let out = Bitmap { bytes: &mut out[offset / 8..], offset: offset % 8 };
        let bits = |part: Part<'v, 'a>, out: Bitmap<'_>| bits(part, out.bytes, out.offset);
        halves(self.0, out, &bits, &|(), ()| ());
    }

    /// Whether the answer of `any` is yes for a part.
    #[inline(never)]
    pub(super) fn any(&self, any: &(impl Fn(Part<'v, 'a>) -> bool + Sync)) -> bool {
        let (head, rest) = self.head();
        // Searched on this thread first, so that a hit at the start wakes no other threads.
        if head.is_some_and(any) {
            return true;
        }
        let found = AtomicBool::new(false);
        let part = |part: Part<'v, 'a>, ()| {
            if !found.load(Ordering::Relaxed) && any(part) {
                found.store(true, Ordering::Relaxed);
            }
        };
        halves(rest, (), &part, &|(), ()| ());
        found.into_inner()
    }

    /// The first index that `position` finds in a part, counted within the part.
    #[inline(never)]
    pub(super) fn position(
        &self,
        position: &(impl Fn(Part<'v, 'a>) -> Option<usize> + Sync),
    ) -> Option<usize> {
        let (head, rest) = self.head();
        if let Some(first) = head.and_then(position) {
            return Some(first);
        }
        // The smallest index found so far. No element has the index `usize::MAX`.
        let first = AtomicUsize::new(usize::MAX);
        let part = |part: Part<'v, 'a>, ()| {
            // A part that begins after a hit cannot hold the first hit.
            if part.first < first.load(Ordering::Relaxed)
                && let Some(index) = position(part)
            {
                first.fetch_min(part.first + index, Ordering::Relaxed);
            }
        };
        halves(rest, (), &part, &|(), ()| ());
        let first = first.into_inner();
        (first != usize::MAX).then_some(first)
    }

    /// The answers of all parts, brought together by `join`.
    #[inline(never)]
    pub(super) fn parts<R: Send>(
        &self,
        ask: &(impl Fn(Part<'v, 'a>) -> R + Sync),
        join: &(impl Fn(R, R) -> R + Sync),
    ) -> R {
        halves(self.0, (), &|part, ()| ask(part), join)
    }

    /// The answers for rows of `row_len` elements, along another dimension than the outermost.
    pub(super) fn rows<A: Send>(
        &self,
        out: &mut [A],
        row_len: usize,
        ask: &(impl Fn(Part<'_, '_>, &mut [A]) + Sync),
    ) {
        let part = |part: Part<'_, '_>, out: RowsOut<'_, A>| ask(part, out.out);
        halves(self.0, RowsOut { out, row_len }, &part, &|(), ()| ());
    }

    /// The elements that a search reads first, if they can be split off, and the others.
    fn head(&self) -> (Option<Part<'v, 'a>>, Part<'v, 'a>) {
        let elements = HEAD / self.0.view.format().size_in_bytes();
        match self.0.split_at(elements) {
            Some((head, rest)) if head.bytes() <= GRAIN => (Some(head), rest),
            _ => (None, self.0),
        }
    }
}

/// The output of a question.
trait Output: Send + Sized {
    /// The place nearest to element `middle` of `part` at which the view may be cut, so that the
    /// halves write to different bytes.
    fn cut(&self, _: &Part<'_, '_>, middle: usize) -> Option<usize> {
        Some(middle.next_multiple_of(BORDER))
    }

    /// Splits the output after the first `elements` results.
    fn split_at(self, elements: usize) -> (Self, Self);
}

/// Results are returned, so there is no output.
impl Output for () {
    fn split_at(self, _: usize) -> (Self, Self) {
        ((), ())
    }
}

impl Output for MaskOut<'_> {
    fn split_at(self, elements: usize) -> (Self, Self) {
        self.split_at(elements)
    }
}

/// Packed bits from bit `offset`, below 8, of the first byte on.
struct Bitmap<'o> {
    bytes: &'o mut [u8],
    offset: usize,
}

impl Output for Bitmap<'_> {
    /// No byte may belong to both halves.
    fn cut(&self, part: &Part<'_, '_>, middle: usize) -> Option<usize> {
        let middle = middle.next_multiple_of(BORDER) - self.offset;
        let middle = part.border_near(middle)?;
        (self.offset + middle).is_multiple_of(8).then_some(middle)
    }

    fn split_at(self, elements: usize) -> (Self, Self) {
        let (first, second) = self.bytes.split_at_mut((self.offset + elements) / 8);
        (Self { bytes: first, offset: self.offset }, Self { bytes: second, offset: 0 })
    }
}

/// One result for each row.
struct RowsOut<'o, A> {
    out: &'o mut [A],
    row_len: usize,
}

impl<A: Send> Output for RowsOut<'_, A> {
    /// Cuts between coordinates of the outermost dimension, so that no row is cut.
    fn cut(&self, part: &Part<'_, '_>, middle: usize) -> Option<usize> {
        let inner = part.inner(0);
        let cut = middle / inner * inner;
        (cut != 0).then_some(cut)
    }

    fn split_at(self, elements: usize) -> (Self, Self) {
        let (first, second) = self.out.split_at_mut(elements / self.row_len);
        (Self { out: first, row_len: self.row_len }, Self { out: second, row_len: self.row_len })
    }
}

/// Runs `ask` on all threads, on parts of at most [`GRAIN`] bytes if the output can be cut there.
/// `join` merges the results of adjacent parts, the lower one first.
fn halves<'v, 'a, O: Output, R: Send>(
    part: Part<'v, 'a>,
    out: O,
    ask: &(impl Fn(Part<'v, 'a>, O) -> R + Sync),
    join: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let cut = if part.bytes() > GRAIN { out.cut(&part, part.len / 2) } else { None };
    let Some((first, second)) = cut.and_then(|middle| part.split_at(middle)) else {
        return ask(part, out);
    };
    let (out, out_behind) = out.split_at(first.len);
    let (first, second) =
        rayon::join(|| halves(first, out, ask, join), || halves(second, out_behind, ask, join));
    join(first, second)
}
