//! The formats of 32 and 64 bits: their edges, and patterns that resemble edges.

use nonfinite::Format;

use crate::{Visit, check, oracle, reduced};

#[test]
fn edges_in_every_lane() {
    edges(&mut check);
}

/// Every sign and edge exponent with every single mantissa bit and all boundaries, in several
/// lanes.
pub(crate) fn edges(visit: Visit<'_>) {
    for format in [Format::F32, Format::F64] {
        let edges = oracle::edges(format);
        for lane in (0..64).step_by(if reduced() { 13 } else { 1 }) {
            let mut bytes = Vec::new();
            (0..lane).for_each(|_| oracle::write(format, 0, &mut bytes));
            edges.iter().for_each(|&bits| oracle::write(format, bits, &mut bytes));
            visit(format, &bytes);
        }
    }
}

#[test]
fn all_exponents() {
    exponents(&mut check);
}

/// All exponents, with a mantissa of zero and of one low bit.
pub(crate) fn exponents(visit: Visit<'_>) {
    for (format, mantissa, exponents) in [(Format::F32, 23, 1 << 8), (Format::F64, 52, 1 << 11)] {
        let mut bytes = Vec::new();
        for high in 0..2 * exponents {
            oracle::write(format, high << mantissa, &mut bytes);
            oracle::write(format, high << mantissa | 1, &mut bytes);
            oracle::write(format, high << mantissa | 1 << (mantissa - 1), &mut bytes);
        }
        visit(format, &bytes);
    }
}

#[test]
fn low_word_nans() {
    low_words(&mut check);
}

/// NaNs that only the low word tells from infinity.
pub(crate) fn low_words(visit: Visit<'_>) {
    let words = [
        0x7FF0_0000_0000_0001,
        0x7FF0_0000_8000_0000,
        0x7FF0_0000_FFFF_FFFF,
        0xFFF0_0000_0000_0001,
        0x7FF0_0000_0000_0000,
        0xFFF0_0000_0000_0000,
        0x7FEF_FFFF_FFFF_FFFF,
        0xFFEF_FFFF_FFFF_FFFF,
        0x7FF0_0001_0000_0000,
    ];
    for rotation in 0..words.len() {
        let mut bytes = Vec::new();
        (0..129).for_each(|i| {
            oracle::write(Format::F64, words[(i + rotation) % words.len()], &mut bytes)
        });
        visit(Format::F64, &bytes);
    }
}
