//! The loop one writes first, as the compiler makes it for this build's target.

use super::each_type;
use crate::data::Element;
use crate::task::{Ask, Input, Question, Task};

fn task<T: Element>(ask: Ask, x: &[T]) -> Option<Task<'_>> {
    const NAME: &str = "std loop";
    // Each question in its own loop, as it would be written.
    fn mask<T: Element>(x: &[T], out: &mut [u8], holds: impl Fn(T) -> bool) {
        for (x, out) in x.iter().zip(out) {
            *out = u8::from(holds(*x));
        }
    }
    Some(match ask {
        Ask::Mask(Question::Finite) => {
            Task::mask(NAME, x.len(), |out| mask(x, out, |x| x.holds(Question::Finite)))
        }
        Ask::Mask(Question::Nan) => Task::mask(NAME, x.len(), |out| mask(x, out, |x| x.holds(Question::Nan))),
        Ask::Bits(_) => return None,
        Ask::AllFinite => Task::value(NAME, || x.iter().all(|x| x.holds(Question::Finite))),
        Ask::AnyNan => Task::value(NAME, || x.iter().any(|x| x.holds(Question::Nan))),
        Ask::CountNan => Task::value(NAME, || x.iter().filter(|x| x.holds(Question::Nan)).count()),
        Ask::FirstNonFinite => Task::value(NAME, || x.iter().position(|x| !x.holds(Question::Finite))),
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    each_type!(x, x => task(ask, x).into_iter().collect())
}
