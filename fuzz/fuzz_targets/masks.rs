//! Byte masks of every backend, at any address. The bytes around them must keep their values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{BACKENDS, Tensor, expect};
use nonfinite_oracle::check_mask;

fuzz_target!(|tensor: Tensor| {
    let hits = tensor.hits();
    for backend in &*BACKENDS {
        expect(check_mask(backend, tensor.elements(), tensor.predicate, &hits));
    }
});
