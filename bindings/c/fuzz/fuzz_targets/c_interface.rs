//! Calls that describe tensors by pointers and numbers: the C interface over runs of elements and
//! over views, and DirectML descriptors.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use nonfinite_fuzz::{c, directml};

#[derive(Arbitrary, Debug)]
enum Call {
    Run(c::Run),
    View(c::View),
    DirectMl(directml::Input),
}

fuzz_target!(|call: Call| match call {
    Call::Run(run) => c::check(run),
    Call::View(view) => c::check(view),
    Call::DirectMl(input) => directml::check(&input),
});
