//! The files of the arguments.

use std::fs::{self, File};

use crate::folder::{Folder, folder};
use crate::{Run, array, check_in, command, run, tensor};

const SUMMARY: &str = "; skipped 0 without floats, 0 always finite";

#[test]
fn folders_are_searched() {
    let top = folder("search");
    fs::create_dir(top.join("inner")).unwrap();
    fs::write(top.join("b.safetensors"), tensor("x", f32::NAN)).unwrap();
    fs::write(top.join("inner/a.NPY"), array(&[f32::INFINITY])).unwrap();
    fs::write(top.join("config.json"), "{}").unwrap();
    fs::write(top.join("readme.txt"), "NaN").unwrap();
    let run = check_in(&top, &["."]);
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    let lines: Vec<_> = run.out.lines().collect();
    assert_eq!(lines[0], "./b.safetensors: \"x\" F32 [1]: 1 NaN, 0 +Inf, 0 -Inf, first NaN at [0]");
    assert_eq!(lines[1], "./inner/a.NPY: <f4 [1]: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at [0]");
    assert!(
        lines[2].starts_with("2 of 2 tensors hold NaN or infinity; the first is x in ./b.")
            && lines[2].ends_with(&format!("{SUMMARY}; text files: 2"))
    );

    let nothing = folder("search-nothing");
    let run = check_in(&nothing, &["."]);
    assert_eq!(run.status, 2);
    assert_eq!(run.err, "nonfinite: .: no file of a known format is there\n");
}

/// Contents decide, not names: what could hold a number is checked or named.
#[test]
fn folders_drop_nothing() {
    let top = folder("search-all");
    let bad = tensor("x", f32::NAN);
    fs::write(top.join("pytorch_model.bin"), &bad).unwrap();
    fs::write(top.join("model.pth.tar"), &bad).unwrap();
    fs::write(top.join("__0_0.distcp"), [0x80, 2, 0, 1]).unwrap();
    fs::write(top.join("weights.h5"), b"\x89HDF\r\n\x1A\n\0\0").unwrap();
    fs::write(top.join("blob"), [0, 1, 2]).unwrap();
    fs::write(top.join("pointer.bin"), "version https://git-lfs.github.com/spec/v1\n").unwrap();
    fs::write(top.join("__init__.py"), "").unwrap();
    fs::write(top.join("config.json"), "{}").unwrap();
    let run = check_in(&top, &["."]);
    let mut lines: Vec<_> = run.out.lines().map(crate::without_speed).collect();
    assert_eq!(
        lines.pop().unwrap(),
        format!(
            "2 of 2 tensors hold NaN or infinity; the first is x in ./model.pth.tar, at [0]; \
             3 files were not checked, or only in part. \
             Checked 2 elements, 8 bytes{SUMMARY}; text files: 2; \
             files of no known format: 1; files not looked at, or in part: 2; files in error: 1"
        )
    );
    let found = "\"x\" F32 [1]: 1 NaN, 0 +Inf, 0 -Inf, first NaN at [0]";
    assert_eq!(
        lines,
        ["./model.pth.tar", "./pytorch_model.bin"].map(|file| format!("{file}: {found}"))
    );
    let complaints: Vec<_> =
        run.err.lines().map(|line| line.split(" (npy, ").next().unwrap_or(line)).collect();
    assert_eq!(
        complaints,
        [
            "nonfinite: ./pointer.bin: a pointer of Git LFS, and not the file that it stands for: \
             run git lfs pull",
            "nonfinite: ./__0_0.distcp: not looked at: a pickle of Python",
            "nonfinite: ./weights.h5: not looked at: an HDF5 file (Keras, NetCDF)",
            "nonfinite: 1 file of no known format: blob",
        ]
    );
    assert_eq!(run.status, 2);
    // The file that the pointer stands for is missing. The others change nothing: a tensor is bad.
    fs::remove_file(top.join("pointer.bin")).unwrap();
    assert_eq!(check_in(&top, &["."]).status, 1);
    fs::remove_file(top.join("pytorch_model.bin")).unwrap();
    fs::write(top.join("model.pth.tar"), tensor("x", 1.0)).unwrap();
    let run = check_in(&top, &["--json", "."]);
    assert_eq!(run.status, 2);
    let document: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["complete"], false);
    let named = |file: &serde_json::Value| file["not_looked_at"].as_array().unwrap().len();
    let files = document["files"].as_array().unwrap();
    assert_eq!(files.iter().map(named).collect::<Vec<_>>(), [0, 1, 1]);
    assert_eq!(
        files[1]["not_looked_at"][0],
        serde_json::json!({"name": null, "reason": "not looked at: a pickle of Python"})
    );

    let text = folder("search-text");
    fs::write(text.join("readme.txt"), "NaN").unwrap();
    let run = check_in(&text, &["."]);
    assert_eq!((run.status, &*run.err), (2, "nonfinite: .: no file of a known format is there\n"));
}

#[cfg(unix)]
#[test]
fn links_in_folders() {
    use std::os::unix::fs::symlink;
    let (top, other) = (folder("search-links"), folder("search-links-other"));
    fs::write(other.join("x.safetensors"), tensor("x", f32::NAN)).unwrap();
    symlink(other.join("x.safetensors"), top.join("good")).unwrap();
    symlink("gone", top.join("model.safetensors")).unwrap();
    symlink(&other, top.join("folder")).unwrap();
    let run = check_in(&top, &["."]);
    assert_eq!(run.status, 2);
    assert!(run.out.starts_with("./good: \"x\" F32 [1]: 1 NaN"), "{}", run.out);
    let gone = "nonfinite: ./model.safetensors: a symbolic link to \"gone\", which cannot be";
    assert!(run.err.contains(gone), "{}", run.err);
    let folder = "nonfinite: ./folder: not looked at: a link to a folder, which a search does not \
                  follow";
    assert!(run.err.contains(folder), "{}", run.err);
    // A bad tensor comes before what was not looked at.
    fs::remove_file(top.join("model.safetensors")).unwrap();
    assert_eq!(check_in(&top, &["."]).status, 1);
    fs::remove_file(top.join("good")).unwrap();
    assert_eq!(check_in(&top, &["."]).status, 2);
}

/// A folder that cannot be read is named, and its neighbours are checked.
#[cfg(target_os = "linux")]
#[test]
fn folders_that_cannot_be_read() {
    let top = folder("search-closed");
    fs::write(top.join("b.safetensors"), tensor("x", f32::NAN)).unwrap();
    fs::create_dir(top.join("closed")).unwrap();
    let close = |mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(top.join("closed"), fs::Permissions::from_mode(mode)).unwrap();
    };
    close(0);
    let run = if fs::read_dir(top.join("closed")).is_err() {
        check_in(&top, &["."])
    } else {
        // Root reads every folder, and another user does not.
        let mut command = command();
        let command = command.args(["check", "."]).current_dir(&top);
        std::os::unix::process::CommandExt::uid(command, 65534);
        Run::of(command)
    };
    close(0o700);
    assert!(run.out.starts_with("./b.safetensors: \"x\" F32 [1]: 1 NaN"), "{}{}", run.out, run.err);
    assert!(run.err.contains("./closed: Permission denied"), "{}", run.err);
    assert_eq!(run.status, 2);
}

/// Folders of any depth. Links to folders are not followed, so that circles end.
#[test]
#[cfg(unix)]
fn patterns_of_any_depth() {
    let top = folder("patterns-deep");
    fs::create_dir_all(top.join("a/b/c")).unwrap();
    for path in ["x.npy", "a/x.npy", "a/b/c/x.npy", "a/b/x.txt"] {
        fs::write(top.join(path), array(&[f32::NAN])).unwrap();
    }
    // Two links up in a folder: 2^40 ways, if they are followed.
    for link in ["a/b/up", "a/b/again", "a/up"] {
        std::os::unix::fs::symlink("..", top.join(link)).unwrap();
    }
    std::os::unix::fs::symlink("x.npy", top.join("a/link.npy")).unwrap();
    let absolute = format!("{}/**/*.npy", top.display());
    let inner = |names: &[&str]| -> Vec<String> { names.iter().map(|&n| n.to_owned()).collect() };
    for (pattern, expected) in [
        // The link stands for its file.
        ("**/*.npy", inner(&["a/b/c/x.npy", "a/link.npy", "x.npy"])),
        ("a/**/x.npy", inner(&["a/b/c/x.npy", "a/x.npy"])),
        ("*/**/c/*.npy", inner(&["a/b/c/x.npy"])),
        ("a/up/a/**/c/x.npy", inner(&["a/up/a/b/c/x.npy"])),
        ("**/b/**/*.t?t", inner(&["a/b/x.txt"])),
    ] {
        let run = check_in(&top, &[pattern]);
        let files: Vec<_> = run
            .out
            .lines()
            .filter_map(|line| line.split_once(": <f4"))
            .map(|line| line.0)
            .collect();
        assert_eq!(files, expected, "{pattern}: {}", run.err);
    }
    assert_eq!(check_in(&top, &[&absolute]).out.lines().count(), 4);
    let run = check_in(&top, &["**/*.pt"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("no file of a known format is there"), "{}", run.err);
}

#[test]
fn patterns() {
    let top = folder("patterns");
    for (name, value) in
        [("a-1.safetensors", 1.0), ("a-2.safetensors", f32::NAN), ("b-1.safetensors", f32::NAN)]
    {
        fs::write(top.join(name), tensor("x", value)).unwrap();
    }
    let run = check_in(&top, &["a-*.safetensors"]);
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    assert!(
        run.out.starts_with("a-2.safetensors: \"x\" ") && run.out.contains("\n1 of 2 tensors ")
    );
    let run = check_in(&top, &["c-*.safetensors"]);
    assert_eq!(
        (run.status, run.err.as_str()),
        (2, "nonfinite: c-*.safetensors: no file of a known format is there\n")
    );
    // A file with such a name is that file.
    fs::write(top.join("a-[12].safetensors"), tensor("x", 1.0)).unwrap();
    let run = check_in(&top, &["a-[12].safetensors"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    assert!(run.out.contains("The one tensor that was looked at holds no "));
}

const INDEX: &str = "model.safetensors.index.json";

fn shards(name: &str) -> Folder {
    let top = folder(name);
    fs::write(top.join("m-1.safetensors"), tensor("a", 1.0)).unwrap();
    fs::write(top.join("m-2.safetensors"), tensor("b", f32::NEG_INFINITY)).unwrap();
    let index = concat!(
        r#"{"metadata":{"total_size":8},"#,
        r#""weight_map":{"b":"m-2.safetensors","a":"m-1.safetensors"}}"#
    );
    fs::write(top.join(INDEX), index).unwrap();
    top
}

/// By the index, and in a folder by the index too: each shard once.
#[test]
fn sharded_sets() {
    let top = shards("shards");
    for argument in [INDEX, "."] {
        let run = check_in(&top, &[argument]);
        assert_eq!((run.status, run.err.as_str()), (1, ""), "{argument}");
        assert!(run.out.contains(
            "m-2.safetensors: \"b\" F32 [1]: 0 NaN, 0 +Inf, 1 -Inf, first -Inf at [0]\n"
        ));
        assert!(run.out.contains("\n1 of 2 tensors "), "{}", run.out);
    }
    let run = check_in(&top, &["--json", INDEX]);
    assert!(run.out.contains(r#""shard":"m-2.safetensors""#), "{}", run.out);
    assert!(run.out.contains(r#""format":"safetensors.index.json""#), "{}", run.out);
}

/// A file through a pipe gives the same output as a file on a disk.
#[test]
fn standard_input() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");
    for name in ["sample.safetensors", "sample.npy", "clean.npy"] {
        let path = format!("{samples}/{name}");
        let whole = run(["check", &path]);
        let piped = Run::of(command().args(["check", "-"]).stdin(File::open(&path).unwrap()));
        assert_eq!((piped.status, piped.err.as_str()), (whole.status, ""));
        let lines = |out: &str, path: &str| -> Vec<String> {
            out.lines().map(|line| crate::without_speed(line).replacen(path, "FILE", 1)).collect()
        };
        assert_eq!(lines(&piped.out, "-"), lines(&whole.out, &path));
    }
}
