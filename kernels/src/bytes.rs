//! Slices of plain types as the bytes that kernels take.
#![expect(unsafe_code, reason = "elements are taken as bytes")]

use core::slice::{from_raw_parts, from_raw_parts_mut};

mod sealed {
    pub trait Sealed {}
}

/// A type without padding for which every bit pattern is valid. `bytes` and `bytes_mut` return its
/// slices as bytes. Sealed.
///
/// # Safety
/// The type must have no padding and no byte that may be uninitialised, and every bit pattern must
/// be a valid value.
pub unsafe trait Bits: Copy + sealed::Sealed + 'static {}

macro_rules! bits {
    ($($type:ty)*) => { $(
        impl sealed::Sealed for $type {}
        // SAFETY: a primitive integer or float, or a transparent wrapper of an integer: no padding,
        // and all patterns are values.
        unsafe impl Bits for $type {}
    )* };
}
bits! { u8 u16 u32 u64 f32 f64 }
#[cfg(feature = "half")]
bits! { half::f16 half::bf16 }

/// The bytes of some elements.
#[must_use]
#[inline]
pub fn bytes<T: Bits>(x: &[T]) -> &[u8] {
    // SAFETY: `Bits` has no padding, so all `size_of_val(x)` bytes of the slice are initialised;
    // every address is aligned for `u8`, and the result borrows `x`.
    unsafe { from_raw_parts(x.as_ptr().cast(), size_of_val(x)) }
}

/// The bytes of some elements, to be written to.
#[must_use]
#[inline]
pub fn bytes_mut<T: Bits>(x: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes`; and whatever is written, every bit pattern is a value of `Bits`.
    unsafe { from_raw_parts_mut(x.as_mut_ptr().cast(), size_of_val(x)) }
}

/// One type for each format of a byte: the code of an element, without arithmetic.
macro_rules! codes {
    ($($name:ident $($bits:literal)?)*) => {
        $(
            #[doc = concat!("An element of the format `", stringify!($name), "`.")]
            $(#[doc = concat!("The code has ", $bits, " bits, the low ones.")])?
            /// `==` compares codes.
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
        bits! { $($name)* }
    };
}
codes! {
    F8E4M3Fn F8E4M3FnUz F8E5M2 F8E5M2FnUz F8E4M3 F8E3M4 F8E4M3B11FnUz F8E8M0Fnu
    F4E2M1Fn 4 F6E2M3Fn 6 F6E3M2Fn 6
}
