//! The peers. Each has a function that returns its tasks for a question and a type, or none.

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "burn")]
mod burn;
#[cfg(feature = "candle")]
mod candle;
#[cfg(all(feature = "cpp", target_arch = "x86_64"))]
mod cpp;
mod fearless;
mod limit;
mod ndarray;
mod ours;
#[cfg(feature = "polars")]
mod polars;
mod rten;
mod std_loop;
mod wide;

use crate::task::{Ask, Input, Task};

pub type Peer = for<'a> fn(Ask, Input<'a>) -> Vec<Task<'a>>;

pub const ALL: &[Peer] = &[
    limit::tasks,
    ours::tasks,
    std_loop::tasks,
    wide::tasks,
    fearless::tasks,
    rten::tasks,
    #[cfg(all(feature = "cpp", target_arch = "x86_64"))]
    cpp::tasks,
    ndarray::tasks,
    #[cfg(feature = "arrow")]
    arrow::tasks,
    #[cfg(feature = "polars")]
    polars::tasks,
    #[cfg(feature = "candle")]
    candle::tasks,
    #[cfg(feature = "burn")]
    burn::tasks,
];

/// Whether the CPU can run loops that are built for AVX-512, as on Skylake-X.
fn has_avx512() -> bool {
    nonfinite::Backend::by_name("avx512").is_some()
}

/// `$body` for an input of any type of float, `$x` being the slice, in a vector; nothing for the
/// formats of one byte, which these libraries do not have.
macro_rules! each_float {
    ($input:expr, $x:ident => $body:expr) => {
        match $input {
            $crate::task::Input::F32($x) => $body.into_iter().collect(),
            $crate::task::Input::F64($x) => $body.into_iter().collect(),
            $crate::task::Input::F16($x) => $body.into_iter().collect(),
            $crate::task::Input::Bf16($x) => $body.into_iter().collect(),
            _ => Vec::new(),
        }
    };
}
pub(crate) use each_float;

/// `$body` for an input of any type, `$x` being the slice.
macro_rules! each_type {
    ($input:expr, $x:ident => $body:expr) => {
        match $input {
            $crate::task::Input::F32($x) => $body,
            $crate::task::Input::F64($x) => $body,
            $crate::task::Input::F16($x) => $body,
            $crate::task::Input::Bf16($x) => $body,
            $crate::task::Input::E4m3fn($x) => $body,
            $crate::task::Input::E5m2($x) => $body,
        }
    };
}
pub(crate) use each_type;
