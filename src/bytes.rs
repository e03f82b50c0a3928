//! The same operations over bytes that hold elements of a [`Format`] known at run time: files, C
//! memory, graphs.
//!
//! The bytes may start at any address. They are read in the byte order of the machine.

use nonfinite_kernels::MaskOut;

use crate::backend;
use crate::{Census, Elements, Error, Format, Predicate};
#[cfg(feature = "replace")]
use crate::{ElementsMut, Replacement, replace};
#[cfg(feature = "views")]
use crate::{rows, strided::Rows};

/// `out[i]` becomes 1 if `predicate` holds for element `i`, else 0.
///
/// # Errors
/// [`Error::PartialElement`], or [`Error::OutputLength`] if `out` does not have one byte for each
/// element. Nothing is written then.
pub fn mask(x: &[u8], format: Format, predicate: Predicate, out: &mut [u8]) -> Result<(), Error> {
    backend::mask(None, mask_input(x, format, out)?, predicate, MaskOut::from(out));
    Ok(())
}

/// The elements of a mask that `out` fits.
pub(crate) fn mask_input<'a>(
    x: &'a [u8],
    format: Format,
    out: &[u8],
) -> Result<Elements<'a>, Error> {
    let x = Elements::from_bytes(x, format)?;
    if x.len() != out.len() {
        return Err(Error::OutputLength { elements: x.len(), output: out.len() });
    }
    Ok(x)
}

/// Bit `(offset + i) % 8` of `out[(offset + i) / 8]` becomes 1 if `predicate` holds for element
/// `i`, else 0. All other bits stay as they are.
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
    backend::bits(None, bits_input(x, format, out, offset)?, predicate, out, offset);
    Ok(())
}

/// The elements of a bit mask for which `out` has room from bit `offset` on.
pub(crate) fn bits_input<'a>(
    x: &'a [u8],
    format: Format,
    out: &[u8],
    offset: usize,
) -> Result<Elements<'a>, Error> {
    let x = Elements::from_bytes(x, format)?;
    let fits = offset.checked_add(x.len()).is_some_and(|end| end.div_ceil(8) <= out.len());
    if !fits {
        return Err(Error::OutputBits { elements: x.len(), offset, bytes: out.len() });
    }
    Ok(x)
}

/// Whether `predicate` holds for an element. Stops soon after the first.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn any(x: &[u8], format: Format, predicate: Predicate) -> Result<bool, Error> {
    Ok(backend::any(None, Elements::from_bytes(x, format)?, predicate))
}

/// Whether `predicate` holds for all elements; true of none. Stops soon after the first for which
/// it does not.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn all(x: &[u8], format: Format, predicate: Predicate) -> Result<bool, Error> {
    Ok(backend::all(None, Elements::from_bytes(x, format)?, predicate))
}

/// For how many elements `predicate` holds.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn count(x: &[u8], format: Format, predicate: Predicate) -> Result<usize, Error> {
    Ok(backend::count(None, Elements::from_bytes(x, format)?, predicate))
}

/// The index of the first element for which `predicate` holds.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn position(x: &[u8], format: Format, predicate: Predicate) -> Result<Option<usize>, Error> {
    Ok(backend::position(None, Elements::from_bytes(x, format)?, predicate))
}

/// Counts NaN, +Inf and -Inf and finds the first of each, in one pass.
///
/// # Errors
/// [`Error::PartialElement`].
pub fn census(x: &[u8], format: Format) -> Result<Census, Error> {
    Ok(backend::census(None, Elements::from_bytes(x, format)?))
}

/// Replaces every NaN and infinity of `x` by the code for it, and returns how many there were: see
/// [`crate::replace_non_finite`].
///
/// ```
/// use nonfinite::{Format, Replacement, bytes};
/// let mut fp8 = [0x38, 0x7F, 0xFF];
/// let with = Replacement::finite_bits(Format::F8E4M3Fn);
/// assert_eq!(bytes::replace_non_finite(&mut fp8, Format::F8E4M3Fn, with), Ok(2));
/// assert_eq!(fp8, [0x38, 0x00, 0x00]);
/// ```
///
/// # Errors
/// [`Error::PartialElement`], or [`Error::Code`] if a code has more bits than an element. Nothing
/// is written then.
#[cfg(feature = "replace")]
pub fn replace_non_finite(
    x: &mut [u8],
    format: Format,
    with: Replacement<u64>,
) -> Result<usize, Error> {
    replace::in_place(None, ElementsMut::from_bytes(x, format)?, with)
}

/// As [`replace_non_finite`], with the results in `out`, which becomes a copy of `x` except for
/// what is replaced.
///
/// # Errors
/// [`Error::PartialElement`], [`Error::OutputBytes`] if `out` is not as long as `x`, or
/// [`Error::Code`]. Nothing is written then.
#[cfg(feature = "replace")]
pub fn replace_non_finite_into(
    x: &[u8],
    format: Format,
    out: &mut [u8],
    with: Replacement<u64>,
) -> Result<usize, Error> {
    replace::into(None, Elements::from_bytes(x, format)?, out, with)
}

/// `out[r]` becomes whether `predicate` holds for an element of row `r`, which is `columns`
/// elements from element `r * columns` on. No mask is made.
///
/// # Errors
/// [`Error::PartialElement`], or [`Error::Rows`] if the elements are not `out.len()` rows. Nothing
/// is written then.
#[cfg(feature = "views")]
pub fn any_rows(
    x: &[u8],
    format: Format,
    columns: usize,
    predicate: Predicate,
    out: &mut [bool],
) -> Result<(), Error> {
    let x = whole_rows(x, format, columns, out.len())?;
    rows::ask(None, x, columns, predicate, Rows::Any(out));
    Ok(())
}

/// `out[r]` becomes the number of elements of row `r` for which `predicate` holds; rows as in
/// [`any_rows`].
///
/// # Errors
/// As [`any_rows`].
#[cfg(feature = "views")]
pub fn count_rows(
    x: &[u8],
    format: Format,
    columns: usize,
    predicate: Predicate,
    out: &mut [usize],
) -> Result<(), Error> {
    let x = whole_rows(x, format, columns, out.len())?;
    rows::ask(None, x, columns, predicate, Rows::Count(out));
    Ok(())
}

#[cfg(feature = "views")]
fn whole_rows(
    x: &[u8],
    format: Format,
    columns: usize,
    rows: usize,
) -> Result<Elements<'_>, Error> {
    let x = Elements::from_bytes(x, format)?;
    if rows::fits(x.len(), columns, rows) {
        Ok(x)
    } else {
        Err(Error::Rows { elements: x.len(), rows, columns })
    }
}
