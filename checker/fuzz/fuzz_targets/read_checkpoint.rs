//! Any bytes as the metadata of a checkpoint of `torch.distributed`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_check_fuzz::beside;
use nonfinite_check_fuzz::read::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

fuzz_target!(init: beside::prepare(), |bytes: &[u8]| beside::check(bytes, ".metadata"));
