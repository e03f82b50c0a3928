//! The instruction CPUID.

#[cfg(target_arch = "x86")]
use core::arch::x86::{__cpuid_count, CpuidResult};
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__cpuid_count, CpuidResult};

/// What the CPU says of a leaf; nothing in an SGX enclave, where the instruction faults.
#[allow(unused_unsafe, reason = "`__cpuid_count` is unsafe in Rust 1.89 and safe in 1.95")]
#[expect(unsafe_code, reason = "an instruction, unsafe in Rust 1.89")]
pub(crate) fn cpuid(leaf: u32, subleaf: u32) -> Option<CpuidResult> {
    // SAFETY: outside of SGX every CPU that this crate runs on has CPUID, as `std` assumes too.
    (!cfg!(target_env = "sgx")).then(|| unsafe { __cpuid_count(leaf, subleaf) })
}
