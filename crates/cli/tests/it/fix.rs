//! `nonfinite fix`: its output, and its refusals.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::folder::folder;
use crate::{Run, check, file, npy, run, safetensors};

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn fix(input: &Path, output: &Path, options: &[&str]) -> Run {
    let arguments = [OsStr::new("fix"), input.as_os_str(), OsStr::new("-o"), output.as_os_str()];
    run(arguments.into_iter().chain(options.iter().map(OsStr::new)))
}

#[track_caller]
pub(crate) fn refused(run: &Run, message: &str) {
    assert_eq!(run.status, 2, "{}{}", run.out, run.err);
    // Wrong usage has an explanation.
    let is_short = run.err.lines().count() == 1 || run.err.starts_with("error: ");
    assert!(run.err.contains(message) && is_short, "{}", run.err);
    assert_eq!(run.out, "");
}

/// Three formats, one of them fp8, integers, and a name that has to be escaped.
pub(crate) fn tensors() -> (String, Vec<u8>) {
    let mut data = Vec::new();
    for x in [1.5f32, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, -f32::NAN] {
        data.extend(x.to_le_bytes());
    }
    data.extend([0x00, 0x7C, 0x01, 0x7C, 0x00, 0xFC, 0x00, 0x3C]); // f16: inf, NaN, -inf, 1
    data.extend([0x7F, 0xFF, 0x38, 0x7E]); // fp8 e4m3fn: NaN, NaN, 1, 448
    data.extend([0xFF; 8]); // i64
    let header = concat!(
        r#"{"__metadata__":{"who": "a test"},"#,
        r#""w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, "#,
        r#""h\n":{"dtype":"F16","shape":[4],"data_offsets":[24,32]},"#,
        r#""q":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[32,36]},"#,
        r#""n":{"dtype":"I64","shape":[1],"data_offsets":[36,44]}}  "#,
    );
    (header.to_owned(), data)
}

#[test]
fn safetensors_defaults() {
    let folder = folder("defaults");
    let (header, data) = tensors();
    let input = folder.join("in.safetensors");
    let whole = safetensors(&header, &data);
    fs::write(&input, &whole).unwrap();
    let output = folder.join("out.safetensors");
    let run = fix(&input, &output, &[]);
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
    for line in [
        "w F32 [2, 3] replaced 2 NaN, 1 +Inf, 1 -Inf\n",
        "F16 [4] replaced 1 NaN, 1 +Inf, 1 -Inf\n",
        "q F8_E4M3 [4] replaced 2 NaN\n",
        "4 tensors, 9 replaced\n",
    ] {
        assert!(run.out.contains(line), "{line} is not in {}", run.out);
    }
    assert_eq!(run.out.lines().count(), 4);
    let mut want = Vec::new();
    for x in [1.5f32, 0.0, f32::MAX, f32::MIN, -0.0, 0.0] {
        want.extend(x.to_le_bytes());
    }
    want.extend([0xFF, 0x7B, 0x00, 0x00, 0xFF, 0xFB, 0x00, 0x3C]);
    want.extend([0x00, 0x00, 0x38, 0x7E]);
    want.extend([0xFF; 8]);
    assert_eq!(fs::read(&output).unwrap(), safetensors(&header, &want));
    assert_eq!(fs::read(&input).unwrap(), whole, "the input has changed");
    assert_eq!(names(&folder), ["in.safetensors", "out.safetensors"]);
    assert_eq!(check(&output).status, 0);
    // Once more: nothing is left to replace, and not a byte changes.
    let again = folder.join("again.safetensors");
    let run = fix(&output, &again, &["--nan", "7"]);
    assert!(run.out.ends_with(": 4 tensors, 0 replaced\n"), "{}", run.out);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&output).unwrap());
}

#[test]
fn values() {
    let folder = folder("values");
    let (header, data) = tensors();
    let input = folder.join("in.safetensors");
    fs::write(&input, safetensors(&header, &data)).unwrap();
    let output = folder.join("out.safetensors");
    let run = fix(&input, &output, &["--nan", "-0.5", "--posinf", "1e4", "--neginf", "max"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let mut want = Vec::new();
    for x in [1.5f32, -0.5, 1e4, f32::MAX, -0.0, -0.5] {
        want.extend(x.to_le_bytes());
    }
    // f16: 1e4 is 0x70E2, and -0.5 is 0xB800.
    want.extend([0xE2, 0x70, 0x00, 0xB8, 0xFF, 0x7B, 0x00, 0x3C]);
    // fp8: -0.5 is 0xB0.
    want.extend([0xB0, 0xB0, 0x38, 0x7E]);
    want.extend([0xFF; 8]);
    assert_eq!(fs::read(&output).unwrap(), safetensors(&header, &want));

    let output = folder.join("too-large.safetensors");
    refused(&fix(&input, &output, &["--posinf", "1e6"]), r#"1000000 does not fit into f16"#);
    refused(&fix(&input, &output, &["--nan", "inf"]), "is no finite number");
    refused(&fix(&input, &output, &["--nan"]), "--nan");
    assert_eq!(names(&folder), ["in.safetensors", "out.safetensors"]);
}

/// Both byte orders, several chunks, Fortran order, complex numbers, and each version of the
/// header.
#[test]
fn npy_files() {
    let folder = folder("npy");
    let count = 70_001;
    for (descr, big) in [("'<f8'", false), ("'>f8'", true)] {
        let number = |i: usize, fixed: bool| match (i % 1000, fixed) {
            (7, false) => f64::from_bits(0x7FF0_0000_0000_0001),
            (7, true) => 2.5,
            (8, false) => f64::NEG_INFINITY,
            (8, true) => f64::MIN,
            _ => i as f64,
        };
        let bytes = |fixed| {
            let to_bytes = |x: f64| if big { x.to_be_bytes() } else { x.to_le_bytes() };
            (0..count).flat_map(|i| to_bytes(number(i, fixed))).collect::<Vec<_>>()
        };
        let shape = format!("({count},)");
        let input = folder.join("in.npy");
        fs::write(&input, npy(descr, big, &shape, &bytes(false))).unwrap();
        let output = folder.join("out.npy");
        let run = fix(&input, &output, &["--nan", "2.5", "--force"]);
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(run.out.contains("replaced 70 NaN, 70 -Inf\n"), "{}", run.out);
        assert!(fs::read(&output).unwrap() == npy(descr, big, &shape, &bytes(true)), "{descr}");
    }
    let input = file(
        "fix-complex.npy",
        &npy("'>c8'", false, "(1,)", &[0x7F, 0x80, 0, 0, 0x7F, 0x80, 0, 1]),
    );
    let output = folder.join("complex.npy");
    assert_eq!(fix(&input, &output, &["--posinf", "1"]).status, 0);
    assert_eq!(
        fs::read(&output).unwrap(),
        npy("'>c8'", false, "(1,)", &[0x3F, 0x80, 0, 0, 0, 0, 0, 0])
    );
    let integers = npy("'<i4'", false, "(2,)", &[0xFF; 8]);
    let input = file("fix-integers.npy", &integers);
    assert_eq!(fix(&input, &folder.join("integers.npy"), &[]).status, 0);
    assert_eq!(fs::read(folder.join("integers.npy")).unwrap(), integers);
}

#[test]
fn what_is_there_stays() {
    let folder = folder("there");
    let nan = npy("'<f4'", false, "(1,)", &f32::NAN.to_le_bytes());
    let zero = npy("'<f4'", false, "(1,)", &[0; 4]);
    let (input, output) = (folder.join("in.npy"), folder.join("out.npy"));
    fs::write(&input, &nan).unwrap();
    fs::write(&output, "old").unwrap();
    refused(&fix(&input, &output, &[]), "exists already");
    assert_eq!(fs::read(&output).unwrap(), b"old");
    assert_eq!(fix(&input, &output, &["--force"]).status, 0);
    assert_eq!(fs::read(&output).unwrap(), zero);

    // The input is never overwritten, under whatever name.
    refused(&fix(&input, &input, &["--force"]), "never overwritten");
    let around = folder.join("..").join(folder.file_name().unwrap()).join("in.npy");
    refused(&fix(&input, &around, &["--force"]), "never overwritten");
    #[cfg(unix)]
    {
        let links = [folder.join("hard.npy"), folder.join("soft.npy")];
        fs::hard_link(&input, &links[0]).unwrap();
        std::os::unix::fs::symlink(&input, &links[1]).unwrap();
        for link in &links {
            refused(&fix(&input, link, &["--force"]), "never overwritten");
            fs::remove_file(link).unwrap();
        }
        let dangling = folder.join("dangling.npy");
        std::os::unix::fs::symlink(folder.join("nowhere"), &dangling).unwrap();
        refused(&fix(&input, &dangling, &[]), "exists already");
        fs::remove_file(&dangling).unwrap();
        // A device is not replaced by a file: all programs would lose it.
        let socket = folder.join("socket.npy");
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        refused(&fix(&input, &socket, &["--force"]), "not a regular file");
        assert!(!fs::symlink_metadata(&socket).unwrap().is_file());
        drop(listener);
        fs::remove_file(&socket).unwrap();
    }
    assert_eq!(fs::read(&input).unwrap(), nan);
    refused(&fix(&input, &folder, &["--force"]), "is a directory");
    refused(&fix(&input, &folder.join("no/such/folder.npy"), &[]), "cannot write the output");
    assert_eq!(names(&folder), ["in.npy", "out.npy"]);
}

#[test]
fn refused_inputs() {
    let folder = folder("refused");
    let output = folder.join("out.npy");
    let cut = npy("'<f4'", false, "(2,)", &[0; 4]);
    refused(&fix(&file("fix-cut.npy", &cut), &output, &[]), "8 bytes");
    refused(&fix(&file("fix-text.npy", b"hello"), &output, &[]), "not a .npy file");
    refused(&fix(&folder.join("missing.npy"), &output, &[]), "missing.npy");
    refused(&fix(&file("fix.gguf", b"GGUF\x03\0\0\0"), &output, &[]), "gguf files are not written");
    // A copy that says it is mended would not be.
    refused(
        &fix(&file("fix-raw.npy", &npy("'<V2'", false, "(1,)", &[0xC0, 0x7F])), &output, &[]),
        "raw bytes",
    );
    refused(&run(["fix", "a.npy"]), "--output <OUT>");
    refused(&run(["fix", "-o", "a.npy"]), "<IN>");
    refused(&run(["fix", "a.npy", "b.npy", "-o", "c.npy"]), "b.npy");
    assert_eq!(names(&folder), [""; 0]);
}

/// The system stops the file at 64 KiB: with an error, and with a signal that ends the process.
#[cfg(unix)]
#[test]
fn interrupted() {
    use std::process::Command;
    let folder = folder("interrupted");
    let input = file("fix-long.npy", &npy("'<f4'", false, "(100000,)", &[0xFF; 400_000]));
    let output = folder.join("out.npy");
    let script = |prelude: &str| {
        let line = format!("{prelude} ulimit -f 64; exec \"$0\" fix \"$1\" -o \"$2\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_nonfinite")]).args([&*input, &*output]);
        shell.output().expect("a shell")
    };
    let run = Run::from(script("trap '' XFSZ;"));
    refused(&run, "cannot write the output");
    assert_eq!(names(&folder), [""; 0]);
    let killed = script("");
    assert_eq!(killed.status.code(), None, "{killed:?}");
    assert!(!output.exists());
    let left = names(&folder);
    assert!(left.iter().all(|name| name.starts_with(".nonfinite-fix-")), "{left:?}");
    let input = file("fix-short.npy", &npy("'<f4'", false, "(1,)", &[0xFF; 4]));
    assert_eq!(fix(&input, &output, &[]).status, 0);
    assert!(names(&folder).contains(&"out.npy".to_owned()));
}
