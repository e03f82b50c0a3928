//! Candle. It has no is-NaN: users compare with the tensor itself, and with the largest finite
//! value.

use candle_core::{DType, Device, Result, Tensor, WithDType};

use crate::data::Element;
use crate::task::{Answer, Ask, Input, Question, Task};

const NAME: &str = "candle";

fn nan(x: &Tensor) -> Result<Tensor> {
    x.ne(x)
}

/// False for NaN, as any comparison.
fn finite(x: &Tensor, max: f64) -> Result<Tensor> {
    x.abs()?.le(max)
}

fn task<'a, T: Element + WithDType>(ask: Ask, x: &'a [T], max: f64) -> Option<Task<'a>> {
    let x = Tensor::from_slice(x, x.len(), &Device::Cpu).expect("a tensor of the slice");
    let each = |answers: &Tensor| Answer::Each(answers.to_vec1::<u8>().expect("a vector of bytes"));
    Some(match ask {
        Ask::Mask(Question::Nan) => Task::owned(NAME, move || nan(&x).expect("comparable"), each),
        Ask::Mask(Question::Finite) => {
            Task::owned(NAME, move || finite(&x, max).expect("comparable"), each)
        }
        Ask::AllFinite => {
            let all = move || finite(&x, max)?.min_all()?.to_scalar::<u8>();
            Task::value(NAME, move || all().expect("a byte") == 1)
        }
        Ask::AnyNan => {
            let any = move || nan(&x)?.max_all()?.to_scalar::<u8>();
            Task::value(NAME, move || any().expect("a byte") == 1)
        }
        Ask::CountNan => {
            let count = move || nan(&x)?.to_dtype(DType::U32)?.sum_all()?.to_scalar::<u32>();
            Task::value(NAME, move || count().expect("a number") as usize)
        }
        _ => return None,
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    if x.len() == 0 {
        // An empty tensor has no minimum.
        return Vec::new();
    }
    let task = match x {
        Input::F32(x) => task(ask, x, f32::MAX.into()),
        Input::F64(x) => task(ask, x, f64::MAX),
        Input::F16(x) => task(ask, x, half::f16::MAX.into()),
        Input::Bf16(x) => task(ask, x, half::bf16::MAX.into()),
        _ => None,
    };
    task.into_iter().collect()
}
