//! Pieces of decoded data that do not fit the file. They come from other machines, so they may say
//! anything.

use std::fs;

use nonfinite_check::work::{self, Piece, Tallies, check_piece, check_pieces, plan};
use nonfinite_check::{Error, Options, check_file};
use serde_json::{Value, json};

use crate::records;
use crate::work::file;
use crate::write::{Entry, Member, gguf, npy, safetensors, string, u32_in, u64_in, zip};

/// The piece with other values in its place.
fn changed(piece: &Piece, kind: &str, changes: &Value) -> Result<(), String> {
    let mut document = serde_json::to_value(piece).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        document["place"][kind][key] = value.clone();
    }
    let piece = serde_json::from_value::<Piece>(document).map_err(|error| error.to_string())?;
    match check_piece(&piece) {
        Ok(_) => Ok(()),
        Err(work::Error::Invalid(why)) => Err(why.to_owned()),
        Err(other) => panic!("{changes}: {other:?}"),
    }
}

/// Of decoded data the place must be that of the plan; of data that the reader holds, whole
/// elements of it; of a column, one of its parts.
#[test]
fn places_of_decoded_data() {
    let array = npy("<f4", &[8], false, &[0; 32]);
    let deflated = zip(&[Member { name: "x.npy", data: &array, deflate: true }]);
    let records = records::npy("[('x', '<f4'), ('y', '<i4')]", "(4,)", false, &[0; 32]);
    let numbers = [&u32_in(6, false)[..], &u64_in(8, false), &[0; 32]].concat();
    let entry = [string("k", false), u32_in(9, false).to_vec(), numbers].concat();
    let cases = [
        (
            "x.npz",
            deflated,
            vec![
                json!({"at": 4}),
                json!({"length": 28}),
                json!({"at": 4, "length": 28}),
                json!({"is_part": true}),
            ],
        ),
        (
            "x.gguf",
            gguf(&[], false, &[entry]),
            vec![
                json!({"at": 4}),
                json!({"length": 36}),
                json!({"at": u64::MAX}),
                json!({"at": 2, "length": 28}),
                json!({"length": 30}),
                json!({"is_part": true}),
            ],
        ),
        (
            "x.npy",
            records,
            vec![json!({"at": 1}), json!({"length": 12}), json!({"is_part": false})],
        ),
    ];
    for (name, bytes, changes) in cases {
        let (_folder, path) = file(name, &bytes);
        let plan = plan(&path, work::PIECE, &Options::default()).unwrap();
        let [piece] = plan.pieces() else { panic!("{name}: {plan:?}") };
        assert_eq!(changed(piece, "read", &json!({})), Ok(()), "{name}");
        for change in changes {
            let refused = Err("a piece that does not fit its tensor".to_owned());
            assert_eq!(changed(piece, "read", &change), refused, "{name}: {change}");
        }
        if name == "x.gguf" {
            assert_eq!(changed(piece, "read", &json!({"at": 4, "length": 8})), Ok(()));
        }
    }
}

/// Elements of another format, another file, and another version of the library.
#[test]
fn pieces_of_something_else() {
    let array = |descr, size: usize| npy(descr, &[32 / size], false, &[0; 32]);
    let deflated = |array: &[u8]| zip(&[Member { name: "x.npy", data: array, deflate: true }]);
    let (_folder, path) = file("x.npz", &deflated(&array("<f4", 4)));
    let (_other_folder, other) = file("x.npz", &deflated(&array("<f8", 8)));
    let document = |path| {
        let plan = plan(path, work::PIECE, &Options::default()).unwrap();
        serde_json::to_value(&plan.pieces()[0]).unwrap()
    };
    let (good, other) = (document(&path), document(&other));
    let checked = |document: &Value| {
        check_piece(&serde_json::from_value(document.clone()).expect("a piece")).map(drop)
    };
    checked(&good).unwrap();
    let mut content = good.clone();
    content["content"] = other["content"].clone();
    let refused = checked(&content);
    assert!(
        matches!(refused, Err(work::Error::Invalid("a piece that does not fit its tensor"))),
        "{refused:?}"
    );
    let mut place = good.clone();
    place["place"]["read"]["other"] = other["file"].clone();
    let refused = checked(&place);
    assert!(matches!(refused, Err(work::Error::Check(Error::Changed(_)))), "{refused:?}");
    let mut form = good;
    form["form"] = 999.into();
    assert!(matches!(checked(&form), Err(work::Error::Form(999))), "{:?}", checked(&form));
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

/// Bytes outside of the file, no bytes, and parts of elements.
#[test]
fn places_of_bytes() {
    let (_folder, path) = file("x.npy", &npy("<f4", &[8], false, &[0; 32]));
    let plan = plan(&path, work::PIECE, &Options::default()).unwrap();
    let piece = &plan.pieces()[0];
    let start = piece.range().unwrap().start;
    assert_eq!(changed(piece, "bytes", &json!({"end": start + 4})), Ok(()));
    for (change, why) in [
        (json!({"end": start}), "bytes that lie behind the end of the file"),
        (json!({"end": start + 33}), "bytes that lie behind the end of the file"),
        (json!({"start": start + 32}), "bytes that lie behind the end of the file"),
        (json!({"start": start + 1}), "a piece that is not of whole elements"),
        (json!({"end": start + 6}), "a piece that is not of whole elements"),
        (json!({"at": 2}), "a piece that is not of whole elements"),
        (json!({"at": u64::MAX - 3}), "a piece that lies behind the end"),
        (json!({"at": 1u64 << 63}), "a piece that lies behind the end"),
    ] {
        assert_eq!(changed(piece, "bytes", &change), Err(why.to_owned()), "{change}");
    }
}

/// Findings that do not fit each other, one lie at a time.
#[test]
fn tallies_that_lie() {
    let numbers = [f32::NAN, 2.0].map(f32::to_le_bytes).concat();
    let (_folder, path) = file("x.npy", &npy("<f4", &[2], false, &numbers));
    let options = Options { stats: true, ..Options::default() };
    let plan = plan(&path, work::PIECE, &options).unwrap();
    let found = check_pieces(plan.pieces(), &options).unwrap();
    let good = serde_json::to_value(&found).unwrap();
    let read = |document: &Value| serde_json::from_value::<Tallies>(document.clone());
    assert_eq!(read(&good).unwrap(), found);
    let part = "a part that is empty, or has a checksum for no reason or none";
    let first = "a count without a first number, or the reverse";
    let statistics = "statistics that do not fit their counts";
    let infinity = format!("{:x}", f64::INFINITY.to_bits());
    for (place, value, why) in [
        ("/form", json!(999), "plans of form 999"),
        ("/found/0/parts", json!([]), "something found where nothing was looked at"),
        ("/found/0/parts/0/end", json!(0), part),
        ("/found/0/parts/0/crc", json!(5), part),
        ("/found/0/nan/count", json!(0), first),
        ("/found/0/nan/first", Value::Null, first),
        ("/found/0/nan/first/1", json!("zz"), "bits that are not hexadecimal"),
        ("/found/0/finite/min", Value::Null, statistics),
        ("/found/0/finite/min/1", json!(infinity), statistics),
        ("/found/0/finite/normals", json!(0), statistics),
        ("/found/0/finite/large", json!(2), statistics),
        ("/found/1", good["found"][0].clone(), "a tensor or checksum that is there twice"),
    ] {
        let mut document = good.clone();
        match document.pointer_mut(place) {
            Some(old) => *old = value,
            None => document["found"].as_array_mut().unwrap().push(value),
        }
        let error = read(&document).expect_err(place).to_string();
        assert!(error.contains(why), "{place}: {error}");
    }
}
