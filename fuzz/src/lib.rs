//! Shared by the fuzz targets: the types of inputs, and numbers for calls.
//! `nonfinite_oracle` gives the right answers, as in the tests.

mod strided;
mod tensor;

use std::ops::Range;

use arbitrary::{Result, Unstructured};
use nonfinite::Format;

pub use nonfinite_oracle::{Kind, holds};
pub use strided::Strided;
pub use tensor::Tensor;

/// The kind of an element, by its bytes in the byte order of the machine.
#[must_use]
pub fn kind_of(format: Format, element: &[u8]) -> Kind {
    nonfinite_oracle::kind(format, nonfinite_oracle::read(element))
}

/// A number for a call: mostly a valid one, otherwise one at a limit or any number.
///
/// # Errors
/// Those of the input.
pub fn number(u: &mut Unstructured<'_>, likely: Range<isize>) -> Result<isize> {
    Ok(match u.int_in_range(0..=31)? {
        0 => u.arbitrary()?,
        1 => (isize::MAX >> u.int_in_range(0..=4)?).wrapping_add(u.int_in_range(-2..=2)?),
        2 => u.int_in_range(-8..=8)?,
        _ => u.int_in_range(likely.start..=likely.end - 1)?,
    })
}

/// Ends the run with the error.
///
/// # Panics
/// If there is an error.
#[track_caller]
pub fn expect(result: std::result::Result<(), String>) {
    if let Err(wrong) = result {
        panic!("{wrong}");
    }
}
