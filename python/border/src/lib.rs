//! The memory of other owners, as views: tensors of DLPack, buffers of PEP 3118, arrays of Arrow.
//!
//! The Python package is built on this crate, which knows nothing of Python, so that a fuzz target
//! can call it. Each module reads the structures of one standard and returns an [`Array`], whose
//! methods are safe. A producer may make mistakes: whatever contradicts itself is an error. Only
//! where the memory ends nobody can check.

#![expect(unsafe_code, reason = "reads the structures of other owners")]

mod array;
pub mod arrow;
pub mod buffer;
pub mod dlpack;
mod gather;
pub mod managed;
mod shape;

pub use array::{Array, Kind};
pub use shape::Shape;

/// Why memory is no array. The texts call the input `x`.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The input is of a kind that has no answers, or is out of reach.
    Kind(String),
    /// The description of the memory contradicts itself, or fits no memory.
    Layout(String),
    /// There is no memory for a copy of so many bytes.
    Memory(usize),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kind(text) | Self::Layout(text) => f.write_str(text),
            Self::Memory(bytes) => {
                write!(f, "no memory for a copy of x, which takes {bytes} bytes")
            }
        }
    }
}

impl std::error::Error for Error {}

/// [`Error::Kind`] with this text.
#[cold]
fn kind(text: impl Into<String>) -> Error {
    Error::Kind(text.into())
}

/// [`Error::Layout`] with this text.
#[cold]
fn layout(text: impl Into<String>) -> Error {
    Error::Layout(text.into())
}

/// The number at this place of a list, whatever its alignment.
///
/// # Safety
/// The list has such a place.
#[inline]
unsafe fn at<T: Copy>(list: *const T, place: usize) -> T {
    // SAFETY: by the contract of this function.
    unsafe { list.add(place).read_unaligned() }
}

/// The number of dimensions as a producer writes it, of which the sizes lie at a pointer.
///
/// # Errors
/// [`Error::Layout`] for a negative number, and for a null pointer to sizes that there should be.
fn rank<T>(dimensions: i32, sizes: *const T) -> Result<usize, Error> {
    match usize::try_from(dimensions) {
        Ok(rank) if rank == 0 || !sizes.is_null() => Ok(rank),
        Ok(_) => Err(layout("x has dimensions without sizes")),
        Err(_) => Err(layout("x has negative dimensions")),
    }
}
