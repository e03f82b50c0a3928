//! Halving: inputs, with their outputs, into parts that threads take.

use nonfinite_kernels::MaskOut;

use crate::Elements;

/// Inputs of no more bytes than this are answered on the calling thread. Handing work to a sleeping
/// pool and waiting for it took 11 us where it was measured (Zen 5), in which one thread reads one
/// to two MiB from a cache: below this a second thread cannot save what waking it costs.
pub const ALONE: usize = 2 << 20;

/// The largest part of a longer input, in bytes. From here to 4 MiB all sizes were within 3 % of
/// each other and of two threads that only read (8 MiB of input); 32 KiB lost up to 7 %. The
/// smaller, the sooner a search stops.
pub const GRAIN: usize = 256 << 10;

/// Bytes that a search looks at before it wakes other threads.
const HEAD: usize = 32 << 10;

/// Parts begin at a multiple of so many results, as outputs count them: whole words of bits, whole
/// lines of a mask.
const BORDER: usize = 64;

/// Whether the calling thread answers alone.
pub(super) fn is_small(x: Elements<'_>) -> bool {
    x.as_bytes().len() <= ALONE || rayon::current_num_threads() == 1
}

/// What a search looks at first, and the rest; nothing if the input is small.
pub(super) fn head(x: Elements<'_>) -> Option<(Elements<'_>, Elements<'_>)> {
    (!is_small(x)).then(|| x.split_at(HEAD / x.format().size_in_bytes()))
}

/// Where results go.
pub(super) trait Output: Send + Sized {
    /// Results that would stand before the first, were the output to begin at a border.
    fn before(&self) -> usize;

    /// The room of the first `elements` results, and the rest.
    fn split_at(self, elements: usize) -> (Self, Self);
}

/// Results are returned.
impl Output for () {
    fn before(&self) -> usize {
        0
    }

    fn split_at(self, _: usize) -> (Self, Self) {
        ((), ())
    }
}

impl Output for MaskOut<'_> {
    fn before(&self) -> usize {
        0
    }

    fn split_at(self, elements: usize) -> (Self, Self) {
        self.split_at(elements)
    }
}

/// Packed bits from bit `offset`, below 8, of the first byte on.
pub(super) struct Bitmap<'o> {
    pub(super) bytes: &'o mut [u8],
    pub(super) offset: usize,
}

impl Output for Bitmap<'_> {
    fn before(&self) -> usize {
        self.offset
    }

    /// No byte belongs to both: the second part begins at a border.
    fn split_at(self, elements: usize) -> (Self, Self) {
        let (first, second) = self.bytes.split_at_mut((self.offset + elements) / 8);
        (Self { bytes: first, offset: self.offset }, Self { bytes: second, offset: 0 })
    }
}

/// Runs `part` on parts of no more than [`GRAIN`] bytes, on all threads; it gets the index of its
/// first element too. `join` makes one result of those of neighbours, the lower first.
pub(super) fn on_parts<O: Output, R: Send>(
    x: Elements<'_>,
    out: O,
    part: &(impl Fn(usize, Elements<'_>, O) -> R + Sync),
    join: &(impl Fn(R, R) -> R + Sync),
) -> R {
    halves(0, x, out, part, join)
}

fn halves<O: Output, R: Send>(
    start: usize,
    x: Elements<'_>,
    out: O,
    part: &(impl Fn(usize, Elements<'_>, O) -> R + Sync),
    join: &(impl Fn(R, R) -> R + Sync),
) -> R {
    if x.as_bytes().len() <= GRAIN {
        return part(start, x, out);
    }
    // More than GRAIN bytes are many borders, so neither half is empty.
    let middle = (x.len() / 2).next_multiple_of(BORDER) - out.before();
    let (x, x_behind) = x.split_at(middle);
    let (out, out_behind) = out.split_at(middle);
    let (first, second) = rayon::join(
        || halves(start, x, out, part, join),
        || halves(start + middle, x_behind, out_behind, part, join),
    );
    join(first, second)
}
