//! ml_dtypes, ml_dtypes/tests/float8_test.cc and the codes of an exhaustive run (VECTORS, section
//! 12).

use nonfinite::{Backend, Elements, Format, Predicate, TensorView};

/// The format, its NaN codes from first to last, and its infinities, +Inf first.
type Row = (Format, &'static [(u8, u8)], &'static [u8]);

const ROWS: [Row; 11] = [
    (Format::F8E3M4, &[(0x71, 0x7F), (0xF1, 0xFF)], &[0x70, 0xF0]),
    (Format::F8E4M3, &[(0x79, 0x7F), (0xF9, 0xFF)], &[0x78, 0xF8]),
    (Format::F8E4M3Fn, &[(0x7F, 0x7F), (0xFF, 0xFF)], &[]),
    (Format::F8E4M3FnUz, &[(0x80, 0x80)], &[]),
    (Format::F8E4M3B11FnUz, &[(0x80, 0x80)], &[]),
    (Format::F8E5M2, &[(0x7D, 0x7F), (0xFD, 0xFF)], &[0x7C, 0xFC]),
    (Format::F8E5M2FnUz, &[(0x80, 0x80)], &[]),
    (Format::F8E8M0Fnu, &[(0xFF, 0xFF)], &[]),
    (Format::F4E2M1Fn, &[], &[]),
    (Format::F6E2M3Fn, &[], &[]),
    (Format::F6E3M2Fn, &[], &[]),
];

#[test]
fn all_codes() {
    let codes: Vec<u8> = (0..=255).collect();
    for (format, nan, infinite) in ROWS {
        for backend in Backend::available() {
            let hits = |predicate| {
                let mut out = [7; 256];
                TensorView::from(Elements::from_bytes(&codes, format).unwrap())
                    .with_backend(backend)
                    .mask(predicate, &mut out[..])
                    .unwrap();
                out
            };
            let is_nan = |code: u8| nan.iter().any(|&(first, last)| (first..=last).contains(&code));
            let expect = |predicate, holds: &dyn Fn(u8) -> bool| {
                let at = format!("{predicate:?} of {format} on {}", backend.name());
                assert!(
                    codes.iter().map(|&code| u8::from(holds(code))).eq(hits(predicate)),
                    "{at}"
                );
            };
            expect(Predicate::Nan, &is_nan);
            expect(Predicate::Inf, &|code| infinite.contains(&code));
            expect(Predicate::PositiveInf, &|code| infinite.first() == Some(&code));
            expect(Predicate::NegativeInf, &|code| infinite.get(1) == Some(&code));
            expect(Predicate::Finite, &|code| !is_nan(code) && !infinite.contains(&code));
            expect(Predicate::NonFinite, &|code| is_nan(code) || infinite.contains(&code));
        }
    }
}
