//! An activated backend is used. Without activation, the backend in the environment is used, or the
//! best one. All threads share the choice, so one test activates backends, and the other one starts
//! separate processes.

use std::process::Command;

use nonfinite::{Backend, Predicate};

#[test]
fn every_backend_can_be_activated() {
    let x = [f32::NAN; 100];
    for backend in Backend::available() {
        backend.activate();
        println!("backend {}: activated", backend.name());
        assert_eq!((Backend::active(), Backend::active().name()), (backend, backend.name()));
        assert_eq!(Backend::by_name(backend.name()), Some(backend));
        assert_eq!(nonfinite::count(&x, Predicate::Nan), 100);
    }
    assert_eq!(Backend::by_name("Scalar"), Backend::by_name("scalar"));
    assert_eq!(Backend::by_name("sse9"), None);
    let all: Vec<_> = Backend::available().collect();
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            assert_eq!(a == b, i == j, "{} and {}", a.name(), b.name());
        }
    }
}

/// Runs this test in a process whose environment names a backend, and expects that backend.
fn child(named: &str, expected: &str) -> (bool, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", "the_environment_names_a_backend"]);
    let output = child.env("NONFINITE_BACKEND", named).env(EXPECTED, expected).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

const EXPECTED: &str = "NONFINITE_TEST_EXPECTED";

/// `NONFINITE_BACKEND` picks a backend, an empty one leaves the choice to the crate, and a name
/// that is no backend of this CPU is an error: a pinned backend is never replaced by another one.
#[test]
fn the_environment_names_a_backend() {
    if let Ok(expected) = std::env::var(EXPECTED) {
        return assert_eq!(Backend::active().name(), expected);
    }
    let best = Backend::available().next().unwrap().name();
    let names = Backend::available().map(|backend| (backend.name(), backend.name()));
    for (named, expected) in names.chain([("", best), ("SCALAR", "scalar")]) {
        let (success, output) = child(named, expected);
        assert!(success, "{named:?}: {output}");
        assert!(output.contains("1 passed"), "{named:?}: the child ran nothing");
    }
    for named in ["sse9", "avx2 ", "avx521"] {
        let (success, output) = child(named, best);
        assert!(!success, "{named:?}: {output}");
        let message = format!("NONFINITE_BACKEND is {named:?}, which");
        assert!(output.contains(&message), "{output}");
        assert!(Backend::all().all(|(name, _)| output.contains(name)), "{output}");
    }
}
