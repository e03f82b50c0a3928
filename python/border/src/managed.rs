//! Tensors of DLPack that come with their ownership.

use std::ffi::c_void;
use std::ptr::{NonNull, read_unaligned};

use crate::dlpack::Tensor;
use crate::{Array, Error, layout};

/// `DLPackVersion`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields of dlpack.h")]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields of dlpack.h")]
pub struct Versioned {
    pub version: Version,
    pub manager: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    pub flags: u64,
    pub tensor: Tensor,
}

/// `DLManagedTensor`, of DLPack before 1.0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields of dlpack.h")]
pub struct Unversioned {
    pub tensor: Tensor,
    pub manager: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Unversioned)>,
}

/// Flags of tensors that must not be written to: those with `DLPACK_FLAG_BITMASK_READ_ONLY`, and
/// those with `DLPACK_FLAG_BITMASK_IS_COPIED`, since results in a copy would be lost.
const NOT_WRITABLE: u64 = 1 | 2;

/// A tensor that this process owns until it is dropped.
#[derive(Debug)]
pub struct Managed(Structure);

#[derive(Clone, Copy, Debug)]
enum Structure {
    Versioned(NonNull<Versioned>),
    Unversioned(NonNull<Unversioned>),
}

impl Managed {
    /// Takes the ownership of a tensor.
    ///
    /// # Safety
    /// Such a structure lies there, whose deleter nobody else calls. The value is dropped where the
    /// deleter may run: of a tensor of Python, in a thread that holds the GIL.
    #[must_use]
    pub unsafe fn versioned(tensor: NonNull<Versioned>) -> Self {
        Self(Structure::Versioned(tensor))
    }

    /// As [`Managed::versioned`], for DLPack before 1.0.
    ///
    /// # Safety
    /// As there.
    #[must_use]
    pub unsafe fn unversioned(tensor: NonNull<Unversioned>) -> Self {
        Self(Structure::Unversioned(tensor))
    }

    /// The array, whose owner `own` makes of this value.
    ///
    /// # Errors
    /// As [`Tensor::array`], and [`Error::Layout`] for an unknown version of DLPack. The tensor is
    /// given back then.
    ///
    /// # Safety
    /// As [`Tensor::flat`], for the tensor in the structure. The owner drops this value when its
    /// memory is no longer needed.
    pub unsafe fn array<O>(self, own: impl FnOnce(Self) -> O) -> Result<Array<O>, Error> {
        // SAFETY: the contract of `versioned` and `unversioned`. The tensor is copied, since an
        // error frees the structure.
        let (tensor, writable) = unsafe {
            match self.0 {
                Structure::Versioned(managed) => {
                    // The rest of the structure may be different in other versions.
                    if read_unaligned(managed.as_ptr().cast::<Version>()).major != 1 {
                        return Err(layout(
                            "x has a version of DLPack that is unknown to nonfinite",
                        ));
                    }
                    let managed = read_unaligned(managed.as_ptr());
                    (managed.tensor, managed.flags & NOT_WRITABLE == 0)
                }
                // DLPack before 1.0 has no flag for read-only memory, so this memory is not written
                // to.
                Structure::Unversioned(managed) => {
                    (read_unaligned(managed.as_ptr().cast::<Tensor>()), false)
                }
            }
        };
        // SAFETY: by the contract of this function.
        unsafe { tensor.array(writable, own(self)) }
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        // SAFETY: by the contract of `versioned` and `unversioned` the tensor is ours, and its
        // deleter runs once. Version 1 and all others have the deleter at the same place.
        unsafe {
            match self.0 {
                Structure::Versioned(tensor) => {
                    let deleter = (&raw const (*tensor.as_ptr()).deleter).read_unaligned();
                    if let Some(delete) = deleter {
                        delete(tensor.as_ptr());
                    }
                }
                Structure::Unversioned(tensor) => {
                    let deleter = (&raw const (*tensor.as_ptr()).deleter).read_unaligned();
                    if let Some(delete) = deleter {
                        delete(tensor.as_ptr());
                    }
                }
            }
        }
    }
}
