//! Sets of shards that other processes check.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use nonfinite_check::distributed::{files, report, tally};
use nonfinite_check::{Options, check_file};

use crate::pieces::{Random, sent};
use crate::work::noise;
use crate::write::{Entry, safetensors};

/// A set of three shards, its index, and the names of its shards.
fn set(folder: &Path) -> (PathBuf, [PathBuf; 3]) {
    let mut random = Random(77);
    let shards = ["a", "b", "c"].map(|name| {
        let data = noise(4000, &mut random);
        let entry = |name| Entry { name, kind: "F32", shape: &[20, 50], data: &data };
        let more = format!("{name}.more");
        let path = folder.join(format!("{name}.safetensors"));
        fs::write(&path, safetensors(&[entry(name), entry(&more)])).unwrap();
        path
    });
    let index = folder.join("model.safetensors.index.json");
    let map = r#"{"weight_map":{"a":"a.safetensors","b":"b.safetensors","c":"c.safetensors"}}"#;
    fs::write(&index, map).unwrap();
    (index, shards)
}

/// Damages a shard.
type Fault = fn(&Path);

/// The report names what is missing in a set, whichever shards other processes have checked.
#[test]
fn sets_that_are_not_whole() {
    let options =
        Options { stats: true, places: true, draw: true, max_abs: Some(1e3), ..Options::default() };
    let faults: [(_, Fault); 5] = [
        ("none", |_| ()),
        ("a shard is missing", |shard| fs::remove_file(shard).unwrap()),
        ("a shard is cut off", |shard| {
            fs::File::options().write(true).open(shard).unwrap().set_len(5000).unwrap();
        }),
        ("a shard lacks a tensor", |shard| fs::write(shard, safetensors(&[])).unwrap()),
        ("a shard is the same as another", |shard| {
            fs::copy(shard.with_file_name("a.safetensors"), shard).unwrap();
        }),
    ];
    for (fault, make) in faults {
        let folder = tempfile::tempdir().unwrap();
        let (index, shards) = set(folder.path());
        make(&shards[1]);
        assert_eq!(files(&index, &options), shards);
        let expected = check_file(&index, &options).unwrap();
        assert_eq!(expected.is_damaged(), !matches!(fault, "none"), "{fault}");
        for missing in 0..8 {
            let asked = RefCell::new(Vec::new());
            let found = |file: &Path| {
                let number = shards.iter().position(|shard| shard == file)?;
                asked.borrow_mut().push(number);
                (missing >> number & 1 == 0).then(|| tally(file, &options).ok())?.as_ref().map(sent)
            };
            assert_eq!(report(&index, found, &options).unwrap(), expected, "{fault} {missing}");
            assert!(asked.into_inner().starts_with(&[0]), "{fault}");
        }
    }
}

/// What was found in a shard counts only if its tensors are those of the shard now.
#[test]
fn shards_that_change() {
    let options = Options::default();
    let folder = tempfile::tempdir().unwrap();
    let (index, shards) = set(folder.path());
    let expected = check_file(&index, &options).unwrap();
    let other = tally(&shards[1], &options).unwrap();
    let found = |file: &Path| (*file == shards[0]).then(|| other.clone());
    assert_eq!(report(&index, found, &options).unwrap(), expected);
}

/// An index may name files elsewhere, and nobody checks them.
#[test]
fn shards_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("model.safetensors.index.json");
    let of = |map: &str| {
        fs::write(&index, format!("{{\"weight_map\":{{{map}}}}}")).unwrap();
        files(&index, &Options::default())
    };
    let inside = folder.path().join("x.safetensors");
    let map = r#""a":"../x.safetensors","b":"/etc/passwd","c":"x.safetensors""#;
    assert_eq!(of(map), [inside]);
    assert_eq!(of(r#""a":"../x.safetensors""#), [&*index]);
    let file = folder.path().join("x.npy");
    assert_eq!(files(&file, &Options::default()), [file]);
}
