//! Element types: the [`Format`] of a typed slice.

use core::fmt;
use core::marker::PhantomData;

pub use nonfinite_kernels::{
    F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E3M4, F8E4M3, F8E4M3B11FnUz, F8E4M3Fn, F8E4M3FnUz, F8E5M2,
    F8E5M2FnUz, F8E8M0Fnu,
};
use nonfinite_kernels::{Rule, bytes};

use crate::rules::{Asked, Rules};
use crate::{Error, Format, Predicate};

pub(crate) mod sealed {
    use nonfinite_kernels::{Bits, Lane};

    /// What the kernels need to know of an element.
    pub trait Sealed: Bits {
        /// The integer with the bits of an element.
        type Lane: Lane;
    }
}

/// The type of one element: `f32`, `f64`, `half::f16`, `half::bf16` (feature `half`) and the small
/// formats of this crate. There is one type for each [`Format`].
///
/// This trait is sealed: no other crate can implement it, and what it extends is no part of the
/// interface. A slice of arrays is asked as the slice of all their elements:
///
/// ```
/// let points = vec![[0.0f32, 1.0, 2.0], [3.0, f32::NAN, 5.0]];
/// assert!(!nonfinite::all_finite(points.as_flattened()));
/// ```
///
/// ```compile_fail,E0277
/// let points = vec![[0.0f32, 1.0, 2.0], [3.0, f32::NAN, 5.0]];
/// assert!(!nonfinite::all_finite(&points));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of an element",
    note = "ask a slice of arrays as the slice of their elements: `x.as_flattened()`"
)]
pub trait Element: sealed::Sealed + Default {
    /// The format of its bits.
    const FORMAT: Format;
}

/// The rules of one type, so that a program that uses one type links no other rules.
struct Typed<T>(PhantomData<T>);

impl<T: Element> Typed<T> {
    const RULES: &'static Rules = &T::FORMAT.rules();
}

/// The rule of a predicate for this type: see [`Format::asked`].
#[inline(always)]
#[track_caller]
pub(crate) fn asked<T: Element>(predicate: Predicate) -> Asked {
    match predicate {
        #[cfg(feature = "stats")]
        Predicate::Exceeds(threshold) => {
            let (size, magnitude) = const { (size_of::<T>(), T::FORMAT.magnitude()) };
            Asked::Made(threshold.rule(T::FORMAT, size, magnitude))
        }
        _ => Asked::Known(known::<T>(predicate)),
    }
}

/// The rule of a predicate without a threshold.
#[inline(always)]
pub(crate) fn known<T: Element>(predicate: Predicate) -> &'static Rule {
    &Typed::<T>::RULES[predicate.place()]
}

macro_rules! element {
    ($lane:ident: $($type:ty => $format:ident;)*) => { $(
        impl sealed::Sealed for $type {
            type Lane = $lane;
        }
        impl Element for $type {
            const FORMAT: Format = Format::$format;
        }
        const _: () = {
            assert!(size_of::<$type>() == Format::$format.size_in_bytes());
            assert!(size_of::<$type>() == size_of::<$lane>());
        };
    )* };
}
element! { u32:
    f32 => F32;
}
element! { u64:
    f64 => F64;
}
#[cfg(feature = "half")]
element! { u16:
    half::f16 => F16;
    half::bf16 => Bf16;
}
element! { u8:
    F8E4M3Fn => F8E4M3Fn;
    F8E4M3FnUz => F8E4M3FnUz;
    F8E5M2 => F8E5M2;
    F8E5M2FnUz => F8E5M2FnUz;
    F8E4M3 => F8E4M3;
    F8E3M4 => F8E3M4;
    F8E4M3B11FnUz => F8E4M3B11FnUz;
    F8E8M0Fnu => F8E8M0Fnu;
    F4E2M1Fn => F4E2M1Fn;
    F6E2M3Fn => F6E2M3Fn;
    F6E3M2Fn => F6E3M2Fn;
}

/// A run of elements of one format: a typed slice, or bytes at any address in the byte order of the
/// machine.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    pub(crate) format: Format,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Elements<'a> {
    /// The elements in `bytes`.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the length is not a multiple of the element size.
    #[inline]
    pub fn from_bytes(bytes: &'a [u8], format: Format) -> Result<Self, Error> {
        // Sizes are powers of two. A division would take as long as the search of a few elements.
        if bytes.len() & (format.size_in_bytes() - 1) == 0 {
            Ok(Self { format, bytes })
        } else {
            Err(Error::PartialElement { bytes: bytes.len(), format })
        }
    }

    /// The bytes of the elements.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The format of the elements.
    #[must_use]
    #[inline]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The number of elements.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() >> self.format.size_in_bytes().trailing_zeros()
    }

    /// Whether there is no element.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The first `count` elements, and the rest.
    ///
    /// # Panics
    /// If there are fewer elements.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn split_at(self, count: usize) -> (Self, Self) {
        // Checked first, since the bytes of a `count` beyond the end may overflow a `usize`.
        assert!(count <= self.len(), "split at element {count} of {}", self.len());
        let (first, rest) = self.bytes.split_at(count * self.format.size_in_bytes());
        (Self { bytes: first, ..self }, Self { bytes: rest, ..self })
    }
}

/// Prints no data, which may be large.
impl fmt::Debug for Elements<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Elements({} of {})", self.len(), self.format)
    }
}

impl<'a, T: Element> From<&'a [T]> for Elements<'a> {
    #[inline]
    fn from(x: &'a [T]) -> Self {
        Self { format: T::FORMAT, bytes: bytes(x) }
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Elements<'a> {
    #[inline]
    fn from(x: &'a [T; N]) -> Self {
        x.as_slice().into()
    }
}

#[cfg(feature = "std")]
impl<'a, T: Element> From<&'a std::vec::Vec<T>> for Elements<'a> {
    #[inline]
    fn from(x: &'a std::vec::Vec<T>) -> Self {
        x.as_slice().into()
    }
}
