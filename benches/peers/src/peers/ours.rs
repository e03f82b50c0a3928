//! `nonfinite` as users call it, on the backend that it picks, and on the others that run here
//! except the scalar oracle.

use nonfinite::{Backend, Census, Element, Predicate, TensorView};

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
fn mask<T: Element>(backend: Option<Backend>, x: &[T], predicate: Predicate, out: &mut [bool]) {
    match backend {
        Some(backend) => TensorView::from(x).on(backend).mask(predicate, out).unwrap(),
        None => nonfinite::mask(x, predicate, out),
    }
}

#[inline(never)]
fn bits<T: Element>(backend: Option<Backend>, x: &[T], predicate: Predicate, out: &mut [u8]) {
    match backend {
        Some(backend) => TensorView::from(x).on(backend).bits(predicate, out, 0).unwrap(),
        None => nonfinite::bits_at(x, predicate, out, 0),
    }
}

#[inline(never)]
fn all<T: Element>(backend: Option<Backend>, x: &[T], predicate: Predicate) -> bool {
    backend.map_or_else(
        || nonfinite::all(x, predicate),
        |backend| TensorView::from(x).on(backend).all(predicate),
    )
}

#[inline(never)]
fn any<T: Element>(backend: Option<Backend>, x: &[T], predicate: Predicate) -> bool {
    backend.map_or_else(
        || nonfinite::any(x, predicate),
        |backend| TensorView::from(x).on(backend).any(predicate),
    )
}

#[inline(never)]
fn count<T: Element>(backend: Option<Backend>, x: &[T], predicate: Predicate) -> usize {
    backend.map_or_else(
        || nonfinite::count(x, predicate),
        |backend| TensorView::from(x).on(backend).count(predicate),
    )
}

#[inline(never)]
fn position<T: Element>(backend: Option<Backend>, x: &[T], predicate: Predicate) -> Option<usize> {
    backend.map_or_else(
        || nonfinite::position(x, predicate),
        |backend| TensorView::from(x).on(backend).position(predicate),
    )
}

#[inline(never)]
fn census<T: Element>(backend: Option<Backend>, x: &[T]) -> [usize; 3] {
    let Census { nan, pos_inf, neg_inf, .. } = backend
        .map_or_else(|| nonfinite::census(x), |backend| TensorView::from(x).on(backend).census());
    [nan.count, pos_inf.count, neg_inf.count]
}

fn task<'a, T: Element>(
    backend: Option<Backend>,
    name: &'static str,
    ask: Ask,
    x: &'a [T],
) -> Task<'a> {
    match ask {
        Ask::Mask(q) => Task::mask(name, x.len(), move |out| mask(backend, x, predicate(q), out)),
        Ask::Bits(q) => Task::bits(name, x.len(), move |out| bits(backend, x, predicate(q), out)),
        Ask::AllFinite => Task::value(name, move || all(backend, x, Predicate::Finite)),
        Ask::AnyNan => Task::value(name, move || any(backend, x, Predicate::Nan)),
        Ask::CountNan => Task::value(name, move || count(backend, x, Predicate::Nan)),
        Ask::FirstNonFinite => {
            Task::value(name, move || position(backend, x, Predicate::NonFinite))
        }
        Ask::Census => Task::value(name, move || census(backend, x)),
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
    let active = Backend::active();
    let of_backend = |backend| {
        let pinned = (backend != active).then_some(backend);
        Some(each_type!(x, x => task(pinned, name(backend)?, ask, x)))
    };
    Backend::available().filter_map(of_backend).collect()
}
