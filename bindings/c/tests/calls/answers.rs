//! All functions on runs of elements: every format, predicate and backend, against the oracle of
//! the backend tests.

use nonfinite_capi::*;

use crate::common::{
    CANARY, PREDICATES, bitmaps, census, count, first, formats, memory, on_each_backend, stats,
    text,
};
use crate::oracle::holds;

#[test]
fn every_function_every_format_every_predicate() {
    for (code, format) in formats() {
        for length in [0, 1, 7, 63, 64, 65, 130, 700] {
            let (bytes, kinds) = memory(format, length);
            on_each_backend(|backend| {
                let data = bytes[1..].as_ptr().cast();
                for (predicate, meaning) in PREDICATES {
                    let answers: Vec<bool> =
                        kinds.iter().map(|&kind| holds(meaning, kind)).collect();
                    let at = format!("{backend} {format} {meaning:?} of {length}");

                    let mut mask = vec![CANARY; length + 2];
                    // SAFETY: `length` elements, and as many bytes of output.
                    let status =
                        unsafe { nf_mask(data, code, length, predicate, mask[1..].as_mut_ptr()) };
                    assert_eq!(status, NF_OK, "{at}");
                    assert!(
                        mask[1..=length].iter().copied().eq(answers.iter().map(|&yes| yes.into())),
                        "{at}"
                    );
                    assert_eq!((mask[0], mask[length + 1]), (CANARY, CANARY), "{at}");

                    for offset in [0, 3, 8, 21] {
                        let (mut bits, new) = bitmaps(&answers, offset);
                        // SAFETY: `length` elements, and the bitmap as it is.
                        let status = unsafe {
                            nf_bits(
                                data,
                                code,
                                length,
                                predicate,
                                bits.as_mut_ptr(),
                                bits.len(),
                                offset,
                            )
                        };
                        assert_eq!((status, &bits), (NF_OK, &new), "{at} from bit {offset}");
                    }

                    let (mut any, mut all, mut number, mut index) = (false, false, 0, 0);
                    // SAFETY: `length` elements, and slots for the results.
                    unsafe {
                        assert_eq!(nf_any(data, code, length, predicate, &mut any), NF_OK, "{at}");
                        assert_eq!(nf_all(data, code, length, predicate, &mut all), NF_OK, "{at}");
                        assert_eq!(
                            nf_count(data, code, length, predicate, &mut number),
                            NF_OK,
                            "{at}"
                        );
                        assert_eq!(
                            nf_first(data, code, length, predicate, &mut index),
                            NF_OK,
                            "{at}"
                        );
                    }
                    assert_eq!((number, index), (count(&answers), first(&answers)), "{at}");
                    assert_eq!((any, all), (number > 0, number == length as u64), "{at}");
                }
                let mut taken = Census::default();
                // SAFETY: `length` elements, and a slot.
                assert_eq!(unsafe { nf_take_census(data, code, length, &mut taken) }, NF_OK);
                assert_eq!(taken, census(&kinds), "{backend} {format} {length}");
                let mut taken = Stats::default();
                // SAFETY: `length` elements, and a slot.
                assert_eq!(unsafe { nf_take_stats(data, code, length, &mut taken) }, NF_OK);
                assert_eq!(taken, stats(format, &bytes[1..]), "{backend} {format} {length}");
            });
        }
    }
}

#[test]
fn signs_of_infinity() {
    assert_eq!(nf_is_inf(1, 1), NF_IS_INF);
    assert_eq!(nf_is_inf(-3, 0), NF_IS_NEGATIVE_INF);
    assert_eq!(nf_is_inf(0, 1 << 32), NF_IS_POSITIVE_INF);
    assert_eq!(nf_is_inf(0, 0), NF_IS_NEVER);
}

#[test]
fn formats_have_names_and_sizes() {
    for (code, format) in formats() {
        assert_eq!(text(nf_format_name(code)), format.name());
        assert_eq!(nf_format_size(code), format.size_in_bytes());
    }
    for bad in [0, formats().len() as u32 + 1, u32::MAX] {
        assert!(nf_format_name(bad).is_null());
        assert_eq!(nf_format_size(bad), 0);
    }
    for (name, code) in [
        (c"FLOAT", NF_FORMAT_F32),
        (c"bfloat16", NF_FORMAT_BF16),
        (c"F8_E4M3", NF_FORMAT_F8E4M3FN),
        (c"f8E4M3", NF_FORMAT_F8E4M3),
    ] {
        let mut found = 0;
        // SAFETY: a string, and a slot.
        assert_eq!(unsafe { nf_format_from_name(name.as_ptr(), &mut found) }, NF_OK);
        assert_eq!(found, code, "{name:?}");
    }
}

#[test]
fn version_and_backends() {
    assert_eq!(text(nf_version()), env!("CARGO_PKG_VERSION"));
    let names: Vec<_> = nonfinite::Backend::all().map(|(name, _)| name).collect();
    assert!(names.contains(&text(nf_backend_name())));
}

#[test]
fn every_status_has_a_message_of_its_own() {
    let messages: Vec<_> =
        (NF_OK..=NF_ERR_THRESHOLD).map(|status| text(nf_status_message(status))).collect();
    for (i, message) in messages.iter().enumerate() {
        assert!(!message.is_empty() && !messages[..i].contains(message), "{i}: {message}");
    }
    for bad in [-1, NF_ERR_THRESHOLD + 1, i32::MIN, i32::MAX] {
        assert_eq!(text(nf_status_message(bad)), "no status has this number");
    }
}
