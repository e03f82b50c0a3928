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
    for (name, predicate) in [
        ("isneginf", Predicate::NegativeInf),
        ("is_nan", Predicate::Nan),
        ("is_infinite", Predicate::Inf),
        ("is_finite", Predicate::Finite),
        ("exceeds 65504", Predicate::exceeds(Format::F32, 65504.0).unwrap()),
        ("Exceeds 448 of BF16", Predicate::exceeds(Format::Bf16, 448.0).unwrap()),
        ("exceeds 0.1 of f16", Predicate::exceeds(Format::F16, 0.1).unwrap()),
    ] {
        assert_eq!((name.parse(), predicate.to_string().parse()), (Ok(predicate), Ok(predicate)));
    }
    let known: Vec<_> = Predicate::ALL.iter().map(|known| known.name()).collect();
    for name in ["inf\0", "infinity", "exceeds", "exceeds -1", "exceeds 1 of f8e8m0", "above 1"] {
        let error = name.parse::<Predicate>().unwrap_err().to_string();
        let wanted = format!("no predicate has the name {name:?}; names are {}", known.join(", "));
        assert_eq!(error, wanted);
    }
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
    let cut = format!("no format has the name \"{shown}x\"...; names are ");
    assert!(error.to_string().starts_with(&cut));
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
        let error = name.parse::<Format>().unwrap_err().to_string();
        let known: Vec<_> = Format::ALL.iter().map(|known| known.name()).collect();
        let wanted = format!("no format has the name {name:?}; names are {}", known.join(", "));
        assert_eq!(error, wanted);
    }
}

// wasm aborts on panic.
#[cfg(not(target_family = "wasm"))]
mod panics {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
    use std::sync::Once;

    use nonfinite::{Elements, Format, Predicate, Replacement, TensorView, Watch};

    thread_local!(static FILE: Cell<String> = const { Cell::new(String::new()) });

    /// The message of a panic, which names this file as its place.
    fn message(run: impl FnOnce()) -> String {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = take_hook();
            set_hook(Box::new(move |panic| {
                FILE.set(panic.location().expect("a place").file().to_owned());
                before(panic);
            }));
        });
        let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("no panic");
        assert_eq!(FILE.take(), file!(), "the panic points to its caller");
        payload.downcast_ref::<String>().expect("a formatted message").clone()
    }

    /// Where a question returns no error, it panics.
    #[test]
    fn thresholds_for_another_format() {
        let above = Predicate::exceeds(Format::F32, 1.0).unwrap();
        let ask: [fn(&[f64], Predicate) -> bool; 12] = [
            |x, above| TensorView::from(x).any(above),
            |x, above| TensorView::from(x).all(above),
            |x, above| TensorView::from(x).count(above) > 0,
            |x, above| TensorView::from(x).position(above).is_some(),
            |x, above| TensorView::from(x).positions(above).count() > 0,
            |x, above| nonfinite::any(x, above),
            |x, above| nonfinite::all(x, above),
            |x, above| nonfinite::count(x, above) > 0,
            |x, above| nonfinite::position(x, above).is_some(),
            |x, above| matches!(nonfinite::mask(x, above, &mut [false; 2]), ()),
            |x, above| matches!(nonfinite::bits(x, above, &mut [0], 0), ()),
            |x, above| Watch::new(above).look("x", x).finite() > 0,
        ];
        for (i, ask) in ask.into_iter().enumerate() {
            let text = message(|| assert!(ask(&[2.0; 2], above)));
            assert_eq!(text, "a threshold for f32 elements, but the elements are f64", "{i}");
        }
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
        let (with, mut out) = (Replacement::finite(), [1.0; 99]);
        let text = message(|| _ = nonfinite::replace_non_finite_into(&x, &mut out, with));
        assert_eq!((text.as_str(), out), ("100 elements, but an output for 99", [1.0; 99]));
        let text = message(|| _ = Elements::from(&x).split_at(101));
        assert_eq!(text, "split at element 101 of 100");
    }
}
