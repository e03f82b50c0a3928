//! any, all, count, position and census of every backend.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{BACKENDS, Tensor, expect};
use nonfinite_oracle::{check_census, check_searches};

fuzz_target!(|tensor: Tensor| {
    let (kinds, hits) = (tensor.kinds(), tensor.hits());
    for backend in &*BACKENDS {
        expect(check_searches(backend, tensor.elements(), tensor.predicate, &hits));
        expect(check_census(backend, tensor.elements(), &kinds));
    }
});
