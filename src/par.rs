//! The same operations with several threads, by [rayon](https://docs.rs/rayon) (feature `rayon`).
//!
//! The answers are those of one thread, always. Inputs of no more than [`ALONE`] bytes are answered
//! on the calling thread; others are halved until a part has no more than [`GRAIN`] bytes, for the
//! threads of the current pool to take. A search stops in all threads soon after one has found what
//! decides.
//!
//! For elements that are not in a typed slice see [`bytes`], and for a backend of one's choice
//! [`Backend::par_mask`] and its like.

pub mod bytes;
mod halves;

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nonfinite_kernels::MaskOut;

use crate::backend;
use crate::slice::bitmap;
use crate::{Backend, Census, Element, Elements, Occurrences, Predicate};
pub use halves::{ALONE, GRAIN};
use halves::{Bitmap, is_small, on_parts};

/// [`crate::mask`] with several threads.
///
/// ```
/// use nonfinite::Predicate;
/// let x = vec![1.0f32; 1 << 20];
/// let mut out = vec![false; x.len()];
/// nonfinite::par::mask(&x, Predicate::Finite, &mut out);
/// assert!(out.iter().all(|&finite| finite));
/// ```
///
/// # Panics
/// If `x` and `out` differ in length; nothing is written then.
#[track_caller]
pub fn mask<T: Element>(x: &[T], predicate: Predicate, out: &mut [bool]) {
    mask_on(None, Elements::from(x), predicate, MaskOut::from(out));
}

/// [`crate::bits`] with several threads.
///
/// # Panics
/// If `out` does not have `x.len().div_ceil(64)` words; nothing is written then.
#[track_caller]
pub fn bits<T: Element>(x: &[T], predicate: Predicate, out: &mut [u64]) {
    bitmap(x.len(), out, |out| bits_on(None, Elements::from(x), predicate, out, 0));
}

/// [`crate::bits_at`] with several threads.
///
/// # Panics
/// If `out` ends before the last result, or before bit `offset`; nothing is written then.
#[track_caller]
pub fn bits_at<T: Element>(x: &[T], predicate: Predicate, out: &mut [u8], offset: usize) {
    bits_on(None, Elements::from(x), predicate, out, offset);
}

/// [`crate::any`] with several threads.
#[must_use]
pub fn any<T: Element>(x: &[T], predicate: Predicate) -> bool {
    any_on(None, Elements::from(x), predicate)
}

/// [`crate::all`] with several threads.
#[must_use]
pub fn all<T: Element>(x: &[T], predicate: Predicate) -> bool {
    all_on(None, Elements::from(x), predicate)
}

/// [`crate::count`] with several threads.
#[must_use]
pub fn count<T: Element>(x: &[T], predicate: Predicate) -> usize {
    count_on(None, Elements::from(x), predicate)
}

/// [`crate::position`] with several threads: the smallest index, whoever finds it.
#[must_use]
pub fn position<T: Element>(x: &[T], predicate: Predicate) -> Option<usize> {
    position_on(None, Elements::from(x), predicate)
}

/// [`crate::census`] with several threads.
#[must_use]
pub fn census<T: Element>(x: &[T]) -> Census {
    census_on(None, Elements::from(x))
}

/// With several threads (feature `rayon`), see [`mod@crate::par`].
impl Backend {
    /// [`par::mask`](mask()) on this backend. `out` may be `&mut [bool]`, `&mut [u8]` or
    /// `&mut [MaybeUninit<bool>]`.
    ///
    /// # Panics
    /// If `out` is not as long as `x`; nothing is written then.
    #[track_caller]
    pub fn par_mask<'a, 'o>(
        self,
        x: impl Into<Elements<'a>>,
        predicate: Predicate,
        out: impl Into<MaskOut<'o>>,
    ) {
        mask_on(Some(self), x.into(), predicate, out.into());
    }

    /// [`par::bits_at`](bits_at) on this backend.
    ///
    /// # Panics
    /// If `out` ends before the last result; nothing is written then.
    #[track_caller]
    pub fn par_bits<'a>(
        self,
        x: impl Into<Elements<'a>>,
        predicate: Predicate,
        out: &mut [u8],
        offset: usize,
    ) {
        bits_on(Some(self), x.into(), predicate, out, offset);
    }

    /// [`par::any`](any) on this backend.
    #[must_use]
    pub fn par_any<'a>(self, x: impl Into<Elements<'a>>, predicate: Predicate) -> bool {
        any_on(Some(self), x.into(), predicate)
    }

    /// [`par::all`](all) on this backend.
    #[must_use]
    pub fn par_all<'a>(self, x: impl Into<Elements<'a>>, predicate: Predicate) -> bool {
        all_on(Some(self), x.into(), predicate)
    }

    /// [`par::count`](count) on this backend.
    #[must_use]
    pub fn par_count<'a>(self, x: impl Into<Elements<'a>>, predicate: Predicate) -> usize {
        count_on(Some(self), x.into(), predicate)
    }

    /// [`par::position`](position) on this backend.
    #[must_use]
    pub fn par_position<'a>(
        self,
        x: impl Into<Elements<'a>>,
        predicate: Predicate,
    ) -> Option<usize> {
        position_on(Some(self), x.into(), predicate)
    }

    /// [`par::census`](census) on this backend.
    #[must_use]
    pub fn par_census<'a>(self, x: impl Into<Elements<'a>>) -> Census {
        census_on(Some(self), x.into())
    }
}

// What slices, bytes and backends have in common. Outputs of a wrong length go to the one-threaded
// forms, which refuse them.

#[track_caller]
fn mask_on(backend: Option<Backend>, x: Elements<'_>, predicate: Predicate, out: MaskOut<'_>) {
    if is_small(x) || out.len() != x.len() {
        return backend::mask(backend, x, predicate, out);
    }
    // By the length of the whole, which is not known from its parts.
    let mask = if backend::streams(out.len()) { backend::mask_streamed } else { backend::mask };
    on_parts(x, out, &|_, x, out| mask(backend, x, predicate, out), &|(), ()| ());
}

#[track_caller]
fn bits_on(
    backend: Option<Backend>,
    x: Elements<'_>,
    predicate: Predicate,
    out: &mut [u8],
    offset: usize,
) {
    let whole = out.get_mut(offset / 8..);
    match whole {
        Some(bytes) if !is_small(x) && (offset % 8 + x.len()).div_ceil(8) <= bytes.len() => {
            let out = Bitmap { bytes, offset: offset % 8 };
            on_parts(
                x,
                out,
                &|_, x, out| backend::bits(backend, x, predicate, out.bytes, out.offset),
                &|(), ()| (),
            );
        }
        _ => backend::bits(backend, x, predicate, out, offset),
    }
}

fn any_on(backend: Option<Backend>, x: Elements<'_>, predicate: Predicate) -> bool {
    found(x, &|x| backend::any(backend, x, predicate))
}

fn all_on(backend: Option<Backend>, x: Elements<'_>, predicate: Predicate) -> bool {
    !found(x, &|x| !backend::all(backend, x, predicate))
}

/// Whether `hit` holds for a part.
fn found(x: Elements<'_>, hit: &(impl Fn(Elements<'_>) -> bool + Sync)) -> bool {
    let Some((head, rest)) = halves::head(x) else { return hit(x) };
    // Searched here first: a hit at the start must not wake other threads.
    if hit(head) {
        return true;
    }
    let found = AtomicBool::new(false);
    let part = |_, x: Elements<'_>, ()| {
        if !found.load(Ordering::Relaxed) && hit(x) {
            found.store(true, Ordering::Relaxed);
        }
    };
    on_parts(rest, (), &part, &|(), ()| ());
    found.into_inner()
}

fn position_on(backend: Option<Backend>, x: Elements<'_>, predicate: Predicate) -> Option<usize> {
    let Some((head, rest)) = halves::head(x) else {
        return backend::position(backend, x, predicate);
    };
    if let Some(first) = backend::position(backend, head, predicate) {
        return Some(first);
    }
    // Of those found so far; an index is never as large.
    let first = AtomicUsize::new(usize::MAX);
    let part = |start, x: Elements<'_>, ()| {
        // What begins behind a hit cannot hold the first.
        if start < first.load(Ordering::Relaxed)
            && let Some(index) = backend::position(backend, x, predicate)
        {
            first.fetch_min(start + index, Ordering::Relaxed);
        }
    };
    on_parts(rest, (), &part, &|(), ()| ());
    let first = first.into_inner();
    (first != usize::MAX).then(|| head.len() + first)
}

fn count_on(backend: Option<Backend>, x: Elements<'_>, predicate: Predicate) -> usize {
    if is_small(x) {
        return backend::count(backend, x, predicate);
    }
    on_parts(x, (), &|_, x, ()| backend::count(backend, x, predicate), &|a, b| a + b)
}

fn census_on(backend: Option<Backend>, x: Elements<'_>) -> Census {
    if is_small(x) {
        return backend::census(backend, x);
    }
    let part = |start, x: Elements<'_>, ()| {
        let census = backend::census(backend, x);
        let from = |class: Occurrences| Occurrences {
            first: class.first.map(|index| start + index),
            ..class
        };
        Census {
            nan: from(census.nan),
            pos_inf: from(census.pos_inf),
            neg_inf: from(census.neg_inf),
        }
    };
    let both = |a: Occurrences, b: Occurrences| Occurrences {
        count: a.count + b.count,
        first: a.first.or(b.first),
    };
    on_parts(x, (), &part, &|a: Census, b: Census| Census {
        nan: both(a.nan, b.nan),
        pos_inf: both(a.pos_inf, b.pos_inf),
        neg_inf: both(a.neg_inf, b.neg_inf),
    })
}
