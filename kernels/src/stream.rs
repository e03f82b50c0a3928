//! Byte masks that no cache can hold: written past the caches, which saves reading each line before it is overwritten.

use core::mem::MaybeUninit;

use crate::cache;
use crate::drive;
use crate::isa::{Blocks, MaskBlock};
use crate::lane::{BLOCK, Lane};
use crate::out::MaskOut;
use crate::path::{Path, Sink, Tests};
use crate::rule::{Op, Pair, Rule, Test};
use crate::sinks;

/// A cache line of results.
#[repr(C, align(64))]
pub(crate) struct Line(MaskBlock);

/// What an instruction set has for it. Without it masks are written as ever.
pub(crate) trait Stream: Copy {
    /// Whether it has stores past the caches.
    const STREAMS: bool = false;

    /// Writes a line.
    #[inline(always)]
    fn stream(self, results: &MaskBlock, line: &mut Line) {
        line.0 = *results;
    }

    /// Keeps later stores behind those of [`Stream::stream`], which no other order binds.
    #[inline(always)]
    fn fence(self) {}
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod x86 {
    #[cfg(target_arch = "x86")]
    use core::arch::x86::*;
    #[cfg(target_arch = "x86_64")]
    use core::arch::x86_64::*;

    use super::{Line, Stream};
    use crate::avx2::Avx2;
    use crate::avx512::Avx512;
    use crate::isa::MaskBlock;

    impl Stream for Avx2 {
        const STREAMS: bool = true;

        #[inline(always)]
        fn stream(self, results: &MaskBlock, line: &mut Line) {
            // SAFETY: `self` proves AVX2. Both have 64 bytes, and a `Line` is aligned to 64, where the stores ask for 32.
            unsafe {
                let (from, to) = (results.as_ptr().cast::<__m256i>(), line.0.as_mut_ptr().cast::<__m256i>());
                _mm256_stream_si256(to, _mm256_loadu_si256(from));
                _mm256_stream_si256(to.add(1), _mm256_loadu_si256(from.add(1)));
            }
        }

        #[inline(always)]
        fn fence(self) {
            // SAFETY: `self` proves AVX2, which no CPU has without SSE.
            unsafe { _mm_sfence() }
        }
    }

    impl Stream for Avx512 {
        const STREAMS: bool = true;

        #[inline(always)]
        fn stream(self, results: &MaskBlock, line: &mut Line) {
            // SAFETY: `self` proves AVX-512 F. Both have 64 bytes, and a `Line` is aligned to 64, as the store asks for.
            unsafe {
                let to = line.0.as_mut_ptr().cast::<__m512i>();
                _mm512_stream_si512(to, _mm512_loadu_si512(results.as_ptr().cast()));
            }
        }

        #[inline(always)]
        fn fence(self) {
            // SAFETY: `self` proves AVX-512 F, which no CPU has without SSE.
            unsafe { _mm_sfence() }
        }
    }
}

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
impl Stream for crate::neon::Neon {}

#[cfg(any(
    feature = "portable",
    not(any(
        target_arch = "x86",
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    ))
))]
impl Stream for crate::portable::Portable {}

/// Masks of fewer results are not looked at: no last-level cache is as small.
pub(crate) const LEAST: usize = 1 << 20;

/// Whether a mask of so many results is better written past the caches: where the last of them cannot hold it. Never
/// true where no path could do so.
#[doc(hidden)]
#[inline(always)]
#[must_use]
pub fn streams(results: usize) -> bool {
    cfg!(any(target_arch = "x86", target_arch = "x86_64"))
        && results >= LEAST
        && cache::last_level().is_some_and(|bytes| results >= bytes)
}

/// [`crate::mask`] written past the caches, however short it is: for parts of a mask that [`streams`].
///
/// # Panics
/// As [`crate::mask`].
#[doc(hidden)]
#[track_caller]
pub fn mask_streamed(path: Option<Path>, x: &[u8], rule: &Rule, out: MaskOut<'_>) {
    match rule {
        Rule::Test(test)
            if cfg!(any(target_arch = "x86", target_arch = "x86_64"))
                && out.len() >= BLOCK
                && out.len() == x.len() / rule.size() =>
        {
            Path::run::<Streamed>(path, x, test, out.slots());
        }
        _ => sinks::mask(path, x, rule, out),
    }
}

/// A byte mask past the caches.
pub(crate) struct Streamed;

impl Sink for Streamed {
    const TESTS: Tests = Tests::All;
    type Out<'o> = &'o mut [MaybeUninit<bool>];
    type Output = ();

    #[inline(always)]
    fn vector<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
        isa: I,
        x: &[L::Raw],
        test: &Test,
        out: &mut [MaybeUninit<bool>],
    ) {
        if I::STREAMS {
            mask::<L, I, O, NEGATE>(isa, x, test.pair(), out);
        } else {
            drive::mask::<L, I, O, NEGATE>(isa, x, test.pair(), out);
        }
    }

    #[inline(always)]
    fn scalar<L: Lane>(x: &[L::Raw], test: &Test, out: &mut [MaybeUninit<bool>]) {
        crate::scalar::mask::<L>(x, test, out);
    }
}

/// As [`drive::mask`]. Nothing is screened: memory is slower than any comparison.
#[inline(always)]
fn mask<L: Lane, I: Blocks<L>, O: Op, const NEGATE: bool>(
    isa: I,
    x: &[L::Raw],
    pair: Pair<L>,
    out: &mut [MaybeUninit<bool>],
) {
    let with = isa.constants(pair);
    // What lies before the first whole line and behind the last, each less than a block.
    if let (Some(first), Some(out)) = (x.first_chunk(), out.first_chunk_mut()) {
        isa.store::<O, NEGATE>(first, with, out);
    }
    if let (Some(last), Some(out)) = (x.last_chunk(), out.last_chunk_mut()) {
        isa.store::<O, NEGATE>(last, with, out);
    }
    // SAFETY: a `Line` is 64 bytes that need not be initialised, as are 64 slots, and no more than these.
    let (before, lines, _) = unsafe { out.align_to_mut::<Line>() };
    for (block, line) in x[before.len()..].as_chunks::<BLOCK>().0.iter().zip(lines) {
        let mut results = [MaybeUninit::uninit(); BLOCK];
        isa.store::<O, NEGATE>(block, with, &mut results);
        isa.stream(&results, line);
    }
    isa.fence();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What paths have that say no more.
    #[derive(Clone, Copy)]
    struct Plain;
    impl Stream for Plain {}

    #[test]
    fn lines_without_such_stores() {
        const { assert!(!Plain::STREAMS) };
        let results = core::array::from_fn(|i| MaybeUninit::new(i % 3 == 0));
        let mut line = Line([MaybeUninit::new(true); BLOCK]);
        Plain.stream(&results, &mut line);
        Plain.fence();
        // SAFETY: all of both were written.
        let read = |slot: &MaybeUninit<bool>| unsafe { slot.assume_init() };
        assert_eq!(line.0.each_ref().map(read), results.each_ref().map(read));
    }
}
