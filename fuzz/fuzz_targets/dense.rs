//! One question about elements at any address, to every backend and to typed slices.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{Tensor, expect};
use nonfinite_oracle::{self as oracle, Expected, Framed};

fuzz_target!(init: oracle::require(), |tensor: Tensor| {
    let expected = Expected::new(tensor.format, tensor.bytes()).with_bits_from(tensor.bit);
    let expected = expected.asking_one(tensor.asked).only(&[tensor.question]);
    expect(oracle::check_elements(tensor.elements(), &expected, &mut Framed::default()));
});
