//! `nonfinite` as users call it, on each backend that runs here except the scalar oracle.

use nonfinite::{Backend, Census, Element, Predicate};

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
fn mask<T: Element>(x: &[T], predicate: Predicate, out: &mut [bool]) {
    nonfinite::mask(x, predicate, out);
}

#[inline(never)]
fn bits<T: Element>(x: &[T], predicate: Predicate, out: &mut [u8]) {
    nonfinite::bits_at(x, predicate, out, 0);
}

#[inline(never)]
fn all<T: Element>(x: &[T], predicate: Predicate) -> bool {
    nonfinite::all(x, predicate)
}

#[inline(never)]
fn any<T: Element>(x: &[T], predicate: Predicate) -> bool {
    nonfinite::any(x, predicate)
}

#[inline(never)]
fn count<T: Element>(x: &[T], predicate: Predicate) -> usize {
    nonfinite::count(x, predicate)
}

#[inline(never)]
fn position<T: Element>(x: &[T], predicate: Predicate) -> Option<usize> {
    nonfinite::position(x, predicate)
}

#[inline(never)]
fn census<T: Element>(x: &[T]) -> [usize; 3] {
    let Census { nan, pos_inf, neg_inf, .. } = nonfinite::census(x);
    [nan.count, pos_inf.count, neg_inf.count]
}

fn task<'a, T: Element>(name: &'static str, ask: Ask, x: &'a [T]) -> Task<'a> {
    match ask {
        Ask::Mask(q) => Task::mask(name, x.len(), move |out| mask(x, predicate(q), out)),
        Ask::Bits(q) => Task::bits(name, x.len(), move |out| bits(x, predicate(q), out)),
        Ask::AllFinite => Task::value(name, move || all(x, Predicate::Finite)),
        Ask::AnyNan => Task::value(name, move || any(x, Predicate::Nan)),
        Ask::CountNan => Task::value(name, move || count(x, Predicate::Nan)),
        Ask::FirstNonFinite => Task::value(name, move || position(x, Predicate::NonFinite)),
        Ask::Census => Task::value(name, move || census(x)),
    }
}

/// The name of our rows for a backend; none for the oracle.
pub fn name(backend: Backend) -> Option<&'static str> {
    Some(match backend.name() {
        "avx2" => "nonfinite avx2",
        "avx512" => "nonfinite avx512",
        "neon" => "nonfinite neon",
        "portable" => "nonfinite portable",
        _ => return None,
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let of_backend = |backend| Some(each_type!(x, x => task(name(backend)?, ask, x).on(backend)));
    Backend::available().filter_map(of_backend).collect()
}
