//! Packed bits of every path, from any bit on; the bits and bytes around them must stay.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{PATHS, Tensor, expect};
use nonfinite_oracle::check_bits;

fuzz_target!(|tensor: Tensor| {
    let hits = tensor.hits();
    for path in &*PATHS {
        expect(check_bits(path, tensor.elements(), tensor.predicate, &hits, tensor.bit));
    }
});
