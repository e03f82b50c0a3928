//! The backends that can run here, and the sinks over [`Elements`] on a backend of one's choice.

use nonfinite_kernels as kernels;
use nonfinite_kernels::MaskOut;

#[cfg(feature = "scale")]
use crate::scale;
use crate::{Census, Elements, Predicate};
#[cfg(any(feature = "replace", feature = "scale"))]
use crate::{ElementsMut, Error};
#[cfg(feature = "replace")]
use crate::{Replacement, replace};

/// A way to run the kernels: an instruction set that was found on this CPU.
///
/// Callers need it for tests, benchmarks and `no_std` builds that want another backend than the
/// best; the functions at the top of the crate use [`Backend::active`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backend(kernels::Backend);

/// A backend as [`backends`] lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendInfo {
    /// `avx512`, `avx2`, `neon`, `portable` or `scalar`.
    pub name: &'static str,
    /// Whether this CPU can run it.
    pub available: bool,
    /// Whether the functions of this crate use it.
    pub active: bool,
}

/// All backends that this build knows, best first.
///
/// # Panics
/// As [`Backend::active`].
pub fn backends() -> impl ExactSizeIterator<Item = BackendInfo> {
    let active = Backend::active().name();
    kernels::Backend::all().map(move |(name, backend)| BackendInfo {
        name,
        available: backend.is_some(),
        active: name == active,
    })
}

impl Backend {
    /// The backend that the functions of this crate use: the one given to [`Backend::activate`],
    /// else (feature `std`) the one that the environment variable `NONFINITE_BACKEND` names, else
    /// the best.
    ///
    /// # Panics
    /// The first use of any function of this crate panics if `NONFINITE_BACKEND` is set, is not
    /// empty, and names no backend of this build that this CPU can run: whoever pins a backend must
    /// not get another.
    #[must_use]
    pub fn active() -> Self {
        Self(kernels::Backend::active())
    }

    #[inline]
    pub(crate) fn kernel(self) -> kernels::Backend {
        self.0
    }

    /// From now on the functions of this crate use this backend, in all threads. This is the way to
    /// choose one without `std`.
    pub fn activate(self) {
        self.0.activate();
    }

    /// The backend of this name, if this build knows it and the CPU can run it.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        kernels::Backend::by_name(name).map(Self)
    }

    /// The backends that this CPU can run, best first.
    pub fn available() -> impl Iterator<Item = Self> {
        kernels::Backend::all().filter_map(|(_, backend)| backend.map(Self))
    }

    /// `avx512`, `avx2`, `neon`, `portable` or `scalar`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// [`crate::mask`] on this backend. `out` may be `&mut [bool]`, `&mut [u8]` or
    /// `&mut [MaybeUninit<bool>]`.
    ///
    /// # Panics
    /// If `out` is not as long as `x`; nothing is written then.
    #[track_caller]
    pub fn mask<'a, 'o>(
        self,
        x: impl Into<Elements<'a>>,
        predicate: Predicate,
        out: impl Into<MaskOut<'o>>,
    ) {
        mask(Some(self), x.into(), predicate, out.into());
    }

    /// [`crate::bits_at`] on this backend.
    ///
    /// # Panics
    /// If `out` ends before the last result, or before bit `offset`; nothing is written then.
    #[track_caller]
    pub fn bits<'a>(
        self,
        x: impl Into<Elements<'a>>,
        predicate: Predicate,
        out: &mut [u8],
        offset: usize,
    ) {
        bits(Some(self), x.into(), predicate, out, offset);
    }

    /// [`crate::any`] on this backend.
    #[must_use]
    pub fn any<'a>(self, x: impl Into<Elements<'a>>, predicate: Predicate) -> bool {
        any(Some(self), x.into(), predicate)
    }

    /// [`crate::all`] on this backend.
    #[must_use]
    pub fn all<'a>(self, x: impl Into<Elements<'a>>, predicate: Predicate) -> bool {
        all(Some(self), x.into(), predicate)
    }

    /// [`crate::count`] on this backend.
    #[must_use]
    pub fn count<'a>(self, x: impl Into<Elements<'a>>, predicate: Predicate) -> usize {
        count(Some(self), x.into(), predicate)
    }

    /// [`crate::position`] on this backend.
    #[must_use]
    pub fn position<'a>(self, x: impl Into<Elements<'a>>, predicate: Predicate) -> Option<usize> {
        position(Some(self), x.into(), predicate)
    }

    /// [`crate::census`] on this backend.
    #[must_use]
    pub fn census<'a>(self, x: impl Into<Elements<'a>>) -> Census {
        census(Some(self), x.into())
    }

    /// [`crate::bytes::replace_non_finite`] on this backend.
    ///
    /// # Errors
    /// [`Error::Code`]; nothing is written then.
    #[cfg(feature = "replace")]
    pub fn replace_non_finite<'a>(
        self,
        x: impl Into<ElementsMut<'a>>,
        with: Replacement<u64>,
    ) -> Result<usize, Error> {
        replace::in_place(Some(self), x.into(), with)
    }

    /// [`crate::bytes::replace_non_finite_into`] on this backend.
    ///
    /// # Errors
    /// [`Error::Code`], or [`Error::OutputBytes`] if `out` is not as long as `x`; nothing is
    /// written then.
    #[cfg(feature = "replace")]
    pub fn replace_non_finite_into<'a>(
        self,
        x: impl Into<Elements<'a>>,
        out: &mut [u8],
        with: Replacement<u64>,
    ) -> Result<usize, Error> {
        replace::into(Some(self), x.into(), out, with)
    }

    /// [`crate::scale::unscale_and_check_bytes`] on this backend.
    ///
    /// # Errors
    /// [`Error::NoArithmetic`]; nothing is written then.
    #[cfg(feature = "scale")]
    pub fn unscale_and_check<'a>(
        self,
        x: impl Into<ElementsMut<'a>>,
        factor: f64,
    ) -> Result<bool, Error> {
        scale::run(Some(self), x.into(), factor)
    }
}

// What bytes and backends have in common. Without a backend the active one is used.

#[inline]
#[track_caller]
pub(crate) fn mask(
    backend: Option<Backend>,
    x: Elements<'_>,
    predicate: Predicate,
    out: MaskOut<'_>,
) {
    kernels::mask(backend.map(Backend::kernel), x.as_bytes(), x.format().rule(predicate), out);
}

/// Whether a mask of so many results is better written by [`mask_streamed`]; [`mask`] looks itself.
#[cfg(feature = "rayon")]
pub(crate) fn streams(results: usize) -> bool {
    kernels::streams(results)
}

/// [`mask`], past the caches: for a part of a mask that [`streams`].
#[cfg(feature = "rayon")]
pub(crate) fn mask_streamed(
    backend: Option<Backend>,
    x: Elements<'_>,
    predicate: Predicate,
    out: MaskOut<'_>,
) {
    kernels::mask_streamed(
        backend.map(Backend::kernel),
        x.as_bytes(),
        x.format().rule(predicate),
        out,
    );
}

#[inline]
#[track_caller]
pub(crate) fn bits(
    backend: Option<Backend>,
    x: Elements<'_>,
    predicate: Predicate,
    out: &mut [u8],
    offset: usize,
) {
    kernels::bits(
        backend.map(Backend::kernel),
        x.as_bytes(),
        x.format().rule(predicate),
        out,
        offset,
    );
}

#[inline]
pub(crate) fn position(
    backend: Option<Backend>,
    x: Elements<'_>,
    predicate: Predicate,
) -> Option<usize> {
    kernels::position(backend.map(Backend::kernel), x.as_bytes(), x.format().rule(predicate))
}

#[inline]
pub(crate) fn any(backend: Option<Backend>, x: Elements<'_>, predicate: Predicate) -> bool {
    position(backend, x, predicate).is_some()
}

#[inline]
pub(crate) fn all(backend: Option<Backend>, x: Elements<'_>, predicate: Predicate) -> bool {
    kernels::position(backend.map(Backend::kernel), x.as_bytes(), x.format().opposite(predicate))
        .is_none()
}

#[inline]
pub(crate) fn count(backend: Option<Backend>, x: Elements<'_>, predicate: Predicate) -> usize {
    kernels::count(backend.map(Backend::kernel), x.as_bytes(), x.format().rule(predicate))
}

#[inline]
pub(crate) fn census(backend: Option<Backend>, x: Elements<'_>) -> Census {
    kernels::census(backend.map(Backend::kernel), x.as_bytes(), x.format().rule(Predicate::Nan))
}
