//! The readers of files on any bytes: tensors within the file or an error, in memory that the file's size bounds.
#![no_main]

use std::fmt::Display;

use libfuzzer_sys::fuzz_target;
use nonfinite_cli::tensor::Tensor;
use nonfinite_cli::{npy, safetensors};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Bytes of memory for a byte of file: a number of a shape is a digit and a comma there, and a usize here, in some copies.
const FACTOR: usize = 64;
/// Buffers that do not depend on the file.
const FIXED: usize = 64 << 10;

fuzz_target!(|file: &[u8]| {
    let before = ALLOCATED.current_usage();
    ALLOCATED.reset_peak_usage();
    look(file, npy::tensors(file));
    look(file, safetensors::tensors(file));
    let taken = ALLOCATED.peak_usage().saturating_sub(before);
    assert!(taken <= FACTOR * file.len() + FIXED, "{taken} bytes of memory for {} bytes of file", file.len());
});

/// What the command does with a file.
fn look(file: &[u8], tensors: Result<Vec<Tensor<'_>>, impl Display>) {
    let tensors = tensors.unwrap_or_else(|error| {
        assert!(!error.to_string().is_empty(), "an error without a message");
        Vec::new()
    });
    for tensor in tensors {
        let (whole, part) = (file.as_ptr_range(), tensor.data.as_ptr_range());
        let within = whole.start <= part.start && part.end <= whole.end;
        assert!(tensor.data.is_empty() || within, "{tensor:?} lies outside of the file");
        let census = tensor.census().expect("whole elements");
        for first in [census.nan, census.pos_inf, census.neg_inf].into_iter().filter_map(|class| class.first)
        {
            let at = tensor.coordinate(first);
            assert!(at.iter().zip(&tensor.shape).all(|(at, extent)| at < extent), "{at:?} of {tensor:?}");
        }
    }
}
