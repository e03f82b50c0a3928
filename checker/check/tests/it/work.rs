//! Plans, pieces and tallies. Every good file of the other tests is checked in pieces and by
//! another process as well, by `assert_same_in_pieces`.

use std::fs::{self, File};
use std::num::NonZeroUsize;

use nonfinite_check::lint::Linter;
use nonfinite_check::work::{self, Plan, PlannedPiece, check_pieces, so_far};
use nonfinite_check::{Error, Options, check_file};
use tempfile::TempDir;

use crate::pieces::{Random, assert_same_elsewhere, merge, tallies};
use crate::write::{Entry, gguf, npy, safetensors, safetensors_text};
use crate::zip::{zip, zip_with};

/// A folder with a file in it, and the path of the file.
fn file(name: &str, bytes: &[u8]) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

/// The plan of a file, in pieces of at most this length.
fn plan(path: &str, most: usize, options: &Options) -> Plan {
    Linter::new(options.clone()).plan(path, NonZeroUsize::new(most).unwrap()).unwrap()
}

/// Random bits: NaNs and infinities of all dtypes are among them.
pub(crate) fn noise(length: usize, random: &mut Random) -> Vec<u8> {
    (0..length).map(|_| if random.below(3) == 0 { 0xFF } else { random.below(256) as u8 }).collect()
}

/// Tensors of several dtypes. Some of them are not looked at.
fn mixed(random: &mut Random) -> Vec<u8> {
    let kinds = [("F32", 4), ("U8", 1), ("BF16", 2), ("C64", 8), ("F8_E4M3", 1), ("F64", 8)];
    let tensors: Vec<_> = (0..1 + random.below(12))
        .map(|index| {
            let (kind, size) = kinds[random.below(kinds.len())];
            let elements = random.below(3000);
            (format!("t{index}"), kind, [elements], noise(elements * size, random))
        })
        .collect();
    let entry = |(name, kind, shape, data)| Entry { name, kind, shape, data };
    let entries: Vec<_> = tensors
        .iter()
        .map(|(name, kind, shape, data)| entry((&**name, *kind, &shape[..], &data[..])))
        .collect();
    safetensors(&entries)
}

#[test]
fn pieces_at_random_give_the_report_of_one_process() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for round in 0..150 {
        let blocks = noise(18 * 700, &mut random);
        let scales = Entry { name: "q", kind: 2, shape: &[7, 3200], data: &blocks };
        let floats = noise(8 * 900, &mut random);
        let array = npy(">c8", &[30, 30], true, &floats[..7200]);
        let (name, bytes) = match round % 4 {
            0 => ("x.gguf", gguf(&[scales], round % 8 == 0, &[])),
            1 => ("x.npy", array),
            2 => ("x.npz", zip_with(&[("x.npy", &array, true), ("y.npy", &array, false)])),
            _ => ("x.safetensors", mixed(&mut random)),
        };
        let (_folder, path) = file(name, &bytes);
        let max_abs = [None, Some(0.0), Some(1e3)][random.below(3)];
        let options = Options { max_abs, ..Options::default() };
        assert_same_elsewhere(path.as_ref(), &options, &mut random);
    }
}

#[test]
fn every_piece_is_there_once() {
    let (_folder, path) = file("x.npy", &npy("<f4", &[100], false, &[0; 400]));
    let options = Options::default();
    let mut plan = plan(&path, 40, &options);
    let pieces = plan.take_pieces();
    assert_eq!(pieces.len(), 10);
    let found = pieces.chunks(1).map(|piece| check_pieces(piece, &options).unwrap());
    let found: Vec<_> = found.collect();
    merge(&plan, found.clone(), &options).unwrap();
    for index in 0..10 {
        let mut less = found.clone();
        less.remove(index);
        let more = found.iter().chain([&found[index]]).cloned().collect();
        for wrong in [less, more] {
            let merged = merge(&plan, wrong, &options);
            assert!(matches!(merged, Err(work::Error::NotOnce)), "{merged:?}");
        }
    }
    let twice = check_pieces(&[pieces[3].clone(), pieces[3].clone()], &options);
    assert!(matches!(twice, Err(work::Error::NotOnce)), "{twice:?}");
}

/// What some pieces have found is known before the others are checked.
#[test]
fn found_so_far() {
    let mut numbers = [0f32; 100];
    (numbers[35], numbers[99]) = (f32::NAN, f32::INFINITY);
    let bytes = numbers.map(f32::to_le_bytes).concat();
    let (_folder, path) = file("x.npy", &npy("<f4", &[100], false, &bytes));
    let options = Options::default();
    let mut plan = plan(&path, 40, &options);
    let pieces = plan.take_pieces();
    for (some, nan) in [(0..3, None), (2..5, Some(1)), (3..3, None)] {
        let found = check_pieces(&pieces[some.clone()], &options).unwrap();
        assert_eq!(found.is_bad(), nan.is_some(), "{some:?}");
        let report = so_far(&plan, [found], &options).unwrap();
        let counts = report.tensors.first().map(|tensor| tensor.found.nan.count);
        assert_eq!((counts, report.tensors.len()), (nan, usize::from(nan.is_some())), "{some:?}");
    }
}

/// Two sparse files: making plans must not read their data.
#[test]
fn hundred_gigabytes_are_many_pieces() {
    const MOST: usize = 256 << 20;
    let elements = 25_000_000_000usize;
    let header = |bytes: Vec<u8>| (bytes.len(), bytes);
    let entry = format!(
        r#"{{"x":{{"dtype":"F32","shape":[{elements}],"data_offsets":[0,{}]}}}}"#,
        4 * elements
    );
    let files = [
        ("x.npy", header(npy("<f4", &[elements], false, &[]))),
        ("x.safetensors", header(safetensors_text(&entry, &[]))),
    ];
    for (name, (header, bytes)) in files {
        let (_folder, path) = file(name, &bytes);
        let all = File::options().write(true).open(&path).unwrap();
        all.set_len((header + 4 * elements) as u64).unwrap();
        let pieces = plan(&path, MOST, &Options::default()).take_pieces();
        assert_eq!(pieces.len(), (4 * elements).div_ceil(MOST));
        assert_eq!(pieces.iter().map(PlannedPiece::length).sum::<u64>(), 4 * elements as u64);
        let end = pieces.last().unwrap().range().map(|range| range.end);
        assert_eq!(end, Some((header + 4 * elements) as u64));
    }
}

/// Pieces of two shards are not read together, though one would come behind the other in a file.
#[test]
fn pieces_of_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = |number: f32| [number; 100].map(f32::to_le_bytes).concat();
    let entry = |name, kind, data, shape| Entry { name, kind, shape, data };
    let (zeros, nans, pad) = (numbers(0.0), numbers(f32::NAN), [0; 4000]);
    let a = safetensors(&[entry("a", "F32", &zeros, &[100])]);
    let b = [entry("pad", "U8", &pad[..], &[4000]), entry("b", "F32", &nans, &[100])];
    fs::write(folder.path().join("a.safetensors"), a).unwrap();
    fs::write(folder.path().join("b.safetensors"), safetensors(&b)).unwrap();
    let index = folder.path().join("model.safetensors.index.json");
    let map = r#"{"weight_map":{"a":"a.safetensors","b":"b.safetensors","pad":"b.safetensors"}}"#;
    fs::write(&index, map).unwrap();
    let options = Options { stats: true, ..Options::default() };
    let mut plan = plan(index.to_str().unwrap(), 1 << 20, &options);
    let pieces = plan.take_pieces();
    let files: Vec<_> = pieces.iter().map(PlannedPiece::file).collect();
    assert!(
        files[0].ends_with("a.safetensors") && files[1].ends_with("b.safetensors"),
        "{files:?}"
    );
    let found = check_pieces(&pieces, &options).unwrap();
    let report = merge(&plan, vec![found], &options).unwrap();
    assert_eq!(report, check_file(&index, &options).unwrap());
    assert_eq!(report.tensors.iter().map(|tensor| tensor.found.nan.count).sum::<u64>(), 100);
}

/// Checksums are cut into pieces as well, and those of the pieces add up.
#[test]
fn checksums_of_stored_members() {
    let mut random = Random(4);
    let zeros = npy("<i4", &[50_000], false, &[0; 200_000]);
    let good = zip(&[("a.npy", &zeros), ("b.npy", &zeros)]);
    let options = Options::default();
    let (_folder, path) = file("x.npz", &good);
    for _ in 0..10 {
        assert_same_elsewhere(path.as_ref(), &options, &mut random);
    }
    // Nothing else is looked at: these are integers.
    let mut all = plan(&path, 60_000, &options);
    let pieces = all.take_pieces();
    assert_eq!(pieces.len(), 8);
    let most = check_pieces(&pieces[..7], &options).unwrap();
    let merged = merge(&all, vec![most], &options);
    assert!(matches!(merged, Err(work::Error::NotOnce)), "{merged:?}");

    let start = good.windows(zeros.len()).position(|bytes| bytes == zeros).unwrap();
    for at in [start + 128, start + 60_000, start + zeros.len() - 1] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        let (_folder, path) = file("x.npz", &bytes);
        let mut plan = plan(&path, 60_000, &options);
        let found = tallies(plan.take_pieces(), &mut random).unwrap();
        match merge(&plan, found, &options) {
            Err(work::Error::Check(Error::Checksum { name })) => assert_eq!(name, "a.npy"),
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

/// The checksum of a member without bytes needs no piece.
#[test]
fn checksums_of_no_bytes() {
    let mut bytes = zip(&[("none", b"")]);
    let options = Options::default();
    let merged = |bytes: &[u8]| {
        let (_folder, path) = file("x.npz", bytes);
        merge(&plan(&path, 1, &options), Vec::new(), &options)
    };
    merged(&bytes).unwrap();
    for (signature, offset) in [(b"PK\x03\x04", 14), (b"PK\x01\x02", 16)] {
        let place = bytes.windows(4).position(|four| four == signature).unwrap();
        bytes[place + offset] ^= 1;
    }
    match merged(&bytes) {
        Err(work::Error::Check(Error::Checksum { name })) => assert_eq!(name, "none"),
        other => panic!("{other:?}"),
    }
}
