//! Any bytes as Parquet files: read or refused, with what `nonfinite_fuzz::read` asks of a report
//! and of the memory it takes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite_check::FileFormat;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

// The crate `parquet` may panic, which the reader makes an error of: no message, and no end, by the
// hook that libFuzzer sets. A panic that is not caught still ends the run.
fuzz_target!(init: std::panic::set_hook(Box::new(|_| {})), |bytes: &[u8]| {
    nonfinite_fuzz::read::check(bytes, FileFormat::Parquet);
});
