//! Which files the arguments mean.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::{Run, command, file, npy, run, safetensors};

const SUMMARY: &str = "; skipped 0 without floats, 0 always finite";

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("the build folder can be written to");
    path
}

fn tensor(name: &str, value: f32) -> Vec<u8> {
    let header = format!(r#"{{"{name}":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}}}"#);
    safetensors(header, &value.to_le_bytes())
}

fn check_in(folder: &Path, arguments: &[&str]) -> Run {
    command()
        .arg("check")
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the command starts")
        .into()
}

#[test]
fn folders_are_searched() {
    let top = folder("search");
    fs::create_dir(top.join("inner")).unwrap();
    fs::write(top.join("b.safetensors"), tensor("x", f32::NAN)).unwrap();
    fs::write(top.join("inner/a.NPY"), npy("'<f4'", false, "(1,)", &f32::INFINITY.to_le_bytes()))
        .unwrap();
    fs::write(top.join("config.json"), "{}").unwrap();
    fs::write(top.join("readme.txt"), "NaN").unwrap();
    let run = check_in(&top, &["."]);
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    let lines: Vec<_> = run.out.lines().collect();
    assert_eq!(lines[0], "./b.safetensors: \"x\" F32 [1]: 1 NaN, 0 +Inf, 0 -Inf, first NaN at [0]");
    assert_eq!(lines[1], "./inner/a.NPY: <f4 [1]: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at [0]");
    assert!(
        lines[2].starts_with("checked 2 tensors, 2 elements, 8 bytes in ")
            && lines[2].ends_with(SUMMARY)
    );

    let nothing = folder("search-nothing");
    let run = check_in(&nothing, &["."]);
    assert_eq!(run.status, 2);
    assert_eq!(run.err, "nonfinite: .: no file of a known format is there\n");
}

/// Folders of any depth. Links to folders are not followed, so that circles end.
#[test]
#[cfg(unix)]
fn patterns_of_any_depth() {
    let top = folder("patterns-deep");
    fs::create_dir_all(top.join("a/b/c")).unwrap();
    for path in ["x.npy", "a/x.npy", "a/b/c/x.npy", "a/b/x.txt"] {
        fs::write(top.join(path), npy("'<f4'", false, "(1,)", &f32::NAN.to_le_bytes())).unwrap();
    }
    // Two links up in a folder: 2^40 ways, if they are followed.
    for link in ["a/b/up", "a/b/again", "a/up"] {
        std::os::unix::fs::symlink("..", top.join(link)).unwrap();
    }
    std::os::unix::fs::symlink("x.npy", top.join("a/link.npy")).unwrap();
    let absolute = format!("{}/**/*.npy", top.display());
    let inner = |names: &[&str]| -> Vec<String> { names.iter().map(|&n| n.to_owned()).collect() };
    for (pattern, expected) in [
        ("**/*.npy", inner(&["a/b/c/x.npy", "a/link.npy", "a/x.npy", "x.npy"])),
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
    assert_eq!(check_in(&top, &[&absolute]).out.lines().count(), 5);
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
        run.out.starts_with("a-2.safetensors: \"x\" ") && run.out.contains("\nchecked 2 tensors, ")
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
    assert!(run.out.contains("checked 1 tensors, "));
}

const INDEX: &str = "model.safetensors.index.json";

fn shards(name: &str) -> PathBuf {
    let top = folder(name);
    fs::write(top.join("m-1.safetensors"), tensor("a", 1.0)).unwrap();
    fs::write(top.join("m-2.safetensors"), tensor("b", f32::NEG_INFINITY)).unwrap();
    let index = r#"{"metadata":{"total_size":8},"weight_map":{"b":"m-2.safetensors","a":"m-1.safetensors"}}"#;
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
        assert!(run.out.contains("checked 2 tensors, 2 elements, 8 bytes in "), "{}", run.out);
    }
    let run = check_in(&top, &["--json", INDEX]);
    assert!(run.out.contains(r#""shard":"m-2.safetensors""#), "{}", run.out);
    assert!(run.out.contains(r#""format":"safetensors.index.json""#), "{}", run.out);
}

#[test]
fn damaged_sets() {
    let top = shards("shards-damaged");
    let index = |text: &str, message: &str| {
        fs::write(top.join(INDEX), text).unwrap();
        let run = check_in(&top, &[INDEX]);
        assert_eq!(run.status, 2, "{text}");
        assert!(run.err.contains(message) && run.err.lines().count() == 1, "{}", run.err);
    };
    index(r#"{"weight_map":{"x":"m-1.safetensors"}}"#, r#"tensor "x" is not in "m-1.safetensors""#);
    index(r#"{"weight_map":{"x":"m-3.safetensors"}}"#, "m-3.safetensors: No such file");
    index(r#"{"weight_map":{"x":"../m-1.safetensors"}}"#, "outside its folder");
    index(r#"{"weight_map":{"x":"/etc/passwd"}}"#, "outside its folder");
    index(r#"{"weight_map":{"x":""}}"#, "outside its folder");
    index(r#"{"weight_map":{"x":"."}}"#, "is a directory");
    index("{}", "missing field `weight_map`");
    index(r#"{"weight_map":"#, "bad index");
}

/// Half a download: the set cannot be checked, but in a folder the shards that are there are.
#[test]
fn sets_that_are_not_whole() {
    let top = shards("shards-missing");
    fs::remove_file(top.join("m-1.safetensors")).unwrap();
    let run = check_in(&top, &["."]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("m-1.safetensors: No such file"), "{}", run.err);
    assert!(
        run.out.contains("m-2.safetensors: \"b\" F32 [1]: 0 NaN, 0 +Inf, 1 -Inf"),
        "{}",
        run.out
    );
}

/// A file that comes through a pipe is told the same about as one that lies on a disk.
#[test]
fn standard_input() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");
    for name in ["sample.safetensors", "sample.npy", "clean.npy"] {
        let path = format!("{samples}/{name}");
        let whole = run(["check", &path]);
        let piped =
            command().args(["check", "-"]).stdin(File::open(&path).unwrap()).output().unwrap();
        let piped = Run::from(piped);
        assert_eq!((piped.status, piped.err.as_str()), (whole.status, ""));
        let lines = |out: &str, path: &str| -> Vec<String> {
            out.lines().map(|line| crate::without_speed(line).replacen(path, "FILE", 1)).collect()
        };
        assert_eq!(lines(&piped.out, "-"), lines(&whole.out, &path));
    }
}

#[test]
fn damaged_streams() {
    let stream = |bytes: &[u8], message: &str| {
        let path = file("stream", bytes);
        let output =
            command().args(["check", "-"]).stdin(File::open(path).unwrap()).output().unwrap();
        let run = Run::from(output);
        assert_eq!(run.status, 2, "{message}");
        assert!(
            run.err.starts_with("nonfinite: -: ") && run.err.contains(message),
            "{message}: {}",
            run.err
        );
    };
    let good = npy("'<f4'", false, "(2,)", &[0; 8]);
    stream(b"", "is empty");
    stream(b"hello, world, how are you", "not a file of a known format");
    stream(b"PK\x03\x04 and what belongs to it", "npz cannot be read from a stream");
    stream(&good[..good.len() - 1], "failed to fill whole buffer");
    stream(&[&good[..], &[0]].concat(), "goes on behind byte ");
    stream(b"\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{'descr'", "4294967295 bytes are too many");
    stream(b"\x93NUMPY\x02\0\xFF\xFF\0\0{'descr'", "ends before its header");
    #[cfg(feature = "arrow")]
    stream(b"ARROW1\0\0 and what belongs to it", "but arrow's streaming format can");
    let model = tensor("x", 1.0);
    stream(&model[..model.len() - 4], "failed to fill whole buffer");
    stream(&model[..20], "ends before its header of ");
    stream(b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", "bytes are too many");
    let huge = r#"{"x":{"dtype":"U8","shape":[9223372036854775807],"data_offsets":[0,9223372036854775807]}}"#;
    stream(&safetensors(huge, &[]), "ends at byte 9223372036854775807");
}

/// A pipe that nobody writes to is waited for, and a signal ends that. Not SIGINT, which a shell
/// has its background jobs ignore, and these tests may run in one.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_check() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    const SIGTERM: i32 = 15;
    let mut child =
        command().args(["check", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    // Kept open: waiting for the command would close it.
    let pipe = child.stdin.take();
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().signal(), Some(SIGTERM));
    drop(pipe);
}
