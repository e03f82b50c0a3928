//! Any bytes as the index of a set of shards, of each kind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_check_fuzz::beside;
use nonfinite_check_fuzz::read::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

fuzz_target!(init: beside::prepare(), |bytes: &[u8]| {
    for name in ["model.safetensors.index.json", "pytorch_model.bin.index.json"] {
        beside::check(bytes, name);
    }
});
