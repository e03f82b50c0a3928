//! Statistics and the bound on magnitudes, against the oracle: plain arithmetic of f64, number by
//! number.

use std::sync::Arc;

use nonfinite::Format;
use nonfinite_check::{Error, Extreme, FileFormat, Options, TensorReport, check_bytes};
use nonfinite_oracle::{Summary, edges, summary, value};

use crate::pieces::Random;
use crate::places::wide;
use crate::report_with;
use crate::write::{Entry, gguf, npy, safetensors};
use crate::zip::{deflated, zip};

const DTYPES: [(&str, Format); 9] = [
    ("F16", Format::F16),
    ("BF16", Format::Bf16),
    ("F32", Format::F32),
    ("F64", Format::F64),
    ("F8_E4M3", Format::F8E4M3Fn),
    ("F8_E5M2", Format::F8E5M2),
    ("F8_E8M0", Format::F8E8M0Fnu),
    ("F8_E4M3FNUZ", Format::F8E4M3FnUz),
    ("F8_E5M2FNUZ", Format::F8E5M2FnUz),
];

/// Bits of many magnitudes, with zeros, subnormals, NaN and infinities among them.
fn mixed(format: Format, count: usize, random: &mut Random) -> Vec<u64> {
    let edges = edges(format);
    let used = u64::MAX >> (64 - 8 * format.size_in_bytes());
    let bits = |random: &mut Random| match random.below(4) {
        0 => edges[random.below(edges.len())],
        1 => 0,
        _ => (random.below(1 << 32) as u64) << 32 | random.below(1 << 32) as u64,
    };
    (0..count).map(|_| bits(random) & used).collect()
}

fn bytes(bits: &[u64], format: Format, big_endian: bool) -> Vec<u8> {
    let size = format.size_in_bytes();
    let bytes = |bits: &u64| match big_endian {
        true => bits.to_be_bytes()[8 - size..].to_vec(),
        false => bits.to_le_bytes()[..size].to_vec(),
    };
    bits.iter().flat_map(bytes).collect()
}

/// How many numbers are finite and have a larger magnitude.
fn above(bits: &[u64], format: Format, bound: f64) -> u64 {
    let values = bits.iter().map(|&bits| value(format, bits));
    values.filter(|value| value.is_finite() && value.abs() > bound).count() as u64
}

/// The report has the numbers of the summary. `coordinate` is that of an index.
#[track_caller]
fn assert_stats(
    tensor: &TensorReport,
    expected: &Summary,
    coordinate: &dyn Fn(usize) -> Vec<usize>,
    context: &str,
) {
    let stats = tensor.stats.as_ref().unwrap_or_else(|| panic!("{context}: no statistics"));
    let found = |x: &Option<Extreme>| x.as_ref().map(|x| (x.value.to_bits(), x.coordinate.clone()));
    let [min, max, max_abs] = [expected.min, expected.max, expected.max_abs]
        .map(|x| x.map(|(_, value, index)| (value.to_bits(), wide(&coordinate(index)))));
    assert_eq!(found(&stats.min), min, "{context}: min");
    assert_eq!(found(&stats.max), max, "{context}: max");
    assert_eq!(found(&stats.max_abs), max_abs, "{context}: max_abs");
    let counts = [stats.zeros, stats.subnormals, stats.normals].map(|count| count as usize);
    assert_eq!(counts, expected.counts, "{context}: counts");
    let classes = tensor.found.as_ref().into_array().map(|of_kind| of_kind.count as usize);
    assert_eq!(classes, expected.classes.map(|(count, _)| count), "{context}: census");
}

/// Every dtype, also with the bound on magnitudes, and as a stream.
#[test]
fn every_dtype() {
    let mut random = Random(0x51A7_15F1_C5A1_1CE5);
    for (dtype, format) in DTYPES {
        for rows in [0, 1, 3, 700, 20_000] {
            let bits = mixed(format, rows * 7, &mut random);
            let data = bytes(&bits, format, false);
            let entry = Entry { name: "x", kind: dtype, shape: &[rows, 7], data: &data };
            let file = safetensors(&[entry]);
            let expected = summary(format, bits.iter().copied().enumerate());
            let context = format!("{dtype} {rows}");
            let coordinate = |index: usize| vec![index / 7, index % 7];
            for bound in [None, Some(0.0), Some(1.0), Some(448.0), Some(1e30), Some(f64::MAX)] {
                let options = Options { stats: true, max_abs: bound, ..Options::default() };
                let report = report_with(&file, FileFormat::SAFETENSORS, &options);
                assert_stats(&report.tensors[0], &expected, &coordinate, &context);
                let large = bound.map_or(0, |bound| above(&bits, format, bound));
                let found = report.tensors[0].large.as_ref();
                assert_eq!(found.map_or(0, |found| found.count), large, "{context} {bound:?}");
                if let Some(found) = found {
                    assert_eq!(
                        Some(&found.largest),
                        report.tensors[0].stats.as_ref().unwrap().max_abs.as_ref()
                    );
                    assert_eq!((Some(found.bound), found.is_allowed), (bound, false));
                }
                // Without statistics, the bound finds the same.
                let options = Options { stats: false, ..options };
                let mut plain = report_with(&file, FileFormat::SAFETENSORS, &options);
                assert_eq!(plain.tensors[0].stats, None);
                Arc::make_mut(&mut plain.tensors[0]).stats = report.tensors[0].stats.clone();
                assert_eq!(plain, report, "{context} {bound:?}");
            }
        }
    }
}

/// Big-endian numbers, Fortran order, several pieces, and members of archives.
#[test]
fn every_order() {
    let mut random = Random(0x0DDB_A115_0DDB_A115);
    let options = Options { stats: true, max_abs: Some(2.0), ..Options::default() };
    for (descr, format) in [("f2", Format::F16), ("f4", Format::F32), ("f8", Format::F64)] {
        for (big, fortran) in [(false, false), (false, true), (true, false), (true, true)] {
            let bits = mixed(format, 1000 * 700, &mut random);
            let data = bytes(&bits, format, big);
            let descr = format!("{}{descr}", if big { '>' } else { '<' });
            let array = npy(&descr, &[1000, 700], fortran, &data);
            let coordinate = |index: usize| match fortran {
                true => vec![index % 1000, index / 1000],
                false => vec![index / 700, index % 700],
            };
            let expected = summary(format, bits.iter().copied().enumerate());
            let files = [
                (FileFormat::NPY, array.clone()),
                (FileFormat::NPZ, zip(&[("x.npy", &array)])),
                (FileFormat::NPZ, deflated(&[("x.npy", &array)])),
            ];
            for (file_format, file) in files {
                let report = report_with(&file, file_format, &options);
                let context = format!("{descr} {fortran} {}", file_format.name());
                assert_stats(&report.tensors[0], &expected, &coordinate, &context);
                let large = report.tensors[0].large.as_ref().map_or(0, |large| large.count);
                assert_eq!(large, above(&bits, format, 2.0), "{context}");
            }
        }
    }
}

/// Both parts of complex numbers count, and scales of blocks.
#[test]
fn parts_of_elements() {
    let mut random = Random(0xC0FF_EE00_C0FF_EE00);
    let options = Options { stats: true, ..Options::default() };
    let bits = mixed(Format::F32, 2 * 300, &mut random);
    let data = bytes(&bits, Format::F32, false);
    let entry = Entry { name: "c", kind: "C64", shape: &[30, 10], data: &data };
    let report = report_with(&safetensors(&[entry]), FileFormat::SAFETENSORS, &options);
    let expected = summary(Format::F32, bits.iter().copied().enumerate());
    let coordinate = |index: usize| vec![index / 2 / 10, index / 2 % 10];
    assert_stats(&report.tensors[0], &expected, &coordinate, "C64");
    let (_, _, index) = expected.max_abs.unwrap();
    let part = report.tensors[0].stats.as_ref().unwrap().max_abs.as_ref().unwrap().part;
    assert_eq!(part, Some(["real", "imaginary"][index % 2]));

    // Q4_0: a scale of f16, then 16 bytes of integers.
    for big in [false, true] {
        let bits = mixed(Format::F16, 7 * 100, &mut random);
        let blocks: Vec<u8> = bits
            .iter()
            .flat_map(|&scale| [bytes(&[scale], Format::F16, big), vec![0xFF; 16]].concat())
            .collect();
        let scales = Entry { name: "q", kind: 2, shape: &[7, 3200], data: &blocks };
        let report = report_with(&gguf(&[scales], big, &[]), FileFormat::GGUF, &options);
        let expected = summary(Format::F16, bits.iter().copied().enumerate());
        let coordinate = |index: usize| vec![index / 100, index % 100 * 32];
        assert_stats(&report.tensors[0], &expected, &coordinate, "Q4_0");
    }
}

/// A bound makes a tensor bad, unless its name is allowed; NaN and infinities are another matter.
#[test]
fn what_a_bound_makes_bad() {
    let of = |numbers: [f32; 3], allow: &[&str], max_abs| {
        let data = numbers.map(f32::to_le_bytes).concat();
        let file = safetensors(&[Entry { name: "w", kind: "F32", shape: &[3], data: &data }]);
        let allow = allow.iter().map(|allow| allow.parse().unwrap()).collect();
        let options = Options { allow, max_abs, ..Options::default() };
        report_with(&file, FileFormat::SAFETENSORS, &options).tensors.remove(0)
    };
    let large = [65504.0, -65505.0, 1.0];
    let bound = Some(65504.0);
    let tensor = of(large, &[], bound);
    let found = tensor.large.as_ref().unwrap();
    assert!(tensor.is_bad() && tensor.bad.is_empty() && tensor.first().is_none());
    assert_eq!(
        (found.count, found.largest.value, &found.largest.coordinate[..]),
        (1, 65505.0, &[1][..])
    );
    assert!(!of(large, &[], None).is_bad() && !of(large, &[], Some(65505.0)).is_bad());
    for allow in ["*:large", "w:nan,LARGE", "w:all"] {
        let tensor = of(large, &[allow], bound);
        assert!(
            !tensor.is_bad() && tensor.large.as_ref().is_some_and(|large| large.is_allowed),
            "{allow}"
        );
    }
    assert!(of(large, &["w:nan,inf", "v:large"], bound).is_bad());
    // Infinities are no large numbers, whether they are bad or not.
    let infinite = [f32::INFINITY, f32::NAN, 1.0];
    assert!(of(infinite, &[], bound).is_bad() && of(infinite, &[], bound).large.is_none());
    assert!(
        of(infinite, &["w:large"], bound).is_bad() && !of(infinite, &["w:all"], bound).is_bad()
    );
    assert!(of([f32::INFINITY, 7e4, 1.0], &["w:inf"], bound).is_bad());
    // 0 is a bound, and so is the largest number.
    assert!(!of([0.0, -0.0, 0.0], &[], Some(0.0)).is_bad());
    assert_eq!(of([0.0, 1e-45, -1.0], &[], Some(0.0)).large.as_ref().unwrap().count, 2);
}

/// Formats without NaN are not looked at, so they must not count as clean below a low bound.
#[test]
fn formats_without_nan_are_not_below_a_low_bound() {
    let file = safetensors(&[Entry { name: "w", kind: "F4", shape: &[2], data: &[0x77] }]);
    for (max_abs, complete) in [(None, true), (Some(28.0), true), (Some(5.0), false)] {
        let options = Options { max_abs, ..Options::default() };
        let report = report_with(&file, FileFormat::SAFETENSORS, &options);
        assert_eq!(report.is_complete(), complete, "{max_abs:?}");
    }
}

#[test]
fn bounds_that_are_none() {
    let file = safetensors(&[Entry { name: "w", kind: "F32", shape: &[1], data: &[0; 4] }]);
    for bound in [-1.0, f64::INFINITY, f64::NAN, -5e-324] {
        let options = Options { max_abs: Some(bound), ..Options::default() };
        let whole = check_bytes(&file, FileFormat::SAFETENSORS, &options);
        assert!(matches!(whole, Err(Error::MaxAbs(_))), "{bound}: {whole:?}");
    }
}

/// Zeros of either sign, and nothing else.
#[test]
fn all_zeros() {
    let of = |numbers: &[f32]| {
        let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let shape = &[numbers.len()];
        let file = safetensors(&[Entry { name: "w", kind: "F32", shape, data: &data }]);
        let options = Options { stats: true, ..Options::default() };
        report_with(&file, FileFormat::SAFETENSORS, &options).tensors.remove(0)
    };
    assert!(of(&[0.0, -0.0]).is_all_zeros() && of(&[-0.0]).is_all_zeros());
    for others in [&[][..], &[0.0, 1e-45], &[0.0, f32::NAN], &[0.0, f32::INFINITY], &[1.0]] {
        assert!(!of(others).is_all_zeros(), "{others:?}");
    }
    // Sums of the counts saturate.
    let mut huge = of(&[0.0]);
    let stats = Arc::make_mut(Arc::make_mut(&mut huge).stats.as_mut().unwrap());
    (stats.subnormals, stats.normals) = (u64::MAX, 1);
    assert!(!huge.is_all_zeros());
}
