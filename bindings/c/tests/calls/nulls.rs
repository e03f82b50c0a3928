//! Elements under a validity bitmap, and magnitudes above a threshold, against the oracle.

use std::ptr::{null, without_provenance};

use nonfinite_capi::*;

use crate::common::{
    CANARY, PREDICATES, bitmaps, census, count, first, formats, memory, on_each_backend, stats,
};
use crate::oracle::{self, Kind, holds};

/// One dimension of elements under a bitmap.
fn view(x: *const u8, format: FormatCode, len: &usize, (bits, first): (*const u8, usize)) -> View {
    View {
        data: x.cast(),
        format,
        rank: 1,
        sizes: len,
        strides: null(),
        offset: 0,
        validity: bits,
        validity_offset: first,
    }
}

#[test]
fn valid_elements() {
    on_each_backend(|backend| {
        for (code, format) in formats() {
            for (length, offset) in [(0, 0), (1, 5), (70, 3), (700, 63)] {
                let (bytes, kinds) = memory(format, length);
                let size = format.size_in_bytes();
                let valid: Vec<bool> =
                    (0..length).map(|i| i % 3 != 0 && i / 100 % 2 == 0).collect();
                let bitmap = oracle::bitmap(&valid, offset);
                let x = &view(bytes[1..].as_ptr(), code, &length, (bitmap.as_ptr(), offset));
                let at = format!("{backend} {format} {length}");
                for (predicate, asked) in PREDICATES {
                    let hit = |i: usize| holds(asked, kinds[i]);
                    let hits: Vec<bool> = (0..length).map(|i| valid[i] && hit(i)).collect();
                    let (mut any, mut all, mut hit_count, mut place) = (false, false, 7, 7);
                    let mut coordinate = 7;
                    let (mut bits, new) = bitmaps(&hits, 13);
                    let (out, room) = (bits.as_mut_ptr(), bits.len());
                    let mut mask = vec![CANARY; length];
                    // SAFETY: elements, bitmaps and slots.
                    unsafe {
                        assert_eq!(nf_view_any(x, predicate, &mut any), NF_OK, "{at}");
                        assert_eq!(nf_view_all(x, predicate, &mut all), NF_OK, "{at}");
                        assert_eq!(nf_view_count(x, predicate, &mut hit_count), NF_OK, "{at}");
                        let status = nf_view_first(x, predicate, &mut place, &mut coordinate);
                        assert_eq!(status, NF_OK, "{at}");
                        assert_eq!(nf_view_bits(x, predicate, out, room, 13), NF_OK, "{at}");
                        let status = nf_view_mask(x, predicate, mask.as_mut_ptr(), 0, null());
                        assert_eq!(status, NF_OK, "{at}");
                    }
                    assert!(hits.iter().map(|&hit| u8::from(hit)).eq(mask), "{at}");
                    assert_eq!((any, hit_count), (hits.contains(&true), count(&hits)), "{at}");
                    assert_eq!(place, first(&hits), "{at}");
                    assert_eq!(coordinate as u64, if any { place } else { 7 }, "{at}");
                    assert_eq!(all, (0..length).all(|i| !valid[i] || hit(i)), "{at}");
                    assert_eq!(bits, new, "{at}");
                }
                let seen = |i| if valid[i] { kinds[i] } else { Kind::Finite };
                let (mut taken, mut numbers) = (Census::default(), Stats::default());
                // SAFETY: elements, a bitmap and slots.
                unsafe {
                    assert_eq!(nf_view_census(x, &mut taken), NF_OK, "{at}");
                    assert_eq!(nf_view_stats(x, &mut numbers), NF_OK, "{at}");
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

/// The bits of validity are in row-major order, whatever the strides.
#[test]
fn valid_elements_of_a_transposed_tensor() {
    // Its rows are 0 NaN 4, 1 3 NaN. The last NaN is null.
    let x = [0.0f32, 1.0, f32::NAN, 3.0, 4.0, f32::NAN];
    let (sizes, strides, bits) = ([2usize, 3], [1isize, 2], [0b0111_1100u8]);
    let flat = view(x.as_ptr().cast(), NF_FORMAT_F32, &sizes[0], (bits.as_ptr(), 2));
    let x = View { rank: 2, sizes: sizes.as_ptr(), strides: strides.as_ptr(), ..flat };
    let (mut number, mut index, mut coordinate) = (7, 7, [7; 2]);
    // SAFETY: six elements, as many bits, and slots.
    unsafe {
        assert_eq!(nf_view_count(&x, NF_IS_NAN, &mut number), NF_OK);
        let status = nf_view_first(&x, NF_IS_NAN, &mut index, coordinate.as_mut_ptr());
        assert_eq!(status, NF_OK);
    }
    assert_eq!((number, index, coordinate), (1, 1, [0, 1]));
}

#[test]
fn bitmaps_that_are_refused() {
    let (x, len, bits) = ([1f32, f32::NAN, 3.0], 3, [0xFFu8; 2]);
    let (x, start) = (x.as_ptr().cast(), bits.as_ptr());
    let good = view(x, NF_FORMAT_F32, &len, (start, 13));
    let mut result = 7;
    for (x, status) in [
        (good, NF_OK),
        (View { validity: null(), validity_offset: usize::MAX, ..good }, NF_OK),
        (View { validity: without_provenance(usize::MAX - 1), ..good }, NF_ERR_LENGTH),
    ] {
        // SAFETY: three elements, and of bitmaps that are not refused two bytes.
        let got = unsafe { nf_view_count(&x, NF_IS_NAN, &mut result) };
        assert_eq!((got, result), (status, if status == NF_OK { 1 } else { 7 }), "{x:?}");
        result = 7;
    }
    // Only the byte with bits of elements counts: the second.
    let mut both = [0xFFu8; 2];
    let bits = both.as_mut_ptr();
    let x = View { validity: bits, ..good };
    // SAFETY: refused, or into a byte that is no input.
    unsafe {
        let second = bits.wrapping_add(1);
        assert_eq!(nf_view_bits(&x, NF_IS_NAN, second, 1, 0), NF_ERR_OVERLAP);
        assert_eq!(nf_view_bits(&x, NF_IS_NAN, bits, 1, 0), NF_OK);
    }
    assert_eq!(both, [0b1111_1010, 0xFF]);
}

#[test]
fn magnitudes_above() {
    on_each_backend(|backend| {
        for (code, format) in formats() {
            for length in [0, 1, 100] {
                let (bytes, _) = memory(format, length);
                let data = bytes[1..].as_ptr().cast();
                let x = nonfinite::Elements::from_bytes(&bytes[1..], format).unwrap();
                let codes = x.as_bytes().chunks_exact(format.size_in_bytes()).map(oracle::read);
                let codes: Vec<u64> = codes.collect();
                let mut thresholds = oracle::thresholds(format, &codes);
                thresholds.extend([1.0, -1.0, f64::NAN, f64::INFINITY]);
                for threshold in thresholds {
                    let (mut any, mut hits, mut place) = (false, 7, 7);
                    let mut mask = vec![CANARY; length + 1];
                    let above = nf_exceeds(threshold);
                    // SAFETY: elements, slots, and a byte for each element.
                    let statuses = unsafe {
                        [
                            nf_any(data, code, length, above, &mut any),
                            nf_count(data, code, length, above, &mut hits),
                            nf_first(data, code, length, above, &mut place),
                            nf_mask(data, code, length, above, mask.as_mut_ptr()),
                        ]
                    };
                    let at = format!("{backend} {format} {length} {threshold}");
                    if !oracle::has_thresholds(format) || !(0.0..f64::INFINITY).contains(&threshold)
                    {
                        assert_eq!(statuses, [NF_ERR_THRESHOLD; 4], "{at}");
                        assert_eq!((any, hits, place), (false, 7, 7), "{at}");
                        assert!(mask.iter().all(|&byte| byte == CANARY), "{at}");
                        continue;
                    }
                    assert_eq!(statuses, [NF_OK; 4], "{at}");
                    let is_above = |&bits: &u64| oracle::exceeds(format, bits, threshold);
                    let want: Vec<bool> = codes.iter().map(is_above).collect();
                    assert_eq!((any, hits), (want.contains(&true), count(&want)), "{at}");
                    assert_eq!(place, first(&want), "{at}");
                    assert!(
                        want.iter().map(|&hit| u8::from(hit)).eq(mask[..length].iter().copied())
                    );
                    assert_eq!(mask[length], CANARY, "{at}");
                    // With the even elements null.
                    let bits = [0xAA; 13];
                    let x = &view(data.cast(), code, &length, (bits.as_ptr(), 0));
                    // SAFETY: elements, a bitmap, a slot, and a byte for each element.
                    unsafe {
                        assert_eq!(nf_view_count(x, above, &mut hits), NF_OK, "{at}");
                        let status = nf_view_mask(x, above, mask.as_mut_ptr(), 0, null());
                        assert_eq!(status, NF_OK, "{at}");
                    }
                    let want: Vec<bool> =
                        want.iter().enumerate().map(|(i, hit)| hit & (i % 2 == 1)).collect();
                    assert_eq!(hits, count(&want), "{at}");
                    let mask = mask[..length].iter().copied();
                    assert!(want.iter().map(|&hit| u8::from(hit)).eq(mask), "{at}");
                }
            }
        }
    });
}
