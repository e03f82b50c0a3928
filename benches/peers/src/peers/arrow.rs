//! `arrow-rs`: its way to make a Boolean array of an array and a question. Packed bits, and the
//! count of them.

use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_array::{BooleanArray, PrimitiveArray};
use arrow_buffer::ScalarBuffer;

use crate::data::Element;
use crate::task::{Answer, Ask, Input, Question, Task};

const NAME: &str = "arrow";

fn each(array: &BooleanArray) -> Answer {
    Answer::Each(array.values().iter().map(u8::from).collect())
}

fn task<'a, A: ArrowPrimitiveType<Native: Element>>(
    ask: Ask,
    x: &'a [A::Native],
) -> Option<Task<'a>> {
    if !matches!(ask, Ask::Bits(_) | Ask::CountNan) {
        return None;
    }
    let array = PrimitiveArray::<A>::new(ScalarBuffer::from(x.to_vec()), None);
    Some(match ask {
        Ask::Bits(Question::Finite) => Task::owned(
            NAME,
            move || BooleanArray::from_unary(&array, |x| x.holds(Question::Finite)),
            each,
        ),
        Ask::Bits(Question::Nan) => Task::owned(
            NAME,
            move || BooleanArray::from_unary(&array, |x| x.holds(Question::Nan)),
            each,
        ),
        _ => Task::value(NAME, move || {
            BooleanArray::from_unary(&array, |x| x.holds(Question::Nan)).values().count_set_bits()
        }),
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let task = match x {
        Input::F32(x) => task::<Float32Type>(ask, x),
        Input::F64(x) => task::<Float64Type>(ask, x),
        Input::F16(x) => task::<Float16Type>(ask, x),
        // Arrow has no bf16.
        _ => None,
    };
    task.into_iter().collect()
}
