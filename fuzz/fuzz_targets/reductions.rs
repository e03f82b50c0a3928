//! any, all, count, position and census of every path.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{PATHS, Tensor, expect};
use nonfinite_oracle::{check_census, check_searches};

fuzz_target!(|tensor: Tensor| {
    let (kinds, hits) = (tensor.kinds(), tensor.hits());
    for path in &*PATHS {
        expect(check_searches(path, tensor.elements(), tensor.predicate, &hits));
        expect(check_census(path, tensor.elements(), &kinds));
    }
});
