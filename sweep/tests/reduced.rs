//! The sweep of f32, on every backend: all patterns in release builds, every 251st in debug builds;
//! and the structured ones of f64. With NONFINITE_REDUCED, for emulators, a part of both. `cargo
//! run --release -p nonfinite-sweep` does it all.

use std::time::Instant;

use nonfinite::Backend;
use nonfinite_sweep::{AllF32, Block, LEN, Patterns, StructuredF64};

fn sweep<P: Patterns>(patterns: P, step: u64)
where
    for<'a> &'a [P::Number]: Into<nonfinite::Elements<'a>>,
{
    let start = Instant::now();
    let mut block = Block::default();
    let mut first = 0;
    while first < patterns.len() {
        block.load(patterns, first, step);
        for backend in Backend::available() {
            let wrong = block.check(backend);
            assert_eq!(
                wrong,
                Ok(()),
                "in the {} patterns from {first} on, step {step}",
                patterns.name()
            );
        }
        first += LEN as u64 * step;
    }
    let backends: Vec<_> = Backend::available().map(Backend::name).collect();
    println!(
        "{} on {}: {:.1} s",
        patterns.name(),
        backends.join(", "),
        start.elapsed().as_secs_f32()
    );
}

#[test]
fn all_f32_patterns() {
    let step = match (std::env::var_os("NONFINITE_REDUCED").is_some(), cfg!(debug_assertions)) {
        (true, _) => 65537,
        (false, true) => 251,
        (false, false) => 1,
    };
    sweep(AllF32, step);
}

#[test]
fn structured_f64_patterns() {
    sweep(StructuredF64, if std::env::var_os("NONFINITE_REDUCED").is_some() { 17 } else { 1 });
}

/// What a sweep is for: a sink that is wrong for one pattern does not pass. The backend is right
/// here, and the oracle is told to expect another pattern.
#[test]
fn one_wrong_pattern_is_seen() {
    let mut block = Block::default();
    for backend in Backend::available() {
        block.load(AllF32, 0x7F80_0000 - 100, 1);
        assert_eq!(block.check(backend), Ok(()));
        block.replace(3000, 1.0);
        assert!(block.check(backend).is_err(), "{}", backend.name());
    }
}
