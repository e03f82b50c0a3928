//! Multiplies gradients in place, and checks whether they were finite: the step of a gradient
//! scaler.
//!
//! This is the only module whose operations use floating-point arithmetic. The check looks at the
//! bits of an element *before* the multiplication: a finite element whose product overflows does
//! not count, and an infinite element that is multiplied by zero does. This is the contract of
//! PyTorch's `_amp_foreach_non_finite_check_and_unscale_`.
//!
//! - f32 and f64 are multiplied natively; f16 and bf16 are widened to f32, multiplied, and rounded
//!   to nearest with ties to even, as PyTorch and the crate `half` do it. The factor is rounded to
//!   f32 first, except for f64 elements.
//! - A NaN stays NaN: it becomes quiet, and keeps its sign and the upper bits of its payload. If an
//!   infinity is multiplied by zero, or if the factor is NaN, the CPU decides which NaN results.
//! - The rounding mode is taken to be to nearest, as all Rust code may assume. Where the thread
//!   flushes subnormals to zero (DAZ and FTZ of x86, FZ of Arm), the products of f32, f64 and bf16
//!   are flushed like any product; f16 and the check are not affected. The multiplications raise
//!   exception flags as usual.

use nonfinite_kernels as kernels;
use nonfinite_kernels::{Float, bytes_mut};

use crate::{Element, ElementsMut, Error, Format};

/// A type whose slices can be multiplied: `f32`, `f64`, and `half::f16` and `half::bf16` (feature
/// `half`). Sealed.
pub trait Scalable: Element {}

impl Scalable for f32 {}
impl Scalable for f64 {}
#[cfg(feature = "half")]
impl Scalable for half::f16 {}
#[cfg(feature = "half")]
impl Scalable for half::bf16 {}

const fn float(format: Format) -> Option<Float> {
    match format {
        Format::F64 => Some(Float::F64),
        Format::F32 => Some(Float::F32),
        Format::F16 => Some(Float::F16),
        Format::Bf16 => Some(Float::Bf16),
        _ => None,
    }
}

/// Multiplies every element of `x` by `factor`, and returns whether any element was NaN or infinite
/// before.
///
/// ```
/// use nonfinite::scale::unscale_and_check;
/// let mut gradients = [2.0f32, -4.0, f32::MAX];
/// assert!(!unscale_and_check(&mut gradients, 0.5));
/// assert_eq!(gradients, [1.0, -2.0, f32::MAX / 2.0]);
/// gradients[1] = f32::INFINITY;
/// let found_inf = unscale_and_check(&mut gradients, 0.5);
/// assert!(found_inf); // skip this step, and lower the scale
/// ```
#[inline]
pub fn unscale_and_check<T: Scalable>(x: &mut [T], factor: f64) -> bool {
    kernels::scale(None, bytes_mut(x), const { float(T::FORMAT).unwrap() }, factor)
}

impl ElementsMut<'_> {
    /// [`unscale_and_check`] for elements whose format is known only at run time.
    ///
    /// # Errors
    /// [`Error::NoArithmetic`] if the format is none of F64, F32, F16 and Bf16; nothing is written
    /// then.
    pub fn unscale_and_check(self, factor: f64) -> Result<bool, Error> {
        let format = self.format();
        let float = float(format).ok_or(Error::NoArithmetic { format })?;
        Ok(kernels::scale(self.backend, self.bytes, float, factor))
    }
}
