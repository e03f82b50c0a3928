//! The size of the last-level cache, by CPUID.

use core::sync::atomic::{AtomicUsize, Ordering};

/// The CPU has not been asked yet.
const UNASKED: usize = usize::MAX;
/// The CPU does not report a size.
const UNKNOWN: usize = 0;
static LAST_LEVEL: AtomicUsize = AtomicUsize::new(UNASKED);

/// Bytes of the largest data cache of a core, if the CPU reports it. Asks the CPU once.
#[inline(always)]
pub(crate) fn last_level() -> Option<usize> {
    let known = match LAST_LEVEL.load(Ordering::Relaxed) {
        UNASKED => ask(),
        known => known,
    };
    (known != UNKNOWN).then_some(known)
}

/// Replaces the size that the CPU reports.
pub(crate) fn set_last_level(bytes: usize) {
    LAST_LEVEL.store(bytes, Ordering::Relaxed);
}

#[cold]
#[inline(never)]
fn ask() -> usize {
    let bytes = largest().unwrap_or(UNKNOWN);
    LAST_LEVEL.store(bytes, Ordering::Relaxed);
    bytes
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn largest() -> Option<usize> {
    None
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn largest() -> Option<usize> {
    // Intel's "deterministic cache parameters" (SDM volume 2, CPUID) and AMD's "cache properties"
    // (APM volume 3, appendix E.4.15) have one form. AMD's leaf 4 is reserved and reads as zero;
    // Intel has no extended leaf of that number.
    const INTEL: u32 = 4;
    const AMD: u32 = 0x8000_001D;
    [INTEL, AMD].into_iter().filter(|&leaf| x86::has(leaf)).flat_map(x86::caches).max()
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod x86 {
    use crate::cpuid::cpuid;

    /// Whether the CPU has this leaf in its range, standard or extended.
    pub(super) fn has(leaf: u32) -> bool {
        let range = leaf & 0x8000_0000;
        cpuid(range, 0).is_some_and(|last| last.eax & 0x8000_0000 == range && last.eax >= leaf)
    }

    /// The sizes of the data caches that a leaf lists, one for each subleaf.
    pub(super) fn caches(leaf: u32) -> impl Iterator<Item = usize> {
        (0..16)
            .map_while(move |subleaf| cpuid(leaf, subleaf))
            .take_while(|cache| cache.eax & 0x1F != 0)
            .filter_map(|cache| size([cache.eax, cache.ebx, cache.ecx]))
    }

    fn size([eax, ebx, ecx]: [u32; 3]) -> Option<usize> {
        const INSTRUCTIONS: u32 = 2;
        // Each field holds the number minus one.
        let field = |low: u32, bits: u32| (ebx >> low & ((1 << bits) - 1)) as usize + 1;
        let sets = (ecx as usize).checked_add(1)?;
        let way = field(0, 12).checked_mul(field(12, 10))?.checked_mul(sets)?;
        if eax & 0x1F == INSTRUCTIONS { None } else { way.checked_mul(field(22, 10)) }
    }
}

#[cfg(all(test, target_os = "linux", any(target_arch = "x86", target_arch = "x86_64")))]
mod tests {
    extern crate std;

    use std::prelude::v1::*;

    /// Compares with the size that the operating system reports, if it does.
    #[test]
    fn as_linux_has_it() {
        let sizes = |index: usize| {
            let file = std::format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
            let size = std::fs::read_to_string(file).ok()?;
            Some(size.trim_end().strip_suffix('K')?.parse::<usize>().unwrap() << 10)
        };
        let largest = (0..8).filter_map(sizes).max();
        std::println!(
            "largest cache: {largest:?} bytes by Linux, {:?} by CPUID",
            super::last_level()
        );
        if let Some(largest) = largest {
            assert_eq!(super::last_level(), Some(largest));
        }
    }
}
