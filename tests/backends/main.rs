//! Every backend against oracles that are independent of its rule. One binary, so that an emulator
//! boots once.
//!
//! `NONFINITE_REQUIRE=avx2,scalar` makes `required_backends` fail unless those backends can run.
//! For emulators `NONFINITE_REDUCED=1` cuts the input, and `NONFINITE_ONLY=avx512` leaves out the
//! other backends, which are tested elsewhere.

mod api;
#[cfg(all(unix, target_arch = "x86_64"))]
#[path = "../common/child.rs"]
mod child;
mod codes;
mod dense;
mod environment;
mod known_bad;
mod layouts;
mod lengths;
mod nulls;
mod patterns;
mod properties;
mod replace;
mod rows;
mod scale;
mod stats;
mod views;

use nonfinite::{Backend, Format};
use nonfinite_oracle::{self as oracle, CANARY, backends};

/// Whether an emulator asks for less input.
fn reduced() -> bool {
    std::env::var_os("NONFINITE_REDUCED").is_some()
}

#[test]
fn required_backends() {
    let available: Vec<_> = Backend::available().map(Backend::name).collect();
    let tested: Vec<_> = backends().iter().map(|backend| backend.name()).collect();
    let active = Backend::active().name();
    println!("backends that run here: {}; active: {active}", available.join(" "));
    for info in nonfinite::backends() {
        let ran = match (info.available, tested.contains(&info.name)) {
            (true, true) => "ran",
            (true, false) => "left out by NONFINITE_ONLY",
            (false, _) => "not on this CPU",
        };
        println!("backend {}: {ran}", info.name);
        assert_eq!(info.available, available.contains(&info.name));
        assert_eq!(info.active, info.name == active);
    }
    assert_eq!(available.last(), Some(&"scalar"));
    oracle::require(&backends());
    if let Ok(forced) = std::env::var("NONFINITE_BACKEND") {
        assert_eq!(active, forced, "NONFINITE_BACKEND names a backend that is not used");
    }
}

/// Compares every sink of every backend with the oracle for the elements in `bytes`.
fn check(format: Format, bytes: &[u8]) {
    let kinds = expected(format, bytes);
    for backend in backends() {
        check_backend(backend, format, bytes, &kinds);
    }
}

/// The oracle's view of each element.
fn expected(format: Format, bytes: &[u8]) -> Vec<oracle::Kind> {
    oracle::kinds(format, bytes)
}

fn check_backend(backend: Backend, format: Format, bytes: &[u8], kinds: &[oracle::Kind]) {
    oracle::check(&backend, format, bytes, kinds).unwrap_or_else(|wrong| panic!("{wrong}"));
}

/// A function for each tensor of a test. The tests pass [`check`]; `known_bad` passes a check of
/// wrong implementations.
type Visit<'a> = &'a mut dyn FnMut(Format, &[u8]);
