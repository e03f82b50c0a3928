//! The peers. Each has a function that returns its tasks for a question and a type, or none.

#[cfg(all(feature = "cpp", target_arch = "x86_64"))]
mod cpp;
mod fearless;
mod ndarray;
mod ours;
mod std_loop;
mod wide;

use crate::task::{Ask, Input, Task};

/// What `ours` measures.
use nonfinite as it;

/// The same calls of the crate as it was, in the same process: built by `compare` only.
#[cfg(before)]
mod before {
    use nonfinite_before as it;
    pub mod calls {
        include!(env!("BEFORE"));
    }
}

const OURS: &[&str] = &["nonfinite avx512", "nonfinite avx2", "nonfinite sse2", "nonfinite neon"];
#[cfg(before)]
const BEFORE: &[&str] = &["before avx512", "before avx2", "before sse2", "before neon"];

type Peer = for<'a> fn(Ask, Input<'a>) -> Vec<Task<'a>>;

/// Those that detect the CPU, or are compiled for several.
const DETECTING: &[Peer] = &[
    |ask, x| ours::tasks(ask, x, OURS),
    #[cfg(before)]
    |ask, x| before::calls::tasks(ask, x, BEFORE),
    std_loop::tasks,
    fearless::tasks,
    #[cfg(all(feature = "cpp", target_arch = "x86_64"))]
    cpp::tasks,
];

/// Those that use what the build's target has.
const OF_TARGET: &[Peer] = &[wide::tasks, ndarray::tasks];

/// All tasks for a question. On x86-64 the peers that use what the target has would be measured
/// with SSE2, so they are left out, and a build for AVX2 has them alone; see README.md.
pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let peers = match (cfg!(target_arch = "x86_64"), cfg!(target_feature = "avx2")) {
        (true, false) => DETECTING.to_vec(),
        (true, true) => OF_TARGET.to_vec(),
        _ => [DETECTING, OF_TARGET].concat(),
    };
    peers.iter().flat_map(|tasks| tasks(ask, x)).collect()
}

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
