//! The C interface over runs of elements and over views, with any arguments.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use nonfinite_capi_fuzz::{Run, View, check};

#[derive(Arbitrary, Debug)]
enum Call {
    Run(Run),
    View(View),
}

fuzz_target!(|call: Call| match call {
    Call::Run(run) => check(run),
    Call::View(view) => check(view),
});
