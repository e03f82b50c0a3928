//! Byte masks of every path, at any address, in a frame that must stay.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{PATHS, Tensor, expect};
use nonfinite_oracle::check_mask;

fuzz_target!(|tensor: Tensor| {
    let hits = tensor.hits();
    for path in &*PATHS {
        expect(check_mask(path, tensor.elements(), tensor.predicate, &hits));
    }
});
