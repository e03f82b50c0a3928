//! any, all, count, position, census, statistics and thresholds of every backend.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{BACKENDS, Tensor, expect};
use nonfinite_oracle::{check_above, check_census, check_searches, check_stats, thresholds};

fuzz_target!(|tensor: Tensor| {
    let (kinds, hits) = (tensor.kinds(), tensor.hits());
    for backend in &*BACKENDS {
        expect(check_searches(backend, tensor.elements(), tensor.predicate, &hits));
        expect(check_census(backend, tensor.elements(), &kinds));
        expect(check_stats(backend, tensor.elements()));
        for threshold in thresholds(tensor.elements()) {
            expect(check_above(backend, tensor.elements(), threshold));
        }
    }
});
