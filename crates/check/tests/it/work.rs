//! Plans, pieces and tallies. Every good file of the other tests is checked in pieces as well, by
//! `assert_same_in_pieces`.

use std::fs::{self, File};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use nonfinite_check::json::{self, Listed};
use nonfinite_check::work::{
    self, Piece, Plan, Tallies, Target, check_piece, check_pieces, merge, plan,
};
use nonfinite_check::{Error, Options, check_file};
use serde_json::Value;
use tempfile::TempDir;

use crate::pieces::{Random, cut, merge_at_random, report_of_pieces, sent};
use crate::write::{Entry, Member, gguf, npy, safetensors, zip};

/// A folder with a file in it, and the path of the file.
pub(crate) fn file(name: &str, bytes: &[u8]) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

/// Random bits: NaNs and infinities of all dtypes are among them.
fn noise(length: usize, random: &mut Random) -> Vec<u8> {
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
fn pieces_at_random_give_the_report_of_one_machine() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for round in 0..150 {
        let blocks = noise(18 * 700, &mut random);
        let scales = Entry { name: "q", kind: 2, shape: &[7, 3200], data: &blocks };
        let floats = noise(8 * 900, &mut random);
        let array = npy(">c8", &[30, 30], true, &floats[..7200]);
        let (name, bytes) = match round % 4 {
            0 => ("x.gguf", gguf(&[scales], round % 8 == 0, &[])),
            1 => ("x.npy", array),
            2 => {
                let deflate = |deflate| Member { name: "x.npy", data: &array, deflate };
                let other = Member { name: "y.npy", ..deflate(false) };
                ("x.npz", zip(&[deflate(true), other]))
            }
            _ => ("x.safetensors", mixed(&mut random)),
        };
        let (_folder, path) = file(name, &bytes);
        let stats = random.below(2) == 0;
        let max_abs = [None, Some(0.0), Some(1e3)][random.below(3)];
        let options = Options { stats, max_abs, ..Options::default() };
        let expected = check_file(path.as_ref(), &options).unwrap();
        let report = report_of_pieces(&path, &options, &mut random).unwrap();
        let text = |report| json::document(&[(PathBuf::from(&path), Ok(report))], &[], Listed::All);
        assert_eq!(text(report), text(expected), "round {round}, {name}");
    }
}

/// Tallies are the same for all groupings, not only the report.
#[test]
fn tallies_are_associative() {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    let (_folder, path) = file("x.safetensors", &mixed(&mut random));
    let options = Options { stats: true, max_abs: Some(1.0), ..Options::default() };
    let mut plan = plan(&path, NonZeroUsize::new(512).unwrap(), &options).unwrap();
    let pieces = plan.take_pieces();
    let all = check_pieces(&pieces, &options).unwrap();
    for _ in 0..20 {
        let pieces = cut(pieces.clone(), &mut random);
        let found = pieces.iter().map(|piece| check_piece(piece).unwrap()).collect();
        let mut found = merge_at_random(found, &mut random).into_iter();
        let first = found.next().unwrap();
        let together = found.fold(first, |all, more| all.merge(more).unwrap());
        assert_eq!(together, all);
        assert_eq!(serde_json::to_string(&together).unwrap(), serde_json::to_string(&all).unwrap());
    }
    assert_eq!(Tallies::default().merge(all.clone()).unwrap(), all);
    assert_eq!(all.clone().merge(Tallies::default()).unwrap(), all);
}

/// A plan of one tensor in 10 pieces, and the tallies of each.
fn ten() -> (TempDir, String, Plan, Vec<Piece>, Vec<Tallies>) {
    let (folder, path) = file("x.npy", &npy("<f4", &[100], false, &[0; 400]));
    let mut plan = plan(&path, NonZeroUsize::new(40).unwrap(), &Options::default()).unwrap();
    let pieces = plan.take_pieces();
    assert_eq!(pieces.len(), 10);
    let found = pieces.iter().map(|piece| check_piece(piece).unwrap()).collect();
    (folder, path, plan, pieces, found)
}

#[test]
fn every_piece_is_there_once() {
    let (_folder, path, plan, pieces, found) = ten();
    let options = Options::default();
    merge(&plan, found.clone(), &options).unwrap();
    for index in 0..10 {
        let mut less = found.clone();
        less.remove(index);
        match merge(&plan, less, &options) {
            Err(work::Error::Missing { of: Target::Tensor(0), at }) => {
                assert_eq!(at, 40 * index as u64)
            }
            other => panic!("{other:?}"),
        }
        let more = found.iter().chain([&found[index]]).cloned();
        match merge(&plan, more, &options) {
            Err(work::Error::Repeated { of: Target::Tensor(0), at }) => {
                assert_eq!(at, 40 * index as u64)
            }
            other => panic!("{other:?}"),
        }
        // A part of a piece is also there twice.
        let (part, rest) = pieces[index].clone().split(8);
        for part in [part, rest.unwrap()] {
            let more = found.iter().cloned().chain([check_piece(&part).unwrap()]);
            let merged = merge(&plan, more, &options);
            assert!(
                matches!(merged, Err(work::Error::Repeated { of: Target::Tensor(0), .. })),
                "{merged:?}"
            );
        }
    }
    assert!(matches!(
        merge(&plan, [], &options),
        Err(work::Error::Missing { of: Target::Tensor(0), at: 0 })
    ));
    // The same file with statistics is another plan.
    let stats = Options { stats: true, ..Options::default() };
    let other = work::plan(&path, work::PIECE, &stats).unwrap();
    assert!(matches!(merge(&other, found, &options), Err(work::Error::OtherPlan)));
}

#[test]
fn files_that_change_are_refused() {
    let (_folder, path, plan, pieces, found) = ten();
    let bytes = fs::read(&path).unwrap();
    // A piece of another version of the library.
    let mut other = serde_json::to_value(&pieces[0]).unwrap();
    other["form"] = 999.into();
    let other = check_piece(&serde_json::from_value(other).unwrap());
    assert!(matches!(other, Err(work::Error::Form(999))), "{other:?}");
    for longer in [false, true] {
        let mut file = File::create(&path).unwrap();
        file.write_all(&bytes).unwrap();
        if longer {
            file.write_all(&[0]).unwrap();
        }
        // At another time, even where clocks are coarse.
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(7);
        file.set_modified(later).unwrap();
        match check_piece(&pieces[3]) {
            Err(work::Error::Check(Error::Changed(changed))) => assert_eq!(changed, path),
            other => panic!("{other:?}"),
        }
    }
    // Plans of different states of a file do not mix.
    fs::write(&path, &bytes).unwrap();
    let other = work::plan(&path, work::PIECE, &Options::default()).unwrap();
    assert!(matches!(
        merge(&other, found.clone(), &Options::default()),
        Err(work::Error::OtherPlan)
    ));
    merge(&plan, found, &Options::default()).unwrap();
}

/// Two sparse files: making plans must not read their data.
#[test]
fn hundred_gigabytes_are_many_pieces() {
    let elements = 25_000_000_000usize;
    let header = |bytes: Vec<u8>| (bytes.len(), bytes);
    let entry = format!(
        r#"{{"x":{{"dtype":"F32","shape":[{elements}],"data_offsets":[0,{}]}}}}"#,
        4 * elements
    );
    let length = (entry.len() as u64).to_le_bytes();
    let files = [
        ("x.npy", header(npy("<f4", &[elements], false, &[]))),
        ("x.safetensors", header([&length[..], entry.as_bytes()].concat())),
    ];
    for (name, (header, bytes)) in files {
        let (_folder, path) = file(name, &bytes);
        let all = File::options().write(true).open(&path).unwrap();
        all.set_len((header + 4 * elements) as u64).unwrap();
        let options = Options::default();
        let plan = work::plan(&path, work::PIECE, &options).unwrap();
        assert_eq!(plan.pieces().len(), (4 * elements).div_ceil(work::PIECE.get()));
        let total: u64 = plan.pieces().iter().map(Piece::length).sum();
        assert_eq!(total, 4 * elements as u64);
        let last = plan.pieces().last().unwrap();
        assert_eq!(last.range().map(|range| range.end), Some((header + 4 * elements) as u64));
        let found = check_piece(last).unwrap();
        let merged = merge(&plan, [found], &options);
        assert!(
            matches!(merged, Err(work::Error::Missing { of: Target::Tensor(0), at: 0 })),
            "{merged:?}"
        );
    }
}

#[test]
fn shards_are_read_from_their_files() {
    let mut random = Random(77);
    let folder = tempfile::tempdir().unwrap();
    for shard in ["a", "b"] {
        let data = noise(4000, &mut random);
        let entry = Entry { name: shard, kind: "F32", shape: &[1000], data: &data };
        fs::write(folder.path().join(format!("{shard}.safetensors")), safetensors(&[entry]))
            .unwrap();
    }
    let index = folder.path().join("model.safetensors.index.json");
    let map = r#"{"weight_map":{"a":"a.safetensors","b":"b.safetensors"}}"#;
    fs::write(&index, map).unwrap();
    let path = index.to_str().unwrap();
    let options = Options::default();
    let expected = check_file(&index, &options).unwrap();
    assert!(expected.is_bad());
    assert_eq!(report_of_pieces(path, &options, &mut random).unwrap(), expected);
    let plan = plan(path, work::PIECE, &options).unwrap();
    let files: Vec<_> = plan.pieces().iter().map(Piece::file).collect();
    assert!(
        files[0].ends_with("a.safetensors") && files[1].ends_with("b.safetensors"),
        "{files:?}"
    );
}

/// Pieces of two files are not read together, though one would come behind the other in a file.
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
    let options = Options::default();
    let plan = plan(index.to_str().unwrap(), work::PIECE, &options).unwrap();
    let found = check_pieces(plan.pieces(), &options).unwrap();
    let report = work::merge(&plan, [found], &options).unwrap();
    assert_eq!(report, check_file(&index, &options).unwrap());
    assert_eq!(report.tensors.iter().map(|tensor| tensor.found.nan.count).sum::<u64>(), 100);
}

/// Bits of no bound on magnitudes: NaN, infinity, and a negative number.
#[test]
fn bounds_that_are_none() {
    let (_folder, path) = file("x.npy", &npy("<f4", &[1], false, &[0; 4]));
    let options = Options { max_abs: Some(1.0), ..Options::default() };
    let plan = plan(&path, work::PIECE, &options).unwrap();
    for bound in [f64::NAN, f64::INFINITY, -1.0] {
        let mut document = serde_json::to_value(&plan).unwrap();
        document["asked"]["max_abs"] = bound.to_bits().into();
        let refused = serde_json::from_value::<Plan>(document).unwrap_err().to_string();
        assert!(refused.contains("has to be finite and not negative"), "{refused}");
        let mut document = serde_json::to_value(&plan.pieces()[0]).unwrap();
        document["asked"]["max_abs"] = bound.to_bits().into();
        assert!(serde_json::from_value::<Piece>(document).is_err(), "{bound}");
    }
}

/// A part behind the end of a tensor.
#[test]
fn tallies_of_more_than_there_is() {
    let (_folder, _, plan, _, found) = ten();
    let options = Options::default();
    let all = found.into_iter().reduce(|all, more| all.merge(more).unwrap()).unwrap();
    let mut document = serde_json::to_value(&all).unwrap();
    assert_eq!(document["found"][0][1]["parts"][0]["end"], 400);
    let reread = |document: &Value| serde_json::from_value::<Tallies>(document.clone()).unwrap();
    merge(&plan, [reread(&document)], &options).unwrap();
    document["found"][0][1]["parts"][0]["end"] = 404.into();
    let merged = merge(&plan, [reread(&document)], &options);
    assert!(
        matches!(merged, Err(work::Error::Invalid("tallies of more than there is"))),
        "{merged:?}"
    );
}

/// What is asked about finite numbers is an option of the plan, whatever the options of the merge.
#[test]
fn options_of_the_plan_count() {
    let numbers = [1.0f32, 5.0].map(f32::to_le_bytes).concat();
    let (_folder, path) = file("x.npy", &npy("<f4", &[2], false, &numbers));
    let asked = Options { stats: true, max_abs: Some(2.0), ..Options::default() };
    for (of_plan, of_merge) in [(&asked, Options::default()), (&Options::default(), asked.clone())]
    {
        let plan = plan(&path, work::PIECE, of_plan).unwrap();
        let found = check_pieces(plan.pieces(), &of_merge).unwrap();
        let report = merge(&plan, [found], &of_merge).unwrap();
        assert_eq!(report, check_file(path.as_ref(), of_plan).unwrap());
        assert_eq!((plan.file(), plan.format()), (&*path, "npy"));
    }
}

/// Changes one value of a document at random.
fn change(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(values) if !values.is_empty() => {
            let index = random.below(values.len());
            change(&mut values[index], random);
        }
        Value::Object(entries) if !entries.is_empty() => {
            let index = random.below(entries.len());
            change(entries.values_mut().nth(index).unwrap(), random);
        }
        Value::Number(number) => {
            let old = number.as_u64().unwrap_or(0);
            let new = [0, 1, 3, old + 1, old.wrapping_mul(2), u64::MAX, u64::MAX / 2, 1 << 40];
            *value = new[random.below(new.len())].into();
        }
        Value::String(text) => {
            let new = ["", "f64", "npz", "Q4_0", "ffffffffffffffff", "zz", "/nowhere"];
            *text = new[random.below(new.len())].to_owned();
        }
        Value::Bool(is) => *is = !*is,
        Value::Array(_) | Value::Object(_) | Value::Null => *value = serde_json::json!([0, 1]),
    }
}

/// Input from other machines may be anything. It gives an error or a result, and no panic.
#[test]
fn damaged_plans_pieces_and_tallies() {
    let mut random = Random(0xDEAD_BEEF);
    let array = npy("<f4", &[8, 100], true, &noise(3200, &mut random));
    let deflated = zip(&[Member { name: "x.npy", data: &array, deflate: true }]);
    let blocks = noise(18 * 100, &mut random);
    let scales = Entry { name: "q", kind: 2, shape: &[3200], data: &blocks };
    let files =
        [("x.npz", deflated), ("x.npy", array.clone()), ("x.gguf", gguf(&[scales], false, &[]))];
    let options = Options::default();
    for (name, bytes) in files {
        let (_folder, path) = file(name, &bytes);
        let stats = Options { stats: true, max_abs: Some(1.0), ..Options::default() };
        let good = plan(&path, NonZeroUsize::new(999).unwrap(), &stats).unwrap();
        let found = check_pieces(good.pieces(), &options).unwrap();
        let mut refused = 0;
        for _ in 0..2000 {
            let mut document = serde_json::to_value(good.pieces()).unwrap();
            change(&mut document, &mut random);
            let pieces = serde_json::from_value::<Vec<Piece>>(document);
            refused +=
                usize::from(!pieces.is_ok_and(|pieces| check_pieces(&pieces, &options).is_ok()));
            let mut document = serde_json::to_value(&found).unwrap();
            change(&mut document, &mut random);
            if let Ok(tallies) = serde_json::from_value::<Tallies>(document) {
                refused += usize::from(merge(&good, [tallies], &options).is_err());
            }
            let mut document = serde_json::to_value(&good).unwrap();
            change(&mut document, &mut random);
            if let Ok(plan) = serde_json::from_value::<Plan>(document) {
                refused += usize::from(merge(&plan, [found.clone()], &options).is_err());
            }
        }
        assert!(refused > 1000, "{name}: {refused}");
        let plan: Plan = sent(&good);
        merge(&plan, [found], &options).unwrap();
    }
}
