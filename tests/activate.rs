//! An activated backend is used. Without activation, the backend in the environment is used, or the
//! best one. All threads share the choice, so one test activates backends, and the others start
//! separate processes.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{hint, thread};

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

/// Runs a test in a process whose environment names a backend, and expects that backend.
fn child(test: &str, named: &str, expected: &str) -> (bool, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    // Before that name so many others that the search for it takes some 50 microseconds.
    let child = child.envs((0..20_000).map(|i| (i.to_string(), "")));
    let child = child.args(["--exact", test]).env("NONFINITE_BACKEND", named);
    let output = child.env(EXPECTED, expected).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

const EXPECTED: &str = "NONFINITE_TEST_EXPECTED";

/// A thread activates a backend while another thread makes the first choice: what was activated
/// stays active. If `activate` did not tell the other thread, a try would fail with a probability
/// of one half on two busy cores, and of 1 % on one core.
#[test]
fn activated_during_the_first_choice() {
    let Ok(expected) = std::env::var(EXPECTED) else {
        for _ in 0..16 {
            let (success, output) = child("activated_during_the_first_choice", "", "scalar");
            assert!(success && output.contains("1 passed"), "{output}");
        }
        return;
    };
    let (backend, met) = (Backend::by_name(&expected).unwrap(), AtomicUsize::new(0));
    // Threads that have met so often are both running.
    let meet = || {
        for round in 1..=10 {
            met.fetch_add(1, Ordering::SeqCst);
            while met.load(Ordering::SeqCst) < 2 * round {
                hint::spin_loop();
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            meet();
            (0..100).for_each(|_| hint::spin_loop());
            backend.activate();
        });
        meet();
        let _ = Backend::active();
    });
    assert_eq!(Backend::active(), backend);
}

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
        let (success, output) = child("the_environment_names_a_backend", named, expected);
        assert!(success, "{named:?}: {output}");
        assert!(output.contains("1 passed"), "{named:?}: the child ran nothing");
    }
    for named in ["sse9", "avx2 ", "avx521"] {
        let (success, output) = child("the_environment_names_a_backend", named, best);
        assert!(!success, "{named:?}: {output}");
        let message = format!("NONFINITE_BACKEND is {named:?}, which");
        assert!(output.contains(&message), "{output}");
        assert!(Backend::all().all(|(name, _)| output.contains(name)), "{output}");
    }
}
