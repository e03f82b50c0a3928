//! Any bytes as .npy files, whole and as a stream: read or refused, with what
//! `nonfinite_fuzz::read` asks of a report and of the memory it takes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_check::FileFormat;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

fuzz_target!(|bytes: &[u8]| nonfinite_fuzz::read::check(bytes, FileFormat::Npy));
