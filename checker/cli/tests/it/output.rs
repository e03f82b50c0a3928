//! The output in each form, and the rules for bad tensors.

use crate::write::{Entry, npy, safetensors};
use crate::{Run, check_in, command, file, run, without_speed};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");

fn check(arguments: &[&str]) -> Run {
    check_in(SAMPLES.as_ref(), arguments)
}

fn json(arguments: &[&str]) -> (i32, serde_json::Value) {
    let run = check(arguments);
    assert_eq!(run.err, "");
    (run.status, serde_json::from_str(&run.out).expect("the output is JSON"))
}

#[test]
fn json_document() {
    let (status, document) = json(&["--json", "sample.safetensors", "clean.npy"]);
    assert_eq!(status, 1);
    assert_eq!(document["schema_version"], 1);
    assert_eq!((&document["bad"], &document["complete"]), (&true.into(), &true.into()));
    let [sample, clean] = document["files"].as_array().unwrap().as_slice() else {
        panic!("two files")
    };
    assert_eq!(
        (&sample["path"], &sample["format"]),
        (&"sample.safetensors".into(), &"safetensors".into())
    );
    assert_eq!((&clean["bad"], &clean["error"]), (&false.into(), &serde_json::Value::Null));
    let tensors = sample["tensors"].as_array().unwrap();
    assert_eq!(tensors.len(), 11);
    let weight = tensors.iter().find(|tensor| tensor["name"] == "layer.0.weight").unwrap();
    // The codes are those of samples/make.py: a quiet NaN at 37, +Inf at 38, a signalling NaN at
    // 127.
    let expected = serde_json::json!({
        "name": "layer.0.weight", "dtype": "F32", "shape": [8, 16], "elements": 128, "bytes": 512,
        "looked_at": "values",
        "nan": {"count": 2, "first": {"coordinate": [2, 5], "bits": "0x7fc00000", "quiet": true}},
        "pos_inf": {"count": 1, "first": {"coordinate": [2, 6], "bits": "0x7f800000"}},
        "neg_inf": {"count": 0, "first": null},
        "bad": ["nan", "pos_inf"],
        "where": {
            "statement": "rows 2, 7, columns 5-6, 15 only, 3 of 6 elements there", "elements": 3,
            "axes": [
                {"extent": 8, "indices": 2, "ranges": [[2, 2], [7, 7]]},
                {"extent": 16, "indices": 3, "ranges": [[5, 6], [15, 15]]},
            ],
        },
    });
    assert_eq!(weight, &expected);
    let looked_at =
        |name: &str| &tensors.iter().find(|tensor| tensor["name"] == name).unwrap()["looked_at"];
    assert_eq!(looked_at("embed.tokens"), "not_float");
    assert_eq!(looked_at("packed.f4"), "always_finite");
}

#[test]
fn json_of_what_cannot_be_checked() {
    let run = check(&["--json", "make.py", "missing.npy", "clean.npy"]);
    assert_eq!(run.status, 2);
    assert_eq!(run.err.lines().count(), 2);
    let document: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&document["bad"], &document["complete"]), (&false.into(), &false.into()));
    assert_eq!(document["files"].as_array().unwrap().len(), 3);
    assert!(
        document["files"][0]["error"].as_str().unwrap().starts_with("not a file of a known format")
    );
    let run = check(&["--json", "[x]*"]);
    assert_eq!(run.status, 2);
    let document: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["complete"], false);
}

#[test]
fn json_lines() {
    let run = check(&["--format=jsonl", "sample.safetensors", "sample.npy", "make.py"]);
    assert_eq!(run.status, 1);
    let lines: Vec<serde_json::Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect();
    assert_eq!(lines.len(), 13);
    assert!(lines.iter().all(|line| line["schema_version"] == 1));
    assert_eq!(lines[11]["path"], "sample.npy");
    assert_eq!(lines[11]["name"], serde_json::Value::Null);
    assert!(lines[12]["error"].is_string() && lines[12].get("name").is_none());
}

#[test]
fn quiet() {
    for (files, status) in
        [(&["clean.npy"][..], 0), (&["sample.npy"], 1), (&["missing.npy", "sample.npy"], 2)]
    {
        let run = check(&[&["--quiet"], files].concat());
        assert_eq!((run.status, run.out.as_str()), (status, ""));
        assert_eq!(run.err.is_empty(), status < 2);
    }
}

/// `sample.npy` holds one NaN and one -Inf, and its tensor has no name.
#[test]
fn policy() {
    let cases: [(&[&str], i32); 10] = [
        (&[], 1),
        (&["--fail-on", "nan"], 1),
        (&["--fail-on", "+inf"], 0),
        (&["--fail-on", "-inf"], 1),
        (&["--fail-on", "inf"], 1),
        (&["--allow", "*:all"], 0),
        (&["--allow", "*:-inf"], 1),
        (&["--allow", "*:-inf", "--fail-on", "inf"], 0),
        (&["--allow", "*:-inf", "--allow", "*:nan"], 0),
        (&["--allow", "mask:all"], 1),
    ];
    for (arguments, status) in cases {
        let run = check(&[arguments, &["sample.npy"]].concat());
        assert_eq!(run.status, status, "{arguments:?}");
        assert_eq!(
            run.out.lines().count(),
            if status == 1 { 2 } else { 1 },
            "{arguments:?}: {}",
            run.out
        );
        let allowed = if status == 0 { "; allowed: 1\n" } else { "always finite\n" };
        assert!(run.out.ends_with(allowed), "{arguments:?}: {}", run.out);
    }
    let run = check(&[
        "--allow",
        "layer.*.weight:nan,inf",
        "--allow",
        "quant.e?m?:all",
        "sample.safetensors",
    ]);
    let names: Vec<_> = run.out.lines().filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(names, ["scale", "layer.0.bias"]);
}

#[test]
fn table() {
    let run = check(&["--format", "table", "sample.safetensors"]);
    let lines: Vec<_> = run.out.lines().collect();
    assert_eq!(lines[0], "sample.safetensors");
    let heads = ["tensor", "dtype", "shape", "NaN", "+Inf", "-Inf"];
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), heads);
    let at = lines.iter().position(|line| line.starts_with("layer.0.weight  F32 ")).unwrap();
    let places = "  first NaN at [2, 5], bits 0x7fc00000  first +Inf at [2, 6], bits 0x7f800000";
    assert!(lines[at].ends_with("    2     1     ."), "{}", run.out);
    // More than fits behind the row.
    assert_eq!(lines[at + 1], places, "{}", run.out);
    assert!(!run.out.contains('\x1b'));
    let colors = |variables: &[(&str, &str)]| {
        let mut command = command();
        command.env_remove("NO_COLOR").envs(variables.iter().copied()).current_dir(SAMPLES);
        Run::of(command.args(["check", "--format=table", "sample.npy"])).out.contains("\x1b[31m")
    };
    assert!(colors(&[("CLICOLOR_FORCE", "1")]) && !colors(&[("CLICOLOR_FORCE", "0")]));
    assert!(!colors(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert_eq!(check(&["--format", "table", "clean.npy"]).out.lines().count(), 2);
}

/// Layer 2 comes before layer 10 of a file that its writer sorted as text.
#[test]
fn layers_by_number() {
    let entry = |name| Entry { name, kind: "F8_E5M2", shape: &[1], data: &[0x7C] };
    let layers = ["l.0", "l.1", "l.10", "l.2"].map(entry);
    let path = file("layers.safetensors", &safetensors(&layers));
    for form in ["lines", "table"] {
        let out = run(["check", "--format", form, path.to_str().unwrap()]).out;
        let places = ["l.0", "l.1", "l.2", "l.10"].map(|name| out.find(name));
        assert!(places.is_sorted() && places[0].is_some(), "{out}");
    }
}

#[test]
fn completions_and_manual() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = run(["completions", shell]);
        assert_eq!((run.status, run.err.as_str()), (0, ""));
        assert!(run.out.contains("nonfinite") && run.out.contains("max-bytes"), "{shell}");
    }
    let page = run(["man"]);
    assert_eq!((page.status, page.err.as_str()), (0, ""));
    assert!(page.out.contains(".TH nonfinite 1"), "{}", page.out);
    let page = run(["man", "check"]).out;
    for words in
        [".TH nonfinite-check 1", "check \\- Find the tensors", ".SH OPTIONS", "Exit status"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert_eq!(run(["man", "chek"]).status, 2);
}

/// Totals count all tensors, also those that are not listed.
#[test]
fn totals() {
    let (_, all) = json(&["--json", "sample.safetensors", "sample.npy"]);
    assert_eq!(all["version"], env!("CARGO_PKG_VERSION"));
    let totals = &all["totals"];
    let number = |name: &str| totals[name].as_u64().unwrap();
    assert_eq!([number("tensors"), number("elements"), number("bytes")], [10, 432, 1329]);
    assert_eq!([number("bad"), number("not_float"), number("always_finite")], [7, 1, 1]);
    assert_eq!([number("nan"), number("pos_inf"), number("neg_inf")], [9, 3, 5]);
    let dtypes = totals["by_dtype"].as_object().unwrap();
    let sum = |name: &str| dtypes.values().map(|one| one[name].as_u64().unwrap()).sum::<u64>();
    for name in ["tensors", "elements", "bytes", "bad", "not_float", "nan", "neg_inf"] {
        assert_eq!(sum(name), number(name), "{name}");
    }
    assert_eq!((&dtypes["F64"]["nan"], &dtypes["I64"]["not_float"]), (&1.into(), &1.into()));

    let (status, bad) = json(&["--json", "--bad-only", "sample.safetensors", "sample.npy"]);
    assert_eq!((status, &bad["totals"]), (1, totals));
    let listed = bad["files"][0]["tensors"].as_array().unwrap();
    assert!(listed.len() == 6 && listed.iter().all(|tensor| tensor["bad"][0].is_string()));
    assert_eq!(
        check(&["--format=jsonl", "--bad-only", "sample.safetensors"]).out.lines().count(),
        6
    );
    let run = check(&["--bad-only", "--stats", "sample.safetensors"]);
    assert_eq!(run.out.lines().count(), 7, "{}", run.out);
}

/// Tensors that could not be looked at are listed among the bad ones.
#[test]
fn bad_only_lists_what_could_not_be_looked_at() {
    let path = file("unreadable.npy", &npy("|V2", &[1], false, &[0; 2]));
    let run = run(["check", "--json", "--bad-only", path.to_str().unwrap()]);
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    assert_eq!((run.status, &document["totals"]["unreadable"]), (2, &1.into()));
    assert_eq!(document["files"][0]["tensors"][0]["looked_at"], "unreadable");
}

/// A pipe by its path, as `<(cmd)` of a shell has it.
#[cfg(target_os = "linux")]
#[test]
fn pipes_by_path() {
    let run = Run::of(command().args(["check", "/dev/fd/0"]).stdin(std::process::Stdio::piped()));
    let message = "is not a regular file but a pipe: use cmd | nonfinite check -\n";
    assert_eq!((run.status, run.err), (2, format!("nonfinite: /dev/fd/0: {message}")));
}

/// The report on the sample files. `samples/test` checks that their script still writes them.
#[test]
fn sample() {
    let expected = [
        "sample.safetensors: \"scale\" F64 [3, 5]: \
         1 NaN, 0 +Inf, 2 -Inf, first NaN at [2, 1], -Inf at [1, 4]",
        "sample.safetensors: \"layer.0.weight\" F32 [8, 16]: \
         2 NaN, 1 +Inf, 0 -Inf, first NaN at [2, 5], +Inf at [2, 6]",
        r#"sample.safetensors: "layer.0.bias" BF16 [16]: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at [5]"#,
        "sample.safetensors: \"layer.1.weight\" F16 [2, 4, 8]: \
         2 NaN, 0 +Inf, 1 -Inf, first NaN at [1, 0, 3], -Inf at [1, 3, 7]",
        "sample.safetensors: \"quant.e4m3\" F8_E4M3 [4, 4]: \
         2 NaN, 0 +Inf, 0 -Inf, first NaN at [1, 1]",
        "sample.safetensors: \"quant.e5m2\" F8_E5M2 [4, 4]: \
         1 NaN, 1 +Inf, 1 -Inf, first NaN at [2, 2], +Inf at [2, 0], -Inf at [2, 1]",
        "sample.npy: <f4 [3, 4, 5]: \
         1 NaN, 0 +Inf, 1 -Inf, first NaN at [2, 0, 4], -Inf at [1, 1, 2]",
        "7 of 11 tensors hold NaN or infinity; the first is scale in sample.safetensors, \
         at [1, 4]. Checked 492 elements, 1569 bytes; skipped 1 without floats, 1 always finite",
    ];
    let run = check(&["sample.safetensors", "sample.npy", "clean.npy"]);
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    assert_eq!(run.out.lines().map(without_speed).collect::<Vec<_>>(), expected);
}

/// All backends say the same.
#[test]
fn every_backend() {
    for backend in nonfinite::Backend::available() {
        let mut check = command();
        check.args(["check", "sample.safetensors"]).current_dir(SAMPLES);
        let out = Run::of(check.env("NONFINITE_BACKEND", backend.name())).out;
        assert!(out.contains(&format!(" GB/s, backend {}; ", backend.name())), "{out}");
        assert!(
            out.contains("2 NaN, 0 +Inf, 1 -Inf, first NaN at [1, 0, 3], -Inf at [1, 3, 7]"),
            "{out}"
        );
    }
}
