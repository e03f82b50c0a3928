//! The public functions, as far as they differ from the backends.

use std::mem::MaybeUninit;

use nonfinite::{Error, Format, Occurrences, Predicate, TensorView};

#[test]
fn predicate_names() {
    for predicate in Predicate::ALL.iter().copied() {
        assert_eq!(predicate.to_string(), predicate.name());
        assert_eq!(predicate.name().parse(), Ok(predicate));
        assert_eq!(predicate.name().to_uppercase().parse(), Ok(predicate));
    }
    assert_eq!("isneginf".parse(), Ok(Predicate::NegativeInf));
    let error = "inf\0".parse::<Predicate>().unwrap_err();
    assert_eq!(error.to_string(), "no predicate has the name \"inf\\0\"");
    let error = "infinity".parse::<Predicate>().unwrap_err();
    assert_eq!(error.to_string(), "no predicate has the name \"infinity\"");
}

#[test]
fn census_text() {
    let census = nonfinite::census(&[f64::NAN, f64::NEG_INFINITY, f64::NAN]);
    assert_eq!((census.to_string().as_str(), census.total()), ("2 NaN, 0 +Inf, 1 -Inf", 3));
    let joined = census.join(census.behind(3));
    assert_eq!(
        (joined.nan, joined.neg_inf),
        (Occurrences::new(4, Some(0)), Occurrences::new(2, Some(1)))
    );
}

#[test]
fn long_names_are_cut() {
    let error = "x\u{e4}".repeat(30).parse::<Format>().unwrap_err();
    let shown = "x\u{e4}".repeat(13);
    assert_eq!(error.to_string(), format!("no format has the name \"{shown}x\"..."));
}

#[test]
fn wrong_bytes_are_refused() {
    let x = [0; 12];
    let mut out = [7; 5];
    let partial = Error::PartialElement { bytes: 7, format: Format::F32 };
    assert_eq!(TensorView::from_bytes(&x[..7], Format::F32).map(|x| x.len()), Err(partial));
    let floats = TensorView::from_bytes(&x, Format::F32).unwrap();
    for wrong in [2, 4] {
        assert_eq!(
            floats.mask(Predicate::Nan, &mut out[..wrong]),
            Err(Error::OutputLength { elements: 3, output: wrong })
        );
    }
    assert_eq!(
        floats.bits(Predicate::Finite, &mut out[..1], 6),
        Err(Error::OutputBits { elements: 3, offset: 6, bytes: 1 })
    );
    assert_eq!(
        floats.bits(Predicate::Finite, &mut out, usize::MAX),
        Err(Error::OutputBits { elements: 3, offset: usize::MAX, bytes: 5 })
    );
    assert_eq!(out, [7; 5], "nothing is written on error");
    assert_eq!(floats.mask(Predicate::Finite, &mut out[1..4]), Ok(()));
    assert_eq!(out, [7, 1, 1, 1, 7]);
    assert_eq!(floats.bits(Predicate::Finite, &mut out[..1], 5), Ok(()));
    assert_eq!(out[0], 7 | 0b1110_0000);
}

/// Masks go into `bool`, `u8` and uninitialised memory, in slices, arrays and vectors.
#[test]
#[expect(unsafe_code, reason = "what was uninitialised is read")]
fn outputs_of_masks() {
    let x = vec![1.0f32, f32::NAN];
    let (mut array, mut vector) = ([7u8; 2], vec![true; 2]);
    nonfinite::is_nan(&x, &mut array);
    nonfinite::is_nan(&x, &mut vector);
    assert_eq!((array, &vector[..]), ([0, 1], &[false, true][..]));
    TensorView::from(&x).mask(Predicate::Finite, &mut vector).unwrap();
    assert_eq!(vector, [true, false]);
    let mut room = [MaybeUninit::<bool>::uninit(); 2];
    nonfinite::is_finite(&x, &mut room[..]);
    // SAFETY: the mask has one result for each of the two elements.
    assert_eq!(room.map(|slot| unsafe { slot.assume_init() }), [true, false]);
    assert!(nonfinite::any_nan(&x) && !nonfinite::all_finite(&x));
}

#[test]
fn format_names() {
    for format in Format::ALL.iter().copied() {
        assert_eq!(format.to_string(), format.name());
        for name in format.names() {
            assert_eq!(name.parse(), Ok(format), "{name}");
            assert_eq!(name.to_uppercase().parse(), Ok(format), "{name}");
        }
    }
    let spellings = [
        ("bfloat16", Format::Bf16),
        ("BF16", Format::Bf16),
        ("FLOAT", Format::F32),
        ("DOUBLE", Format::F64),
        ("FLOAT8E4M3FN", Format::F8E4M3Fn),
        ("F8_E4M3", Format::F8E4M3Fn),
        ("f8E4M3", Format::F8E4M3),
        ("F8_E8M0", Format::F8E8M0Fnu),
        ("FLOAT8E5M2FNUZ", Format::F8E5M2FnUz),
    ];
    for (name, format) in spellings {
        assert_eq!(name.parse(), Ok(format), "{name}");
    }
    for name in ["", "int8", "f", "f128", " f32", "f4", "F4", "F6_E2M3", "f8"] {
        let error = name.parse::<Format>().unwrap_err();
        assert_eq!(error.to_string(), format!("no format has the name {name:?}"));
    }
}

// wasm aborts on panic.
#[cfg(not(target_family = "wasm"))]
mod panics {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use nonfinite::Predicate;

    fn message(run: impl FnOnce()) -> String {
        let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("no panic");
        payload.downcast_ref::<String>().expect("a formatted message").clone()
    }

    #[test]
    fn lengths_are_named() {
        let x = [f32::NAN; 100];
        for n in [99, 101] {
            let mut out = vec![false; n];
            let text = message(|| nonfinite::is_nan(&x, &mut out));
            assert_eq!(text, format!("100 elements, but an output for {n}"));
            assert!(out.iter().all(|&hit| !hit), "nothing is written");
        }
        let mut bitmap = [0; 13];
        let text = message(|| nonfinite::bits(&x, Predicate::Nan, &mut bitmap, 5));
        assert_eq!(text, "100 elements from bit 5 on, but an output of 13 bytes");
        assert_eq!(bitmap, [0; 13]);
        nonfinite::bits(&x, Predicate::Nan, &mut bitmap, 4);
        assert_eq!((bitmap[0], bitmap[12]), (0xF0, 0xFF));
    }
}
