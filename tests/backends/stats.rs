//! Statistics and thresholds: every code of the small formats, and tensors of many makes.

use nonfinite::{Elements, Error, Format, Stats, TensorView};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use crate::{backends, oracle, reduced};

/// All codes of a format of one or two bytes.
fn codes(format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    let codes = 1u64 << (8 * format.size_in_bytes());
    (0..codes).for_each(|code| oracle::write(format, code, &mut bytes));
    bytes
}

fn small() -> impl Iterator<Item = Format> {
    Format::ALL.iter().copied().filter(|format| format.size_in_bytes() <= 2)
}

/// Compares the statistics of every backend.
fn check(format: Format, bytes: &[u8]) {
    let x = Elements::from_bytes(bytes, format).unwrap();
    for backend in backends() {
        oracle::check_stats(&backend, x).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
}

#[test]
fn codes_as_f64() {
    let same = |format: Format, bits| {
        let (got, want) = (format.to_f64(bits), oracle::value(format, bits));
        let equal = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(equal, "{format} {bits:#x}: {got} {want}");
    };
    for format in Format::ALL.iter().copied() {
        oracle::edges(format).into_iter().for_each(|bits| same(format, bits));
    }
    small().for_each(|format| (0..0x10000).for_each(|bits| same(format, bits)));
    let mut bits = 0u64;
    for _ in 0..if reduced() { 1000 } else { 1_000_000 } {
        bits = bits.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        same(Format::F32, bits >> 32);
        same(Format::F64, bits);
    }
}

/// Each code alone and repeated, and all codes of a format.
#[test]
fn every_code_alone() {
    for format in small() {
        let size = format.size_in_bytes();
        for code in codes(format).chunks_exact(size).step_by(if reduced() { 61 } else { 1 }) {
            check(format, code);
            if size == 1 {
                check(format, &code.repeat(1500));
            }
        }
        check(format, &codes(format));
    }
}

/// Every pair of codes of one byte: ties, and zeros of both signs.
#[test]
fn every_pair() {
    for format in small().filter(|format| format.size_in_bytes() == 1) {
        for a in (0..=255u8).step_by(if reduced() { 17 } else { 1 }) {
            for b in (0..=255u8).step_by(if reduced() { 13 } else { 1 }) {
                let x = Elements::from_bytes(&[a, b], format).unwrap().as_bytes().to_vec();
                let want = oracle::summary(format, x.iter().map(|&code| u64::from(code)));
                let got = TensorView::from_bytes(&x, format).unwrap().stats();
                assert_eq!(oracle::Summary::from(got), want, "{format} {a:#x} {b:#x}");
            }
        }
    }
}

/// A tensor of parts, each of one make.
#[derive(Clone, Debug)]
struct Mixed {
    format: Format,
    bytes: Vec<u8>,
}

impl Arbitrary for Mixed {
    fn arbitrary(g: &mut Gen) -> Self {
        let format = *g.choose(Format::ALL).unwrap();
        let edges = oracle::edges(format);
        let bits = 8 * format.size_in_bytes();
        let ones = u64::MAX >> (64 - bits);
        let mut bytes = Vec::new();
        for _ in 0..1 + usize::arbitrary(g) % 5 {
            let elements = usize::arbitrary(g) % if reduced() { 700 } else { 7000 };
            let (make, start) = (u32::arbitrary(g) % 8, u64::arbitrary(g) & ones);
            let edge = *g.choose(&edges).unwrap();
            let rare = 1 + u32::arbitrary(g) % 2000;
            for i in 0..elements as u64 {
                let any = u64::arbitrary(g) & ones;
                let bits = match make {
                    _ if u32::arbitrary(g) % rare == 0 && rare > 3 => edge,
                    0 => any,
                    // Near one number, of both signs.
                    1 => start >> 2 ^ any >> 6 ^ any << (bits - 1),
                    // Of one sign.
                    2 => start >> 2 ^ any >> 6,
                    3 => 1 << (bits - 1) | start >> 2 ^ any >> 6,
                    4 => edge,
                    // Rising and falling codes.
                    5 => start.wrapping_add(i),
                    6 => start.wrapping_sub(i),
                    // Half zeros.
                    _ => (any % 2) * (start >> 2 ^ any >> 6),
                };
                oracle::write(format, bits & ones, &mut bytes);
            }
        }
        Self { format, bytes }
    }
}

#[test]
fn mixed_tensors() {
    fn agrees(Mixed { format, bytes }: Mixed) {
        check(format, &bytes);
        // From every address of a line on.
        let size = format.size_in_bytes();
        let skipped = bytes.len() % 64 / size * size;
        check(format, &bytes[skipped..]);
    }
    let tests = if reduced() { 30 } else { 1500 };
    QuickCheck::new().tests(tests).quickcheck(agrees as fn(Mixed));
}

/// One element among ordinary ones, beside borders of a group, a chunk and a scan.
#[test]
fn one_at_borders() {
    for format in [Format::F32, Format::F64, Format::Bf16, Format::F8E4M3Fn] {
        let size = format.size_in_bytes();
        let (sign, one) = (1u64 << (8 * size - 1), ordinary(format));
        // Behind the first 256 bytes come one scan of 16 KiB and then groups.
        let borders = [256, 1280, 4352, 16640, 17664];
        let elements = 18 * 1024 / size + 3;
        // Both signs, one of them, and both with zeros.
        let bases = [[one, sign | one], [one, one], [sign | one, sign | one], [0, sign | one]];
        for base in bases {
            let bytes = |place, edge| {
                let bits = (0..elements).map(|i| if i == place { edge } else { base[i % 2] });
                let mut bytes = Vec::new();
                bits.for_each(|bits| oracle::write(format, bits, &mut bytes));
                bytes
            };
            let edges = oracle::edges(format);
            let step = edges.len() / if reduced() { 3 } else { 10 };
            for edge in edges.into_iter().step_by(step) {
                for border in borders {
                    for place in [border / size - 1, border / size] {
                        let bytes = bytes(place, edge);
                        let x = Elements::from_bytes(&bytes, format).unwrap();
                        let codes = bytes.chunks_exact(size).map(oracle::read);
                        let want = oracle::summary(format, codes);
                        for backend in backends() {
                            let got = TensorView::from(x).on(backend).stats();
                            let at = format!("{backend:?} {format} {base:x?} {edge:#x} at {place}");
                            assert_eq!(oracle::Summary::from(got), want, "{at}");
                        }
                    }
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
    fn agrees(Mixed { format, bytes }: Mixed, cuts: (usize, usize)) {
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
    let tests = if reduced() { 20 } else { 500 };
    QuickCheck::new().tests(tests).quickcheck(agrees as fn(Mixed, (usize, usize)));
}

/// Every magnitude of the small formats as a threshold, and numbers beside it; all codes.
#[test]
fn every_threshold() {
    for format in small().filter(|&format| format != Format::F8E8M0Fnu) {
        let (codes, size) = (codes(format), format.size_in_bytes());
        let x = Elements::from_bytes(&codes, format).unwrap();
        let step = if size == 1 { 1 } else { 997 };
        let last = format.max_bits();
        for code in (0..=last).step_by(step).chain([last]) {
            let magnitude = oracle::value(format, code);
            for threshold in [magnitude, magnitude * 1.001, magnitude * 0.999] {
                for backend in backends() {
                    oracle::check_above(&backend, x, threshold).unwrap();
                }
            }
        }
    }
}

/// Thresholds under nulls: of the elements that are above one, those that are valid.
#[test]
fn thresholds_under_nulls() {
    fn agrees(Mixed { format, bytes }: Mixed, valid: Vec<bool>, offset: u8) {
        if format == Format::F8E8M0Fnu || valid.is_empty() {
            return;
        }
        let x = Elements::from_bytes(&bytes, format).unwrap();
        let valid: Vec<bool> = valid.iter().copied().cycle().take(x.len()).collect();
        let offset = usize::from(offset % 64);
        let bitmap = oracle::bitmap(&valid, offset);
        for threshold in oracle::thresholds(x) {
            let above = oracle::Above::right(x, threshold).mask;
            let want: Vec<usize> = (0..x.len()).filter(|&i| valid[i] && above[i]).collect();
            for backend in backends() {
                let view = TensorView::from(x).on(backend).with_validity(&bitmap, offset).unwrap();
                let got = view.exceeds(threshold).unwrap();
                let at = format!("{backend:?} {format} {threshold}");
                assert_eq!((got.any(), got.count()), (!want.is_empty(), want.len()), "{at}");
                assert_eq!(got.position(), want.first().copied(), "{at}");
                let mut out = vec![0xA5; (3 + x.len()).div_ceil(8) + 1];
                let mut bits = out.clone();
                (3..3 + x.len()).for_each(|bit| bits[bit / 8] &= !(1 << (bit % 8)));
                want.iter().for_each(|i| bits[(3 + i) / 8] |= 1 << ((3 + i) % 8));
                got.bits(&mut out, 3).unwrap();
                assert!(out == bits, "bits {at}");
            }
        }
    }
    let tests = if reduced() { 5 } else { 60 };
    QuickCheck::new().tests(tests).quickcheck(agrees as fn(Mixed, Vec<bool>, u8));
}

#[test]
fn thresholds_that_are_refused() {
    let x = [1.0f32, -2.0];
    let view = TensorView::from(&x);
    for threshold in [-1.0, -1e-300, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = Error::Threshold { bits: threshold.to_bits(), format: Format::F32 };
        assert_eq!(view.exceeds(threshold).err(), Some(error));
    }
    assert_eq!(view.exceeds(-0.0).map(|question| question.count()), Ok(2));
    let scales = TensorView::from_bytes(&[0, 127, 254], Format::F8E8M0Fnu).unwrap();
    assert!(matches!(scales.exceeds(1.0), Err(Error::Threshold { .. })));
    let short = view.exceeds(1.0).unwrap();
    let length = Error::OutputLength { elements: 2, output: 1 };
    assert_eq!(short.mask(&mut [false][..]), Err(length));
    let bits = Error::OutputBits { elements: 2, offset: 7, bytes: 1 };
    assert_eq!(short.bits(&mut [0], 7), Err(bits));
}

/// What no number is.
#[test]
fn nothing() {
    let none = TensorView::from_bytes(&[], Format::F16).unwrap().stats();
    assert_eq!(none, Stats::default());
    let nan = nonfinite::stats(&[f64::NAN, f64::INFINITY]);
    assert_eq!((nan.min, nan.max, nan.max_abs, nan.finite()), (None, None, None, 0));
}
