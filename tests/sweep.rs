//! All 2^32 patterns of f32 on every path (in debug builds every 251st), against the standard library.

use nonfinite::{Path, Predicate};

const CHUNK: usize = 1 << 13;

type Oracle = fn(f32) -> bool;

const ORACLES: [(Predicate, Oracle); 6] = [
    (Predicate::Nan, f32::is_nan),
    (Predicate::Inf, f32::is_infinite),
    (Predicate::PositiveInf, |x| x.is_infinite() && x.is_sign_positive()),
    (Predicate::NegativeInf, |x| x.is_infinite() && x.is_sign_negative()),
    (Predicate::Finite, f32::is_finite),
    (Predicate::NonFinite, |x| !x.is_finite()),
];

/// Wrong results of one predicate in one chunk, whatever the sink.
#[inline(always)]
fn wrong(path: Path, x: &[f32], predicate: Predicate, oracle: impl Fn(f32) -> bool, out: &mut [u8]) -> bool {
    path.mask(x, predicate, &mut *out);
    let (mut mask, mut hits) = (0, 0);
    for (&x, &out) in x.iter().zip(&*out) {
        let hit = u8::from(oracle(x));
        mask |= hit ^ out;
        hits += usize::from(hit);
    }
    mask != 0 || path.count(x, predicate) != hits || path.any(x, predicate) != (hits != 0)
}

fn sweep(path: Path) {
    let step = if cfg!(debug_assertions) { 251 } else { 1 };
    let mut x = vec![0f32; CHUNK];
    let mut out = vec![0u8; CHUNK];
    let mut first = 0u64;
    while first < 1 << 32 {
        for (i, x) in x.iter_mut().enumerate() {
            *x = f32::from_bits((first as u32).wrapping_add(i as u32 * step));
        }
        for (predicate, oracle) in ORACLES {
            // Written out so that each oracle is inlined into its loop.
            let bad = match predicate {
                Predicate::Nan => wrong(path, &x, predicate, f32::is_nan, &mut out),
                Predicate::Inf => wrong(path, &x, predicate, f32::is_infinite, &mut out),
                Predicate::Finite => wrong(path, &x, predicate, f32::is_finite, &mut out),
                _ => wrong(path, &x, predicate, oracle, &mut out),
            };
            assert!(!bad, "{} {predicate:?} in the patterns from {first:#010x} on, step {step}", path.name());
        }
        first += CHUNK as u64 * u64::from(step);
    }
}

#[test]
fn all_f32_patterns() {
    for path in Path::available() {
        let start = std::time::Instant::now();
        sweep(path);
        println!("path {}: swept in {:.1} s", path.name(), start.elapsed().as_secs_f32());
    }
}
