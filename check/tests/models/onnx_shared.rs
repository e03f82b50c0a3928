//! Files of external data that several ONNX models share, or that hold integers only.

use std::fs;

use nonfinite_check::{Options, Reason, Report, SharedFiles, check_file};

use crate::folder::folder;
use crate::onnx::{bytes, model, number, tensor};

/// A model with one tensor of this type, whose data is elsewhere.
fn external(code: u64, elements: usize, offset: usize) -> Vec<u8> {
    let entry = |key: &str, value: &str| {
        bytes(13, &[bytes(1, key.as_bytes()), bytes(2, value.as_bytes())].concat())
    };
    let place = [entry("location", "data"), entry("offset", &offset.to_string()), number(14, 1)];
    model(&[bytes(5, &tensor("w", code, &[elements], &place))])
}

fn named(report: &Report) -> Vec<&str> {
    report.not_looked_at().filter_map(|(tensor, _)| tensor.name.as_deref()).collect()
}

/// Each model alone leaves a part of the file. Only a part that no model refers to is left then.
#[test]
fn models_of_one_file() {
    let folder = folder("onnx-shared");
    let ones = 1f32.to_le_bytes();
    fs::write(folder.join("data"), ones.repeat(10)).unwrap();
    for (name, offset, elements) in [("encoder", 0, 4), ("decoder", 12, 4), ("all", 0, 10)] {
        fs::write(folder.join(name), external(1, elements, offset)).unwrap();
    }
    let check = |name: &str| check_file(&folder.join(name), &Options::default()).unwrap();
    let together = |names: &[&str]| -> Vec<Report> {
        let mut reports: Vec<_> = names.iter().map(|name| check(name)).collect();
        let mut shared = SharedFiles::default();
        reports.iter().for_each(|report| shared.add(report));
        reports.iter_mut().for_each(|report| shared.apply(report));
        reports
    };
    assert_eq!(named(&check("encoder")), ["bytes 16 to 40"]);
    assert_eq!(named(&check("decoder")), ["bytes 0 to 12", "bytes 28 to 40"]);
    for reports in [together(&["encoder", "decoder"]), together(&["decoder", "encoder"])] {
        for report in reports {
            assert_eq!(named(&report), ["bytes 28 to 40"]);
            let (rest, why) = report.not_looked_at().next().unwrap();
            let Reason::Unreferenced { bytes, .. } = why else { panic!("{why:?}") };
            assert_eq!(*bytes, 28..40);
            assert_eq!((rest.bytes, rest.elements, &rest.shape[..]), (12, 12, &[12][..]));
            assert_eq!(report.tensors.len(), 2);
        }
    }
    assert!(together(&["encoder", "all", "decoder"]).iter().all(Report::is_complete));
    assert!(SharedFiles::concerns(&check("encoder")) && !SharedFiles::concerns(&check("all")));
    assert_eq!(together(&["encoder"]), [check("encoder")]);
}

/// A pattern for the names of tensors does not change the bytes that no tensor refers to.
#[test]
fn patterns_for_names() {
    let folder = folder("onnx-shared-names");
    fs::write(folder.join("data"), 1f32.to_le_bytes().repeat(10)).unwrap();
    for (name, offset) in [("encoder", 0), ("decoder", 12)] {
        fs::write(folder.join(name), external(1, 4, offset)).unwrap();
    }
    for pattern in ["*=f32", "*=f8e4m3fn", "bytes*=f8e4m3fn"] {
        let options = Options { taken_as: vec![pattern.parse().unwrap()], ..Options::default() };
        let mut shared = SharedFiles::default();
        let mut reports =
            ["encoder", "decoder"].map(|name| check_file(&folder.join(name), &options).unwrap());
        reports.iter().for_each(|report| shared.add(report));
        reports.iter_mut().for_each(|report| shared.apply(report));
        for report in reports {
            assert_eq!(named(&report), ["bytes 28 to 40"], "{pattern}");
        }
    }
}

/// Many files with many unused ranges each. A model leaves every second tensor of each file, and
/// another model refers to half of these.
#[test]
fn many_files_with_many_gaps() {
    const FILES: usize = 20;
    const TENSORS: usize = 100;
    let folder = folder("onnx-shared-many");
    let ones = 1f32.to_le_bytes().repeat(TENSORS);
    let entry = |key: &str, value: &str| {
        bytes(13, &[bytes(1, key.as_bytes()), bytes(2, value.as_bytes())].concat())
    };
    for file in 0..FILES {
        fs::write(folder.join(format!("data{file}")), &ones).unwrap();
    }
    let places = |taken: fn(usize) -> bool| {
        (0..FILES).flat_map(move |file| {
            (0..TENSORS).filter(move |&at| taken(at)).map(move |at| (file, at))
        })
    };
    let mut reports: Vec<_> = [|at| at % 2 == 0, |at| at % 4 == 1]
        .into_iter()
        .enumerate()
        .map(|(index, taken)| {
            let tensors: Vec<_> = places(taken)
                .map(|(file, at)| {
                    let offset = entry("offset", &(4 * at).to_string());
                    let place = [entry("location", &format!("data{file}")), offset, number(14, 1)];
                    bytes(5, &tensor(&format!("w{file}.{at}"), 1, &[1], &place))
                })
                .collect();
            let path = folder.join(format!("model{index}"));
            fs::write(&path, model(&tensors)).unwrap();
            check_file(&path, &Options::default()).unwrap()
        })
        .collect();
    assert_eq!(named(&reports[0]).len(), FILES * TENSORS / 2);
    let mut shared = SharedFiles::default();
    reports.iter().for_each(|report| shared.add(report));
    reports.iter_mut().for_each(|report| shared.apply(report));
    let left: Vec<_> = (0..TENSORS)
        .filter(|at| at % 4 == 3)
        .map(|at| format!("bytes {} to {}", 4 * at, 4 * at + 4))
        .collect();
    for report in reports {
        let named = named(&report);
        assert_eq!(named.len(), FILES * left.len());
        assert!(named.chunks(left.len()).all(|of_file| of_file == left));
    }
}

/// A file of integers only belongs to its model, too. The check does not need the file.
#[test]
fn files_of_integers() {
    let folder = folder("onnx-integers");
    let path = folder.join("model.onnx");
    for code in [7, 22, 23] {
        fs::write(&path, external(code, 2, 0)).unwrap();
        let _ = fs::remove_file(folder.join("data"));
        let report = check_file(&path, &Options::default()).unwrap();
        assert!(report.is_complete() && report.other_files.is_empty(), "{code}");
        let length = if code == 7 { 16 } else { 1 };
        fs::write(folder.join("data"), vec![0xFF; length]).unwrap();
        let report = check_file(&path, &Options::default()).unwrap();
        assert_eq!(report.other_files, [folder.join("data")], "{code}");
        assert!(report.is_complete() && report.tensors.len() == 1, "{code}: {report:?}");
    }
}

/// Zeros between the parts of two models hold no number.
#[test]
fn padding_between_models() {
    let folder = folder("onnx-padding");
    let ones = 1f32.to_le_bytes();
    let mut data = ones.repeat(24);
    data[16..64].fill(0);
    let of = |data: &[u8]| -> Vec<Vec<String>> {
        fs::write(folder.join("data"), data).unwrap();
        let mut shared = SharedFiles::default();
        let mut reports = Vec::new();
        for (name, offset, elements) in [("encoder", 0, 4), ("decoder", 64, 8)] {
            let path = folder.join(name);
            fs::write(&path, external(1, elements, offset)).unwrap();
            reports.push(check_file(&path, &Options::default()).unwrap());
        }
        assert!(reports.iter().all(|report| !report.is_complete()));
        reports.iter().for_each(|report| shared.add(report));
        reports.iter_mut().for_each(|report| shared.apply(report));
        reports
            .iter()
            .map(|report| named(report).into_iter().map(str::to_owned).collect())
            .collect()
    };
    assert_eq!(of(&data), [[""; 0]; 2]);
    data[20..24].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(of(&data), [["bytes 16 to 64"]; 2]);
}

/// Integers refer to the bytes of their shape, whatever length the model gives. Elements of types
/// without a known size refer to none.
#[test]
fn integers_hide_no_bytes() {
    const INT64: u64 = 7;
    const STRING: u64 = 8;
    let folder = folder("onnx-hidden");
    let path = folder.join("model.onnx");
    let mut data = vec![0; 40];
    data[32..36].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(folder.join("data"), data).unwrap();
    let entry = |key: &str, value: &str| {
        bytes(13, &[bytes(1, key.as_bytes()), bytes(2, value.as_bytes())].concat())
    };
    for (code, from) in [(INT64, 8), (STRING, 0)] {
        for length in [None, Some("40")] {
            let length = length.map_or(Vec::new(), |length| entry("length", length));
            let place = [entry("location", "data"), length, number(14, 1)];
            let file = model(&[bytes(5, &tensor("i", code, &[1], &place))]);
            fs::write(&path, file).unwrap();
            let report = check_file(&path, &Options::default()).unwrap();
            assert_eq!(named(&report), [format!("bytes {from} to 40")], "{code}");
        }
    }
}

/// Data files are told apart by their paths with links resolved, not by their names.
#[cfg(unix)]
#[test]
fn files_of_one_name() {
    let folder = folder("onnx-shared-names-of-files");
    for (name, offset) in [("a", 0), ("b", 24)] {
        fs::create_dir(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("data"), 1f32.to_le_bytes().repeat(10)).unwrap();
        fs::write(folder.join(name).join("model"), external(1, 4, offset)).unwrap();
    }
    std::os::unix::fs::symlink("b", folder.join("c")).unwrap();
    fs::write(folder.join("b/other"), external(1, 6, 0)).unwrap();
    let check = |name: &str| check_file(&folder.join(name), &Options::default()).unwrap();
    let mut shared = SharedFiles::default();
    let mut reports = ["a/model", "b/model", "c/other"].map(check);
    reports.iter().for_each(|report| shared.add(report));
    reports.iter_mut().for_each(|report| shared.apply(report));
    // No model refers to the rest of the first file. The other two models share theirs.
    assert_eq!(reports.map(|report| named(&report).len()), [1, 0, 0]);
}
