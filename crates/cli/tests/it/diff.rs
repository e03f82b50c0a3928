//! `nonfinite diff`: the NaN and infinities that only the second side has.

use std::fs;
use std::path::Path;

use crate::folder::Folder;
use crate::{Run, command, npy, safetensors};

/// A folder with files of these names and contents.
fn folder(name: &str, files: &[(&str, Vec<u8>)]) -> Folder {
    let folder = crate::folder::folder(name);
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).expect("the build folder can be written to");
        fs::write(path, content).unwrap();
    }
    folder
}

/// A .safetensors file of vectors of F32.
fn f32s(tensors: &[(&str, &[f32])]) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (name, numbers) in tensors {
        let begin = data.len();
        data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        let (shape, offsets) = ([numbers.len()], [begin, data.len()]);
        let entry = r#""dtype":"F32""#;
        entries
            .push(format!(r#""{name}":{{{entry},"shape":{shape:?},"data_offsets":{offsets:?}}}"#));
    }
    safetensors(format!("{{{}}}", entries.join(",")), &data)
}

fn diff(folder: &Path, arguments: &[&str]) -> Run {
    let output = command().arg("diff").args(arguments).current_dir(folder).output();
    output.expect("the command starts").into()
}

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// f32 to f16: numbers that were finite are infinite.
#[test]
fn new_infinities() {
    let w = r#""w":{"dtype":"F16","shape":[3],"data_offsets":[0,6]}"#;
    let v = r#""v":{"dtype":"F16","shape":[1],"data_offsets":[6,8]}"#;
    let half = safetensors(format!("{{{w},{v}}}"), &[0, 0x7C, 0, 0, 0, 0xFC, 0, 0]);
    let files = [("a.safetensors", f32s(&[("w", &[1e30, 0.0, -1e30]), ("v", &[NAN])]))];
    let folder = folder("diff-half", &[&files[..], &[("b.safetensors", half)]].concat());
    let run = diff(&folder, &["a.safetensors", "b.safetensors"]);
    let expected = "\"w\" F32 -> F16 [3]: +Inf 0 -> 1 new, first at [0]; \
        -Inf 0 -> 1 new, first at [2]\n\
        \"v\" F32 -> F16 [1]: NaN 1 -> 0\n\
        compared 2 tensors, 0 only in a.safetensors, 0 only in b.safetensors: \
        1 with new NaN or infinity\n";
    assert_eq!((run.status, run.out.as_str(), run.err.as_str()), (1, expected, ""));
    let back = diff(&folder, &["b.safetensors", "a.safetensors"]);
    assert!(back.status == 1 && back.out.contains("\"v\" F16 -> F32 [1]: NaN 0 -> 1 new"));
    assert_eq!(diff(&folder, &["--fail-on", "nan", "a.safetensors", "b.safetensors"]).status, 0);
    let allowed = diff(&folder, &["--allow", "w:inf", "a.safetensors", "b.safetensors"]);
    assert_eq!(allowed.status, 0, "{}", allowed.out);
    let quiet = diff(&folder, &["--quiet", "a.safetensors", "b.safetensors"]);
    assert_eq!((quiet.status, quiet.out.as_str()), (1, ""));

    let json = diff(&folder, &["--json", "a.safetensors", "b.safetensors"]);
    let document: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(
        (json.status, &document["new"], &document["compared"]),
        (1, &true.into(), &2.into())
    );
    let tensor = &document["tensors"][0];
    assert_eq!((&tensor["name"], &tensor["a"]["dtype"]), (&"w".into(), &"F32".into()));
    assert_eq!(tensor["new"], serde_json::json!(["pos_inf", "neg_inf"]));
    assert_eq!(tensor["b"]["pos_inf"]["first"]["coordinate"], serde_json::json!([0]));
    // Nothing is new, and the only tensor is new.
    let lone = safetensors(r#"{"w":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}"#, &[0, 0x7C]);
    fs::write(folder.join("c.safetensors"), lone).unwrap();
    fs::write(folder.join("d.safetensors"), f32s(&[("w", &[1.0])])).unwrap();
    for (a, b, new) in [("c", "c", false), ("d", "c", true)] {
        let json =
            diff(&folder, &["--json", &format!("{a}.safetensors"), &format!("{b}.safetensors")]);
        let document: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
        assert_eq!((json.status, &document["new"]), (i32::from(new), &new.into()), "{a} {b}");
    }
}

/// Something may be new that counts and first places do not show.
#[test]
fn comparisons_by_counts() {
    let files = [
        ("a.safetensors", f32s(&[("x", &[NAN, NAN, 0.0])])),
        ("b.safetensors", f32s(&[("x", &[NAN, 0.0, NAN])])),
    ];
    let folder = folder("diff-places", &files);
    let run = diff(&folder, &["a.safetensors", "b.safetensors"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
    assert!(run.out.ends_with("or infinity; compared by counts: 1\n"), "{}", run.out);
}

#[test]
fn tensors_of_one_side() {
    let a = f32s(&[("x", &[0.0]), ("gone", &[NAN])]);
    let b = f32s(&[("x", &[0.0]), ("clean", &[0.0]), ("bad", &[0.0, NAN])]);
    let folder = folder("diff-only", &[("a.safetensors", a), ("b.safetensors", b)]);
    let run = diff(&folder, &["a.safetensors", "b.safetensors"]);
    let expected = "\"clean\" F32 [1]: only in b.safetensors\n\
        \"bad\" F32 [2]: only in b.safetensors, NaN 0 -> 1 new, first at [1]\n\
        \"gone\" F32 [1]: only in a.safetensors\n\
        compared 1 tensor, 1 only in a.safetensors, 2 only in b.safetensors: \
        1 with new NaN or infinity\n";
    assert_eq!((run.status, run.out.as_str(), run.err.as_str()), (1, expected, ""));
}

/// A single file against the index of a set, a folder with it, and a folder of files.
#[test]
fn sets_and_folders() {
    let index = r#"{"weight_map":{"x":"set-1.safetensors","y":"set-2.safetensors"}}"#;
    let folder = folder(
        "diff-sets",
        &[
            ("whole.safetensors", f32s(&[("x", &[0.0]), ("y", &[0.0])])),
            ("set/set-1.safetensors", f32s(&[("x", &[0.0])])),
            ("set/set-2.safetensors", f32s(&[("y", &[INF])])),
            ("set/model.safetensors.index.json", index.into()),
            ("files/1.safetensors", f32s(&[("x", &[0.0])])),
            ("files/2.safetensors", f32s(&[("y", &[INF])])),
        ],
    );
    for other in ["set/model.safetensors.index.json", "set", "files"] {
        let run = diff(&folder, &["whole.safetensors", other]);
        assert_eq!((run.status, run.err.as_str()), (1, ""), "{other}");
        assert!(run.out.starts_with("\"y\" F32 [1]: +Inf 0 -> 1 new, first at [0]\ncompared 2 "));
        assert_eq!(diff(&folder, &[other, "whole.safetensors"]).status, 0, "{other}");
    }
}

/// Tensors without names are called by their files, and names that occur several times are refused.
#[test]
fn files_of_a_folder() {
    let folder = folder(
        "diff-repeated",
        &[
            ("a/1.safetensors", f32s(&[("x", &[NAN])])),
            ("a/2.safetensors", f32s(&[("x", &[0.0])])),
            ("c/3.safetensors", f32s(&[("x", &[NAN])])),
            ("n/1.npy", npy("'<f4'", false, "()", &[0; 4])),
            ("m/1.npy", npy("'<f4'", false, "()", &NAN.to_le_bytes())),
        ],
    );
    let run = diff(&folder, &["a", "c"]);
    assert_eq!((run.status, run.out.as_str()), (2, ""));
    let message = "nonfinite: tensor \"x\" occurs 2 times and 1 times: which ones to compare?\n";
    assert_eq!(run.err, message);
    let run = diff(&folder, &["n", "m"]);
    assert_eq!(run.status, 1);
    assert!(run.out.starts_with("1.npy <f4 []: NaN 0 -> 1 new, first at []\n"), "{}", run.out);
}

/// A side that cannot be read is not compared: nothing is printed that could be taken for a result.
#[test]
fn sides_that_cannot_be_checked() {
    let good = f32s(&[("x", &[0.0])]);
    let unreadable = npy("'|V2'", false, "(1,)", &[0; 2]);
    let folder = folder(
        "diff-error",
        &[("good.safetensors", good), ("bad.safetensors", vec![1]), ("unreadable.npy", unreadable)],
    );
    for other in ["bad.safetensors", "missing.safetensors", "missing-*.npy", "unreadable.npy"] {
        for arguments in [["good.safetensors", other], [other, "good.safetensors"]] {
            let run = diff(&folder, &arguments);
            assert_eq!((run.status, run.out.as_str()), (2, ""), "{arguments:?}");
            assert!(run.err.starts_with(&format!("nonfinite: {other}: ")), "{}", run.err);
            // Nothing more: the tensors are not known to differ.
            assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        }
    }
    assert_eq!(diff(&folder, &["good.safetensors"]).status, 2);
}

/// A renamed prefix leaves nothing to compare, which is no success.
#[test]
fn sides_without_a_common_tensor() {
    let files =
        [("a.safetensors", f32s(&[("x", &[1.0])])), ("b.safetensors", f32s(&[("m.x", &[NAN])]))];
    let run = diff(&folder("diff-nothing", &files), &["a.safetensors", "b.safetensors"]);
    let message = "nonfinite: A and B have no tensor in common\n";
    assert_eq!((run.status, run.err.as_str()), (2, message));
}

/// If a part of a side was not looked at, the other parts are compared, and the output says so.
#[test]
fn incomplete_comparisons() {
    let x = r#""x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}"#;
    let y = r#""y":{"dtype":"F99","shape":[1],"data_offsets":[4,5]}"#;
    let part = safetensors(format!("{{{x},{y}}}"), &[0, 0, 0xC0, 0x7F, 1]);
    let whole = f32s(&[("x", &[0.0]), ("y", &[0.0])]);
    let files = [("a.safetensors", whole), ("b.safetensors", part)];
    let folder = folder("diff-incomplete", &files);
    let expected = "\"x\" F32 [1]: NaN 0 -> 1 new, first at [0]\n\
        compared 2 tensors, 0 only in a.safetensors, 0 only in b.safetensors: \
        1 with new NaN or infinity; not all of A and B was looked at\n";
    let why = "b.safetensors: tensor \"y\": dtype \"F99\" is not known to this version\n";
    let why = format!("nonfinite: {why}");
    for (arguments, status) in [(&[][..], 1), (&["--strict"], 2)] {
        let sides = ["a.safetensors", "b.safetensors"];
        let run = diff(&folder, &[arguments, &sides].concat());
        assert_eq!((run.status, run.out.as_str(), run.err.as_str()), (status, expected, &*why));
    }
    let json = diff(&folder, &["--json", "a.safetensors", "b.safetensors"]);
    let document: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((json.status, &document["complete"]), (1, &false.into()));
}

/// A changed shape is printed, also if no number is new.
#[test]
fn changed_shapes() {
    let files = [
        ("a.safetensors", f32s(&[("x", &[0.0, 1.0]), ("y", &[0.0]), ("z", &[NAN])])),
        ("b.safetensors", f32s(&[("x", &[0.0]), ("y", &[0.0]), ("z", &[NAN, NAN])])),
    ];
    let run = diff(&folder("diff-shapes", &files), &["a.safetensors", "b.safetensors"]);
    let expected = "\"x\" F32 [2] -> [1]\n\
        \"z\" F32 [1] -> [2]: NaN 1 -> 2 new, first at [0]\n\
        compared 3 tensors, 0 only in a.safetensors, 0 only in b.safetensors: \
        1 with new NaN or infinity\n";
    assert_eq!((run.status, run.out.as_str(), run.err.as_str()), (1, expected, ""));
}
