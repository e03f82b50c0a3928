//! Google Highway, xsimd and Eigen, built by the C++ compiler (cpp/, build.rs).

use std::ffi::c_void;
use std::ptr::null_mut;

use crate::task::{Ask, Input, Question, Task};

/// What is asked, of which type, whether of NaN (else of finite), the elements and where answers go; as in
/// cpp/dispatch.hpp, whose enumerations have only values from 0 on and so are `unsigned`.
type Entry = unsafe extern "C" fn(u32, u32, bool, *const c_void, usize, *mut c_void) -> usize;

unsafe extern "C" {
    fn peer_highway_avx2(op: u32, t: u32, nan: bool, x: *const c_void, n: usize, out: *mut c_void) -> usize;
    fn peer_highway_avx512(op: u32, t: u32, nan: bool, x: *const c_void, n: usize, out: *mut c_void)
    -> usize;
    fn peer_eigen(op: u32, t: u32, nan: bool, x: *const c_void, n: usize, out: *mut c_void) -> usize;
    fn peer_xsimd(op: u32, t: u32, nan: bool, x: *const c_void, n: usize, out: *mut c_void) -> usize;
}

const UNSUPPORTED: usize = usize::MAX - 1;
const NONE: usize = usize::MAX;

fn ask_cpp(entry: Entry, ask: Ask, x: Input<'_>, out: &mut [u8]) -> usize {
    let (op, nan, needed) = match ask {
        Ask::Mask(question) => (0, question == Question::Nan, x.len()),
        Ask::Bits(question) => (1, question == Question::Nan, x.len().div_ceil(8)),
        Ask::AllFinite => (2, false, 0),
        Ask::AnyNan => (3, true, 0),
        Ask::CountNan => (4, true, 0),
        Ask::FirstNonFinite => (5, false, 0),
    };
    let element = match x {
        Input::F32(_) => 0,
        Input::F64(_) => 1,
        Input::F16(_) => 2,
        Input::Bf16(_) => 3,
    };
    assert!(out.len() >= needed);
    let to = if out.is_empty() { null_mut() } else { out.as_mut_ptr().cast() };
    // SAFETY: `x` has as many elements of that type, `out` has room for the answers, and `tasks` found that the CPU has
    // the instructions.
    unsafe { entry(op, element, nan, x.as_bytes().as_ptr().cast(), x.len(), to) }
}

fn task<'a>(name: &'static str, entry: Entry, ask: Ask, x: Input<'a>) -> Option<Task<'a>> {
    // Asked about nothing, a library tells whether it has this at all.
    let nothing = match x {
        Input::F32(_) => Input::F32(&[]),
        Input::F64(_) => Input::F64(&[]),
        Input::F16(_) => Input::F16(&[]),
        Input::Bf16(_) => Input::Bf16(&[]),
    };
    if ask_cpp(entry, ask, nothing, &mut []) == UNSUPPORTED {
        return None;
    }
    let value = move || ask_cpp(entry, ask, x, &mut []);
    let each = move |out: &mut [u8]| {
        ask_cpp(entry, ask, x, out);
    };
    Some(match ask {
        Ask::Mask(_) => Task::mask(name, x.len(), each),
        Ask::Bits(_) => Task::bits(name, x.len(), each),
        Ask::AllFinite | Ask::AnyNan => Task::value(name, move || value() != 0),
        Ask::CountNan => Task::value(name, value),
        Ask::FirstNonFinite => Task::value(name, move || match value() {
            NONE => None,
            at => Some(at),
        }),
    })
}

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let mut entries: Vec<(&'static str, Entry)> = Vec::new();
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("fma")
    {
        entries.push(("highway avx2", peer_highway_avx2));
        entries.push(("eigen avx2", peer_eigen));
        entries.push(("xsimd avx2", peer_xsimd));
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512cd");
        if avx512 {
            entries.push(("highway avx512", peer_highway_avx512));
        }
    }
    entries.into_iter().filter_map(|(name, entry)| task(name, entry, ask, x)).collect()
}
