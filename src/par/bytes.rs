//! The operations of [`crate::bytes`] with several threads.

use nonfinite_kernels::MaskOut;

use crate::bytes::{bits_input, mask_input};
use crate::{Census, Elements, Error, Format, Predicate};

/// [`crate::bytes::mask`] with several threads.
///
/// # Errors
/// [`Error::PartialElement`], or [`Error::OutputLength`] if `out` does not have one byte for each
/// element. Nothing is written then.
pub fn mask(x: &[u8], format: Format, predicate: Predicate, out: &mut [u8]) -> Result<(), Error> {
    super::mask_on(None, mask_input(x, format, out)?, predicate, MaskOut::from(out));
    Ok(())
}

/// [`crate::bytes::bits`] with several threads.
///
/// # Errors
/// [`Error::PartialElement`], or [`Error::OutputBits`] if `out` ends before the last result or
/// before bit `offset`. Nothing is written then.
pub fn bits(
    x: &[u8],
    format: Format,
    predicate: Predicate,
    out: &mut [u8],
    offset: usize,
) -> Result<(), Error> {
    super::bits_on(None, bits_input(x, format, out, offset)?, predicate, out, offset);
    Ok(())
}

/// [`crate::bytes::any`] with several threads.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn any(x: &[u8], format: Format, predicate: Predicate) -> Result<bool, Error> {
    Ok(super::any_on(None, Elements::from_bytes(x, format)?, predicate))
}

/// [`crate::bytes::all`] with several threads.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn all(x: &[u8], format: Format, predicate: Predicate) -> Result<bool, Error> {
    Ok(super::all_on(None, Elements::from_bytes(x, format)?, predicate))
}

/// [`crate::bytes::count`] with several threads.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn count(x: &[u8], format: Format, predicate: Predicate) -> Result<usize, Error> {
    Ok(super::count_on(None, Elements::from_bytes(x, format)?, predicate))
}

/// [`crate::bytes::position`] with several threads.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn position(x: &[u8], format: Format, predicate: Predicate) -> Result<Option<usize>, Error> {
    Ok(super::position_on(None, Elements::from_bytes(x, format)?, predicate))
}

/// [`crate::bytes::census`] with several threads.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn census(x: &[u8], format: Format) -> Result<Census, Error> {
    Ok(super::census_on(None, Elements::from_bytes(x, format)?))
}
