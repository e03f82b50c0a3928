//! Refusals, and that nothing is written then.

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut, without_provenance, without_provenance_mut};

use nonfinite_capi::*;

use crate::common::{CANARY, PREDICATES, formats, text};

/// The functions of one result over a run of elements, all with a result of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reduction {
    Any,
    All,
    Count,
    First,
    Census,
    Stats,
}

const REDUCTIONS: [Reduction; 6] = [
    Reduction::Any,
    Reduction::All,
    Reduction::Count,
    Reduction::First,
    Reduction::Census,
    Reduction::Stats,
];

impl Reduction {
    fn call(
        self,
        x: *const c_void,
        format: FormatCode,
        n: usize,
        predicate: PredicateCode,
        result: *mut u64,
    ) -> Status {
        let mut stats = Stats::default();
        let large =
            if result.is_null() || !result.is_aligned() { result.cast() } else { &raw mut stats };
        // SAFETY: the tests below pass what they say, and a result that is large enough where it is
        // not refused.
        unsafe {
            match self {
                Self::Any => nf_any(x, format, n, predicate, result.cast()),
                Self::All => nf_all(x, format, n, predicate, result.cast()),
                Self::Count => nf_count(x, format, n, predicate, result),
                Self::First => nf_first(x, format, n, predicate, result),
                // A census has no predicate, so the status of the other functions is used for a bad
                // one.
                Self::Census | Self::Stats
                    if !PREDICATES.iter().any(|known| known.0 == predicate) =>
                {
                    NF_ERR_PREDICATE
                }
                Self::Census => nf_take_census(x, format, n, large.cast()),
                Self::Stats => nf_take_stats(x, format, n, large),
            }
        }
    }
}

fn mask(
    x: *const c_void,
    format: FormatCode,
    n: usize,
    predicate: PredicateCode,
    out: *mut u8,
) -> Status {
    // SAFETY: as for the reductions.
    unsafe { nf_mask(x, format, n, predicate, out) }
}

fn bits(x: *const c_void, n: usize, out: *mut u8, bytes: usize, offset: usize) -> Status {
    // SAFETY: as for the reductions.
    unsafe { nf_bits(x, NF_FORMAT_F32, n, NF_IS_NAN, out, bytes, offset) }
}

/// Every fault of the input alone, with its status.
fn bad_inputs(x: *const c_void) -> Vec<(*const c_void, FormatCode, usize, PredicateCode, Status)> {
    let most = isize::MAX as usize;
    vec![
        (null(), NF_FORMAT_F32, 1, NF_IS_NAN, NF_ERR_NULL),
        (x, 0, 4, NF_IS_NAN, NF_ERR_FORMAT),
        (x, 16, 4, NF_IS_NAN, NF_ERR_FORMAT),
        (x, u32::MAX, 0, NF_IS_NAN, NF_ERR_FORMAT),
        (x, NF_FORMAT_F32, 4, 0, NF_ERR_PREDICATE),
        (x, NF_FORMAT_F32, 4, 9, NF_ERR_PREDICATE),
        (x, NF_FORMAT_F32, 0, u32::MAX.into(), NF_ERR_PREDICATE),
        (x, NF_FORMAT_F8E5M2, most + 1, NF_IS_NAN, NF_ERR_LENGTH),
        (x, NF_FORMAT_F16, most / 2 + 1, NF_IS_NAN, NF_ERR_LENGTH),
        (x, NF_FORMAT_F64, most / 8 + 1, NF_IS_NAN, NF_ERR_LENGTH),
        (x, NF_FORMAT_F64, usize::MAX, NF_IS_NAN, NF_ERR_LENGTH),
        (x, NF_FORMAT_F64, usize::MAX / 8 + 1, NF_IS_NAN, NF_ERR_LENGTH),
        // The end is behind the last address.
        (without_provenance(usize::MAX - 3), NF_FORMAT_F32, 2, NF_IS_NAN, NF_ERR_LENGTH),
        (without_provenance(usize::MAX - 7), NF_FORMAT_F8E5M2, 8, NF_IS_NAN, NF_ERR_LENGTH),
    ]
}

#[test]
fn bad_inputs_are_refused_by_all_functions() {
    let x = [1f32; 4];
    for (x, format, n, predicate, status) in bad_inputs(x.as_ptr().cast()) {
        let at = format!("{x:?} {format} {n} {predicate}");
        let mut out = [CANARY; 64];
        assert_eq!(mask(x, format, n, predicate, out.as_mut_ptr()), status, "{at}");
        // SAFETY: refused.
        let bits = unsafe { nf_bits(x, format, n, predicate, out.as_mut_ptr(), out.len(), 0) };
        assert_eq!(bits, status, "{at}");
        assert_eq!(out, [CANARY; 64], "{at}");
        for reduction in REDUCTIONS {
            let mut result = 0xA5A5;
            assert_eq!(reduction.call(x, format, n, predicate, &mut result), status, "{at}");
            assert_eq!(result, 0xA5A5, "{at}");
        }
    }
}

#[test]
fn null_is_fine_where_there_is_nothing() {
    for (format, _) in formats() {
        assert_eq!(mask(null(), format, 0, NF_IS_FINITE, null_mut()), NF_OK);
        for (reduction, empty) in REDUCTIONS.into_iter().zip([0, 1, 0, NF_NONE, 0]) {
            let mut result = 0;
            assert_eq!(reduction.call(null(), format, 0, NF_IS_FINITE, &mut result), NF_OK);
            assert_eq!(result, empty);
        }
    }
    assert_eq!(bits(null(), 0, null_mut(), 0, 0), NF_OK);
    assert_eq!(bits(null(), 0, null_mut(), 0, 1), NF_ERR_OUTPUT_LENGTH);
    assert_eq!(bits(null(), 0, null_mut(), 1, 0), NF_ERR_NULL);
    // Without bytes, nothing can overlap.
    let mut byte = 7u8;
    let both = &raw mut byte;
    assert_eq!(mask(both.cast(), NF_FORMAT_F32, 0, NF_IS_NAN, both), NF_OK);
    assert_eq!(byte, 7);
}

#[test]
fn bad_results_are_refused() {
    let x = [f32::NAN; 4];
    let x = x.as_ptr().cast();
    assert_eq!(mask(x, NF_FORMAT_F32, 4, NF_IS_NAN, null_mut()), NF_ERR_NULL);
    assert_eq!(
        mask(x, NF_FORMAT_F32, 4, NF_IS_NAN, without_provenance_mut(usize::MAX - 2)),
        NF_ERR_LENGTH
    );
    assert_eq!(bits(x, 4, null_mut(), 1, 0), NF_ERR_NULL);
    let mut words = [0u64; 8];
    for reduction in REDUCTIONS {
        assert_eq!(reduction.call(x, NF_FORMAT_F32, 4, NF_IS_NAN, null_mut()), NF_ERR_NULL);
        // A bool has no alignment.
        let one_byte = matches!(reduction, Reduction::Any | Reduction::All);
        let status = if one_byte { NF_OK } else { NF_ERR_MISALIGNED };
        for shift in [1, 2, 4] {
            let misaligned = words.as_mut_ptr().wrapping_byte_add(shift);
            assert_eq!(
                reduction.call(x, NF_FORMAT_F32, 4, NF_IS_NAN, misaligned),
                status,
                "{reduction:?}"
            );
        }
    }
}

#[test]
fn bitmaps_that_end_too_soon() {
    let x = [f32::NAN; 12];
    let x = x.as_ptr().cast();
    let mut out = [CANARY; 8];
    for (n, bytes, offset) in
        [(12, 1, 0), (12, 2, 5), (12, 8, 53), (0, 2, 17), (12, 8, usize::MAX), (1, 8, 64)]
    {
        assert_eq!(
            bits(x, n, out.as_mut_ptr(), bytes, offset),
            NF_ERR_OUTPUT_LENGTH,
            "{n} {bytes} {offset}"
        );
        assert_eq!(out, [CANARY; 8]);
    }
    assert_eq!(bits(x, 12, out.as_mut_ptr(), 2, 4), NF_OK);
    assert_eq!(out[..3], [0xF5, 0xFF, CANARY]);
    assert_eq!(bits(x, 0, out.as_mut_ptr(), 2, 16), NF_OK);
}

#[test]
fn overlaps_are_refused() {
    let mut memory = [0u8; 64];
    let start = memory.as_mut_ptr();
    let at = |i: usize| start.wrapping_add(i);
    // Elements at 16..32.
    for (out, status) in
        [(12, NF_OK), (13, NF_ERR_OVERLAP), (16, NF_ERR_OVERLAP), (31, NF_ERR_OVERLAP), (32, NF_OK)]
    {
        assert_eq!(mask(at(16).cast(), NF_FORMAT_F32, 4, NF_IS_NAN, at(out)), status, "{out}");
    }
    // A bitmap may contain the input, as long as no result goes there.
    assert_eq!(bits(at(16).cast(), 4, start, 64, 8 * 15), NF_OK);
    assert_eq!(bits(at(16).cast(), 4, start, 64, 8 * 16), NF_ERR_OVERLAP);
    assert_eq!(bits(at(16).cast(), 4, start, 64, 8 * 31 + 7), NF_ERR_OVERLAP);
    assert_eq!(bits(at(16).cast(), 4, start, 64, 8 * 32), NF_OK);
    // A single result is written after all elements were read.
    let mut words = [f64::NAN; 4];
    let all = words.as_mut_ptr();
    let result = all.wrapping_add(1).cast();
    // SAFETY: four elements, one of which the result takes the place of when all were read.
    let status = unsafe { nf_count(all.cast(), NF_FORMAT_F64, 4, NF_IS_NAN, result) };
    assert_eq!(status, NF_OK);
    assert_eq!(words[1].to_bits(), 4);
}

#[test]
fn names_and_backends() {
    let mut format = 77;
    let mut name = |name: *const c_char| {
        // SAFETY: null, a string, or 64 bytes; and a slot.
        let status = unsafe { nf_format_from_name(name, &mut format) };
        assert_eq!(format, 77);
        status
    };
    assert_eq!(name(null()), NF_ERR_NULL);
    assert_eq!(name(c"".as_ptr()), NF_ERR_NAME);
    assert_eq!(name(c"int8".as_ptr()), NF_ERR_NAME);
    assert_eq!(name(c"\xFF\xFE".as_ptr()), NF_ERR_NAME);
    // A name without an end: at most 64 bytes are read.
    assert_eq!(name([b'f' as c_char; 64].as_ptr()), NF_ERR_NAME);
    // SAFETY: refused.
    unsafe {
        assert_eq!(nf_format_from_name(c"f32".as_ptr(), null_mut()), NF_ERR_NULL);
        assert_eq!(
            nf_format_from_name(c"f32".as_ptr(), without_provenance_mut(1)),
            NF_ERR_MISALIGNED
        );
        assert_eq!(nf_backend_activate(null()), NF_ERR_NULL);
        assert_eq!(nf_backend_activate(c"sse9".as_ptr()), NF_ERR_NAME);
        assert_eq!(nf_backend_at(0, null_mut()), NF_ERR_NULL);
        assert_eq!(nf_backend_at(0, without_provenance_mut(4)), NF_ERR_MISALIGNED);
    }
    let mut info = BackendInfo { name: null(), available: false, active: false };
    for index in [nonfinite::Backend::all().len(), usize::MAX] {
        // SAFETY: a slot.
        assert_eq!(unsafe { nf_backend_at(index, &mut info) }, NF_ERR_INDEX);
    }
    for (name, _) in nonfinite::Backend::all().filter(|(_, backend)| backend.is_none()) {
        let name = std::ffi::CString::new(name).unwrap();
        // SAFETY: a string.
        assert_eq!(unsafe { nf_backend_activate(name.as_ptr()) }, NF_ERR_UNAVAILABLE);
    }
    assert!(!text(nf_backend_name()).is_empty());
}
