//! Burn's CPU backend Flex, by the functions that its tensor type calls.

use burn_backend::{Backend, BoolDType, Element as BurnElement, TensorData, read_sync};
use burn_flex::Flex;

use super::each_float;
use crate::data::Element;
use crate::task::{Answer, Ask, Input, Question, Task};

const BOOL: BoolDType = BoolDType::Native;

fn task<'a, B: Backend + 'a, T: Element + BurnElement>(
    name: &'static str,
    ask: Ask,
    x: &'a [T],
) -> Option<Task<'a>> {
    let data = TensorData::new(x.to_vec(), [x.len()]);
    let x = B::float_from_data(data, &Default::default());
    let each = |answers: &B::BoolTensorPrimitive| {
        let data = read_sync(B::bool_into_data(answers.clone())).expect("data on the CPU");
        Answer::Each(data.iter::<bool>().map(u8::from).collect())
    };
    Some(match ask {
        Ask::Mask(Question::Nan) => {
            Task::owned(name, move || B::float_is_nan(x.clone(), BOOL), each)
        }
        // As `Tensor::is_finite` does.
        Ask::Mask(Question::Finite) => Task::owned(
            name,
            move || {
                let not_nan = B::bool_not(B::float_is_nan(x.clone(), BOOL));
                B::bool_and(not_nan, B::bool_not(B::float_is_inf(x.clone(), BOOL)))
            },
            each,
        ),
        // As `Tensor::contains_nan` does.
        Ask::AnyNan => Task::value(name, move || {
            let any = B::bool_any(B::float_is_nan(x.clone(), BOOL));
            let data = read_sync(B::bool_into_data(any)).expect("data on the CPU");
            data.iter::<bool>().any(|x| x)
        }),
        _ => return None,
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    each_float!(x, x => task::<Flex, _>("burn-flex", ask, x))
}
