//! Lint of any configuration, and of tensors with names of the layouts in any combination.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_check_fuzz::lint;
use nonfinite_check_fuzz::read::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

fuzz_target!(init: lint::prepare(), |bytes: &[u8]| lint::check(bytes));
