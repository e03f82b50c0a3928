//! What a check passes over: unknown and damaged parts of files, folders of version control,
//! pictures, and patterns that match nothing.

use std::fs;

use crate::folder::folder;
use crate::{Run, check_in, npy, safetensors};

fn f32s(value: f32) -> Vec<u8> {
    let header = r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    safetensors(header, &value.to_le_bytes())
}

/// A tensor of a dtype that is not known, and one of floats.
fn unknown_dtype(value: f32) -> Vec<u8> {
    let header = concat!(
        r#"{"new":{"dtype":"F99","shape":[2,2],"data_offsets":[0,7]},"#,
        r#""x":{"dtype":"F32","shape":[1],"data_offsets":[7,11]}}"#
    );
    safetensors(header, &[&[0xFF; 7][..], &value.to_le_bytes()].concat())
}

const UNKNOWN: &str =
    "nonfinite: a.safetensors: tensor \"new\": dtype \"F99\" is not known to this version\n";

#[test]
fn a_dtype_that_is_not_known() {
    let top = folder("skip-dtype");
    for (value, skipped) in [(1.0, 0), (f32::NAN, 1)] {
        fs::write(top.join("a.safetensors"), unknown_dtype(value)).unwrap();
        let run = check_in(&top, &["a.safetensors"]);
        assert_eq!((run.status, run.err.as_str()), (2, UNKNOWN));
        assert_eq!(run.out.contains("\"x\" F32 [1]: 1 NaN"), skipped == 1);
        assert_eq!(check_in(&top, &["--skip-unknown", "a.safetensors"]).status, skipped);
    }
}

/// The forms for services say what the exit status says.
#[test]
fn forms_for_services() {
    let top = folder("skip-forms");
    fs::write(top.join("a.safetensors"), unknown_dtype(1.0)).unwrap();
    let form = |form, skip: bool| -> Run {
        let arguments = ["--format", form, "a.safetensors", "--skip-unknown"];
        let run = check_in(&top, &arguments[..if skip { 4 } else { 3 }]);
        assert_eq!(run.status, if skip { 0 } else { 2 });
        run
    };
    assert!(form("github", false).out.starts_with("::error file=a.safetensors,"));
    assert!(form("github", true).out.starts_with("::notice file=a.safetensors,"));
    for (skip, level) in [(false, "error"), (true, "note")] {
        let sarif: serde_json::Value = serde_json::from_str(&form("sarif", skip).out).unwrap();
        assert_eq!(sarif["runs"][0]["results"][0]["level"], level);
        assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], skip);
    }
    let junit = form("junit", false).out;
    assert!(junit.contains("errors=\"1\"") && junit.contains("<error "), "{junit}");
    let junit = form("junit", true).out;
    assert!(junit.contains("errors=\"0\" skipped=\"1\""), "{junit}");
    assert!(junit.contains("<skipped message=\"not checked in new\""), "{junit}");
}

/// A damaged member of an archive and a damaged shard are no unknown ones.
#[test]
fn damaged_parts() {
    let top = folder("skip-damaged");
    let index = "model.safetensors.index.json";
    fs::write(top.join(index), r#"{"weight_map":{"x":"1.safetensors","y":"2.safetensors"}}"#)
        .unwrap();
    fs::write(top.join("1.safetensors"), f32s(f32::NAN)).unwrap();
    fs::write(top.join("2.safetensors"), &f32s(1.0)[..40]).unwrap();
    for arguments in [&[index][..], &["--skip-unknown", index], &["--skip-unknown", "."]] {
        let run = check_in(&top, arguments);
        assert_eq!(run.status, 2, "{arguments:?}");
        assert!(run.out.contains("\"x\" F32 [1]: 1 NaN"), "{}", run.out);
        assert!(run.out.contains("files in error: 1"), "{}", run.out);
        let why = "\"2.safetensors\": ";
        assert!(run.err.contains(why) && run.err.contains("ends before its header"), "{}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    }
}

#[test]
fn version_control_and_pictures() {
    let top = folder("skip-version-control");
    for folder in [".git/objects", "inner/.git", ".hidden"] {
        fs::create_dir_all(top.join(folder)).unwrap();
    }
    fs::write(top.join("a.safetensors"), f32s(1.0)).unwrap();
    fs::write(top.join("readme.md"), "text").unwrap();
    for file in [".git/index", ".git/objects/pack", "inner/.git/index"] {
        fs::write(top.join(file), [1, 2, 0xFF]).unwrap();
    }
    let png = b"\x89PNG\r\n\x1A\n\0\0\0\0IEND\xAE\x42\x60\x82";
    let pdf = b"%PDF-1.4\n\xFF\n%%EOF\n";
    let files: [(&str, &[u8]); 5] = [
        ("a.png", png),
        ("b.jpg", b"\xFF\xD8\xFF\xE0\0\xFF\xD9"),
        ("c.gif", b"GIF89a\0\0;"),
        ("d.webp", b"RIFF\x05\0\0\0WEBP\0"),
        ("e.pdf", pdf),
    ];
    files.into_iter().for_each(|(name, bytes)| fs::write(top.join(name), bytes).unwrap());
    let run = check_in(&top, &["."]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    let end = "; text files: 1; pictures and documents: 5; folders of version control: 2\n";
    assert!(run.out.ends_with(end), "{}", run.out);
    // Patterns find the same as the search of a folder.
    let run = check_in(&top, &["**/*"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    assert!(run.out.ends_with(end), "{}", run.out);
    assert_eq!((check_in(&top, &["*"]).status, check_in(&top, &["*.md"]).status), (0, 2));
    // Other hidden folders are searched, and so is one that is named.
    fs::write(top.join(".hidden/x"), [1, 2, 0xFF]).unwrap();
    let run = check_in(&top, &["."]);
    let unknown = "nonfinite: ./.hidden/x: not a file of a known format\n";
    assert_eq!((run.status, run.err.as_str()), (2, unknown));
    fs::remove_file(top.join(".hidden/x")).unwrap();
    assert_eq!(check_in(&top, &[".git"]).status, 2);
    // Something stands behind the picture.
    fs::write(top.join("a.png"), [&png[..], &f32s(f32::NAN)].concat()).unwrap();
    let run = check_in(&top, &["."]);
    assert_eq!(run.err, "nonfinite: ./a.png: not a file of a known format\n");
    fs::write(top.join("e.pdf"), pdf).unwrap();
    let run = check_in(&top, &["e.pdf"]);
    let why = "nonfinite: e.pdf: not a file of a known format: this is a document (PDF)\n";
    assert_eq!((run.status, run.err.as_str()), (2, why));
}

#[test]
fn patterns_that_match_nothing() {
    let top = folder("skip-patterns");
    fs::write(top.join("a.safetensors"), f32s(f32::NAN)).unwrap();
    let warning =
        |option| format!("nonfinite: warning: {option}: no tensor has a name that matches y*\n");
    let run = check_in(&top, &["--allow", "y*:nan", "--allow", "x:nan", "a.safetensors"]);
    assert_eq!((run.status, run.err), (0, warning("--allow")));
    let run = check_in(&top, &["--as", "y*=f8e4m3fn", "--json", "a.safetensors"]);
    assert_eq!((run.status, run.err), (1, warning("--as")));
    serde_json::from_str::<serde_json::Value>(&run.out).expect("the output is JSON");
}

/// A stream or file that ends early: which tensor, and how much of it is missing.
#[test]
fn data_that_ends_early() {
    let array = npy("'<f4'", false, "(3,)", &[0; 10]);
    let integers = npy("'<i4'", false, "(3,)", &[0; 11]);
    let header = r#"{"x":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}"#;
    let files = [
        (array, "nonfinite: -: tensor \"\": the data ends too early: 2 bytes of it are missing\n"),
        (integers, "nonfinite: -: tensor \"\": the data ends too early: 1 byte of it is missing\n"),
        (
            safetensors(header, &[0; 4]),
            "nonfinite: -: tensor \"x\": the data ends too early: 8 bytes of it are missing\n",
        ),
    ];
    for (bytes, message) in files {
        let path = crate::file("ends-early", &bytes);
        let mut command = crate::command();
        let output = command.args(["check", "-"]).stdin(fs::File::open(path).unwrap()).output();
        let run = Run::from(output.unwrap());
        assert_eq!((run.status, run.err.as_str()), (2, message));
    }
}

/// An ONNX model with one tensor of this type, whose data is in the file `data`.
pub(crate) fn external(code: u8, elements: u8, offset: u8) -> Vec<u8> {
    let field = |number: u8, value: &[u8]| {
        let length = u8::try_from(value.len()).expect("a short message");
        [&[number << 3 | 2, length], value].concat()
    };
    let entry = |key: &[u8], value: &[u8]| field(13, &[field(1, key), field(2, value)].concat());
    let place = [entry(b"location", b"data"), entry(b"offset", offset.to_string().as_bytes())];
    let dtype = [0x08, elements, 0x10, code, 0x70, 0x01];
    let tensor = [&dtype[..], &field(8, b"w"), &place.concat()].concat();
    [&[0x08, 9][..], &field(7, &field(5, &tensor)), &field(8, &[0x10, 20])].concat()
}

/// Models that share a file of data are complete together: in a folder, and as arguments.
#[test]
fn models_that_share_their_data() {
    let top = folder("skip-shared");
    fs::write(top.join("data"), [1f32, 2.0, f32::NAN, 4.0].map(f32::to_le_bytes).concat()).unwrap();
    fs::write(top.join("encoder.onnx"), external(1, 2, 0)).unwrap();
    fs::write(top.join("decoder.onnx"), external(1, 2, 8)).unwrap();
    for arguments in [&["."][..], &["encoder.onnx", "decoder.onnx"], &["*.onnx"]] {
        let run = check_in(&top, arguments);
        assert_eq!((run.status, run.err.as_str()), (1, ""), "{arguments:?}");
        assert!(run.out.contains("decoder.onnx: \"w\" float [2]: 1 NaN"), "{}", run.out);
        assert!(run.out.contains("checked 2 tensors, 4 elements, 16 bytes"), "{}", run.out);
    }
    // Alone, a model leaves bytes that could be another's.
    let run = check_in(&top, &["encoder.onnx"]);
    let why = "nonfinite: data: \"bytes 8 to 16\": no tensor refers to these bytes\n";
    assert_eq!((run.status, run.err.as_str()), (2, why));
    fs::remove_file(top.join("decoder.onnx")).unwrap();
    let run = check_in(&top, &["."]);
    assert_eq!((run.status, run.err), (2, why.replace("data", "./data")));
}

/// The file of a model's integers is no file of an unknown format.
#[test]
pub(crate) fn external_integers_in_a_folder() {
    let top = folder("skip-integers");
    fs::write(top.join("data"), [0xFF; 16]).unwrap();
    fs::write(top.join("a.onnx"), external(7, 2, 0)).unwrap();
    let run = check_in(&top, &["."]);
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
}
