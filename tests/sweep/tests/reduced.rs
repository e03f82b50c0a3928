//! The sweep of f32, on every backend: every 65537th pattern, and with NONFINITE_EXHAUSTIVE every
//! 251st; and the structured ones of f64. `cargo run --release -p nonfinite-sweep` does it all.

use std::time::Instant;

use nonfinite_oracle::{backends, exhaustive};
use nonfinite_sweep::{AllF32, Block, LEN, Patterns, StructuredF64};

fn sweep(patterns: impl Patterns, step: u64) {
    let start = Instant::now();
    for first in (0..patterns.len()).step_by(LEN * step as usize) {
        let mut block = Block::new(patterns, first, step);
        for &backend in backends() {
            let name = patterns.name();
            let at = || format!("in the {name} patterns from {first} on, step {step}");
            block.check(backend).unwrap_or_else(|wrong| panic!("{}: {wrong}", at()));
        }
    }
    let names: Vec<_> = backends().iter().map(|backend| backend.name()).collect();
    let seconds = start.elapsed().as_secs_f32();
    println!("{} on {}: {seconds:.1} s", patterns.name(), names.join(", "));
}

#[test]
fn all_f32_patterns() {
    sweep(AllF32, if exhaustive() { 251 } else { 65537 });
}

#[test]
fn structured_f64_patterns() {
    sweep(StructuredF64, if exhaustive() { 1 } else { 17 });
}

/// What a sweep is for: a sink that is wrong for one pattern does not pass. The backend is right
/// here, and the oracle is told to expect another pattern.
#[test]
fn one_wrong_pattern_is_seen() {
    for &backend in backends() {
        let mut block = Block::new(AllF32, 0x7F80_0000 - 100, 1);
        assert_eq!(block.check(backend), Ok(()));
        block.replace(3000, &1f32.to_ne_bytes());
        assert!(block.check(backend).is_err(), "{}", backend.name());
    }
}
