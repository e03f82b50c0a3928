//! Every path against oracles that know nothing of its rule. One binary, so that an emulator boots once.
//!
//! `NONFINITE_REQUIRE=avx2,scalar` makes `required_paths` fail unless those paths can run. `NONFINITE_REDUCED=1` cuts
//! the input for emulators.

mod api;
mod codes;
mod dense;
mod environment;
mod lengths;
mod oracle;
mod patterns;
mod properties;
mod replace;
mod scale;
mod views;

use nonfinite::{Elements, Format, Path, Predicate};
use oracle::{Kind, holds, kind};

/// Whether an emulator asks for less input.
fn reduced() -> bool {
    std::env::var_os("NONFINITE_REDUCED").is_some()
}

/// The paths to test: all that this CPU can run.
fn paths() -> Vec<Path> {
    Path::available().collect()
}

#[test]
fn required_paths() {
    let available: Vec<_> = paths().iter().map(|path| path.name()).collect();
    let active = Path::active().name();
    println!("paths that run here: {}; active: {active}", available.join(" "));
    for info in nonfinite::paths() {
        println!("path {}: {}", info.name, if info.available { "ran" } else { "not on this CPU" });
        assert_eq!(info.available, available.contains(&info.name));
        assert_eq!(info.active, info.name == active);
    }
    assert_eq!(available.last(), Some(&"scalar"));
    let required = std::env::var("NONFINITE_REQUIRE").unwrap_or_default();
    for name in required.split(',').filter(|name| !name.is_empty()) {
        assert!(available.contains(&name), "path {name} is required, but only {available:?} can run");
    }
    if let Ok(forced) = std::env::var("NONFINITE_PATH") {
        assert_eq!(active, forced, "NONFINITE_PATH names a path that is not used");
    }
}

/// Compares every sink of every path with the oracle for the elements in `bytes`.
fn check(format: Format, bytes: &[u8]) {
    for path in paths() {
        check_path(path, format, bytes, &expected(format, bytes));
    }
}

/// The oracle's view of each element.
fn expected(format: Format, bytes: &[u8]) -> Vec<Kind> {
    bytes.chunks_exact(format.size_in_bytes()).map(|raw| kind(format, oracle::read(raw))).collect()
}

fn check_path(path: Path, format: Format, bytes: &[u8], kinds: &[Kind]) {
    let x = Elements::from_bytes(bytes, format).unwrap();
    for predicate in Predicate::ALL {
        let hits: Vec<bool> = kinds.iter().map(|&kind| holds(predicate, kind)).collect();
        let at = || format!("{} {format} {predicate:?} length {}", path.name(), hits.len());
        check_mask(path, x, predicate, &hits, &at);
        for offset in [0, 1 + hits.len() % 7, 8, 29] {
            check_bits(path, x, predicate, &hits, offset, &at);
        }
        let first = hits.iter().position(|&hit| hit);
        let count = hits.iter().filter(|&&hit| hit).count();
        assert_eq!(path.position(x, predicate), first, "position {}", at());
        assert_eq!(path.count(x, predicate), count, "count {}", at());
        assert_eq!(path.any(x, predicate), first.is_some(), "any {}", at());
        assert_eq!(path.all(x, predicate), count == hits.len(), "all {}", at());
    }
    let census = path.census(x);
    let classes = [(census.nan, Kind::Nan), (census.pos_inf, Kind::PosInf), (census.neg_inf, Kind::NegInf)];
    for (class, kind) in classes {
        let at = format!("census {} {format} {kind:?} length {}", path.name(), kinds.len());
        assert_eq!(class.count, kinds.iter().filter(|&&k| k == kind).count(), "{at}");
        assert_eq!(class.first, kinds.iter().position(|&k| k == kind), "{at}");
    }
}

const CANARY: u8 = 0xA5;

fn check_mask(path: Path, x: Elements<'_>, predicate: Predicate, hits: &[bool], at: &dyn Fn() -> String) {
    let mut out = vec![CANARY; hits.len() + 128];
    path.mask(x, predicate, &mut out[64..64 + hits.len()]);
    let inside = &out[64..64 + hits.len()];
    if let Some(i) = (0..hits.len()).find(|&i| inside[i] != u8::from(hits[i])) {
        panic!("mask {} at {i}: {} instead of {}", at(), inside[i], hits[i]);
    }
    let outside = out[..64].iter().chain(&out[64 + hits.len()..]);
    assert!(outside.copied().all(|byte| byte == CANARY), "mask {} wrote outside", at());
}

fn check_bits(
    path: Path,
    x: Elements<'_>,
    predicate: Predicate,
    hits: &[bool],
    offset: usize,
    at: &dyn Fn() -> String,
) {
    let mut out = vec![CANARY; (offset + hits.len()).div_ceil(8) + 16];
    let mut want = out.clone();
    for (i, &hit) in hits.iter().enumerate() {
        let (byte, bit) = ((offset + i) / 8, (offset + i) % 8);
        want[byte] = want[byte] & !(1 << bit) | u8::from(hit) << bit;
    }
    let end = (offset + hits.len()).div_ceil(8);
    path.bits(x, predicate, &mut out[..end], offset);
    assert!(out == want, "bits {} offset {offset}:\n{out:x?}\n{want:x?}", at());
}
