//! Without a driver, or without a context, there is a typed error and no panic.
#![cfg(target_pointer_width = "64")]

use nonfinite_cuda::{Error, Kernels};

#[test]
fn nothing_to_load_into() {
    // No test makes a context, so the kernels cannot be loaded on any machine.
    let error = Kernels::load().err().expect("an error");
    match &error {
        Error::NoDriver => {
            assert_eq!(
                error.to_string(),
                "no CUDA driver: libcuda.so.1 or nvcuda.dll was not found"
            );
        }
        other => assert_eq!(*other, Error::NoContext),
    }
    // The second call must not differ from the first, which looked for the library.
    assert_eq!(Kernels::load().err(), Some(error));
}
