//! The backends of x86. The target has SSE2.

mod avx2;
mod avx512;
mod cpuid;
mod screen;
mod sse2;

#[cfg(target_arch = "x86")]
use core::arch::x86 as intrinsics;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as intrinsics;

pub(crate) use sse2::Sse2;

/// A list of backends that begins with those by hand.
pub(crate) type ByHand<Others> = (avx512::Avx512, (avx2::Avx2, (Sse2, Others)));

/// The registers that every CPU of the target has.
pub(crate) type Here = Sse2;
