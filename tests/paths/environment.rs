//! The floating-point environment: nothing that a kernel does shows in it.

use nonfinite::{Elements, Format, Predicate};

use crate::{oracle, paths};

/// Signalling NaNs, subnormals, infinities: what a floating-point comparison would flag.
#[test]
fn status_flags_stay() {
    let mut checked = 0;
    for path in paths() {
        for format in Format::ALL {
            let mut bytes = Vec::new();
            let signalling = match format {
                Format::F16 => vec![0x7C01, 0x0001, 0x7C00],
                Format::Bf16 => vec![0x7F81, 0x0001, 0x7F80],
                Format::F32 => vec![0x7F80_0001, 0x0000_0001, 0x7F80_0000],
                Format::F64 => vec![0x7FF0_0000_0000_0001, 0x0000_0000_0000_0001, 0x7FF0_0000_0000_0000],
                _ => oracle::edges(format),
            };
            (0..300).for_each(|i| oracle::write(format, signalling[i % signalling.len()], &mut bytes));
            let x = Elements::from_bytes(&bytes, format).unwrap();
            let mut mask = vec![0; x.len()];
            let mut bits = vec![0; x.len().div_ceil(8)];
            clear();
            let before = status();
            for predicate in Predicate::ALL {
                path.mask(x, predicate, &mut mask[..]);
                path.bits(x, predicate, &mut bits, 0);
                std::hint::black_box((
                    path.any(x, predicate),
                    path.all(x, predicate),
                    path.count(x, predicate),
                    path.position(x, predicate),
                    path.census(x),
                ));
            }
            assert_eq!(status(), before, "{} {format}", path.name());
            checked += 1;
        }
    }
    assert_eq!(checked, paths().len() * Format::ALL.len());
    // The register that is read does change when a comparison of floats raises a flag.
    clear();
    let before = status();
    raise();
    assert!(before.is_none() || status() != before, "the status register does not show an invalid operation");
}

/// The exception flags; `None` where the target has none to read.
#[cfg(target_arch = "x86_64")]
fn status() -> Option<u64> {
    let mut mxcsr = 0u32;
    // SAFETY: stores the register into a local of its size.
    unsafe { core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack)) };
    Some(u64::from(mxcsr & 0x3F))
}

#[cfg(target_arch = "aarch64")]
fn status() -> Option<u64> {
    let fpsr: u64;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("mrs {}, fpsr", out(reg) fpsr, options(nomem, nostack)) };
    Some(fpsr & 0x9F)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn status() -> Option<u64> {
    None
}

/// Clears the exception flags, so that none that was set before hides one.
#[cfg(target_arch = "x86_64")]
fn clear() {
    let mut mxcsr = 0u32;
    // SAFETY: stores the register into a local of its size and loads it back without the exception flags, which every
    // value of the register may lack.
    unsafe {
        core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mxcsr, options(nostack));
        mxcsr &= !0x3F;
        core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack));
    }
}

#[cfg(target_arch = "aarch64")]
fn clear() {
    // SAFETY: writes a register that holds nothing but exception flags and the saturation flag.
    unsafe { core::arch::asm!("msr fpsr, xzr", options(nomem, nostack)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn clear() {}

/// Raises the invalid-operation flag.
fn raise() {
    use std::hint::black_box;
    black_box(black_box(f64::INFINITY) - black_box(f64::INFINITY));
}
