//! The comparison of two sides, and sums over tensors.

use std::path::PathBuf;

use nonfinite_check::diff::{Ambiguous, diff};
use nonfinite_check::{FileFormat, Options, Report, Stats, Totals};

use crate::write::{Entry, npy, safetensors};
use crate::{report, report_with};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A report on vectors of F32.
fn vectors(tensors: &[(&str, &[f32])]) -> Report {
    let data: Vec<_> = tensors.iter().map(|(_, numbers)| bytes(numbers)).collect();
    let shapes: Vec<_> = tensors.iter().map(|(_, numbers)| [numbers.len()]).collect();
    let entries: Vec<_> = tensors
        .iter()
        .zip(&data)
        .zip(&shapes)
        .map(|(((name, _), data), shape)| Entry { name, kind: "F32", shape, data })
        .collect();
    report(&safetensors(&entries), FileFormat::SAFETENSORS)
}

fn side(files: &[(&str, Report)]) -> Vec<(PathBuf, Report)> {
    files.iter().map(|(path, report)| (path.into(), report.clone())).collect()
}

/// Whether a NaN is new, and whether the result is complete.
#[track_caller]
fn compare(a: Report, b: Report) -> (bool, bool) {
    let (a, b) = (side(&[("", a)]), side(&[("", b)]));
    let pairs = diff(&a, &b).expect("each name occurs once");
    assert_eq!(pairs.len(), 1);
    assert!(!pairs[0].new.pos_inf && !pairs[0].new.neg_inf);
    (pairs[0].new.nan, pairs[0].exact)
}

#[test]
fn counts_and_first_places() {
    type Vector = &'static [f32];
    let cases: [(Vector, Vector, (bool, bool)); 9] = [
        (&[NAN, 0.0], &[NAN, 0.0], (false, true)),
        (&[NAN, 0.0], &[0.0, 0.0], (false, true)),
        (&[0.0, 0.0], &[0.0, NAN], (true, true)),
        (&[NAN, 0.0], &[0.0, NAN], (true, true)),
        (&[0.0, NAN, NAN], &[NAN, 0.0, 0.0], (true, true)),
        (&[0.0, NAN, NAN], &[0.0, 0.0, NAN], (false, false)),
        (&[NAN, NAN, 0.0], &[NAN, 0.0, NAN], (false, false)),
        (&[NAN, 0.0], &[0.0, NAN, 0.0], (false, false)),
        (&[NAN, INF], &[NAN, INF], (false, true)),
    ];
    for (a, b, expected) in cases {
        let found = compare(vectors(&[("x", a)]), vectors(&[("x", b)]));
        assert_eq!(found, expected, "{a:?} {b:?}");
    }
}

/// Places in column-major and row-major files are not compared.
#[test]
fn orders() {
    let array = |fortran, place| {
        let numbers: Vec<_> = (0..6).map(|i| if i == place { NAN } else { 0.0 }).collect();
        report(&npy("<f4", &[2, 3], fortran, &bytes(&numbers)), FileFormat::NPY)
    };
    assert_eq!(compare(array(false, 2), array(false, 3)), (true, true));
    // [0, 2] and [1, 0] in either order.
    assert_eq!(compare(array(false, 2), array(true, 1)), (false, false));
    assert_eq!(compare(array(true, 1), array(true, 4)), (false, false));
}

/// Names that occur several times are compared within files of the same path.
#[test]
fn repeated_names() {
    let bad = || vectors(&[("x", &[NAN])]);
    let good = || vectors(&[("x", &[0.0])]);
    let a = side(&[("1", bad()), ("2", good())]);
    let b = side(&[("2", bad())]);
    let pairs = diff(&a, &b).expect("paths tell which ones to compare");
    assert_eq!(pairs.len(), 2);
    assert!(pairs[0].a.is_some() && pairs[0].new.nan, "good to bad in the second file");
    assert!(pairs[1].b.is_none() && pairs[1].file.as_os_str() == "1");
    let c = side(&[("3", bad())]);
    let ambiguous = Ambiguous { name: "x".to_owned(), counts: [2, 1] };
    let text = "tensor \"x\" occurs 2 times and 1 times: which ones to compare?";
    assert_eq!(ambiguous.to_string(), text);
    assert_eq!(diff(&a, &c), Err(ambiguous));
    // A name that occurs once on each side, in files of different paths.
    let moved = [side(&[("1", good())]), c];
    let pairs = diff(&moved[0], &moved[1]).expect("each name occurs once");
    assert!(pairs.len() == 1 && pairs[0].a.is_some() && pairs[0].new.nan);
}

#[test]
fn sums() {
    let f32s = vectors(&[("x", &[NAN, 0.0]), ("y", &[0.0])]);
    let entry = |name, kind, data| Entry { name, kind, shape: &[3], data };
    let others = [entry("z", "U8", &[0; 3]), entry("u", "I8", &[0; 3])];
    let others = report(&safetensors(&others), FileFormat::SAFETENSORS);
    let totals = Totals::of([&f32s, &others]);
    assert_eq!([totals.tensors, totals.elements, totals.bytes, totals.bad], [2, 3, 12, 1]);
    assert_eq!((totals.found.nan, totals.found.pos_inf, totals.not_float), (1, 0, 2));
    assert_eq!(totals.stats, None);
    let by_dtype = Totals::by_dtype([&f32s, &others]);
    assert_eq!(by_dtype.keys().copied().collect::<Vec<_>>(), ["F32", "I8", "U8"]);
    assert_eq!((by_dtype["F32"].tensors, by_dtype["U8"].not_float), (2, 1));
}

/// Tensors of each kind, and whether the sums are those of nothing.
#[test]
fn sums_without_numbers() {
    let mut totals = Totals::default();
    assert!(totals.is_empty());
    let unreadable = report(&npy("|V1", &[1], false, &[0]), FileFormat::NPY);
    for count in 1..=2 {
        totals.add(&unreadable.tensors[0]);
        assert!(totals.is_empty() && totals.unreadable == count);
    }
    let one = |kind, size| {
        let entry = Entry { name: "x", kind, shape: &[2], data: &vec![0; size] };
        Totals::of([&report(&safetensors(&[entry]), FileFormat::SAFETENSORS)])
    };
    let (float, int, finite) = (one("F32", 8), one("U8", 2), one("F4", 1));
    assert_eq!((float.tensors, int.not_float, finite.always_finite), (1, 1, 1));
    assert!(!float.is_empty() && !int.is_empty() && !finite.is_empty());
    let entry = |name| Entry { name, kind: "F4", shape: &[2], data: &[0] };
    let two = report(&safetensors(&[entry("x"), entry("y")]), FileFormat::SAFETENSORS);
    assert_eq!(Totals::of([&two]).always_finite, 2);
}

#[test]
fn sums_of_statistics() {
    let options = Options { stats: true, ..Options::default() };
    let of = |numbers: &[f32]| {
        let array = npy("<f4", &[numbers.len()], false, &bytes(numbers));
        report_with(&array, FileFormat::NPY, &options)
    };
    let tiny = f32::from_bits(1);
    let reports =
        [of(&[0.0, 0.0]), of(&[NAN]), of(&[1.0, -4.0, tiny]), of(&[0.0]), of(&[3.0, 2.0])];
    let stats = Totals::of(&reports).stats.expect("asked for");
    let Stats { min, max, max_abs, zeros, subnormals, normals } = stats.finite;
    assert_eq!((min, max, max_abs), (Some(-4.0), Some(3.0), Some(4.0)));
    assert_eq!((zeros, subnormals, normals, stats.all_zeros), (3, 1, 4, 2));
}

/// Counts that differ, and kinds that are new, are changes.
#[test]
fn changes() {
    let changed = |a: &[f32], b: &[f32]| {
        let (a, b) = (side(&[("", vectors(&[("x", a)]))]), side(&[("", vectors(&[("x", b)]))]));
        diff(&a, &b).expect("each name occurs once")[0].is_changed()
    };
    assert!(!changed(&[0.0], &[1.0]) && !changed(&[NAN, INF], &[NAN, INF]));
    assert!(changed(&[NAN], &[0.0]) && changed(&[0.0], &[INF]));
    // The count stays, and the place is new.
    assert!(changed(&[NAN, 0.0], &[0.0, NAN]));
}

#[test]
fn names_of_pairs() {
    let array = |number| report(&npy("<f4", &[1], false, &bytes(&[number])), FileFormat::NPY);
    let of = |a: Report, b: Report| {
        let (a, b) = (side(&[("1", a)]), side(&[("1", b)]));
        let pairs = diff(&a, &b).expect("one tensor on each side");
        pairs.iter().map(|pair| pair.name().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(of(vectors(&[("x", &[0.0])]), vectors(&[("x", &[NAN])])), [Some("x".to_owned())]);
    assert_eq!(of(array(0.0), array(NAN)), [None]);
}

/// The document lists pairs with something bad, with another shape, or with statistics.
#[test]
fn listed_pairs() {
    let clean: (&str, &[f32]) = ("clean", &[1.0]);
    let a = vectors(&[clean, ("shape", &[1.0]), ("gone", &[1.0]), ("bad", &[NAN])]);
    let b = vectors(&[clean, ("shape", &[1.0, 1.0]), ("bad", &[1.0])]);
    let measured = |numbers: &[f32]| {
        let options = Options { stats: true, ..Options::default() };
        let array = npy("<f4", &[numbers.len()], false, &bytes(numbers));
        report_with(&array, FileFormat::NPY, &options)
    };
    for (a, b, compared, names) in [
        (a, b, 3, &["shape", "bad", "gone"][..]),
        (measured(&[1.0]), measured(&[1.0]), 1, &["none"]),
    ] {
        let (a, b) = (side(&[("x", a)]), side(&[("x", b)]));
        let pairs = diff(&a, &b).expect("each name occurs once");
        let document = nonfinite_check::json::comparison(&pairs, true);
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        assert_eq!(document["compared"], compared);
        let tensors = document["tensors"].as_array().unwrap().iter();
        let found: Vec<_> =
            tensors.map(|tensor| tensor["name"].as_str().unwrap_or("none")).collect();
        assert_eq!(found, names);
    }
}
