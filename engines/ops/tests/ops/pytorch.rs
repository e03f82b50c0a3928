//! PyTorch, test/test_unary_ufuncs.py (VECTORS, section 6).

use nonfinite::{Format, Predicate};

use crate::{check_predicate, elements};

const FLOATS: [Format; 4] = [Format::F16, Format::Bf16, Format::F32, Format::F64];

#[test]
fn special_values() {
    for format in FLOATS {
        let x = elements(format, "-inf inf nan -1 0 1");
        let rows = [
            (Predicate::Finite, "F F F T T T"),
            (Predicate::Inf, "T T F F F F"),
            (Predicate::Nan, "F F T F F F"),
            (Predicate::PositiveInf, "F T F F F F"),
            (Predicate::NegativeInf, "T F F F F F"),
        ];
        for (predicate, expected) in rows {
            check_predicate("test_unary_ufuncs", format, predicate, &x, expected);
        }
    }
}

/// Tensors of 129 elements: vectors, and a tail.
#[test]
fn size_129() {
    for format in FLOATS {
        let x = elements(format, &"-inf inf nan -1 0 1 ".repeat(22));
        let x = &x[..129 * format.size_in_bytes()];
        let expected = "F F F T T T ".repeat(22);
        check_predicate("size 129", format, Predicate::Finite, x, &expected[..2 * 129]);
    }
}
