//! What a check passes over: damaged parts of files, folders of version control,
//! pictures, and patterns that match nothing.

use std::fs;

use crate::folder::folder;
use crate::{check_in, tensor};

/// A damaged shard is no unknown one, and neither is half a download. The other shards are checked.
#[test]
fn damaged_parts() {
    let top = folder("skip-damaged");
    let index = "model.safetensors.index.json";
    fs::write(top.join(index), r#"{"weight_map":{"x":"1.safetensors","y":"2.safetensors"}}"#)
        .unwrap();
    fs::write(top.join("1.safetensors"), tensor("x", f32::NAN)).unwrap();
    for why in ["2.safetensors: No such file", "ends before its header"] {
        for arguments in [&[index][..], &["."], &["--strict", "."]] {
            let run = check_in(&top, arguments);
            assert_eq!(run.status, 2, "{arguments:?}");
            assert!(run.out.contains("\"x\" F32 [1]: 1 NaN"), "{}", run.out);
            assert!(run.out.contains("files in error: 1"), "{}", run.out);
            assert!(
                run.err.contains("\"2.safetensors\": ") && run.err.contains(why),
                "{}",
                run.err
            );
            assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        }
        fs::write(top.join("2.safetensors"), &tensor("y", 1.0)[..40]).unwrap();
    }
}

#[test]
fn version_control_and_pictures() {
    let top = folder("skip-version-control");
    for folder in [".git/objects", "inner/.git", ".hidden"] {
        fs::create_dir_all(top.join(folder)).unwrap();
    }
    fs::write(top.join("a.safetensors"), tensor("x", 1.0)).unwrap();
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
    let unknown = "nonfinite: 1 file of no known format: x\n";
    assert_eq!((run.status, run.err.as_str()), (0, unknown));
    assert!(run.out.contains("; files of no known format: 1\n"), "{}", run.out);
    fs::remove_file(top.join(".hidden/x")).unwrap();
    assert_eq!(check_in(&top, &[".git"]).status, 2);
    // Something stands behind the picture.
    fs::write(top.join("a.png"), [&png[..], &tensor("x", f32::NAN)].concat()).unwrap();
    let run = check_in(&top, &["."]);
    assert_eq!(run.err, "nonfinite: 1 file of no known format: a.png\n");
    fs::write(top.join("e.pdf"), pdf).unwrap();
    let run = check_in(&top, &["e.pdf"]);
    let why = "nonfinite: e.pdf: not a file of a known format: this is a document (PDF)\n";
    assert_eq!((run.status, run.err.as_str()), (2, why));
}

#[test]
fn patterns_that_match_nothing() {
    let top = folder("skip-patterns");
    fs::write(top.join("a.safetensors"), tensor("x", f32::NAN)).unwrap();
    let warning = "nonfinite: warning: --allow: no tensor has a name that matches y*\n";
    let run = check_in(&top, &["--allow", "y*:nan", "--allow", "x:nan", "a.safetensors"]);
    assert_eq!((run.status, run.err.as_str()), (0, warning));
    let run = check_in(&top, &["--allow", "y*:nan", "--json", "a.safetensors"]);
    assert_eq!((run.status, run.err.as_str()), (1, warning));
    serde_json::from_str::<serde_json::Value>(&run.out).expect("the output is JSON");
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

/// Models may share a file of data. It is no file of an unknown format.
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
        assert!(run.out.contains("\n1 of 2 tensors "), "{}", run.out);
    }
    let run = check_in(&top, &["encoder.onnx"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
}

/// Files of no known format are listed in one line, and change no status. Containers that could
/// hold tensors do, and so does a file that is named. `--strict` is stricter.
#[test]
fn files_of_no_known_format() {
    let top = folder("skip-no-format");
    for name in ["k", "c", "a", "b", "d", "e", "f", "g", "h"] {
        fs::write(top.join(format!("{name}.model")), [1, 2, 0xFF]).unwrap();
    }
    let status = |arguments: &[&str]| check_in(&top, arguments).status;
    // No file is of a known format.
    assert_eq!(status(&["."]), 2);
    fs::write(top.join("x.safetensors"), tensor("x", 1.0)).unwrap();
    let names = "a.model, b.model, c.model, d.model, e.model, f.model, g.model, h.model";
    let listed = format!("nonfinite: 9 files of no known format: {names}, ...\n");
    for argument in [".", "*", "**/*"] {
        let run = check_in(&top, &[argument]);
        assert_eq!((run.status, &run.err), (0, &listed), "{argument}");
    }
    let run = check_in(&top, &["--json", "."]);
    let document: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.status, &document["complete"]), (0, &true.into()));
    assert_eq!(document["files"].as_array().unwrap().len(), 1);
    let no_format = document["no_format"].as_array().unwrap();
    assert_eq!((no_format.len(), &no_format[0]), (9, &"./a.model".into()));
    assert_eq!([status(&["-q", "--strict", "."]), status(&["a.model"])], [2, 2]);
    assert_eq!(check_in(&top, &["-q", "."]).err, "");
    // A tensor is bad, whatever else is there.
    fs::write(top.join("y.safetensors"), tensor("x", f32::NAN)).unwrap();
    assert_eq!([status(&["."]), status(&["--strict", "."])], [1, 2]);
    assert_eq!([status(&["y.safetensors", "a.model"]), status(&["--strict", "a.model"])], [1, 2]);
    fs::remove_file(top.join("y.safetensors")).unwrap();
    // Containers, and a file whose name has the ending of a known format.
    let containers: [(&str, &[u8]); 6] = [
        ("z.h5", b"\x89HDF\r\n\x1A\n\0\0"),
        ("z.pkl", b"\x80\x04N."),
        ("z.gz", b"\x1F\x8B\x08\0"),
        ("z.xz", b"\xFD7zXZ\0"),
        ("z.zst", b"\x28\xB5\x2F\xFD"),
        ("z.gguf", &[1, 2, 0xFF]),
    ];
    for (name, bytes) in containers {
        fs::write(top.join(name), bytes).unwrap();
        let run = check_in(&top, &["."]);
        assert!(run.status == 2 && run.err.contains(name), "{name}: {}", run.err);
        fs::remove_file(top.join(name)).unwrap();
    }
}

/// A cache of Hugging Face has its files in `blobs`, and links with their names: each file is
/// checked once, by its name.
#[cfg(unix)]
#[test]
fn files_behind_links() {
    use std::os::unix::fs::symlink;
    let top = folder("skip-cache");
    let model = top.join("models--o--m");
    for folder in ["blobs", "refs", "snapshots/1", "snapshots/2"] {
        fs::create_dir_all(model.join(folder)).unwrap();
    }
    let index = r#"{"weight_map":{"x":"a.safetensors"}}"#;
    let files: [(&str, &str, &[u8]); 4] = [
        ("1a", "a.safetensors", &tensor("x", f32::NAN)),
        ("2b", "model.safetensors.index.json", index.as_bytes()),
        ("3c", "tokenizer.model", &[1, 2, 0xFF]),
        ("4d", "config.json", b"{}"),
    ];
    for (blob, name, bytes) in files {
        fs::write(model.join("blobs").join(blob), bytes).unwrap();
        for snapshot in ["snapshots/1", "snapshots/2"] {
            symlink(format!("../../blobs/{blob}"), model.join(snapshot).join(name)).unwrap();
        }
    }
    fs::write(model.join("refs/main"), "1").unwrap();
    for argument in [".", "**/*"] {
        let run = check_in(&top, &[argument]);
        let listed = "nonfinite: 1 file of no known format: tokenizer.model\n";
        assert_eq!((run.status, run.err.as_str()), (1, listed), "{argument}");
        assert_eq!(run.out.lines().count(), 2, "{argument}: {}", run.out);
        assert!(run.out.contains("snapshots/1/a.safetensors: \"x\""), "{}", run.out);
        assert!(
            run.out.contains("The one tensor that was looked at holds NaN or infinity: "),
            "{}",
            run.out
        );
    }
}

/// Two revisions share an index or a model of ONNX, and differ in the file that has the numbers.
#[cfg(unix)]
#[test]
fn revisions_that_share_a_file() {
    use std::os::unix::fs::symlink;
    let check = |shared: &str, bytes: &[u8], other: &str, of_revisions: [&[u8]; 2]| {
        let top = folder("skip-revisions");
        for name in ["blobs", "1", "2"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        fs::write(top.join("blobs/shared"), bytes).unwrap();
        for (revision, numbers) in ["1", "2"].into_iter().zip(of_revisions) {
            fs::write(top.join("blobs").join(revision), numbers).unwrap();
            symlink("../blobs/shared", top.join(revision).join(shared)).unwrap();
            symlink(format!("../blobs/{revision}"), top.join(revision).join(other)).unwrap();
        }
        let run = check_in(&top, &["."]);
        assert_eq!(run.status, 1, "{shared}: {}{}", run.out, run.err);
    };
    let index = br#"{"weight_map":{"x":"a.safetensors"}}"#;
    let shards: [&[u8]; 2] = [&tensor("x", 1.0), &tensor("x", f32::NAN)];
    check("model.safetensors.index.json", index, "a.safetensors", shards);
    check("a.onnx", &external(1, 2, 0), "data", [&[0; 16], &[0xFF; 16]]);
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
