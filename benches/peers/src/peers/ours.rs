//! `nonfinite` on each path that runs here, but for the scalar oracle.

use nonfinite::{Element, Path, Predicate};

use super::each_type;
use crate::task::{Ask, Input, Question, Task};

fn predicate(question: Question) -> Predicate {
    match question {
        Question::Finite => Predicate::Finite,
        Question::Nan => Predicate::Nan,
    }
}

fn task<'a, T: Element>(path: Path, name: &'static str, ask: Ask, x: &'a [T]) -> Task<'a> {
    match ask {
        Ask::Mask(question) => Task::mask(name, x.len(), move |out| path.mask(x, predicate(question), out)),
        Ask::Bits(question) => {
            Task::bits(name, x.len(), move |out| path.bits(x, predicate(question), out, 0))
        }
        Ask::AllFinite => Task::value(name, move || path.all(x, Predicate::Finite)),
        Ask::AnyNan => Task::value(name, move || path.any(x, Predicate::Nan)),
        Ask::CountNan => Task::value(name, move || path.count(x, Predicate::Nan)),
        Ask::FirstNonFinite => Task::value(name, move || path.position(x, Predicate::NonFinite)),
    }
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    Path::available()
        .filter_map(|path| {
            let name = match path.name() {
                "avx2" => "nonfinite avx2",
                "avx512" => "nonfinite avx512",
                "neon" => "nonfinite neon",
                "portable" => "nonfinite portable",
                _ => return None,
            };
            Some(each_type!(x, x => task(path, name, ask, x)))
        })
        .collect()
}
