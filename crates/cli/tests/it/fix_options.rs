//! `nonfinite fix`: which numbers stay, where the copy goes, and who may read it.

use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;

use crate::fix::{fix, names, refused, tensors};
use crate::folder::folder;
use crate::{Run, check, command, npy, npy_text, run, safetensors};

/// The kinds that are allowed stay in the tensors that are named, bit by bit.
#[test]
fn allow() {
    let folder = folder("allow");
    let (header, data) = tensors();
    let (input, output) = (folder.join("in.safetensors"), folder.join("out.safetensors"));
    fs::write(&input, safetensors(&header, &data)).unwrap();
    let options = ["--allow", "w:-inf", "--allow", "[hx]*:nan,+inf", "--allow", "q:all"];
    let run = fix(&input, &output, &options);
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{}", run.out);
    let mut want = Vec::new();
    for x in [1.5f32, 0.0, f32::MAX, f32::NEG_INFINITY, -0.0, 0.0] {
        want.extend(x.to_le_bytes());
    }
    // Of f16 only -Inf is replaced.
    want.extend([0x00, 0x7C, 0x01, 0x7C, 0xFF, 0xFB, 0x00, 0x3C]);
    want.extend(&data[32..]);
    assert_eq!(fs::read(&output).unwrap(), safetensors(&header, &want));
    assert!(run.out.contains("w F32 [2, 3] replaced 2 NaN, 1 +Inf\n"), "{}", run.out);
    assert!(run.out.contains("F16 [4] replaced 1 -Inf\n"), "{}", run.out);
    assert!(run.out.ends_with(": 4 tensors, 4 replaced\n"), "{}", run.out);
    // The check has the same opinion of what is left.
    let again = ["--allow", "w:-inf", "--allow", "[hx]*:nan,+inf", "--allow", "q:all"];
    let arguments = ["check", output.to_str().unwrap()].into_iter().chain(again);
    assert_eq!(crate::run(arguments).status, 0);
    // Only NaN is left to replace, so the other values need not fit.
    let run = fix(&input, &output, &["--force", "--posinf", "1e9", "--allow", "*:inf"]);
    assert_eq!(run.status, 0, "{}", run.err);
    refused(&fix(&input, &output, &["--allow", "w"]), "no colon");
}

/// Of the other byte order, in several chunks, NaN of many codes; a .npy file has no name.
#[test]
fn allow_in_big_endian() {
    let folder = folder("allow-big");
    let count = 100_003u32;
    let numbers = |fixed: bool| {
        let number = |i: u32| match (i % 7, fixed) {
            (0, _) => 0x7F80_0001 + i,
            (1, false) => 0x7F80_0000,
            (1, true) => 0x3F80_0000,
            (2, _) => 0xFF80_0000,
            _ => i,
        };
        (0..count).flat_map(|i| number(i).to_be_bytes()).collect::<Vec<_>>()
    };
    let (input, output) = (folder.join("in.npy"), folder.join("out.npy"));
    let file = |fixed| npy("'>f4'", false, &format!("({count},)"), &numbers(fixed));
    fs::write(&input, file(false)).unwrap();
    let run = fix(&input, &output, &["--posinf", "1", "--allow", "*:nan,-inf"]);
    assert!(run.out.contains("replaced 14286 +Inf\n"), "{}{}", run.out, run.err);
    assert!(fs::read(&output).unwrap() == file(true));
}

/// Elements that numpy saved as raw bytes, by the words that the message asks for.
#[test]
fn raw_dtypes() {
    let folder = folder("raw");
    let (input, output) = (folder.join("in.npy"), folder.join("out.npy"));
    for (descr, hint, data, fixed) in [
        ("'<V1'", "V1=f8e4m3fn", [0x38u8, 0x7F, 0xFF, 0x7E], [0x38, 0x00, 0x00, 0x7E]),
        ("'|V1'", "V1=f8e4m3fn", [0x38, 0x7F, 0xFF, 0x7E], [0x38, 0x00, 0x00, 0x7E]),
        ("'<f1'", "f1=f8e5m2", [0x3C, 0x7C, 0xFC, 0x7D], [0x3C, 0x7B, 0xFB, 0x00]),
        ("'<V2'", "V2=bf16", [0x80, 0x3F, 0x80, 0xFF], [0x80, 0x3F, 0x7F, 0xFF]),
        ("'>V2'", "V2=bf16", [0x3F, 0x80, 0xFF, 0x80], [0x3F, 0x80, 0xFF, 0x7F]),
    ] {
        let shape = if descr.contains("V2") { "(2,)" } else { "(4,)" };
        fs::write(&input, npy(descr, false, shape, &data)).unwrap();
        refused(&fix(&input, &output, &["--force"]), &format!("--as {hint}"));
        let run = fix(&input, &output, &["--force", "--as", hint]);
        assert_eq!(run.status, 0, "{descr}: {}", run.err);
        assert_eq!(fs::read(&output).unwrap(), npy(descr, false, shape, &fixed), "{descr}");
        assert!(run.out.contains(&descr[1..4]), "{}", run.out);
    }
    refused(&fix(&input, &output, &["--force", "--as", "V1=f8e4m3fn"]), "raw bytes");
    assert_eq!(check(&input).status, 2);
}

/// Says what a run would replace, and leaves all as it is.
#[test]
fn dry_run() {
    let folder = folder("dry");
    let (header, data) = tensors();
    let input = folder.join("in.safetensors");
    fs::write(&input, safetensors(&header, &data)).unwrap();
    let path = input.to_str().unwrap();
    let without = run(["fix", "--dry-run", path, "--allow", "w:inf"]);
    assert_eq!((without.status, without.err.as_str()), (0, ""));
    let lines: Vec<_> = without.out.lines().collect();
    assert_eq!(lines[0], format!("{path}: w F32 [2, 3] would replace 2 NaN"));
    assert!(lines[1].ends_with("F16 [4] would replace 1 NaN, 1 +Inf, 1 -Inf"), "{}", lines[1]);
    assert_eq!(lines[2], format!("{path}: q F8_E4M3 [4] would replace 2 NaN"));
    assert_eq!(lines[3..], [format!("{path}: 4 tensors, would replace 7")]);
    // OUT is not looked at: here it is the input.
    let with = fix(&input, &input, &["--dry-run"]);
    assert_eq!((with.status, with.err.as_str()), (0, ""));
    assert!(with.out.ends_with(": 4 tensors, would replace 9\n"), "{}", with.out);
    assert_eq!(fs::read(&input).unwrap(), safetensors(&header, &data));
    assert_eq!(names(&folder), ["in.safetensors"]);
    // What would be refused is refused.
    let run = run(["fix", "--dry-run", path, "--posinf", "1e6"]);
    refused(&run, "1000000 does not fit into f16");
    let missing = folder.join("missing.npy");
    refused(&fix(&missing, &missing, &["--dry-run"]), "missing.npy: ");
}

/// The copy goes to standard output, and the report to standard error.
#[test]
fn standard_output() {
    let folder = folder("stdout");
    let (header, data) = tensors();
    let (input, output) = (folder.join("in.safetensors"), folder.join("out.safetensors"));
    fs::write(&input, safetensors(&header, &data)).unwrap();
    assert_eq!(fix(&input, &output, &[]).status, 0);
    let mut fix_to = command();
    fix_to.current_dir(&folder).arg("fix").arg(&input).args(["-o", "-"]);
    let run = fix_to.output().unwrap();
    assert_eq!(run.status.code(), Some(0));
    assert!(run.stdout == fs::read(&output).unwrap());
    let report = String::from_utf8(run.stderr).unwrap();
    assert!(report.starts_with("standard output: w F32 [2, 3] replaced 2 NaN, "), "{report}");
    assert!(report.ends_with("wrote standard output: 4 tensors, 9 replaced\n"), "{report}");
    assert_eq!(names(&folder), ["in.safetensors", "out.safetensors"]);

    // A reader that ends before the copy does has no copy.
    let long = folder.join("long.npy");
    let mut file = File::create(&long).unwrap();
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (1048576,), }\n";
    file.write_all(&npy_text(text, &vec![0; 4 << 20])).unwrap();
    let mut child = command();
    child.arg("fix").arg(&long).args(["-o", "-"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    drop(child.stdout.take());
    let run = Run::from(child.wait_with_output().unwrap());
    refused(&run, "long.npy to standard output: cannot write the output: ");

    // The input is not overwritten by way of standard output, either.
    #[cfg(unix)]
    {
        let append = File::options().append(true).open(&input).unwrap();
        let run = fix_to.stdout(append).output().unwrap();
        assert_eq!(run.status.code(), Some(2));
        let message = String::from_utf8(run.stderr).unwrap();
        assert!(message.contains("the output is the input"), "{message}");
        assert_eq!(fs::read(&input).unwrap(), safetensors(&header, &data));
    }
}

/// Who may read the input may read the copy, as the mask of the process has it.
#[cfg(unix)]
#[test]
fn permissions() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;
    let folder = folder("permissions");
    let (input, output) = (folder.join("in.npy"), folder.join("out.npy"));
    fs::write(&input, npy("'<f4'", false, "(1,)", &[0xFF; 4])).unwrap();
    for (mode, mask, want) in [
        (0o600, "022", 0o600),
        (0o600, "000", 0o600),
        (0o400, "022", 0o400),
        (0o640, "022", 0o640),
        (0o666, "022", 0o644),
        (0o755, "077", 0o700),
        (0o4711, "000", 0o711),
    ] {
        // A new output, and one that others may read.
        for there in [false, true] {
            fs::set_permissions(&input, Permissions::from_mode(mode)).unwrap();
            let _ = fs::remove_file(&output);
            if there {
                fs::write(&output, "old").unwrap();
                fs::set_permissions(&output, Permissions::from_mode(0o666)).unwrap();
            }
            let line = format!("umask {mask}; exec \"$0\" fix --force \"$1\" -o \"$2\"");
            let mut shell = Command::new("sh");
            shell.args(["-c", &line, env!("CARGO_BIN_EXE_nonfinite")]).args([&input, &output]);
            let run = Run::from(shell.output().expect("a shell"));
            assert_eq!(run.status, 0, "{}", run.err);
            let got = fs::metadata(&output).unwrap().permissions().mode() & 0o7777;
            assert_eq!(got, want, "{mode:o} with mask {mask}: {got:o}");
        }
    }
    assert_eq!(names(&folder), ["in.npy", "out.npy"]);
}

/// The output lies in the folder of its path, wherever the command runs.
#[test]
fn folders_of_outputs() {
    let folder = folder("fix-folders");
    fs::write(folder.join("in.npy"), npy("'<f4'", false, "(1,)", &[0; 4])).unwrap();
    let fix_in = |place: &std::path::Path, input: &str, output: &str| {
        let mut command = command();
        command.current_dir(place).args(["fix", input, "-o", output]);
        let run: Run = command.output().expect("the command starts").into();
        assert_eq!((run.status, run.err.as_str()), (0, ""));
    };
    fix_in(&folder, "in.npy", "out.npy");
    // No file can be made in this folder.
    #[cfg(target_os = "linux")]
    {
        let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
        fix_in("/proc".as_ref(), &path("in.npy"), &path("other.npy"));
        assert_eq!(names(&folder), ["in.npy", "other.npy", "out.npy"]);
    }
}
