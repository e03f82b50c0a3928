//! Statistics and thresholds: every code of the small formats, borders of groups, and parts.

use nonfinite::{Elements, Error, Format, MaskView, Predicate, Stats, TensorView};
use quickcheck::QuickCheck;

use crate::check_expected;
use crate::oracle::{self, Asked, Expected, backends};
use crate::tensors::{Tensor, all_codes, either, formats, tensor};

fn small() -> impl Iterator<Item = Format> {
    formats().filter(|format| format.size_in_bytes() <= 2)
}

/// Asks for these elements, the census and the statistics.
fn check(format: Format, bytes: &[u8], asked: &[Asked]) {
    check_expected(format, bytes, &Expected::new(format, bytes).asking(asked));
}

#[test]
fn codes_as_f64() {
    let same = |format: Format, bits| {
        let (got, want) = (format.to_f64(bits), oracle::value(format, bits));
        let equal = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(equal, "{format} {bits:#x}: {got} {want}");
    };
    formats().for_each(|format| oracle::edges(format).into_iter().for_each(|x| same(format, x)));
    small().for_each(|format| (0..0x10000).for_each(|bits| same(format, bits)));
    let mut bits = 0u64;
    for _ in 0..either(1000, 1_000_000) {
        bits = bits.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        same(Format::F32, bits >> 32);
        same(Format::F64, bits);
    }
}

/// Each code alone and, of a byte, repeated.
#[test]
fn every_code_alone() {
    for format in small() {
        for code in all_codes(format).into_iter().step_by(either(61, 1)) {
            check(format, &tensor(format, 1, |_| code), &[]);
            if format.size_in_bytes() == 1 {
                check(format, &tensor(format, 1500, |_| code), &[]);
            }
        }
    }
}

/// Every pair of codes of one byte: ties, and zeros of both signs.
#[test]
fn every_pair() {
    for format in small().filter(|format| format.size_in_bytes() == 1) {
        for a in (0..=255u8).step_by(either(17, 1)) {
            for b in (0..=255u8).step_by(either(13, 1)) {
                let want = oracle::summary(format, [a.into(), b.into()].into_iter().enumerate());
                let got = TensorView::from_bytes(&[a, b], format).unwrap().stats();
                assert_eq!(oracle::Summary::from(got), want, "{format} {a:#x} {b:#x}");
            }
        }
    }
}

/// One element among ordinary ones, beside borders of lines, at the beginning and further back.
#[test]
fn one_at_borders() {
    for format in [Format::F32, Format::F64, Format::Bf16, Format::F8E4M3Fn] {
        let size = format.size_in_bytes();
        let (sign, one) = (1u64 << (8 * size - 1), ordinary(format));
        // No group of the first 4 KiB is skipped. Groups of 1 KiB follow. All begin at a cache
        // line, and allocations at a multiple of 16.
        let lines = [0, 16, 32, 48];
        let borders = [4096, 5120, 17408].map(|at| lines.map(|before| at - before));
        let elements = 18 * 1024 / size + 3;
        // Both signs, one of them, and both with zeros.
        for base in [[one, sign | one], [one, one], [sign | one, sign | one], [0, sign | one]] {
            let edges = oracle::edges(format);
            let step = edges.len() / either(3, 10);
            // The codes beside the extremes, too.
            let beside = [one - 1, one + 1].map(|code| [code, sign | code]);
            for edge in edges.into_iter().step_by(step).chain(beside.into_iter().flatten()) {
                for place in borders.as_flattened().iter().flat_map(|at| [at / size - 1, at / size])
                {
                    let bits = |i| if i == place { edge } else { base[i % 2] };
                    check(format, &tensor(format, elements, bits), &[]);
                }
            }
        }
    }
}

/// The code of a normal number.
fn ordinary(format: Format) -> u64 {
    match format {
        Format::F32 => 1.5f32.to_bits().into(),
        Format::F64 => 1.5f64.to_bits(),
        Format::Bf16 => 0x3FC0,
        _ => 0x3C,
    }
}

/// Parts are joined in any order and grouping, and give what the whole gives.
#[test]
fn parts() {
    fn agrees(Tensor { format, bytes }: Tensor, cuts: (usize, usize)) {
        let size = format.size_in_bytes();
        let elements = bytes.len() / size;
        let mut cuts = [cuts.0 % (elements + 1), cuts.1 % (elements + 1)];
        cuts.sort_unstable();
        let stats = |from: usize, to: usize| -> Stats {
            let part = TensorView::from_bytes(&bytes[from * size..to * size], format).unwrap();
            part.stats().behind(from)
        };
        let whole = stats(0, elements);
        let [a, b, c] = [stats(0, cuts[0]), stats(cuts[0], cuts[1]), stats(cuts[1], elements)];
        assert_eq!(a.join(b).join(c), whole);
        assert_eq!(a.join(b.join(c)), whole);
        assert_eq!(c.join(a).join(b), whole);
        assert_eq!(c.join(b.join(a)), whole);
        assert_eq!(whole.finite() + whole.census.total(), elements);
    }
    QuickCheck::new().tests(either(20, 500)).quickcheck(agrees as fn(Tensor, (usize, usize)));
}

/// Every magnitude of the small formats as a threshold, and numbers beside it; all codes.
#[test]
fn every_threshold() {
    for format in small().filter(|&format| oracle::has_thresholds(format)) {
        let codes = all_codes(format);
        let bytes = tensor(format, codes.len(), |i| codes[i]);
        let step = if format.size_in_bytes() == 1 { 1 } else { 997 };
        let last = format.max_bits();
        let magnitudes = (0..=last).step_by(step).chain([last]);
        let magnitudes = magnitudes.map(|code| oracle::value(format, code));
        let asked: Vec<Asked> =
            magnitudes.flat_map(|x| [x, x * 1.001, x * 0.999]).map(Asked::Above).collect();
        check(format, &bytes, &asked);
    }
}

#[test]
fn thresholds_that_are_refused() {
    let x = [1.0f32, -2.0];
    let view = TensorView::from(&x);
    for threshold in [-1.0, -1e-300, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = Error::Threshold { bits: threshold.to_bits(), format: Format::F32 };
        assert_eq!(Predicate::exceeds(Format::F32, threshold).err(), Some(error));
    }
    let zero = Predicate::exceeds(Format::F32, -0.0).unwrap();
    assert_eq!((view.count(zero), zero), (2, Predicate::exceeds(Format::F32, 0.0).unwrap()));
    for format in formats() {
        let above = Predicate::exceeds(format, 1.0);
        assert_eq!(above.is_ok(), oracle::has_thresholds(format), "{format}: {above:?}");
    }
    let text = |format| Predicate::exceeds(format, 1.0).unwrap_err().to_string();
    let compared = "its elements are not compared with a threshold";
    assert_eq!(text(Format::F8E8M0Fnu), format!("f8e8m0fnu has no sign: {compared}"));
    let nan = format!("f8e5m2fnuz has NaN in the place of -0: {compared}");
    assert_eq!(text(Format::F8E5M2FnUz), nan);
    let above = Predicate::exceeds(Format::F32, 1.0).unwrap();
    assert_eq!((above.to_string(), above.name()), ("exceeds 1 of f32".to_owned(), "exceeds"));
    let length = Error::OutputLength { elements: 2, output: 1 };
    assert_eq!(view.mask(above, &mut [false][..]), Err(length));
    let bits = Error::OutputBits { elements: 2, offset: 7, bytes: 1 };
    assert_eq!(view.bits(above, &mut [0], 7), Err(bits));
}

#[test]
fn a_threshold_is_for_one_format() {
    let above = Predicate::exceeds(Format::F32, 1.0).unwrap();
    let other = Err(Error::ThresholdFormat { threshold: Format::F32, elements: Format::F64 });
    let (x, mut mask, mut bits, mut counts) = ([2.0f64; 2], [7u8; 2], [7u8], [7; 2]);
    let view = TensorView::from(&x);
    assert_eq!(view.mask(above, &mut mask), other);
    assert_eq!(view.mask_into(above, MaskView::shaped(&mut mask, &[2]).unwrap()), other);
    assert_eq!(view.bits(above, &mut bits, 0), other);
    let rows = TensorView::shaped(&x, &[2, 1]).unwrap().rows(1).unwrap();
    let (mut yes, mut firsts) = ([true; 2], [Some(7); 2]);
    assert_eq!(rows.any(above, &mut yes), other);
    assert_eq!(rows.all(above, &mut yes), other);
    assert_eq!(rows.count(above, &mut counts), other);
    assert_eq!(rows.position(above, &mut firsts), other);
    assert_eq!((mask, bits, yes, counts, firsts), ([7; 2], [7], [true; 2], [7; 2], [Some(7); 2]));
}

/// What no number is.
#[test]
fn nothing() {
    let none = TensorView::from_bytes(&[], Format::F16).unwrap().stats();
    assert_eq!(none, Stats::default());
    let nan = nonfinite::stats(&[f64::NAN, f64::INFINITY]);
    assert_eq!((nan.min, nan.max, nan.max_abs, nan.finite()), (None, None, None, 0));
}

/// An element that a broadcast repeats counts as often, also where the counts fill a `usize`.
#[test]
fn repeated_by_a_broadcast() {
    let elements = 1 << (usize::BITS - 7);
    for code in 0..=255u8 {
        let x = Elements::from_bytes(core::slice::from_ref(&code), Format::F8E8M0Fnu).unwrap();
        let shape = [elements];
        let view = TensorView::strided(x, 0, &shape, &[0]).unwrap();
        for &backend in backends() {
            let stats = view.with_backend(backend).stats();
            let (nan, normals) = if code == 0xFF { (elements, 0) } else { (0, elements) };
            let got = (stats.census.nan.count, stats.zeros, stats.subnormals, stats.normals);
            assert_eq!(got, (nan, 0, 0, normals), "{backend:?} {code:#x}");
        }
    }
}
