//! `nonfinite lint`: its arguments, output and exit status. `checker/check` tests the rules.

use std::fs;
use std::path::Path;

use nonfinite_check::lint::RULES;
use serde_json::{Value, json};

use crate::folder::{Folder, folder};
use crate::write::{Entry, gguf, safetensors, safetensors_text, string, u32_in};
use crate::zip::zip;
use crate::{Run, command};

/// A model of two fp8 matrices and an embedding. `scales` are theirs. The embedding has a row of
/// zeros, which is worth a note; the state of a quantiser is worth a warning.
fn model(scales: [f32; 2]) -> Folder {
    let folder = folder("lint");
    let [first, second] = scales.map(f32::to_le_bytes);
    let (codes, one) = ([0x38; 4], 1f32.to_le_bytes());
    let entry = |name, kind, shape, data| Entry { name, kind, shape, data };
    let tensors = [
        entry("layers.0.up.weight", "F8_E4M3", &[2, 2][..], &codes[..]),
        entry("layers.0.up.weight_scale", "F32", &[1], &first),
        entry("layers.10.up.weight", "F8_E4M3", &[2, 2], &codes),
        entry("layers.10.up.weight_scale", "F32", &[1], &second),
        entry("layers.10.up.input_quantizer.amax", "F32", &[1], &one),
        entry("embed.weight", "F32", &[2, 1], &[0, 0, 0, 0, 0, 0, 0x80, 0x3F]),
    ];
    fs::write(folder.join("model.safetensors"), safetensors(&tensors)).unwrap();
    let config = r#"{"torch_dtype": "bfloat16", "quantization_config": {"quant_method": "fp8"}}"#;
    fs::write(folder.join("config.json"), config).unwrap();
    folder
}

fn lint(folder: &Path, arguments: &[&str]) -> Run {
    Run::of(command().arg("lint").args(arguments).current_dir(folder))
}

const SOUND: [f32; 2] = [0.5, 0.25];
const BAD: [f32; 2] = [0.5, 0.0];
const ZERO: &str = "error[scale-zero]: ./model.safetensors: \"layers.10.up.weight_scale\" [0]: ";
const LEFT: &str = "warning[orphan-scale]: ./model.safetensors: \"layers.10.up.input_quantizer";
const DEAD: &str = "note[dead-rows]: ./model.safetensors: \"embed.weight\" [0, 0]: ";

/// Scales, arguments, exit status, beginnings of the lines, and the end of the last line.
type Case = ([f32; 2], &'static [&'static str], i32, &'static [&'static str], &'static str);

#[test]
fn findings_and_status() {
    let cases: [Case; 10] = [
        (SOUND, &["."], 0, &[LEFT], ": 0 errors, 1 warning"),
        (BAD, &["."], 1, &[ZERO, LEFT], ": 1 error, 1 warning"),
        (BAD, &[".", "--headers"], 0, &[LEFT], ": 0 errors, 1 warning"),
        (BAD, &[".", "--warnings", "off"], 1, &[ZERO], ": 1 error, 0 warnings"),
        (
            BAD,
            &[".", "--warnings", "notes"],
            1,
            &[ZERO, LEFT, DEAD],
            ": 1 error, 1 warning; notes: 1",
        ),
        (BAD, &[".", "--allow", "scale-zero"], 0, &[LEFT], "1 warning; allowed: 1"),
        (BAD, &[".", "--allow", "scale-zero:*.10.*"], 0, &[LEFT], "1 warning; allowed: 1"),
        (BAD, &[".", "--allow", "scale-zero:*.9.*"], 1, &[ZERO, LEFT], "1 error, 1 warning"),
        (
            BAD,
            &[".", "--allow", "orphan-scale", "--allow", "scale-zero"],
            0,
            &[],
            "0 warnings; allowed: 2",
        ),
        (BAD, &["model.safetensors", "--quiet"], 1, &[], ""),
    ];
    for (scales, arguments, status, expected, end) in cases {
        let run = lint(&model(scales), arguments);
        assert_eq!((run.status, run.err.as_str()), (status, ""), "{arguments:?}: {}", run.out);
        let mut lines: Vec<_> = run.out.lines().collect();
        let last = lines.pop().unwrap_or_default();
        assert!(
            last.ends_with(end)
                && (last.starts_with("linted 6 tensors, 28 bytes in ")
                    || last.starts_with("linted 6 tensors, headers only in "))
                || last.is_empty() && end.is_empty(),
            "{arguments:?}: {last}"
        );
        assert_eq!(lines.len(), expected.len(), "{arguments:?}: {}", run.out);
        for (line, start) in lines.iter().zip(expected) {
            assert!(line.starts_with(start), "{arguments:?}: {line}");
        }
    }
}

/// What was not looked at is never clean, and does not hide an error.
#[test]
fn not_looked_at() {
    for (scales, name, content, arguments, status, complaint) in [
        (SOUND, "broken.npy", &b"\x93NUMPY\x09\0"[..], &[][..], 2, "broken.npy: "),
        (BAD, "broken.npy", b"\x93NUMPY\x09\0", &[], 2, "broken.npy: "),
        (SOUND, "more.h5", b"\x89HDF\r\n\x1a\n", &[], 2, "more.h5: "),
        (BAD, "more.h5", b"\x89HDF\r\n\x1a\n", &[], 1, "more.h5: "),
        (BAD, "more.h5", b"\x89HDF\r\n\x1a\n", &["--strict"], 2, "more.h5: "),
        (SOUND, "config.json", b"{", &[], 1, ""),
        (SOUND, "model.safetensors", b"\xFF\0\0\0\0\0\0\0{}", &[], 2, "ends before its header"),
        (
            SOUND,
            "model.safetensors.index.json",
            br#"{"weight_map":{"x":"gone.safetensors"}}"#,
            &[],
            2,
            "gone.safetensors: No such file",
        ),
        (
            SOUND,
            "model.safetensors.index.json",
            br#"{"weight_map":{"layers.0.up.weight_scale_2":"model.safetensors"}}"#,
            &[],
            2,
            "tensor \"layers.0.up.weight_scale_2\" is not in",
        ),
    ] {
        let folder = model(scales);
        fs::write(folder.join(name), content).unwrap();
        let run = lint(&folder, &[&["."], arguments].concat());
        assert_eq!(run.status, status, "{name} {arguments:?}: {}{}", run.out, run.err);
        assert!(run.err.contains(complaint), "{name}: {}", run.err);
        if name == "config.json" {
            let start = "error[config-unreadable]: ./config.json: ";
            assert!(run.out.starts_with(start) && run.err.is_empty(), "{}", run.out);
        }
    }
    let nowhere = lint(&model(SOUND), &["nowhere"]);
    assert_eq!(nowhere.status, 2);
    assert!(nowhere.err.starts_with("nonfinite: nowhere: "), "{}", nowhere.err);
}

/// A file without tensors is no all-clear, and neither is one part of a model of two.
#[test]
fn nothing_to_look_at() {
    // A tensor of one F32, in the first of `count` parts.
    let part = |count: u16| {
        let one = Entry { name: "x", kind: 0, shape: &[1], data: &1f32.to_le_bytes()[..] };
        let key = string("split.count", false);
        gguf(&[one], false, &[[&key[..], &u32_in(2, false), &count.to_le_bytes()].concat()])
    };
    let adapter = safetensors_text(r#"{"__metadata__":{"format":"pt"}}"#, &[]);
    let (first, second) = ("x-00001-of-00002.gguf", "x-00002-of-00002.gguf");
    let both = "both";
    for (name, bytes, other, status, complaint) in [
        (
            "adapter_model.safetensors",
            adapter,
            "",
            both,
            "not looked at: a .safetensors file without",
        ),
        ("x.pt", zip(&[("m/data.pkl", b"\x80\x02}.")]), "", "lint", "nothing was linted"),
        (first, part(2), "", both, "\"x-00002-of-00002.gguf\": 1 of the 2 parts of the model are"),
        (first, part(2), second, "", ""),
        ("x.gguf", part(2), "", both, "\"x.gguf\": no name that ends in -00001-of-00002.gguf"),
        ("x.gguf", part(1), "", "", ""),
    ] {
        let folder = folder("lint-nothing");
        fs::write(folder.join(name), bytes).unwrap();
        if !other.is_empty() {
            fs::write(folder.join(other), part(2)).unwrap();
        }
        for (of, path) in ["check", "lint"].into_iter().flat_map(|of| [(of, "."), (of, name)]) {
            let run = Run::of(command().args([of, path]).current_dir(&*folder));
            let fails = status == both || status == of;
            assert_eq!(run.status, if fails { 2 } else { 0 }, "{of} {path} {name}: {}", run.err);
            assert_eq!(
                run.err.contains(complaint),
                fails || complaint.is_empty(),
                "{name}: {}",
                run.err
            );
        }
    }
}

#[test]
fn wrong_usage() {
    for (arguments, message) in [
        (&[][..], "required arguments were not provided:\n  <PATH>..."),
        (&[".", "--format", "jsonl"], "invalid value 'jsonl' for '--format <FORMAT>'"),
        (&[".", "--allow", "scale-zeros"], "there is no rule \"scale-zeros\""),
        (&[".", "--allow", "scale-zero:[a"], "Pattern syntax error"),
        (&[".", "--warnings", "some"], "'some'"),
        (&[".", "--json", "--quiet"], "cannot be used with"),
        (&[".", "--html", "-"], "not to standard output"),
    ] {
        let run = lint(&model(SOUND), arguments);
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{arguments:?}");
        assert!(run.err.contains(message), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn json() {
    let run = lint(&model(BAD), &[".", "--json", "--warnings", "notes"]);
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    let mut document: Value = serde_json::from_str(&run.out).expect("JSON");
    for finding in document["findings"].as_array_mut().unwrap() {
        let finding = finding.as_object_mut().unwrap();
        assert!(finding.remove("message").is_some_and(|message| message != ""));
        assert!(finding.remove("source").is_some_and(|source| source != ""));
    }
    let file = "./model.safetensors";
    let finding = |rule: &str, severity: &str, tensor: &str, coordinate: Value| {
        json!({"rule": rule, "severity": severity, "file": file, "tensor": tensor,
            "coordinate": coordinate})
    };
    let quantiser = "layers.10.up.input_quantizer.amax";
    assert_eq!(
        document,
        json!({
            "schema_version": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "errors": 1,
            "warnings": 1,
            "complete": true,
            "findings": [
                finding("scale-zero", "error", "layers.10.up.weight_scale", json!([0])),
                finding("orphan-scale", "warning", quantiser, Value::Null),
                finding("dead-rows", "note", "embed.weight", json!([0, 0])),
            ],
            "files": [{"path": file, "complete": true, "error": null, "not_looked_at": []}],
            "no_format": [],
        })
    );
}

#[test]
fn github() {
    let run = lint(&model(BAD), &[".", "--format", "github"]);
    let lines: Vec<_> = run.out.lines().collect();
    let [error, warning] = lines[..] else { panic!("{}", run.out) };
    let start = "::error file=./model.safetensors,title=scale-zero in layers.10.up.weight_scale::";
    assert!(error.starts_with(&format!("{start}[0]: the scale is zero")), "{error}");
    assert!(warning.starts_with("::warning file=./model.safetensors,title=orphan-scale in "));
}

/// The list of rules, and the page about lint, which has the same rules.
#[test]
fn rules() {
    let run = lint(&folder("lint"), &["--rules"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    assert_eq!(run.out.lines().count(), RULES.len());
    for (line, rule) in run.out.lines().zip(RULES) {
        let words = [rule.severity.name(), rule.id, rule.finds];
        assert!(words.iter().all(|word| line.contains(word)), "{line}");
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/lint.md");
    let page = fs::read_to_string(page).expect("the page is in the repository");
    let row = |line: &&str| line.starts_with("| `");
    let table = page.lines().skip_while(|line| *line != "## Rules").skip(1);
    let table = table.take_while(|line| !line.starts_with("## ")).filter(row);
    let expected = RULES.iter().map(|rule| {
        let evidence: String = rule
            .evidence()
            .map(|(text, url)| url.map_or(text.to_owned(), |url| format!("[{text}]({url})")))
            .collect();
        format!("| `{}` | {} | {} | {evidence} |", rule.id, rule.severity.name(), rule.finds)
    });
    let (table, expected): (Vec<_>, Vec<_>) = (table.collect(), expected.collect());
    assert_eq!(table, expected, "checker/docs/lint.md:\n{}", expected.join("\n"));
}

/// The page has each finding, by rule and by layer, and is overwritten by the next one only.
#[test]
fn page() {
    let folder = model(BAD);
    let run = lint(&folder, &[".", "--quiet", "--html", "page.html"]);
    assert_eq!((run.status, run.out.as_str(), run.err.as_str()), (1, "", ""));
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    for text in [
        "<h1>1 error, 1 warning</h1>",
        "<th scope=col>no layer<th scope=col>0<th scope=col>10<tbody>",
        "<tr><th scope=row><a href=#scale-zero>scale-zero</a><td colspan=2>\
         <td class=b><a href=#f0>1</a>\n",
        "<li id=f0 tabindex=-1><b class=error>error</b> \
         <b>layers.<wbr>10.<wbr>up.<wbr>weight_scale</b> <code>[0]</code>: the scale is zero",
        "<a rel=noreferrer href=\"https://github.com/intel/auto-round/issues/207\">auto-round#207",
        "<h2>Numbers: None of the 6 tensors holds NaN or infinity</h2>",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    let again = lint(&folder, &[".", "--quiet", "--html", "page.html", "--allow", "scale-zero"]);
    assert_eq!(again.status, 0);
    assert!(fs::read_to_string(folder.join("page.html")).unwrap().contains("<h1>0 errors, 1 w"));
    let refused = lint(&folder, &[".", "--html", "config.json"]);
    assert_eq!((refused.status, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("is not overwritten"), "{}", refused.err);
}
