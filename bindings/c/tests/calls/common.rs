//! The data, the oracle and the pointers that the tests of the C interface share.

use std::ffi::{CStr, CString};
use std::sync::{Mutex, PoisonError};

use nonfinite::{Format, Predicate};
use nonfinite_capi::*;

use crate::oracle::{self, Kind, kind};

pub(crate) const CANARY: u8 = 0xA5;

pub(crate) const PREDICATES: [(PredicateCode, Predicate); 8] = [
    (NF_IS_NAN, Predicate::Nan),
    (NF_IS_INF, Predicate::Inf),
    (NF_IS_POSITIVE_INF, Predicate::PositiveInf),
    (NF_IS_NEGATIVE_INF, Predicate::NegativeInf),
    (NF_IS_FINITE, Predicate::Finite),
    (NF_IS_NON_FINITE, Predicate::NonFinite),
    (NF_IS_NEVER, Predicate::Never),
    (NF_IS_NAN_OR_POSITIVE_INF, Predicate::NanOrPositiveInf),
];

/// All formats, by the number that C returns for their names.
pub(crate) fn formats() -> Vec<(FormatCode, Format)> {
    let code = |format: Format| {
        let name = CString::new(format.name()).unwrap();
        let mut code = 0;
        // SAFETY: a string of C, and a slot.
        assert_eq!(unsafe { nf_format_from_name(name.as_ptr(), &mut code) }, NF_OK, "{format}");
        (code, format)
    };
    Format::ALL.iter().copied().map(code).collect()
}

pub(crate) fn text(pointer: *const std::ffi::c_char) -> &'static str {
    assert!(!pointer.is_null());
    // SAFETY: the strings of the library are static and end with a NUL.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap()
}

/// All threads share the active backend, so these tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// Activates each backend of this CPU in turn, and passes its name.
pub(crate) fn on_each_backend(test: impl Fn(&str)) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut ran = Vec::new();
    let mut info = BackendInfo { name: std::ptr::null(), available: false, active: false };
    // SAFETY: a slot.
    while unsafe { nf_backend_at(ran.len(), &mut info) } == NF_OK {
        let name = text(info.name);
        ran.push(if info.available { name } else { "" });
        if info.available {
            // SAFETY: a string of the library.
            assert_eq!(unsafe { nf_backend_activate(info.name) }, NF_OK);
            assert_eq!(text(nf_backend_name()), name);
            test(name);
        }
    }
    println!("backends that ran: {}", ran.join(" "));
    assert_eq!(ran.last(), Some(&"scalar"));
}

/// `count` elements that include all edges of the format, one byte behind an even address.
pub(crate) fn memory(format: Format, count: usize) -> (Vec<u8>, Vec<Kind>) {
    let mut bytes = vec![0];
    let mut kinds = Vec::new();
    for &bits in oracle::edges(format).iter().cycle().take(count) {
        let start = bytes.len();
        oracle::write(format, bits, &mut bytes);
        kinds.push(kind(format, oracle::read(&bytes[start..])));
    }
    (bytes, kinds)
}

pub(crate) fn first(answers: &[bool]) -> u64 {
    answers.iter().position(|&answer| answer).map_or(NF_NONE, |first| first as u64)
}

pub(crate) fn count(answers: &[bool]) -> u64 {
    answers.iter().filter(|&&answer| answer).count() as u64
}

pub(crate) fn census(kinds: &[Kind]) -> Census {
    let class = |wanted| {
        let answers: Vec<bool> = kinds.iter().map(|&kind| kind == wanted).collect();
        Occurrences { count: count(&answers), first: first(&answers) }
    };
    Census { nan: class(Kind::Nan), pos_inf: class(Kind::PosInf), neg_inf: class(Kind::NegInf) }
}

/// The statistics of elements, by the oracle.
pub(crate) fn stats(format: Format, bytes: &[u8]) -> Stats {
    let elements = bytes.chunks_exact(format.size_in_bytes()).map(oracle::read);
    let summary = oracle::summary(format, elements.enumerate());
    let class = |(count, first): (usize, Option<usize>)| Occurrences {
        count: count as u64,
        first: first.map_or(NF_NONE, |first| first as u64),
    };
    let number = |number: Option<oracle::Number>| {
        number.map_or(Extreme::default(), |(bits, value, index)| Extreme {
            value,
            bits,
            index: index as u64,
        })
    };
    let [nan, pos_inf, neg_inf] = summary.classes.map(class);
    let [zeros, subnormals, normals] = summary.counts.map(|count| count as u64);
    let (min, max, max_abs) = (number(summary.min), number(summary.max), number(summary.max_abs));
    let census = Census { nan, pos_inf, neg_inf };
    Stats { census, min, max, max_abs, zeros, subnormals, normals }
}

/// A bitmap before and after the answers are written from bit `offset` on.
pub(crate) fn bitmaps(answers: &[bool], offset: usize) -> (Vec<u8>, Vec<u8>) {
    let old = vec![CANARY; (offset + answers.len()).div_ceil(8) + 8];
    let mut new = old.clone();
    for (i, &answer) in answers.iter().enumerate() {
        let (byte, bit) = ((offset + i) / 8, (offset + i) % 8);
        new[byte] = new[byte] & !(1 << bit) | u8::from(answer) << bit;
    }
    (old, new)
}
