//! Apache Arrow C++, cpp/src/arrow/compute/kernels/scalar_validity_test.cc (VECTORS, section 8).
//! Nulls are the caller's: here the values under a null are any bits, and the bits of a null are
//! not looked at, as in Arrow.

use nonfinite::{Backend, Elements, Format, Predicate, TensorView};

use crate::{check_predicate, elements};

#[test]
fn scalar_validity() {
    let rows = [
        (Predicate::Finite, "inf -inf inf -inf inf", "F F F F F"),
        (Predicate::Finite, "0 1 2 3 nan", "T T T T F"),
        (Predicate::Finite, "0 inf 2 -inf nan", "T F T F F"),
        (Predicate::Inf, "inf -inf inf -inf inf", "T T T T T"),
        (Predicate::Inf, "0 1 2 3 nan", "F F F F F"),
        (Predicate::Inf, "0 inf 2 -inf nan", "F T F T F"),
        (Predicate::Nan, "nan nan nan nan nan", "T T T T T"),
        (Predicate::Nan, "0 1 2 3 inf", "F F F F F"),
        (Predicate::Nan, "0 nan 2 nan inf", "F T F T F"),
        // is_null with nan_is_null.
        (Predicate::Nan, "1.5 0 -0 inf -inf nan", "F F F F F T"),
        (Predicate::Finite, "", ""),
    ];
    for format in [Format::F16, Format::F32, Format::F64] {
        for (predicate, x, expected) in rows {
            check_predicate(
                "scalar_validity_test",
                format,
                predicate,
                &elements(format, x),
                expected,
            );
        }
    }
}

/// [0 inf 2 -inf nan null] as bitmaps with an offset: validity and result together.
#[test]
fn bitmaps_with_a_null() {
    for backend in Backend::available() {
        for offset in 0..9 {
            let x = elements(Format::F32, "0 inf 2 -inf nan nan");
            let validity = 0b01_1111 << offset;
            let mut out = [0xFF; 2];
            let x = Elements::from_bytes(&x, Format::F32).unwrap();
            TensorView::from(x)
                .with_backend(backend)
                .bits(Predicate::Finite, &mut out, offset)
                .unwrap();
            let finite = u16::from_le_bytes(out);
            assert_eq!(finite & validity, 0b00_0101 << offset, "{} at {offset}", backend.name());
            assert_eq!(finite & !(0b11_1111 << offset), !(0b11_1111 << offset), "other bits stay");
        }
    }
}
