//! Checkpoints of `torch.distributed.checkpoint`, and sets of PyTorch files.

use std::fs;
use std::path::Path;

use nonfinite_check::{Error, FileFormat, LookedAt, Options, Report, check_file, formats};

use super::error;
use super::pytorch::{archive, integers, state_dict, storage, tensor, text};
use crate::folder::folder;
use crate::pieces::{Random, assert_same_elsewhere};
use crate::{names, unread};

/// The longest names of parts: 64 bytes for each byte of the pickle, and 128 KiB. Empty parts
/// count, too. A part has at most 16 fields.
#[test]
fn bounds_of_metadata() {
    let folder = folder("checkpoint-bounds");
    let path = folder.join(".metadata");
    let outcome = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        check_file(&path, &Options::default()).expect_err("no such part").to_string()
    };
    let (times, file) = (100, "file");
    let pickle = |name: usize, filler: usize| {
        let memo = [text(&"n".repeat(name)), b"q\x00".to_vec(), text(file), b"q\x01".to_vec()];
        let index = object("metadata\nMetadataIndex", &[("fqn", b"h\x00".to_vec())]);
        let part =
            [("relative_path", b"h\x01".to_vec()), ("offset", number(0)), ("length", number(0))];
        let pair = [index, object("filesystem\n_StorageInfo", &part)].concat();
        // The beginning tells the format.
        let class = object("metadata\nMetadata", &[]);
        let filler = text(&"f".repeat(filler));
        let start = [b"\x80\x02", &class[..], &memo.concat(), &filler].concat();
        [&start[..], b"}(", &pair.repeat(times), b"u."].concat()
    };
    // The names take a multiple of 64 bytes beyond 128 KiB.
    let names = |name: usize| times * (name + file.len()) - (128 << 10);
    let name = (60_000..).find(|&name| names(name).is_multiple_of(64)).expect("a length");
    let filler = names(name) / 64 - pickle(name, 0).len();
    assert!(outcome(&pickle(name, filler)).contains("names no file"));
    assert!(outcome(&pickle(name, filler - 1)).contains("far longer than the pickle"));

    for (fields, message) in [(16, "gone: No such file"), (17, "the name of its file is missing")] {
        let names: Vec<_> = (3..fields).map(|field| format!("field {field}")).collect();
        let more: Vec<_> = names.iter().map(|name| (&**name, b"N".to_vec())).collect();
        let part = Part { name: "w", place: 0, file: "gone", offset: 0, length: 1 };
        let outcome = outcome(&metadata(&[part], &more));
        assert!(outcome.contains(message), "{outcome}");
    }
}

/// The output of `torch.save` for a single tensor.
fn saved(number: f32) -> Vec<u8> {
    let pickle = tensor(&storage("FloatStorage", "0", 1), 0, &[1], &[1]);
    archive(&[b"\x80\x02", &pickle[..], b"."].concat(), &[&number.to_le_bytes()])
}

fn number(number: usize) -> Vec<u8> {
    [b"J", &(number as u32).to_le_bytes()[..]].concat()
}

fn object(class: &str, fields: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let fields: Vec<u8> =
        fields.iter().flat_map(|(key, value)| [text(key), value.clone()].concat()).collect();
    [b"ctorch.distributed.checkpoint.", class.as_bytes(), b"\n)\x81}(", &fields[..], b"ub"].concat()
}

struct Part<'a> {
    name: &'a str,
    place: usize,
    file: &'a str,
    offset: usize,
    length: usize,
}

fn metadata(parts: &[Part<'_>], more: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let parts: Vec<u8> = parts
        .iter()
        .flat_map(|part| {
            let size = [b"ctorch\nSize\n", &integers(&[part.place])[..], b"\x85R"].concat();
            let index = [("fqn", text(part.name)), ("offset", size), ("index", b"N".to_vec())];
            let mut info = vec![
                ("relative_path", text(part.file)),
                ("offset", number(part.offset)),
                ("length", number(part.length)),
            ];
            info.extend(more.iter().cloned());
            [object("metadata\nMetadataIndex", &index), object("filesystem\n_StorageInfo", &info)]
                .concat()
        })
        .collect();
    let data = [b"}(", &parts[..], b"u"].concat();
    [b"\x80\x02", &object("metadata\nMetadata", &[("storage_data", data)])[..], b"."].concat()
}

fn checked(path: &Path) -> Result<Report, Error> {
    let report = check_file(path, &Options::default())?;
    assert_same_elsewhere(path, &Options::default(), &mut Random(1));
    Ok(report)
}

/// A pickle of something else is no checkpoint.
#[test]
fn other_pickles() {
    let pickle = state_dict(&[("a key that is as long as the name of a module", b"N".to_vec())]);
    assert_ne!(FileFormat::detect(&pickle, None), Some(FileFormat::PYTORCH_CHECKPOINT));
}

#[test]
fn a_checkpoint() {
    let folder = folder("checkpoint");
    let (good, bad) = (saved(1.0), saved(f32::NAN));
    let file = [&good[..], &bad, &good].concat();
    let path = folder.join("__0_0.distcp");
    fs::write(&path, &file).unwrap();
    fs::write(folder.join("__1_0.distcp"), &bad).unwrap();
    let part = |name, place, file, offset| Part { name, place, file, offset, length: good.len() };
    let length = good.len();
    let parts = [
        part("w", 0, "__0_0.distcp", 0),
        part("w", 1, "__0_0.distcp", length),
        part("b", 0, "__0_0.distcp", 2 * length),
        part("w", 2, "__1_0.distcp", 0),
    ];
    let metadata_path = folder.join(".metadata");
    let write = |bytes: Vec<u8>| fs::write(&metadata_path, bytes).unwrap();
    write(metadata(&parts, &[]));
    let report = checked(&metadata_path).unwrap();
    assert_eq!(report.format, FileFormat::PYTORCH_CHECKPOINT);
    assert_eq!(names(&report), ["w", "w (from [1] on)", "b", "w (from [2] on)"]);
    let bad_ones: Vec<_> = report.tensors.iter().map(|tensor| tensor.is_bad()).collect();
    assert_eq!(bad_ones, [false, true, false, true]);
    assert_eq!(report.tensors[1].file.as_deref(), Some(&*path));
    assert!(report.is_complete());
    let mut shards = formats::shards(&metadata_path);
    shards.sort();
    assert_eq!(shards, [path.clone(), folder.join("__1_0.distcp")]);

    // A compressed part, and a part that is not an archive.
    write(metadata(&parts[3..], &[("transform_descriptors", b"]".to_vec())]));
    let report = checked(&metadata_path).unwrap();
    assert!(unread(&report)[0].1.starts_with("compressed or encrypted"));
    let short = [Part { name: "w", place: 0, file: "__1_0.distcp", offset: 1, length: 20 }];
    write(metadata(&short, &[]));
    assert_eq!(unread(&checked(&metadata_path).unwrap())[0].1, "not an archive of PyTorch");

    let refused = |parts: &[Part<'_>], message: &str| {
        write(metadata(parts, &[]));
        let error = checked(&metadata_path).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    };
    refused(&[part("w", 0, "__1_0.distcp", 1)], "ends behind its file");
    refused(&[part("w", 0, "__1_0.distcp", 0), part("v", 0, "__1_0.distcp", 9)], "overlaps");
    refused(&[part("w", 0, "gone.distcp", 0)], "gone.distcp");
    refused(&[part("w", 0, "../x", 0)], "outside its folder");
    refused(&[], "names no file");
    // What can be read is read, and the rest is damaged.
    let gone = [part("v", 0, "__0_0.distcp", 0), part("w", 0, "gone.distcp", 0)];
    write(metadata(&gone, &[]));
    let report = checked(&metadata_path).unwrap();
    assert!(names(&report).contains(&"v") && report.is_damaged());
    let long = "n".repeat(200_000);
    let parts: Vec<_> =
        (0..100).map(|i| Part { name: &long, ..part("", 0, "f", i * length) }).collect();
    // The same name again and again takes as many bytes of the pickle each time, so it is read.
    refused(&parts, "f: No such file");
    // By reference it takes none.
    let shared = metadata(&parts[..1], &[]);
    let pair = shared.len() - b"uub.".len();
    let again: Vec<u8> = [&shared[..pair], b"u", &shared[pair + 1..]].concat();
    write(again);
    assert!(checked(&metadata_path).is_err());
}

#[test]
fn shards_of_pytorch() {
    let folder = folder("torch-shards");
    let state = |name: &str, numbers: [f32; 2], strides: &[usize]| {
        let shape = vec![2; strides.len()];
        let pickle = tensor(&storage("FloatStorage", "0", 2), 0, &shape, strides);
        let data = numbers.map(f32::to_le_bytes).concat();
        archive(&state_dict(&[(name, pickle)]), &[&data])
    };
    fs::write(folder.join("a.bin"), state("a", [0.0, f32::NAN], &[1])).unwrap();
    // Expanded, so that the storage is looked at.
    fs::write(folder.join("b.bin"), state("b", [0.0, f32::INFINITY], &[0, 1])).unwrap();
    let index = folder.join("pytorch_model.bin.index.json");
    fs::write(&index, r#"{"weight_map": {"a": "a.bin", "b": "b.bin"}}"#).unwrap();
    let report = checked(&index).unwrap();
    assert_eq!(report.format, FileFormat::PYTORCH_INDEX);
    assert_eq!(report.tensors.len(), 2);
    assert!(report.tensors.iter().all(|tensor| tensor.is_bad()));
    assert_eq!(report.tensors[1].file.as_deref(), Some(&*folder.join("b.bin")));
    assert_eq!(formats::shards(&index).len(), 2);
    #[cfg(feature = "remote")]
    from_server(&folder, &report);
    fs::write(&index, r#"{"weight_map": {"a": "a.bin", "c": "b.bin"}}"#).unwrap();
    let report = checked(&index).unwrap();
    let why = "tensor \"c\" is not in \"b.bin\", where the index has it";
    assert_eq!(unread(&report), [("c", why)]);
    assert!(report.is_damaged() && report.is_bad());
    // The other shards are checked.
    fs::write(&index, r#"{"weight_map": {"a": "a.bin", "b": "b.bin", "c": "c.bin"}}"#).unwrap();
    for content in [None, Some(&b"PK\x03\x04"[..])] {
        if let Some(content) = content {
            fs::write(folder.join("c.bin"), content).unwrap();
        }
        let report = checked(&index).unwrap();
        assert_eq!(report.tensors.iter().filter(|tensor| tensor.is_bad()).count(), 2);
        let [(name, why)] = unread(&report)[..] else { panic!("{report:?}") };
        assert!(name == "c.bin" && why.contains("c.bin: "), "{why}");
    }
    assert!(error(b"{}", FileFormat::PYTORCH_INDEX).contains("bad index of shards"));
}

/// Damaged storages are found wherever the archive lies: in a shard, or in a checkpoint. The stored
/// numbers stay finite. The other shards are checked.
#[test]
fn checksums_of_inner_archives() {
    let folder = folder("inner-checksums");
    let damaged = |good: &[u8]| {
        let at = good.windows(4).position(|bytes| bytes == 1f32.to_le_bytes()).unwrap();
        let mut bytes = good.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    let good = saved(1.0);
    let index = folder.join("pytorch_model.bin.index.json");
    fs::write(&index, r#"{"weight_map": {"": "a.bin", "w": "b.bin"}}"#).unwrap();
    let shard = folder.join("a.bin");
    let pickle = tensor(&storage("FloatStorage", "0", 1), 0, &[1], &[1]);
    let bad = archive(&state_dict(&[("w", pickle)]), &[&f32::NAN.to_le_bytes()]);
    fs::write(folder.join("b.bin"), &bad).unwrap();
    let part = |name, file, length| Part { name, place: 0, file, offset: 0, length };
    let parts = [part("v", "a.bin", good.len()), part("w", "b.bin", bad.len())];
    let metadata_path = folder.join(".metadata");
    fs::write(&metadata_path, metadata(&parts, &[])).unwrap();
    for path in [&index, &metadata_path] {
        fs::write(&shard, &good).unwrap();
        assert!(checked(path).unwrap().is_complete());
        fs::write(&shard, damaged(&good)).unwrap();
        let report = checked(path).unwrap();
        assert_eq!(unread(&report), [("model/data/0", "the checksum is wrong")]);
        assert!(report.is_damaged() && report.is_bad());
        let last = report.tensors.last().unwrap();
        assert!(matches!(last.looked_at, LookedAt::Damaged(_)));
        assert_eq!(last.file.as_deref(), Some(&*shard));
        // A wrong checksum in both.
        let at = bad.windows(4).position(|bytes| bytes == f32::NAN.to_le_bytes()).unwrap();
        let mut both = bad.clone();
        both[at] ^= 1;
        fs::write(folder.join("b.bin"), &both).unwrap();
        assert_eq!(unread(&checked(path).unwrap()).len(), 2);
        fs::write(folder.join("b.bin"), &bad).unwrap();
    }
    #[cfg(feature = "remote")]
    damaged_on_server(&folder);
}

/// The damaged shard of a set is named by its URL.
#[cfg(feature = "remote")]
fn damaged_on_server(folder: &Path) {
    let server = on_server(folder);
    let url = format!("{}/m/pytorch_model.bin.index.json", server.url);
    let report = nonfinite_check::check_url(&url, &Options::default()).unwrap();
    assert_eq!(unread(&report), [("model/data/0", "the checksum is wrong")]);
    let shard = format!("{}/m/a.bin", server.url);
    assert_eq!(report.tensors.last().unwrap().file.as_deref(), Some(Path::new(&shard)));
}

/// A server of a set of two shards.
#[cfg(feature = "remote")]
fn on_server(folder: &Path) -> crate::server::Server {
    let names = ["pytorch_model.bin.index.json", "a.bin", "b.bin"];
    let [index, a, b] =
        names.map(|name| (format!("/m/{name}"), fs::read(folder.join(name)).unwrap()));
    let server = crate::server::Server::of(&index.0, &index.1);
    server.state().files.extend([a, b]);
    server
}

/// The set of a folder has this report by its URL, too, except for the paths.
#[cfg(feature = "remote")]
fn from_server(folder: &Path, expected: &Report) {
    let server = on_server(folder);
    let url = format!("{}/m/pytorch_model.bin.index.json", server.url);
    let report = nonfinite_check::check_url(&url, &Options::default()).unwrap();
    // Each file is opened and then downloaded, and the check reads what was downloaded.
    let files = server.state().files.len();
    assert_eq!(server.state().requests.len(), 2 * files);
    let found = |report: &Report| -> Vec<_> {
        report.tensors.iter().map(|tensor| (tensor.name.clone(), tensor.found.clone())).collect()
    };
    assert_eq!(found(&report), found(expected));
}
