//! Packed bits of every backend, from any bit on. The bits and bytes around them must keep their
//! values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{BACKENDS, Tensor, expect};
use nonfinite_oracle::check_bits;

fuzz_target!(|tensor: Tensor| {
    let hits = tensor.hits();
    for backend in &*BACKENDS {
        expect(check_bits(backend, tensor.elements(), tensor.predicate, &hits, tensor.bit));
    }
});
