//! The one list of backends, and the choice among them.

use core::num::NonZero;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::here::ByHand;
#[cfg(feature = "portable")]
use crate::plain::Portable;
use crate::plain::Scalar;
use crate::question::Compiled;

/// The backends of this build, best first. The scalar backend, which runs everywhere, is the last.
#[cfg(not(feature = "portable"))]
pub(crate) type Backends = ByHand<(Scalar, End)>;
#[cfg(feature = "portable")]
pub(crate) type Backends = ByHand<(Portable, (Scalar, End))>;

/// The end of a list of backends.
pub(crate) struct End;

/// A list of backends: `(the best, the others)`, or [`End`]. The place in the list makes the
/// number of a backend, its row, and its entry in each table of loops.
pub(crate) trait List {
    const LENGTH: usize;
    /// The number of the first backend of this list, among all: 1 for the best.
    const NUMBER: usize = ENTRIES - Self::LENGTH;
    const ROWS: [Row; ENTRIES - 1];
}

impl List for End {
    const LENGTH: usize = 0;
    const ROWS: [Row; ENTRIES - 1] = [Row::of::<Scalar>(); ENTRIES - 1];
}

impl<B: Compiled, Rest: List> List for (B, Rest) {
    const LENGTH: usize = 1 + Rest::LENGTH;
    const ROWS: [Row; ENTRIES - 1] = {
        let mut rows = Rest::ROWS;
        rows[Self::NUMBER - 1] = Row::of::<B>();
        rows
    };
}

/// What is asked of a backend before it runs.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    name: &'static str,
    /// The name: see [`number_of`].
    number: u64,
    detect: fn() -> bool,
    skips_from: usize,
}

impl Row {
    const fn of<B: Compiled>() -> Self {
        let Some(number) = number_of(B::NAME.as_bytes()) else { panic!("at most 8 bytes") };
        Self { name: B::NAME, number, detect: B::detect, skips_from: B::SKIPS_FROM }
    }
}

/// The number of entries of a table of loops: one for the first call and one for each backend.
pub(crate) const ENTRIES: usize = <Backends as List>::LENGTH + 1;

const BACKENDS: &[Row] = &<Backends as List>::ROWS;

/// The names of the backends of this build, a space before each. Made here, since the code that
/// writes one name after the other would be in every program.
#[cfg(feature = "std")]
const NAMES: &str = {
    const TEXT: [u8; 9 * BACKENDS.len()] = {
        let (mut text, mut at, mut row) = ([b' '; 9 * BACKENDS.len()], 0, 0);
        while row < BACKENDS.len() {
            let (name, mut i) = (BACKENDS[row].name.as_bytes(), 0);
            while i < name.len() {
                text[at + 1 + i] = name[i];
                i += 1;
            }
            (at, row) = (at + 1 + name.len(), row + 1);
        }
        text
    };
    match str::from_utf8(&TEXT) {
        Ok(text) => text.trim_ascii_end(),
        Err(_) => panic!("names are ASCII"),
    }
};

/// A name of one to eight bytes as a number that is the same for upper and lower case: bit 5 is set
/// in each byte. To compare names takes 400 bytes of code more in every program.
const fn number_of(name: &[u8]) -> Option<u64> {
    // No name here has such a byte. (A name with bytes FF or 12 may pass for another name.)
    let mut bytes = [0xFF; 8];
    if name.len() > bytes.len() {
        return None;
    }
    bytes.split_at_mut(name.len()).0.copy_from_slice(name);
    Some(u64::from_le_bytes(bytes) | 0x2020_2020_2020_2020)
}

/// The kernels for one instruction set.
///
/// A `Backend` exists only for instructions that were detected, so this CPU can run every
/// `Backend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(
    /// 1 more than an index into [`BACKENDS`]. Not zero, so that `Option<Backend>` is one byte.
    NonZero<u8>,
);

/// The number of the backend in use, or 0 before a backend is chosen.
static ACTIVE: AtomicU8 = AtomicU8::new(0);

/// The number of the backend last given to [`Backend::activate`], or 0.
static ACTIVATED: AtomicU8 = AtomicU8::new(0);

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
        NonZero::new(ACTIVE.load(Ordering::Relaxed)).map_or_else(Self::choose, Self)
    }

    #[cold]
    #[inline(never)]
    fn choose() -> Self {
        let mut backend = Self::named_by_environment().unwrap_or_else(Self::best);
        // Works without compare-and-swap, since some targets do not have it. `activate` stores in
        // the other order. So a backend that another thread activates meanwhile is either stored in
        // `ACTIVE` after this store, or seen here.
        loop {
            ACTIVE.store(backend.0.get(), Ordering::SeqCst);
            match NonZero::new(ACTIVATED.load(Ordering::SeqCst)) {
                Some(activated) if activated != backend.0 => backend = Self(activated),
                _ => return backend,
            }
        }
    }

    #[cfg(feature = "std")]
    fn named_by_environment() -> Option<Self> {
        let name = std::env::var_os("NONFINITE_BACKEND").filter(|name| !name.is_empty())?;
        let backend = Self::named(name.as_encoded_bytes());
        Some(backend.unwrap_or_else(|| Self::not_here(&name)))
    }

    #[cfg(feature = "std")]
    fn not_here(name: &std::ffi::OsStr) -> ! {
        panic!(
            "NONFINITE_BACKEND is {name:?}, which this CPU or this build lacks; \
             this build has{NAMES}"
        )
    }

    #[cfg(not(feature = "std"))]
    fn named_by_environment() -> Option<Self> {
        None
    }

    fn named(name: &[u8]) -> Option<Self> {
        Self::first(number_of(name)?)
    }

    fn best() -> Self {
        // The scalar backend, the last row, runs everywhere.
        Self::first(0).unwrap_or(Self::of_row(BACKENDS.len() - 1))
    }

    /// The best backend that the CPU has: of the name with this number, or of any name if 0.
    #[inline(never)]
    fn first(number: u64) -> Option<Self> {
        let wanted = |row: &Row| number == 0 || number == row.number;
        let position = BACKENDS.iter().position(|row| wanted(row) && (row.detect)())?;
        Some(Self::of_row(position))
    }

    const fn of_row(row: usize) -> Self {
        Self(NonZero::<u8>::MIN.saturating_add(row as u8))
    }

    /// Makes this backend the default from now on. Works without `std` too.
    pub fn activate(self) {
        ACTIVATED.store(self.0.get(), Ordering::SeqCst);
        ACTIVE.store(self.0.get(), Ordering::SeqCst);
    }

    /// The names of all backends that this build knows, best first, each with the backend if the
    /// CPU has it.
    pub fn all() -> impl ExactSizeIterator<Item = (&'static str, Option<Self>)> {
        BACKENDS.iter().enumerate().map(|(i, row)| {
            let backend = (row.detect)().then_some(Self::of_row(i));
            (row.name, backend)
        })
    }

    /// The backends that this CPU can run, best first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::all().filter_map(|(_, backend)| backend)
    }

    /// The backend of this name, in any case, if this build knows it and the CPU has it.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::named(name.as_bytes())
    }

    /// The name that [`Backend::by_name`] and `NONFINITE_BACKEND` take, such as `avx2`.
    pub fn name(self) -> &'static str {
        BACKENDS[usize::from(self.0.get()) - 1].name
    }

    /// The index into a table of loops: the number of `backend`, or of the active backend if
    /// `None`. 0 before a backend is active.
    #[inline(always)]
    pub(crate) fn index(backend: Option<Self>) -> usize {
        backend.map_or_else(|| ACTIVE.load(Ordering::Relaxed), |backend| backend.0.get()).into()
    }

    /// The length in bytes from which on byte masks skip groups without a hit.
    #[inline(always)]
    pub(crate) fn skips_from(backend: Option<Self>) -> usize {
        // Before a backend is active, any length does: skipping changes no answer.
        BACKENDS[Self::index(backend).saturating_sub(1)].skips_from
    }
}
