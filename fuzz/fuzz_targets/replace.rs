//! Replaces NaN and infinities, on every backend, in place and into another slice, at any address.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite::Replacement;
use nonfinite_fuzz::Tensor;
use nonfinite_oracle::{self as oracle, check_replacing};

fuzz_target!(init: oracle::require(), |input: ([u64; 3], Tensor)| {
    let (codes, input) = input;
    let all = u64::MAX >> (64 - 8 * input.format.size_in_bytes());
    let [nan, pos_inf, neg_inf] = codes.map(|code| code & all);
    check_replacing(input.format, input.bytes(), Replacement { nan, pos_inf, neg_inf });
});
