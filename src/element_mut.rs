//! Elements that can be written to: replaced or multiplied in place.

use core::fmt;

use nonfinite_kernels::{Backend, bytes_mut};

use crate::{Element, Elements, Error, Format};

/// A run of elements of one format that may be written to: a typed slice, or bytes at any address
/// in the byte order of the machine.
pub struct ElementsMut<'a> {
    format: Format,
    pub(crate) bytes: &'a mut [u8],
    pub(crate) backend: Option<Backend>,
}

impl<'a> ElementsMut<'a> {
    /// The elements in `bytes`.
    ///
    /// # Errors
    /// [`Error::PartialElement`] if the length is not a multiple of the element size.
    #[inline]
    pub fn from_bytes(bytes: &'a mut [u8], format: Format) -> Result<Self, Error> {
        Elements::from_bytes(bytes, format)?;
        Ok(Self { format, bytes, backend: None })
    }

    /// The same elements, with this backend instead of the active one.
    #[must_use]
    #[inline]
    pub fn with_backend(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// The same elements, for reading.
    #[inline]
    fn elements(&self) -> Elements<'_> {
        Elements { format: self.format, bytes: self.bytes }
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
        self.elements().len()
    }

    /// Whether there is no element.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.elements().is_empty()
    }
}

/// Prints no data, which may be large.
impl fmt::Debug for ElementsMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ElementsMut({} of {}, backend: {:?})", self.len(), self.format, self.backend)
    }
}

impl<'a, T: Element> From<&'a mut [T]> for ElementsMut<'a> {
    #[inline]
    fn from(x: &'a mut [T]) -> Self {
        Self { format: T::FORMAT, bytes: bytes_mut(x), backend: None }
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for ElementsMut<'a> {
    #[inline]
    fn from(x: &'a mut [T; N]) -> Self {
        x.as_mut_slice().into()
    }
}

#[cfg(feature = "std")]
impl<'a, T: Element> From<&'a mut std::vec::Vec<T>> for ElementsMut<'a> {
    #[inline]
    fn from(x: &'a mut std::vec::Vec<T>) -> Self {
        x.as_mut_slice().into()
    }
}
