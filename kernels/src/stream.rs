//! Which byte masks are better written past the caches.

use crate::cache;

/// Masks of fewer results are not looked at: no last-level cache is as small.
pub(crate) const LEAST: usize = 1 << 20;

/// Whether a mask of so many results is better written past the caches: where the last of them
/// cannot hold it. Never true where no backend could do so.
#[doc(hidden)]
#[inline(always)]
#[must_use]
pub fn streams(results: usize) -> bool {
    cfg!(any(target_arch = "x86", target_arch = "x86_64"))
        && results >= LEAST
        && cache::last_level().is_some_and(|bytes| results >= bytes)
}

/// Makes [`streams`] take `bytes` for the size of the last-level cache, in the whole process: for
/// tests of masks that stream, whatever the CPU says. Answers are the same with every size.
#[doc(hidden)]
pub fn set_last_level_cache(bytes: usize) {
    cache::set_last_level(bytes);
}
