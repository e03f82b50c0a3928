//! A path that was activated is the one that is used. Alone in its program: the choice is that of all threads.

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
