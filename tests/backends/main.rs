//! Every backend against oracles that are independent of its rule. One binary, so that an emulator
//! boots once.
//!
//! `NONFINITE_EXHAUSTIVE=1` asks for all of the input, which takes minutes. On emulators
//! `NONFINITE_ONLY=avx512` leaves out the other backends, which are tested elsewhere, and
//! `NONFINITE_REQUIRE=avx512` makes `required_backends` fail unless that backend can run.

mod api;
#[cfg(all(unix, target_arch = "x86_64"))]
#[path = "../common/child.rs"]
mod child;
mod environment;
mod known_bad;
mod nulls;
mod questions;
mod replace;
mod scale;
mod stats;
mod tensors;
mod views;

use nonfinite::{Backend, Elements, Format};
use nonfinite_oracle::{self as oracle, CANARY, Expected, Framed, backends, exhaustive};

#[test]
fn required_backends() {
    oracle::require();
    let available: Vec<_> = Backend::available().map(Backend::name).collect();
    let active = Backend::active().name();
    println!("backends that run here: {}; active: {active}", available.join(" "));
    assert_eq!(available.last(), Some(&"scalar"));
    if let Ok(forced) = std::env::var("NONFINITE_BACKEND") {
        assert_eq!(active, forced, "NONFINITE_BACKEND names a backend that is not used");
    }
}

/// Compares every answer about the elements in `bytes` with the oracle.
fn check(format: Format, bytes: &[u8]) {
    check_expected(format, bytes, &Expected::new(format, bytes));
}

fn check_expected(format: Format, bytes: &[u8], expected: &Expected) {
    let x = Elements::from_bytes(bytes, format).unwrap();
    oracle::check_elements(x, expected, &mut Framed::default())
        .unwrap_or_else(|wrong| panic!("{wrong}"));
}
