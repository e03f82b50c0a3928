//! Built by the C++ compilers (cpp/, build.rs): Google Highway, and the plain loops of gcc and
//! clang.

use std::ffi::c_void;

use super::each_type;
use crate::task::{Ask, Input, Question, Task};

/// A loop: the elements, their number, and where answers go; as in cpp/dispatch.hpp.
type Loop = unsafe extern "C" fn(*const c_void, usize, *mut c_void) -> usize;
/// The loop for a predicate, a type and a question, which are numbers as in cpp/dispatch.hpp. None
/// for unknown numbers.
type Entry = extern "C" fn(u32, u32, u32) -> Option<Loop>;

macro_rules! entries {
    ($($entry:ident)*) => {
        unsafe extern "C" { $(safe fn $entry(op: u32, of: u32, question: u32) -> Option<Loop>;)* }
    };
}
entries! {
    peer_highway_avx2 peer_highway_avx512 peer_gcc_avx2 peer_gcc_avx512
}
#[cfg(clang)]
entries! {
    peer_clang_avx2 peer_clang_avx512
}

/// A name, its name by the bits, whether it needs AVX-512, and where its loops are.
type Peer = (&'static str, &'static str, bool, Entry);

const PEERS: &[Peer] = &[
    ("highway avx2", "", false, peer_highway_avx2),
    ("highway avx512", "", true, peer_highway_avx512),
    ("gcc avx2", "gcc bits avx2", false, peer_gcc_avx2),
    ("gcc avx512", "gcc bits avx512", true, peer_gcc_avx512),
    #[cfg(clang)]
    ("clang avx2", "clang bits avx2", false, peer_clang_avx2),
    #[cfg(clang)]
    ("clang avx512", "clang bits avx512", true, peer_clang_avx512),
];

const NONE: usize = usize::MAX;

fn task<'a>(name: &'static str, entry: Entry, of: u32, ask: Ask, x: Input<'a>) -> Option<Task<'a>> {
    let (op, question) = match ask {
        Ask::Mask(question) => (0, question),
        Ask::Bits(question) => (1, question),
        Ask::AllFinite => (2, Question::Finite),
        Ask::AnyNan => (3, Question::Nan),
        Ask::CountNan => (4, Question::Nan),
        Ask::FirstNonFinite => (5, Question::Finite),
        Ask::Census => (6, Question::Nan),
    };
    let question = match question {
        Question::Finite => 0,
        Question::Nan => 1,
        Question::Inf => 2,
    };
    let run = entry(op, of, question)?;
    let (n, start) = each_type!(x, x => (x.len(), x.as_ptr().cast()));
    // SAFETY: `x`, borrowed for 'a, has `n` elements of that type from `start` on, and `tasks`
    // found that the CPU has the instructions. `out` is null for loops that write nothing, and
    // below has room for what the others write: a byte or a bit for each element (`Task`), or three
    // `size_t`.
    let call = move |out: *mut c_void| unsafe { run(start, n, out) };
    let value = move || call(std::ptr::null_mut());
    let each = move |out: &mut [u8]| {
        call(out.as_mut_ptr().cast());
    };
    Some(match ask {
        Ask::Mask(_) => Task::mask(name, n, each),
        Ask::Bits(_) => Task::bits(name, n, each),
        Ask::AllFinite | Ask::AnyNan => Task::value(name, move || value() != 0),
        Ask::CountNan => Task::value(name, value),
        Ask::FirstNonFinite => Task::value(name, move || match value() {
            NONE => None,
            at => Some(at),
        }),
        Ask::Census => Task::value(name, move || {
            let mut counts = [0usize; 3];
            call(counts.as_mut_ptr().cast());
            counts
        }),
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let (of, by_bits) = match x {
        Input::F32(_) => (0, Some(6)),
        Input::F64(_) => (1, Some(7)),
        Input::F16(_) => (2, None),
        Input::Bf16(_) => (3, None),
        Input::E4m3fn(_) => (4, None),
        Input::E5m2(_) => (5, None),
    };
    if !is_x86_feature_detected!("fma") || nonfinite::Backend::by_name("avx2").is_none() {
        return Vec::new();
    }
    let mut tasks = Vec::new();
    for &(name, bits_name, avx512, entry) in PEERS {
        if !avx512 || super::has_avx512() {
            tasks.extend(task(name, entry, of, ask, x));
            tasks.extend(by_bits.and_then(|of| task(bits_name, entry, of, ask, x)));
        }
    }
    tasks
}
