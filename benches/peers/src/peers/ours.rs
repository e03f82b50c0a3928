//! `nonfinite` as users call it, on the path that it picks, and on the others that run here except
//! the scalar oracle.

use nonfinite::{Census, Element, Path, Predicate};

use super::each_type;
use crate::task::{Ask, Input, Question, Task};

fn predicate(question: Question) -> Predicate {
    match question {
        Question::Finite => Predicate::Finite,
        Question::Nan => Predicate::Nan,
        Question::Inf => Predicate::Inf,
    }
}

// Calls as everybody has them here: not inlined.

#[inline(never)]
fn mask<T: Element>(path: Option<Path>, x: &[T], predicate: Predicate, out: &mut [bool]) {
    match path {
        Some(path) => path.mask(x, predicate, out),
        None => nonfinite::mask(x, predicate, out),
    }
}

#[inline(never)]
fn bits<T: Element>(path: Option<Path>, x: &[T], predicate: Predicate, out: &mut [u8]) {
    match path {
        Some(path) => path.bits(x, predicate, out, 0),
        None => nonfinite::bits_at(x, predicate, out, 0),
    }
}

#[inline(never)]
fn all<T: Element>(path: Option<Path>, x: &[T], predicate: Predicate) -> bool {
    path.map_or_else(|| nonfinite::all(x, predicate), |path| path.all(x, predicate))
}

#[inline(never)]
fn any<T: Element>(path: Option<Path>, x: &[T], predicate: Predicate) -> bool {
    path.map_or_else(|| nonfinite::any(x, predicate), |path| path.any(x, predicate))
}

#[inline(never)]
fn count<T: Element>(path: Option<Path>, x: &[T], predicate: Predicate) -> usize {
    path.map_or_else(|| nonfinite::count(x, predicate), |path| path.count(x, predicate))
}

#[inline(never)]
fn position<T: Element>(path: Option<Path>, x: &[T], predicate: Predicate) -> Option<usize> {
    path.map_or_else(|| nonfinite::position(x, predicate), |path| path.position(x, predicate))
}

#[inline(never)]
fn census<T: Element>(path: Option<Path>, x: &[T]) -> [usize; 3] {
    let Census { nan, pos_inf, neg_inf } =
        path.map_or_else(|| nonfinite::census(x), |path| path.census(x));
    [nan.count, pos_inf.count, neg_inf.count]
}

fn task<'a, T: Element>(path: Option<Path>, name: &'static str, ask: Ask, x: &'a [T]) -> Task<'a> {
    match ask {
        Ask::Mask(q) => Task::mask(name, x.len(), move |out| mask(path, x, predicate(q), out)),
        Ask::Bits(q) => Task::bits(name, x.len(), move |out| bits(path, x, predicate(q), out)),
        Ask::AllFinite => Task::value(name, move || all(path, x, Predicate::Finite)),
        Ask::AnyNan => Task::value(name, move || any(path, x, Predicate::Nan)),
        Ask::CountNan => Task::value(name, move || count(path, x, Predicate::Nan)),
        Ask::FirstNonFinite => Task::value(name, move || position(path, x, Predicate::NonFinite)),
        Ask::Census => Task::value(name, move || census(path, x)),
    }
}

/// The name of our rows for a path; none for the oracle.
pub fn name(path: Path) -> Option<&'static str> {
    Some(match path.name() {
        "avx2" => "nonfinite avx2",
        "avx512" => "nonfinite avx512",
        "neon" => "nonfinite neon",
        "portable" => "nonfinite portable",
        _ => return None,
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let active = Path::active();
    let of_path = |path| {
        let pinned = (path != active).then_some(path);
        Some(each_type!(x, x => task(pinned, name(path)?, ask, x)))
    };
    Path::available().filter_map(of_path).collect()
}
