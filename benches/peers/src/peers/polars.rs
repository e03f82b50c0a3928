//! Polars: the kernels under `is_nan` (which answers "none" without a bitmap where there is none)
//! and the way its `is_finite` collects.

use half::f16;
use polars_arrow::array::{ArrayCollectIterExt, BooleanArray};
use polars_arrow::bitmap::Bitmap;
use polars_compute::nan::{first_nan_idx, is_nan};
use polars_utils::float::IsFloat;
use polars_utils::float16::pf16;

use crate::task::{Answer, Ask, Input, Question, Task};

const NAME: &str = "polars";

fn each(bitmap: &Bitmap) -> Answer {
    Answer::Each(bitmap.iter().map(u8::from).collect())
}

fn task<'a, T>(ask: Ask, x: &'a [T], finite: impl Fn(T) -> bool + Copy + 'a) -> Option<Task<'a>>
where
    T: PartialEq + IsFloat + Copy,
{
    Some(match ask {
        Ask::Bits(Question::Nan) => {
            let n = x.len();
            let read = move |bitmap: &Option<Bitmap>| match bitmap {
                Some(bitmap) => each(bitmap),
                None => Answer::Each(vec![0; n]),
            };
            Task::owned(NAME, || is_nan(x), read)
        }
        Ask::AnyNan => Task::value(NAME, || first_nan_idx(x).is_some()),
        Ask::CountNan => Task::value(NAME, || is_nan(x).map_or(0, |bitmap| bitmap.set_bits())),
        Ask::Bits(Question::Finite) => {
            // What `unary_elementwise_values` does with each chunk.
            let collect = move || -> BooleanArray { x.iter().map(|x| finite(*x)).collect_arr() };
            Task::owned(NAME, collect, |array: &BooleanArray| each(array.values()))
        }
        _ => return None,
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let task = match x {
        Input::F32(x) => task(ask, x, f32::is_finite),
        Input::F64(x) => task(ask, x, f64::is_finite),
        Input::F16(x) => task(ask, as_pf16(x), |x| x.0.is_finite()),
        // Polars has no bf16.
        _ => None,
    };
    task.into_iter().collect()
}

fn as_pf16(x: &[f16]) -> &[pf16] {
    // SAFETY: `pf16` is `#[repr(transparent)]` over `f16`.
    unsafe { &*(x as *const [f16] as *const [pf16]) }
}
