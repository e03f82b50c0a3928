//! The one table of backends, and the choice among them.

use core::sync::atomic::{AtomicU8, Ordering};

use crate::rule::Comparison;
use crate::simd::{Loop, SameAs, Simd};

/// A loop of the scalar backend.
pub(crate) trait Question: Loop {
    /// The same answer, element by element.
    fn scalar(x: &[u8], comparison: &Comparison, out: Self::Out<'_>) -> Self::Output;
}

/// A loop of a backend, by its output and its return value. It may only be called if the CPU has
/// that backend.
type Function<O, R> = unsafe fn(&[u8], &Comparison, O) -> R;

/// A loop of a backend, by its question.
type Run<Q> = unsafe fn(&[u8], &Comparison, <Q as Loop>::Out<'_>) -> <Q as Loop>::Output;

/// The loops of a question on every backend, by the number of the [`Backend`]. Questions that
/// differ only in the width of an element have one type: that for elements of one byte. Only
/// [`Row::of`] makes one. Rows are statics, so that the loops are compiled in this crate, once.
pub(crate) struct Row<Q: Loop>([Run<Q>; BACKENDS.len()]);

/// Declares the table, best backend first: a name, and the token that proves that the backend can
/// run. The scalar backend ends it.
macro_rules! backends {
    ($($(#[$cfg:meta])* $name:literal $token:ident in $module:ident;)*) => {
        /// The name of each backend, and whether the CPU has it.
        const BACKENDS: &[(&str, fn() -> bool)] = &[
            $($(#[$cfg])* ($name, || crate::$module::$token::detect().is_some()),)*
            ("scalar", || true),
        ];

        impl<Q: Loop> Row<Q> {
            /// The loops of the question for elements of one width.
            pub(crate) const fn of<M: Question + SameAs<Q>>() -> Self {
                Self([
                    $($(#[$cfg])* <crate::$module::$token as Simd>::vectorize::<M>,)*
                    M::scalar,
                ])
            }
        }
    };
}
backends! {
    #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
    "avx512" Avx512 in avx512;
    #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"))]
    "avx2" Avx2 in avx2;
    #[cfg(all(target_arch = "aarch64", target_endian = "little", target_feature = "neon"))]
    "neon" Neon in neon;
    #[cfg(any(
        feature = "portable",
        not(any(
            all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
            all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
        ))
    ))]
    "portable" Portable in portable;
}

/// A way to run the kernels that the CPU at hand has.
///
/// A `Backend` exists only for instructions that were detected, so every `Backend` can be used on
/// this CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(
    /// An index into [`BACKENDS`].
    u8,
);

/// No backend chosen yet.
const UNCHOSEN: u8 = u8::MAX;

/// The backend in use: [`UNCHOSEN`] or the number of a `Backend`.
static ACTIVE: AtomicU8 = AtomicU8::new(UNCHOSEN);

/// The backend last given to [`Backend::activate`]: [`UNCHOSEN`] or the number of a `Backend`.
static ACTIVATED: AtomicU8 = AtomicU8::new(UNCHOSEN);

impl Backend {
    /// The default backend. This is the backend given to [`Backend::activate`]. Without one it is
    /// the backend that the environment variable `NONFINITE_BACKEND` names (feature `std`), or else
    /// the best backend.
    ///
    /// # Panics
    /// The first call panics if `NONFINITE_BACKEND` is set and names no backend of this build that
    /// the CPU has: a pinned backend is never replaced by another one. An empty value counts as
    /// unset.
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
        panic!(
            "NONFINITE_BACKEND names the backend {name:?}, which this CPU or this build lacks; \
             backends are avx512, avx2, neon, portable and scalar"
        )
    }

    #[cfg(not(feature = "std"))]
    fn named_by_environment() -> Option<Self> {
        None
    }

    fn best() -> Self {
        Self::first(None).unwrap_or(Self(SCALAR))
    }

    /// The best backend of this name, or of any name, that the CPU has.
    #[inline(never)]
    fn first(wanted: Option<&[u8]>) -> Option<Self> {
        let position = BACKENDS.iter().position(|(name, detect)| {
            wanted.is_none_or(|wanted| wanted == name.as_bytes()) && detect()
        })?;
        Some(Self(position as u8))
    }

    /// Makes this backend the default from now on. Works without `std` too.
    pub fn activate(self) {
        ACTIVATED.store(self.0, Ordering::SeqCst);
        ACTIVE.store(self.0, Ordering::SeqCst);
    }

    /// The names of all backends that this build knows, best first, each with the backend if the
    /// CPU has it.
    pub fn all() -> impl ExactSizeIterator<Item = (&'static str, Option<Self>)> {
        BACKENDS
            .iter()
            .enumerate()
            .map(|(i, (name, detect))| (*name, detect().then_some(Self(i as u8))))
    }

    /// The backends that this CPU can run, best first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::all().filter_map(|(_, backend)| backend)
    }

    /// The backend of this name, if this build knows it and the CPU has it.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::first(Some(name.as_bytes()))
    }

    /// The name in the table: `avx512`, `avx2`, `neon`, `portable` or `scalar`.
    pub fn name(self) -> &'static str {
        BACKENDS[usize::from(self.0)].0
    }

    /// The first call, which chooses the backend. A function of its own, so that other calls save
    /// no registers, and not generic over the question, so that it is compiled once for each type
    /// of output and return value.
    ///
    /// # Safety
    /// The CPU must be able to run each of `loops` if it has the backend of that number.
    #[cold]
    #[inline(never)]
    #[expect(unsafe_code, reason = "a `Backend` is detected, which the loop needs")]
    unsafe fn run_first<O, R>(
        loops: &[Function<O, R>; BACKENDS.len()],
        x: &[u8],
        comparison: &Comparison,
        out: O,
    ) -> R {
        let run = loops[usize::from(Self::choose().0)];
        // SAFETY: `run` stands at the number of a `Backend`, which is detected.
        unsafe { run(x, comparison, out) }
    }
}

impl<Q: Loop> Row<Q> {
    /// Runs the loop of the question, on the active backend if `backend` is `None`: a load and a
    /// jump.
    #[inline(always)]
    #[expect(unsafe_code, reason = "a `Backend` is detected, which the loop needs")]
    pub(crate) fn run(
        &self,
        backend: Option<Backend>,
        x: &[u8],
        comparison: &Comparison,
        out: Q::Out<'_>,
    ) -> Q::Output {
        let number = backend.map_or_else(|| ACTIVE.load(Ordering::Relaxed), |backend| backend.0);
        match self.0.get(usize::from(number)) {
            // SAFETY: `run` stands in the row at the number of a `Backend`, which is detected: that
            // of `backend`, or one that was stored in `ACTIVE`.
            Some(run) => unsafe { run(x, comparison, out) },
            // `UNCHOSEN`, which is not an index of the row.
            // SAFETY: the loops of a row stand at the numbers of their backends.
            None => unsafe { Backend::run_first(&self.0, x, comparison, out) },
        }
    }

    /// [`Row::run`], where a call more does not matter.
    #[inline(never)]
    pub(crate) fn call(
        &self,
        backend: Option<Backend>,
        x: &[u8],
        comparison: &Comparison,
        out: Q::Out<'_>,
    ) -> Q::Output {
        self.run(backend, x, comparison, out)
    }
}

/// The number of the scalar backend, the last.
const SCALAR: u8 = BACKENDS.len() as u8 - 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row has the backends in the order of the table of names.
    #[test]
    fn rows_are_in_the_order_of_the_table() {
        struct Which;
        impl Loop for Which {
            type Out<'o> = ();
            type Output = &'static str;
            #[inline(always)]
            fn vector<I: Simd>(_: I, _: &[u8], _: &Comparison, (): ()) -> &'static str {
                core::any::type_name::<I>()
            }
        }
        impl SameAs<Which> for Which {}
        impl Question for Which {
            fn scalar(_: &[u8], _: &Comparison, (): ()) -> &'static str {
                "::Scalar"
            }
        }
        let crate::Rule::Comparison(comparison) = crate::Rule::equal(1, 1, 1) else {
            unreachable!()
        };
        for (name, backend) in Backend::all() {
            std::println!(
                "backend {name}: {}",
                if backend.is_some() { "ran" } else { "not on this CPU" }
            );
            if backend.is_some() {
                let row = Row::of::<Which>();
                let which = row.run(backend, &[], &comparison, ());
                assert!(
                    which.to_lowercase().ends_with(&std::format!("::{name}")),
                    "{which} {name}"
                );
            }
        }
    }
}
