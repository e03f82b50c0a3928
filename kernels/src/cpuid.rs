//! The instruction CPUID.

#[cfg(target_arch = "x86")]
use core::arch::x86::{__cpuid, CpuidResult};
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{__cpuid, CpuidResult};

/// Whether the CPU has F16C, which `cpufeatures` cannot detect. Called after AVX2 was found. No
/// known CPU has AVX2 without F16C. In an SGX enclave, where the instruction faults, only the
/// target features of the build count.
#[expect(unsafe_code, reason = "an instruction, unsafe in Rust 1.89")]
pub(crate) fn has_f16c() -> bool {
    if cfg!(target_feature = "f16c") {
        return true;
    }
    if cfg!(target_env = "sgx") {
        return false;
    }
    // The type makes the call unsafe in all versions of Rust: the function is safe in 1.95.
    let instruction: unsafe fn(u32) -> CpuidResult = __cpuid;
    // SAFETY: outside of SGX every CPU that this crate runs on has CPUID, as `std` assumes too.
    let leaf = unsafe { instruction(1) };
    // Leaf 1, ECX, bit 29 (Intel SDM volume 2A, CPUID). `cpufeatures` has asked whether the system
    // saves the registers of AVX2, which are those of F16C.
    leaf.ecx >> 29 & 1 != 0
}
