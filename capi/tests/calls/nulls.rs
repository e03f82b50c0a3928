//! Elements under a validity bitmap, and magnitudes above a threshold, against the oracle.

use std::ptr::{null, null_mut};

use nonfinite_capi::*;

use crate::common::{
    CANARY, PREDICATES, census, count, first, formats, memory, on_each_backend, stats,
};
use crate::oracle::{self, Kind, holds};

#[test]
fn valid_elements() {
    on_each_backend(|backend| {
        for (code, format) in formats() {
            for (length, offset) in [(0, 0), (1, 5), (70, 3), (700, 63)] {
                let (bytes, kinds) = memory(format, length);
                let (data, size) = (bytes[1..].as_ptr().cast(), format.size_in_bytes());
                let valid: Vec<bool> =
                    (0..length).map(|i| i % 3 != 0 && i / 100 % 2 == 0).collect();
                let bitmap = oracle::bitmap(&valid, offset);
                let validity = Validity { bitmap: bitmap.as_ptr(), bytes: bitmap.len(), offset };
                let at = format!("{backend} {format} {length}");
                for (predicate, asked) in PREDICATES {
                    let hit = |i: usize| holds(asked, kinds[i]);
                    let hits: Vec<bool> = (0..length).map(|i| valid[i] && hit(i)).collect();
                    let (mut any, mut all, mut hit_count, mut place) = (false, false, 7, 7);
                    // SAFETY: elements, a bitmap and slots.
                    unsafe {
                        let x =
                            |ask: Bool, slot| ask(data, code, length, predicate, &validity, slot);
                        assert_eq!(x(nf_valid_any, &mut any), NF_OK, "{at}");
                        assert_eq!(x(nf_valid_all, &mut all), NF_OK, "{at}");
                        let x =
                            |ask: Number, slot| ask(data, code, length, predicate, &validity, slot);
                        assert_eq!(x(nf_valid_count, &mut hit_count), NF_OK, "{at}");
                        assert_eq!(x(nf_valid_first, &mut place), NF_OK, "{at}");
                    }
                    assert_eq!((any, hit_count), (hits.contains(&true), count(&hits)), "{at}");
                    assert_eq!(place, first(&hits), "{at}");
                    assert_eq!(all, (0..length).all(|i| !valid[i] || hit(i)), "{at}");
                }
                let seen = |i| if valid[i] { kinds[i] } else { Kind::Finite };
                let (mut taken, mut numbers) = (Census::default(), Stats::default());
                // SAFETY: elements, a bitmap and slots.
                unsafe {
                    let status = nf_valid_census(data, code, length, &validity, &mut taken);
                    assert_eq!(status, NF_OK, "{at}");
                    let status = nf_valid_stats(data, code, length, &validity, &mut numbers);
                    assert_eq!(status, NF_OK, "{at}");
                }
                let kinds: Vec<Kind> = (0..length).map(seen).collect();
                assert_eq!(taken, census(&kinds), "{at}");
                // Of the valid elements alone: indices are theirs.
                let elements = bytes[1..].chunks_exact(size).zip(&valid);
                let kept: Vec<u8> = elements
                    .filter(|(_, valid)| **valid)
                    .flat_map(|(raw, _)| raw.to_vec())
                    .collect();
                let places: Vec<u64> = (0..length as u64).filter(|&i| valid[i as usize]).collect();
                let mut want = stats(format, &kept);
                for index in [
                    &mut want.census.nan.first,
                    &mut want.census.pos_inf.first,
                    &mut want.census.neg_inf.first,
                    &mut want.min.index,
                    &mut want.max.index,
                    &mut want.max_abs.index,
                ] {
                    *index = places.get(*index as usize).copied().unwrap_or(NF_NONE);
                }
                assert_eq!(numbers, want, "{at}");
            }
        }
    });
}

type Bool = unsafe extern "C" fn(
    *const std::ffi::c_void,
    FormatCode,
    usize,
    PredicateCode,
    *const Validity,
    *mut bool,
) -> Status;

type Number = unsafe extern "C" fn(
    *const std::ffi::c_void,
    FormatCode,
    usize,
    PredicateCode,
    *const Validity,
    *mut u64,
) -> Status;

#[test]
fn bitmaps_that_are_refused() {
    let (x, bits) = ([1f32, f32::NAN, 3.0], [0xFFu8]);
    let validity = |bytes, offset| Validity { bitmap: bits.as_ptr(), bytes, offset };
    let without = Validity { bitmap: null(), ..validity(1, 0) };
    let good = validity(1, 5);
    for (validity, count, status) in [
        (&raw const good, 3, NF_OK),
        (&raw const good, 4, NF_ERR_OUTPUT_LENGTH),
        (&validity(0, 0), 1, NF_ERR_OUTPUT_LENGTH),
        (&validity(1, 9), 0, NF_ERR_OUTPUT_LENGTH),
        (&validity(1, usize::MAX), 3, NF_ERR_OUTPUT_LENGTH),
        (&validity(usize::MAX, 0), 3, NF_ERR_LENGTH),
        (&without, 3, NF_ERR_NULL),
        (null(), 3, NF_ERR_NULL),
        (good_misaligned(), 3, NF_ERR_MISALIGNED),
    ] {
        let (data, mut result) = (x.as_ptr().cast(), 7);
        // SAFETY: at most three elements are read, and of bitmaps that are not refused one byte.
        let got =
            unsafe { nf_valid_count(data, NF_FORMAT_F32, count, NF_IS_NAN, validity, &mut result) };
        assert_eq!((got, result), (status, if status == NF_OK { 1 } else { 7 }));
    }
    // SAFETY: refused.
    let got =
        unsafe { nf_valid_any(x.as_ptr().cast(), NF_FORMAT_F32, 3, NF_IS_NAN, &good, null_mut()) };
    assert_eq!(got, NF_ERR_NULL);
    // SAFETY: refused.
    let got = unsafe { nf_valid_any(x.as_ptr().cast(), NF_FORMAT_F32, 3, 99, &good, &mut false) };
    assert_eq!(got, NF_ERR_PREDICATE);
}

fn good_misaligned() -> *const Validity {
    std::ptr::without_provenance(4 * align_of::<Validity>() + 1)
}

#[test]
fn magnitudes_above() {
    on_each_backend(|backend| {
        for (code, format) in formats() {
            for length in [0, 1, 100] {
                let (bytes, _) = memory(format, length);
                let data = bytes[1..].as_ptr().cast();
                let x = nonfinite::Elements::from_bytes(&bytes[1..], format).unwrap();
                let scales = format == nonfinite::Format::F8E8M0Fnu;
                let mut thresholds = oracle::thresholds(x);
                thresholds.extend([1.0, -1.0, f64::NAN, f64::INFINITY]);
                for threshold in thresholds {
                    let (mut any, mut hits, mut place) = (false, 7, 7);
                    let mut mask = vec![CANARY; length + 1];
                    // SAFETY: elements, slots, and a byte for each element.
                    let statuses = unsafe {
                        [
                            nf_exceeds_any(data, code, length, threshold, &mut any),
                            nf_exceeds_count(data, code, length, threshold, &mut hits),
                            nf_exceeds_first(data, code, length, threshold, &mut place),
                            nf_exceeds_mask(data, code, length, threshold, mask.as_mut_ptr()),
                        ]
                    };
                    let at = format!("{backend} {format} {length} {threshold}");
                    if scales || !(0.0..f64::INFINITY).contains(&threshold) {
                        assert_eq!(statuses, [NF_ERR_THRESHOLD; 4], "{at}");
                        assert_eq!((any, hits, place), (false, 7, 7), "{at}");
                        assert!(mask.iter().all(|&byte| byte == CANARY), "{at}");
                        continue;
                    }
                    assert_eq!(statuses, [NF_OK; 4], "{at}");
                    let want = oracle::Above::right(x, threshold).mask;
                    assert_eq!((any, hits), (want.contains(&true), count(&want)), "{at}");
                    assert_eq!(place, first(&want), "{at}");
                    assert!(
                        want.iter().map(|&hit| u8::from(hit)).eq(mask[..length].iter().copied())
                    );
                    assert_eq!(mask[length], CANARY, "{at}");
                }
            }
        }
    });
}
