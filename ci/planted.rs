//! `planted outside` reads one byte behind an allocation, `planted inside` the last one within.
//! ci/asan and ci/valgrind must tell them apart.
use std::hint::black_box;
use std::process::ExitCode;

fn main() -> ExitCode {
    let bytes = black_box(vec![1u8; 100]);
    let at = match std::env::args().nth(1).as_deref() {
        Some("inside") => 99,
        Some("outside") => 100,
        _ => return ExitCode::from(2),
    };
    // SAFETY: not safe with "outside", which is what this program is for.
    black_box(unsafe { black_box(bytes.as_ptr()).add(at).read_volatile() });
    ExitCode::SUCCESS
}
