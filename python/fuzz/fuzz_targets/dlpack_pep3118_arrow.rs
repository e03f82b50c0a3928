//! Structures of DLPack, PEP 3118 and Arrow with any fields.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_border_fuzz::{Input, check};

fuzz_target!(|input: Input| {
    let mut input = input;
    check(&mut input);
});
