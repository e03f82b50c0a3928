//! DirectML descriptors of any content.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_ops_fuzz::{Input, check};

fuzz_target!(|input: Input| check(&input));
