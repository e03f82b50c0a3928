//! `ndarray`: its own methods where it has one, else `mapv` and iterators.

use half::{bf16, f16};
use ndarray::{Array1, ArrayView1};

use crate::data::Element;
use crate::task::{Answer, Ask, Input, Question, Task};

const NAME: &str = "ndarray";

fn each(array: &Array1<bool>) -> Answer {
    Answer::Each(array.iter().map(|x| u8::from(*x)).collect())
}

fn task<'a, T: Element>(ask: Ask, x: &'a [T]) -> Option<Task<'a>> {
    let array = ArrayView1::from(x);
    let mapped = |holds: fn(&ArrayView1<'a, T>) -> Array1<bool>| {
        Task::owned(NAME, move || holds(&array), each)
    };
    Some(match ask {
        Ask::Mask(Question::Finite) => mapped(|x| x.mapv(|x| x.holds(Question::Finite))),
        Ask::Mask(Question::Nan) => mapped(|x| x.mapv(|x| x.holds(Question::Nan))),
        Ask::Mask(Question::Inf) => mapped(|x| x.mapv(|x| x.holds(Question::Inf))),
        Ask::AllFinite => {
            Task::value(NAME, move || array.iter().all(|x| x.holds(Question::Finite)))
        }
        Ask::AnyNan => Task::value(NAME, move || array.iter().any(|x| x.holds(Question::Nan))),
        Ask::CountNan => {
            Task::value(NAME, move || array.iter().filter(|x| x.holds(Question::Nan)).count())
        }
        Ask::FirstNonFinite => {
            Task::value(NAME, move || array.iter().position(|x| !x.holds(Question::Finite)))
        }
        Ask::Bits(_) | Ask::Census => return None,
    })
}

/// The methods that are there for `f32` and `f64` only.
macro_rules! method {
    ($ask:expr, $x:expr) => {{
        let array = ArrayView1::from($x);
        match $ask {
            Ask::Mask(Question::Nan) => Some(Task::owned(NAME, move || array.is_nan(), each)),
            Ask::Mask(Question::Inf) => Some(Task::owned(NAME, move || array.is_infinite(), each)),
            Ask::AnyNan => Some(Task::value(NAME, move || array.is_any_nan())),
            ask => task(ask, $x),
        }
    }};
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let task = match x {
        Input::F32(x) => method!(ask, x),
        Input::F64(x) => method!(ask, x),
        Input::F16(x) => task::<f16>(ask, x),
        Input::Bf16(x) => task::<bf16>(ask, x),
        _ => None,
    };
    task.into_iter().collect()
}
