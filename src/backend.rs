//! The backends of this build.

use nonfinite_kernels::Backend;

/// A backend in the list of [`backends`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendInfo {
    /// `avx512`, `avx2`, `sse2`, `neon`, `portable` or `scalar`.
    pub name: &'static str,
    /// Whether this CPU can run the backend.
    pub available: bool,
    /// Whether this is the active backend, which questions use unless they name another.
    pub active: bool,
}

/// All backends of this build, best first.
///
/// # Panics
/// As [`Backend::active`].
pub fn backends() -> impl ExactSizeIterator<Item = BackendInfo> {
    let active = Backend::active();
    Backend::all().map(move |(name, backend)| BackendInfo {
        name,
        available: backend.is_some(),
        active: backend == Some(active),
    })
}
