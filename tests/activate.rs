//! A path that was activated is the one that is used; before that it is the one that the
//! environment names, or the best. The choice is that of all threads, so one test activates, and
//! the other asks processes of their own.

use std::process::Command;

use nonfinite::{Path, Predicate, paths};

#[test]
fn every_path_can_be_activated() {
    let x = [f32::NAN; 100];
    for path in Path::available() {
        path.activate();
        println!("path {}: activated", path.name());
        assert_eq!((Path::active(), Path::active().name()), (path, path.name()));
        let active: Vec<_> = paths().filter(|info| info.active).map(|info| info.name).collect();
        assert_eq!(active, [path.name()]);
        assert_eq!(Path::by_name(path.name()), Some(path));
        assert_eq!(nonfinite::count(&x, Predicate::Nan), 100);
    }
    assert_eq!(Path::by_name("sse9"), None);
    let all: Vec<_> = Path::available().collect();
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            assert_eq!(a == b, i == j, "{} and {}", a.name(), b.name());
        }
    }
}

/// Runs this test in a process whose environment names a path, and expects that path.
fn child(named: &str, expected: &str) -> (bool, String) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", "the_environment_names_a_path"]);
    let output = child.env("NONFINITE_PATH", named).env(EXPECTED, expected).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

const EXPECTED: &str = "NONFINITE_TEST_EXPECTED";

/// `NONFINITE_PATH` picks a path, an empty one leaves the choice to the crate, and a name that is
/// no path of this CPU is an error: whoever pins a path must not get another.
#[test]
fn the_environment_names_a_path() {
    if let Ok(expected) = std::env::var(EXPECTED) {
        return assert_eq!(Path::active().name(), expected);
    }
    let best = Path::available().next().unwrap().name();
    let names = Path::available().map(|path| (path.name(), path.name()));
    for (named, expected) in names.chain([("", best)]) {
        let (success, output) = child(named, expected);
        assert!(success, "{named:?}: {output}");
        assert!(output.contains("1 passed"), "{named:?}: the child ran nothing");
    }
    for named in ["sse9", "AVX2", "avx521"] {
        let (success, output) = child(named, best);
        assert!(!success, "{named:?}: {output}");
        let here: Vec<_> = Path::available().map(Path::name).collect();
        let message = format!(
            "NONFINITE_PATH names the path {named:?}, but this CPU and build have {here:?}"
        );
        assert!(output.contains(&message), "{output}");
    }
}
