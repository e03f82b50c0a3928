// `nonfinite` as users call it. The module above names the crate `it`: as it is, or as it was.
// (No `//!`: `compare` includes this file of another commit.)

use super::it::{self, Backend, Census, Element, Predicate};
use crate::task::{Ask, Input, Question, Task};

const FINITE: u8 = 0;
const NAN: u8 = 1;
const INF: u8 = 2;

const fn predicate<const Q: u8>() -> Predicate {
    match Q {
        FINITE => Predicate::Finite,
        NAN => Predicate::Nan,
        _ => Predicate::Inf,
    }
}

fn mask<'a, T: Element, const Q: u8>(name: &'static str, x: &'a [T]) -> Task<'a> {
    Task::mask(name, x.len(), move |out: &mut [bool]| it::mask(x, predicate::<Q>(), out))
}

fn bits<'a, T: Element, const Q: u8>(name: &'static str, x: &'a [T]) -> Task<'a> {
    Task::bits(name, x.len(), move |out| it::bits(x, predicate::<Q>(), out, 0))
}

fn census<T: Element>(x: &[T]) -> [usize; 3] {
    let Census { nan, pos_inf, neg_inf, .. } = it::census(x);
    [nan.count, pos_inf.count, neg_inf.count]
}

fn task<'a, T: Element>(name: &'static str, ask: Ask, x: &'a [T]) -> Task<'a> {
    match ask {
        Ask::Mask(Question::Finite) => mask::<T, FINITE>(name, x),
        Ask::Mask(Question::Nan) => mask::<T, NAN>(name, x),
        Ask::Mask(Question::Inf) => mask::<T, INF>(name, x),
        Ask::Bits(Question::Finite) => bits::<T, FINITE>(name, x),
        Ask::Bits(Question::Nan) => bits::<T, NAN>(name, x),
        Ask::Bits(Question::Inf) => bits::<T, INF>(name, x),
        Ask::AllFinite => Task::value(name, move || it::all(x, Predicate::Finite)),
        Ask::AnyNan => Task::value(name, move || it::any(x, Predicate::Nan)),
        Ask::CountNan => Task::value(name, move || it::count(x, Predicate::Nan)),
        Ask::FirstNonFinite => Task::value(name, move || it::position(x, Predicate::NonFinite)),
        Ask::Census => Task::value(name, move || census(x)),
    }
}

/// The same elements as another crate's type.
fn cast<A, B>(x: &[A]) -> &[B] {
    const { assert!(size_of::<A>() == 1 && size_of::<B>() == 1) };
    // SAFETY: both are a byte that may have any value.
    unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
}

/// Of `names`, which end with that of a backend, those whose backend runs here.
pub fn tasks<'a>(ask: Ask, x: Input<'a>, names: &[&'static str]) -> Vec<Task<'a>> {
    let of_backend = |name: &&'static str| {
        let backend = Backend::by_name(name.split_once(' ')?.1)?;
        let task = match x {
            Input::F32(x) => task(name, ask, x),
            Input::F64(x) => task(name, ask, x),
            Input::F16(x) => task(name, ask, x),
            Input::Bf16(x) => task(name, ask, x),
            Input::E4m3fn(x) => task::<it::F8E4M3Fn>(name, ask, cast(x)),
            Input::E5m2(x) => task::<it::F8E5M2>(name, ask, cast(x)),
        };
        Some(task.on(move || {
            backend.activate();
        }))
    };
    names.iter().filter_map(of_backend).collect()
}
