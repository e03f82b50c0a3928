//! Every question of every backend about elements at any address.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite::TensorView;
use nonfinite_fuzz::{Tensor, check};
use nonfinite_oracle::Expected;

fuzz_target!(|tensor: Tensor| {
    let expected = Expected::new(tensor.format, tensor.bytes()).with_bits_from(tensor.bit);
    check(TensorView::from(tensor.elements()), &expected.asking_about(tensor.predicate));
});
