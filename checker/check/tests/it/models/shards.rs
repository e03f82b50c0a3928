//! Which files a folder leaves out because an index names them.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use nonfinite_check::formats::shards;

use crate::write::safetensors_text;

fn names(paths: Vec<PathBuf>) -> BTreeSet<String> {
    paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// An index that names an index does not leave it out: else two of them would leave out each other
/// and all their shards.
#[test]
fn indexes_are_no_shards() {
    let folder = tempfile::tempdir().unwrap();
    for (index, other, shard) in [
        ("a.safetensors.index.json", "a.safetensors.index.json", "a.safetensors"),
        ("b.safetensors.index.json", "c.safetensors.index.json", "b.safetensors"),
        ("c.safetensors.index.json", "b.safetensors.index.json", "c.safetensors"),
        ("p.bin.index.json", ".metadata", "p.bin"),
    ] {
        let path = folder.path().join(index);
        let map = format!(r#"{{"weight_map": {{"x": "{other}", "y": "{shard}"}}}}"#);
        fs::write(&path, map).unwrap();
        assert_eq!(names(shards(&path)), BTreeSet::from([shard.to_owned()]), "{index}");
    }
}

/// A text of the name `.metadata` is not read as an index by the check, so it leaves out no file.
#[test]
fn texts_are_no_metadata() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".metadata");
    let pickle = concat!(
        "(ckey\nkey\n(tRctorch.distributed.checkpoint.filesystem\n_StorageInfo\n",
        "(tR(S'relative_path'\nS'bad.npy'\nS'offset'\nI0\nS'length'\nI9\ndbd.",
    );
    fs::write(&path, pickle).unwrap();
    assert_eq!(shards(&path), [""; 0].map(PathBuf::from));
    assert!(nonfinite_check::check_file(&path, &nonfinite_check::Options::default()).is_err());
}

/// A hundred tensors that are not in their shard are named, and the others are counted.
#[test]
fn many_tensors_that_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let header = r#"{"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}"#;
    fs::write(folder.path().join("a.safetensors"), safetensors_text(header, &[0; 4])).unwrap();
    let names = (0..10_000).map(|i| format!(r#""m{i}": "a.safetensors""#)).collect::<Vec<_>>();
    let path = folder.path().join("a.safetensors.index.json");
    fs::write(&path, format!(r#"{{"weight_map": {{{}}}}}"#, names.join(","))).unwrap();
    let report = nonfinite_check::check_file(&path, &Default::default()).unwrap();
    assert!(report.is_damaged());
    assert_eq!(report.tensors.len(), 1 + 100 + 1);
    assert_eq!(report.tensors[101].name.as_deref(), Some("9900 more tensors"));
}
