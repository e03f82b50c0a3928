//! The instruction CPUID.

#[cfg(target_arch = "x86")]
use core::arch::x86::{__cpuid_count, CpuidResult};
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__cpuid_count, CpuidResult};

/// The registers of a leaf. None in an SGX enclave, where the instruction faults.
#[expect(unsafe_code, reason = "an instruction, unsafe in Rust 1.89")]
pub(crate) fn cpuid(leaf: u32, subleaf: u32) -> Option<CpuidResult> {
    // The type makes the call unsafe in all versions of Rust: the function is safe in 1.95.
    let instruction: unsafe fn(u32, u32) -> CpuidResult = __cpuid_count;
    // SAFETY: outside of SGX every CPU that this crate runs on has CPUID, as `std` assumes too.
    (!cfg!(target_env = "sgx")).then(|| unsafe { instruction(leaf, subleaf) })
}

/// Whether the CPU has F16C, which `cpufeatures` cannot detect. Called after AVX2 was found. No
/// known CPU has AVX2 without F16C.
#[cfg(target_feature = "sse2")]
pub(crate) fn has_f16c() -> bool {
    // Leaf 1, ECX, bit 29 (Intel SDM volume 2A, CPUID). `cpufeatures` has asked whether the system
    // saves the registers of AVX2, which are those of F16C.
    cfg!(target_feature = "f16c") || cpuid(1, 0).is_some_and(|leaf| leaf.ecx >> 29 & 1 != 0)
}
