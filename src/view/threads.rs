//! The questions with several threads: a view is halved until its parts are small.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nonfinite_kernels::{MaskOut, Rule};

use super::TensorView;

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

/// A part of a view, which is a view itself, from row-major index `first` on.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) first: usize,
    pub(super) view: TensorView<'a>,
}

impl Part<'_> {
    /// Bytes of the elements.
    fn bytes(&self) -> usize {
        self.view.len().saturating_mul(self.view.format.size_in_bytes())
    }

    /// The number of elements before the place nearest to element `middle` at which the part can be
    /// cut.
    fn border_near(&self, middle: usize) -> Option<usize> {
        let len = self.view.len();
        if self.view.tensor.is_dense() {
            return (0 < middle && middle < len).then_some(middle);
        }
        // The outermost dimension with several coordinates in the part.
        let several = self.view.dimensions().filter(|(_, coordinates)| *coordinates > 1);
        let (inner, coordinates) = several.last()?;
        Some((middle / inner).clamp(1, coordinates - 1) * inner)
    }

    /// Cuts the part at the border nearest to element `middle`, if there is one.
    fn split_at(&self, middle: usize) -> Option<(Self, Self)> {
        let middle = self.border_near(middle)?;
        let second = self.view.part(middle, self.view.len() - middle);
        let first = Self { view: self.view.part(0, middle), ..*self };
        Some((first, Self { first: self.first + middle, view: second }))
    }
}

/// A view that several threads share. Its questions are not inlined, so that a call on one thread
/// has no registers to save for them.
pub(super) struct Threads<'a>(Part<'a>);

impl<'a> Threads<'a> {
    /// The view to share among threads, if `par` was called and the input is large enough. A
    /// broadcast view names few elements many times, so one thread answers.
    #[inline(always)]
    pub(super) fn of(view: &TensorView<'a>) -> Option<Self> {
        // Asked first, since rayon starts its threads when it is asked for their number.
        if view.threads { Self::if_large(view) } else { None }
    }

    #[inline(never)]
    fn if_large(view: &TensorView<'a>) -> Option<Self> {
        let whole = Part { first: 0, view: *view };
        let is_large = whole.bytes() > ALONE && !view.tensor.is_broadcast();
        (is_large && rayon::current_num_threads() > 1).then_some(Threads(whole))
    }

    #[inline(never)]
    pub(super) fn mask(&self, rule: &Rule, out: MaskOut<'_>) {
        let mask = |part: Part<'_>, out: MaskOut<'_>| part.view.mask_here(rule, out);
        halves(self.0, out, &mask, &|(), ()| ());
    }

    /// Packed bits from bit `offset` of `out` on.
    #[inline(never)]
    pub(super) fn bits(&self, rule: &Rule, out: &mut [u8], offset: usize) {
        let out = PackedOut { bytes: &mut out[offset / 8..], offset: offset % 8 };
        let bits =
            |part: Part<'_>, out: PackedOut<'_>| part.view.bits_here(rule, out.bytes, out.offset);
        halves(self.0, out, &bits, &|(), ()| ());
    }

    /// Whether the rule holds for any element.
    #[inline(never)]
    pub(super) fn any(&self, rule: &Rule) -> bool {
        let (head, rest) = self.head();
        // Searched on this thread first, so that a hit at the start wakes no other threads.
        if head.is_some_and(|head| head.view.any_here(rule)) {
            return true;
        }
        let found = AtomicBool::new(false);
        let part = |part: Part<'_>, ()| {
            if !found.load(Ordering::Relaxed) && part.view.any_here(rule) {
                found.store(true, Ordering::Relaxed);
            }
        };
        halves(rest, (), &part, &|(), ()| ());
        found.into_inner()
    }

    /// The index of the first element for which the rule holds.
    #[inline(never)]
    pub(super) fn position(&self, rule: &Rule) -> Option<usize> {
        let (head, rest) = self.head();
        if let Some(first) = head.and_then(|head| head.view.position_here(rule)) {
            return Some(first);
        }
        // The smallest index found so far. No element has the index `usize::MAX`.
        let first = AtomicUsize::new(usize::MAX);
        let part = |part: Part<'_>, ()| {
            // A part that begins after a hit cannot hold the first hit.
            if part.first < first.load(Ordering::Relaxed)
                && let Some(index) = part.view.position_here(rule)
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
        ask: &(impl Fn(Part<'a>) -> R + Sync),
        join: &(impl Fn(R, R) -> R + Sync),
    ) -> R {
        halves(self.0, (), &|part, ()| ask(part), join)
    }

    /// The answers for rows of `row_len` elements, along another dimension than the outermost.
    pub(super) fn rows<A: Send>(
        &self,
        out: &mut [A],
        row_len: usize,
        ask: &(impl Fn(TensorView<'_>, &mut [A]) + Sync),
    ) {
        let part = |part: Part<'_>, out: RowsOut<'_, A>| ask(part.view, out.out);
        halves(self.0, RowsOut { out, row_len }, &part, &|(), ()| ());
    }

    /// The elements that a search reads first, if they can be split off, and the others.
    fn head(&self) -> (Option<Part<'a>>, Part<'a>) {
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
    fn cut(&self, _: &Part<'_>, middle: usize) -> Option<usize> {
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
struct PackedOut<'o> {
    bytes: &'o mut [u8],
    offset: usize,
}

impl Output for PackedOut<'_> {
    /// No byte may belong to both halves.
    fn cut(&self, part: &Part<'_>, middle: usize) -> Option<usize> {
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
    fn cut(&self, part: &Part<'_>, middle: usize) -> Option<usize> {
        let inner: usize = part.view.shape()[1..].iter().product();
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
fn halves<'a, O: Output, R: Send>(
    part: Part<'a>,
    out: O,
    ask: &(impl Fn(Part<'a>, O) -> R + Sync),
    join: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let cut = if part.bytes() > GRAIN { out.cut(&part, part.view.len() / 2) } else { None };
    let Some((first, second)) = cut.and_then(|middle| part.split_at(middle)) else {
        return ask(part, out);
    };
    let (out, out_behind) = out.split_at(first.view.len());
    let (first, second) =
        rayon::join(|| halves(first, out, ask, join), || halves(second, out_behind, ask, join));
    join(first, second)
}
