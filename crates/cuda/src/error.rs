//! Errors.

use core::fmt;

use nonfinite::{Format, Predicate};

/// Why the GPU was not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is no CUDA driver: `libcuda.so.1` or `nvcuda.dll`, which come with the driver of the
    /// card.
    NoDriver,
    /// The calling thread has no current CUDA context.
    NoContext,
    /// A function of the driver failed.
    Driver {
        /// The function, such as `cuLaunchKernel`.
        function: &'static str,
        /// The name of the error, such as `CUDA_ERROR_OUT_OF_MEMORY`.
        error: String,
    },
    /// The address of a tensor or a row is not a multiple of the size of its elements.
    Misaligned {
        /// The number of the tensor.
        tensor: usize,
        /// Its address.
        address: u64,
        /// Its format.
        format: Format,
    },
    /// A tensor has more than 2^40 elements, or its end is not an address.
    TooLong {
        /// The number of the tensor.
        tensor: usize,
        /// Its elements.
        elements: u64,
    },
    /// More tensors than a guard was made for, or more than 2^24 in all.
    TooMany {
        /// The number of tensors.
        tensors: usize,
        /// How many there may be.
        most: usize,
    },
    /// A predicate that is no set of kinds: [`Predicate::Finite`].
    Predicate(Predicate),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDriver => {
                write!(f, "no CUDA driver: libcuda.so.1 or nvcuda.dll was not found")
            }
            Self::NoContext => write!(f, "the calling thread has no current CUDA context"),
            Self::Driver { function, error } => write!(f, "{function} failed: {error}"),
            Self::Misaligned { tensor, address, format } => write!(
                f,
                "tensor {tensor} is at {address:#x}, which is not a multiple of {}, the size of \
                 its elements",
                format.size_in_bytes(),
            ),
            Self::TooLong { tensor, elements } => {
                write!(f, "tensor {tensor} has {elements} elements, and 2^40 is the most")
            }
            Self::TooMany { tensors, most } => {
                write!(f, "{tensors} tensors, and {most} is the most")
            }
            Self::Predicate(predicate) => {
                write!(f, "{predicate} is no set of the kinds NaN, +Inf and -Inf")
            }
        }
    }
}

impl core::error::Error for Error {}
