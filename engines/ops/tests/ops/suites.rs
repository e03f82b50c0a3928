//! Literal vectors of suites of no standard that has operators here: PyTorch's
//! test/test_unary_ufuncs.py, Apache Arrow C++'s scalar_validity_test.cc, and rten's
//! src/ops/unary_elementwise.rs (VECTORS, sections 6, 8 and 11).

use nonfinite::{Backend, Elements, Format, Predicate, TensorView};

use crate::{check_predicate, elements};

#[test]
fn vectors() {
    let rows = [
        ("PyTorch", Predicate::Finite, "-inf inf nan -1 0 1", "F F F T T T"),
        ("PyTorch", Predicate::Inf, "-inf inf nan -1 0 1", "T T F F F F"),
        ("PyTorch", Predicate::Nan, "-inf inf nan -1 0 1", "F F T F F F"),
        ("PyTorch", Predicate::PositiveInf, "-inf inf nan -1 0 1", "F T F F F F"),
        ("PyTorch", Predicate::NegativeInf, "-inf inf nan -1 0 1", "T F F F F F"),
        ("Arrow", Predicate::Finite, "inf -inf inf -inf inf", "F F F F F"),
        ("Arrow", Predicate::Finite, "0 1 2 3 nan", "T T T T F"),
        ("Arrow", Predicate::Finite, "0 inf 2 -inf nan", "T F T F F"),
        ("Arrow", Predicate::Inf, "inf -inf inf -inf inf", "T T T T T"),
        ("Arrow", Predicate::Inf, "0 1 2 3 nan", "F F F F F"),
        ("Arrow", Predicate::Inf, "0 inf 2 -inf nan", "F T F T F"),
        ("Arrow", Predicate::Nan, "nan nan nan nan nan", "T T T T T"),
        ("Arrow", Predicate::Nan, "0 1 2 3 inf", "F F F F F"),
        ("Arrow", Predicate::Nan, "0 nan 2 nan inf", "F T F T F"),
        ("Arrow is_null, nan_is_null", Predicate::Nan, "1.5 0 -0 inf -inf nan", "F F F F F T"),
        ("Arrow", Predicate::Finite, "", ""),
        ("rten", Predicate::Inf, "-inf 0 1 inf", "1 0 0 1"),
        ("rten", Predicate::Nan, "-inf 0 nan 1 inf", "0 0 1 0 0"),
    ];
    for format in [Format::F16, Format::Bf16, Format::F32, Format::F64] {
        for (suite, predicate, x, expected) in rows {
            check_predicate(suite, format, predicate, &elements(format, x), expected);
        }
    }
}

/// Arrow's [0 inf 2 -inf nan null] as bitmaps with an offset: validity and result together. The
/// value under the null is a NaN, and its bit is not looked at, as in Arrow.
#[test]
fn bitmaps_with_a_null() {
    for (backend, offset) in Backend::available().flat_map(|b| (0..9).map(move |i| (b, i))) {
        let x = elements(Format::F32, "0 inf 2 -inf nan nan");
        let validity = 0b01_1111 << offset;
        let mut out = [0xFF; 2];
        let x = TensorView::from(Elements::from_bytes(&x, Format::F32).unwrap());
        x.with_backend(backend).bits(Predicate::Finite, &mut out, offset).unwrap();
        let finite = u16::from_le_bytes(out);
        assert_eq!(finite & validity, 0b00_0101 << offset, "{} at {offset}", backend.name());
        assert_eq!(finite & !(0b11_1111 << offset), !(0b11_1111 << offset), "other bits stay");
    }
}
