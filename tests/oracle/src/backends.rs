//! Which backends are tested.

use std::sync::LazyLock;

use nonfinite::Backend;

static BACKENDS: LazyLock<Vec<Backend>> = LazyLock::new(|| {
    let only = std::env::var("NONFINITE_ONLY").ok();
    let wanted =
        |name: &str| only.as_ref().is_none_or(|only| only.split(',').any(|one| one == name));
    let backends: Vec<_> = Backend::available().filter(|backend| wanted(backend.name())).collect();
    let only = only.as_deref().unwrap_or_default();
    assert!(!backends.is_empty(), "NONFINITE_ONLY={only} names no backend of this CPU");
    backends
});

/// The backends to test: all that this CPU can run. The environment variable `NONFINITE_ONLY`, a
/// list with commas, restricts them. This is for emulators, which are slow and test one backend.
///
/// # Panics
/// If none is left.
#[must_use]
pub fn backends() -> &'static [Backend] {
    &BACKENDS
}

/// Prints which backends are tested, and checks that all of those in the environment variable
/// `NONFINITE_REQUIRE`, a list with commas, are. Otherwise a test would pass on a machine or in an
/// emulator without them.
///
/// # Panics
/// If one is not.
pub fn require() {
    let tested: Vec<_> = backends().iter().map(|backend| backend.name()).collect();
    for (name, backend) in Backend::all() {
        let ran = match (backend.is_some(), tested.contains(&name)) {
            (true, true) => "ran",
            (true, false) => "left out by NONFINITE_ONLY",
            (false, _) => "not on this CPU",
        };
        println!("backend {name}: {ran}");
    }
    let required = std::env::var("NONFINITE_REQUIRE").unwrap_or_default();
    for name in required.split(',').filter(|name| !name.is_empty()) {
        assert!(tested.contains(&name), "backend {name} is required, but only {tested:?} can run");
    }
}

/// Whether the exhaustive half of a test runs: the environment variable `NONFINITE_EXHAUSTIVE` asks
/// for it, as `.ci/run core` does. It takes minutes, and hours in an emulator.
#[must_use]
pub fn exhaustive() -> bool {
    std::env::var_os("NONFINITE_EXHAUSTIVE").is_some()
}
