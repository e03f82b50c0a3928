//! The one table of backends, and the choice among them.

use core::sync::atomic::{AtomicU8, Ordering};

/// The list of backends, best first: the module, the name, and the length in bytes from which on
/// byte masks skip groups without a hit, since the faster a backend compares, the longer a mask
/// must be for this to pay. Then whether `detect` of the module asks for POPCNT and BMI2.
/// `backends!(macro (arguments))` calls a macro with the arguments and this list. The scalar
/// backend, which runs everywhere, is the last.
macro_rules! backends {
    ($use:ident $arguments:tt) => {
        $use! { $arguments
            #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
            [crate::x86::avx512] "avx512" 8192 true;
            #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
            [crate::x86::avx2] "avx2" 2048 true;
            #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
            [crate::x86::sse2] "sse2" (usize::MAX) false;
            #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
            [crate::neon] "neon" 2048 false;
            #[cfg(any(
                feature = "portable",
                not(any(
                    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
                    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
                ))
            ))]
            [crate::portable] "portable" 2048 false;
            [crate::scalar] "scalar" (usize::MAX) false;
        }
    };
}
pub(crate) use backends;

/// What `backends!` says of a backend.
struct Row {
    name: &'static str,
    /// Whether the CPU has the backend.
    detect: fn() -> bool,
    skips_from: usize,
    /// Whether `detect` asks for POPCNT and BMI2.
    popcnt: bool,
}

macro_rules! rows {
    (() $($(#[$cfg:meta])* [$($backend:tt)*] $name:literal $skips_from:tt $popcnt:literal;)*) => {
        &[$(
            $(#[$cfg])*
            Row {
                name: $name,
                detect: $($backend)*::detect,
                skips_from: $skips_from,
                popcnt: $popcnt,
            },
        )*]
    };
}

const BACKENDS: &[Row] = backends!(rows());

/// The number of entries of a table of leaves: one for the first call and one for each backend.
pub(crate) const ENTRIES: usize = BACKENDS.len() + 1;

/// The kernels for one instruction set.
///
/// A `Backend` exists only for instructions that were detected, so this CPU can run every
/// `Backend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(
    /// 1 more than an index into [`BACKENDS`].
    u8,
);

/// No backend chosen yet.
const UNCHOSEN: u8 = 0;

/// The backend in use: [`UNCHOSEN`] or the number of a `Backend`.
static ACTIVE: AtomicU8 = AtomicU8::new(UNCHOSEN);

/// The backend last given to [`Backend::activate`]: [`UNCHOSEN`] or the number of a `Backend`.
static ACTIVATED: AtomicU8 = AtomicU8::new(UNCHOSEN);

impl Backend {
    /// The default backend: the one given to [`Backend::activate`], else the one that the
    /// environment variable `NONFINITE_BACKEND` names (feature `std`), else the best that the CPU
    /// has.
    ///
    /// # Panics
    /// If no backend was activated, and `NONFINITE_BACKEND` names no backend of this build that the
    /// CPU has: a pinned backend is never replaced by another one. Upper and lower case are the
    /// same. An empty value counts as unset.
    /// Questions about fewer than 64 bytes may need no backend, and then do not call this.
    #[inline]
    pub fn active() -> Self {
        match ACTIVE.load(Ordering::Relaxed) {
            UNCHOSEN => Self::choose(),
            backend => Self(backend),
        }
    }

    #[cold]
    #[inline(never)]
    fn choose() -> Self {
        let mut backend = Self::named_by_environment().unwrap_or_else(Self::best);
        // Works without compare-and-swap, since some targets do not have it. `activate` stores in
        // the other order. So a backend that another thread activates meanwhile is either stored in
        // `ACTIVE` after this store, or seen here.
        loop {
            ACTIVE.store(backend.0, Ordering::SeqCst);
            match ACTIVATED.load(Ordering::SeqCst) {
                activated if activated != UNCHOSEN && activated != backend.0 => {
                    backend = Self(activated)
                }
                _ => return backend,
            }
        }
    }

    #[cfg(feature = "std")]
    fn named_by_environment() -> Option<Self> {
        let name = std::env::var_os("NONFINITE_BACKEND").filter(|name| !name.is_empty())?;
        let backend = Self::first(Some(name.as_encoded_bytes()));
        Some(backend.unwrap_or_else(|| Self::not_here(&name)))
    }

    #[cfg(feature = "std")]
    fn not_here(name: &std::ffi::OsStr) -> ! {
        let names: std::vec::Vec<_> = BACKENDS.iter().map(|row| row.name).collect();
        panic!(
            "NONFINITE_BACKEND names the backend {name:?}, which this CPU or this build lacks; \
             the backends of this build are {}",
            names.join(", ")
        )
    }

    #[cfg(not(feature = "std"))]
    fn named_by_environment() -> Option<Self> {
        None
    }

    /// The best backend of this name, or of any name, that the CPU has.
    #[inline(never)]
    fn first(wanted: Option<&[u8]>) -> Option<Self> {
        let position = BACKENDS.iter().position(|row| {
            wanted.is_none_or(|name| name.eq_ignore_ascii_case(row.name.as_bytes()))
                && (row.detect)()
        })?;
        Some(Self(position as u8 + 1))
    }

    fn best() -> Self {
        // The scalar backend, the last row, runs everywhere.
        Self::first(None).unwrap_or(Self(BACKENDS.len() as u8))
    }

    /// Makes this backend the default from now on. Works without `std` too.
    pub fn activate(self) {
        ACTIVATED.store(self.0, Ordering::SeqCst);
        ACTIVE.store(self.0, Ordering::SeqCst);
    }

    /// The names of all backends that this build knows, best first, each with the backend if the
    /// CPU has it.
    pub fn all() -> impl ExactSizeIterator<Item = (&'static str, Option<Self>)> {
        BACKENDS.iter().enumerate().map(|(i, row)| {
            let backend = (row.detect)().then_some(Self(i as u8 + 1));
            (row.name, backend)
        })
    }

    /// The backends that this CPU can run, best first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::all().filter_map(|(_, backend)| backend)
    }

    /// The backend of this name, in any case, if this build knows it and the CPU has it.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::first(Some(name.as_bytes()))
    }

    /// The name in the table: `avx512`, `avx2`, `sse2`, `neon`, `portable` or `scalar`.
    pub fn name(self) -> &'static str {
        BACKENDS[usize::from(self.0) - 1].name
    }

    /// The index into a table of leaves: the number of `backend`, or of the active backend if
    /// `None`. 0 before a backend is active.
    #[inline(always)]
    pub(crate) fn index(backend: Option<Self>) -> usize {
        backend.map_or_else(|| ACTIVE.load(Ordering::Relaxed), |backend| backend.0).into()
    }

    /// Whether the backend, or the active one if `None`, shows that the CPU has POPCNT and BMI2.
    #[inline]
    pub(crate) fn has_popcnt(backend: Option<Self>) -> bool {
        Self::index(backend).checked_sub(1).is_some_and(|i| BACKENDS[i].popcnt)
    }

    /// The length in bytes from which on byte masks skip groups without a hit.
    #[inline(always)]
    pub(crate) fn skips_from(backend: Option<Self>) -> usize {
        // Before a backend is active, any length does: skipping changes no answer.
        BACKENDS[Self::index(backend).saturating_sub(1)].skips_from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each backend has the name of its row. Prints which backends the CPU has.
    #[test]
    fn backends_have_the_names_of_their_rows() {
        for (name, backend) in Backend::all() {
            let ran = if backend.is_some() { "ran" } else { "not on this CPU" };
            std::println!("backend {name}: {ran}");
            assert!(backend.is_none_or(|backend| backend.name() == name));
        }
    }
}
