//! Element types: typed slices onto a [`Format`].

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::{Error, Format};

mod sealed {
    /// Plain bits without padding.
    pub trait Bits: Copy + zerocopy::FromBytes + zerocopy::IntoBytes + zerocopy::Immutable {}
}

/// A type whose slices can be checked: `f32`, `f64`, `half::f16`, `half::bf16` (feature `half`) and the small formats of
/// this crate. Sealed: there is one type for each [`Format`].
pub trait Element: sealed::Bits {
    /// How its bits are read.
    const FORMAT: Format;
}

macro_rules! element {
    ($($type:ty => $format:ident;)*) => { $(
        impl sealed::Bits for $type {}
        impl Element for $type {
            const FORMAT: Format = Format::$format;
        }
        const _: () = assert!(size_of::<$type>() == Format::$format.size_in_bytes());
    )* };
}
element! {
    f32 => F32;
    f64 => F64;
}
#[cfg(feature = "half")]
element! {
    half::f16 => F16;
    half::bf16 => Bf16;
}

/// One type a format: the code of an element, with no arithmetic.
macro_rules! code {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, FromBytes, IntoBytes, Immutable)]
            #[repr(transparent)]
            pub struct $name(u8);

            impl $name {
                /// The element with this code.
                #[must_use]
                pub const fn from_bits(bits: u8) -> Self {
                    Self(bits)
                }

                /// The code.
                #[must_use]
                pub const fn to_bits(self) -> u8 {
                    self.0
                }
            }
        )*
        element! { $($name => $name;)* }
    };
}
code! {
    /// An element of [`Format::F8E4M3Fn`]. Equality is that of codes.
    F8E4M3Fn;
    /// An element of [`Format::F8E4M3FnUz`]. Equality is that of codes.
    F8E4M3FnUz;
    /// An element of [`Format::F8E5M2`]. Equality is that of codes.
    F8E5M2;
    /// An element of [`Format::F8E5M2FnUz`]. Equality is that of codes.
    F8E5M2FnUz;
    /// An element of [`Format::F8E4M3`]. Equality is that of codes.
    F8E4M3;
    /// An element of [`Format::F8E3M4`]. Equality is that of codes.
    F8E3M4;
    /// An element of [`Format::F8E4M3B11FnUz`]. Equality is that of codes.
    F8E4M3B11FnUz;
    /// An element of [`Format::F8E8M0Fnu`]. Equality is that of codes.
    F8E8M0Fnu;
    /// An element of [`Format::F4E2M1Fn`] in the low 4 bits. Equality is that of codes.
    F4E2M1Fn;
    /// An element of [`Format::F6E2M3Fn`] in the low 6 bits. Equality is that of codes.
    F6E2M3Fn;
    /// An element of [`Format::F6E3M2Fn`] in the low 6 bits. Equality is that of codes.
    F6E3M2Fn;
}

/// A run of elements of one format: a typed slice, or bytes at any address in the byte order of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Elements<'a> {
    format: Format,
    bytes: &'a [u8],
}

impl<'a> Elements<'a> {
    /// The elements that `bytes` holds.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the length is not a multiple of the element size.
    #[inline]
    pub fn from_bytes(bytes: &'a [u8], format: Format) -> Result<Self, Error> {
        if bytes.len().is_multiple_of(format.size_in_bytes()) {
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
        self.bytes.len() / self.format.size_in_bytes()
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
    /// If there are fewer.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn split_at(self, count: usize) -> (Self, Self) {
        let (first, rest) = self.bytes.split_at(count * self.format.size_in_bytes());
        (Self { bytes: first, ..self }, Self { bytes: rest, ..self })
    }
}

impl<'a, T: Element> From<&'a [T]> for Elements<'a> {
    #[inline]
    fn from(x: &'a [T]) -> Self {
        Self { format: T::FORMAT, bytes: x.as_bytes() }
    }
}

/// As [`Elements`], to be written to.
#[derive(Debug)]
pub struct ElementsMut<'a> {
    format: Format,
    bytes: &'a mut [u8],
}

impl<'a> ElementsMut<'a> {
    /// The elements that `bytes` holds.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the length is not a multiple of the element size.
    #[inline]
    pub fn from_bytes(bytes: &'a mut [u8], format: Format) -> Result<Self, Error> {
        Elements::from_bytes(bytes, format)?;
        Ok(Self { format, bytes })
    }

    /// The bytes of the elements.
    #[inline]
    pub(crate) fn into_bytes(self) -> &'a mut [u8] {
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
        self.bytes.len() / self.format.size_in_bytes()
    }

    /// Whether there is no element.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl<'a, T: Element> From<&'a mut [T]> for ElementsMut<'a> {
    #[inline]
    fn from(x: &'a mut [T]) -> Self {
        Self { format: T::FORMAT, bytes: x.as_mut_bytes() }
    }
}
