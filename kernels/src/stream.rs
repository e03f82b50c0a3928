//! Decides which byte masks are written past the caches.

use crate::cache;

/// Shorter masks always go into the caches: no last-level cache is smaller than this.
pub(crate) const LEAST: usize = 1 << 20;

/// Whether a mask of `results` results is written past the caches: it is if the last-level cache
/// cannot hold it. Always false if no backend can write past the caches.
#[doc(hidden)]
#[inline(always)]
#[must_use]
pub fn streams(results: usize) -> bool {
    cfg!(any(target_arch = "x86", target_arch = "x86_64"))
        && results >= LEAST
        && cache::last_level().is_some_and(|bytes| results >= bytes)
}

/// Sets the size of the last-level cache for [`streams`], in the whole process, for tests. Answers
/// are the same with every size.
#[doc(hidden)]
pub fn set_last_level_cache(bytes: usize) {
    cache::set_last_level(bytes);
}
