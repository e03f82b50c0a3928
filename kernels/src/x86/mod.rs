//! The backends of x86. The target has SSE2.

pub(crate) mod avx2;
pub(crate) mod avx512;
mod cpuid;
mod screen;
pub(crate) mod sse2;

#[cfg(target_arch = "x86")]
use core::arch::x86 as intrinsics;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as intrinsics;
