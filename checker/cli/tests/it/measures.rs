//! Finite numbers: `--stats` and `--max-abs`, in every form of the output.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::write::{Entry, safetensors};
use crate::{TestFile, bytes, file, run};

/// Tensors of F32: one with large numbers, one of zeros, one with a subnormal number.
fn model(name: &str) -> TestFile {
    let tensors: [(&str, [f32; 4]); 3] = [
        ("large", [1.0, 7e4, -8e4, 0.0]),
        ("zeros", [0.0, -0.0, 0.0, 0.0]),
        ("small", [0.5, -1e-40, 0.0, 65504.0]),
    ];
    let tensors = tensors.map(|(name, numbers)| (name, bytes(&numbers)));
    let entries = tensors.each_ref();
    let entries = entries.map(|(name, data)| Entry { name, kind: "F32", shape: &[2, 2], data });
    file(name, &safetensors(&entries))
}

#[track_caller]
fn check(path: &Path, arguments: &[&str], status: i32) -> String {
    let path = path.to_str().unwrap();
    let run = run([&["check"], arguments, &[path]].concat());
    assert_eq!((run.status, run.err.as_str()), (status, ""), "{}", run.out);
    run.out.replace(path, "x")
}

#[test]
fn lines_of_statistics() {
    let path = model("measures-lines.safetensors");
    let out = check(&path, &["--stats"], 0);
    let expected = [
        "x: \"large\" F32 [2, 2]: 0 NaN, 0 +Inf, 0 -Inf; finite from -80000 to 70000, \
         max |x| at [1, 0], 1 zero",
        r#"x: "zeros" F32 [2, 2]: 0 NaN, 0 +Inf, 0 -Inf; all zeros"#,
    ];
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[..2], expected, "{out}");
    assert!(lines[2].contains("to 65504, max |x| at [1, 1], 1 zero, 1 subnormal"), "{out}");
    assert!(lines[3].contains("; all zeros: 1"), "{out}");
    assert!(!check(&path, &[], 0).contains("zeros"));
}

#[test]
fn json_of_statistics() {
    let path = model("measures-json.safetensors");
    let document: Value =
        serde_json::from_str(&check(&path, &["--stats", "--json", "--max-abs", "7e4"], 1)).unwrap();
    let tensor = &document["files"][0]["tensors"][0];
    let numbers = ["min", "max", "max_abs"].map(|name| tensor[name].as_f64().unwrap());
    assert_eq!(numbers, [-8e4, 7e4, 8e4]);
    let at = |name: &str| tensor[name]["coordinate"].clone();
    assert_eq!(
        ["min_at", "max_at", "max_abs_at"].map(at),
        [json!([1, 0]), json!([0, 1]), json!([1, 0])]
    );
    let counts = ["zeros", "subnormals", "normals"].map(|name| tensor[name].as_u64().unwrap());
    assert_eq!(counts, [1, 0, 3]);
    let large =
        json!({"count": 1, "bound": 7e4, "max_abs": 8e4, "max_abs_at": {"coordinate": [1, 0]}});
    assert_eq!((&tensor["large"], &tensor["bad"]), (&large, &json!(["large"])));
    let totals = &document["totals"]["by_dtype"]["F32"];
    assert_eq!((&totals["min"], &totals["max_abs"]), (&json!(-8e4), &json!(8e4)));
    assert_eq!((&totals["zeros"], &totals["all_zeros"]), (&json!(6), &json!(1)));
    // Without statistics, only the bound.
    let document: Value =
        serde_json::from_str(&check(&path, &["--json", "--max-abs", "7e4"], 1)).unwrap();
    let tensor = &document["files"][0]["tensors"][0];
    assert!(tensor["large"].is_object() && tensor.get("min").is_none());
    assert!(tensor.get("zeros").is_none() && document["totals"].get("zeros").is_none());
}

/// Status 1 if a number is above the bound; allowed numbers are counted.
#[test]
fn bounds() {
    let path = model("measures-bounds.safetensors");
    let bad = check(&path, &["--max-abs", "65504"], 1);
    let line =
        "x: \"large\" F32 [2, 2]: 0 NaN, 0 +Inf, 0 -Inf; 2 above 65504, max |x| 80000 at [1, 0]\n";
    assert!(
        bad.starts_with(line)
            && bad.contains("holds numbers above the bound: large, at [1, 0]. ")
            && bad.lines().count() == 2,
        "{bad}"
    );
    assert!(
        check(&path, &["--max-abs", "8e4"], 0)
            .contains("holds NaN, infinity or numbers above the bound. ")
    );
    let allowed = check(&path, &["--max-abs", "65504", "--allow", "l*:large"], 0);
    assert!(allowed.contains("; allowed: 1"), "{allowed}");
    assert!(check(&path, &["-q", "--max-abs", "1"], 1).is_empty());
    for bound in ["-1", "nan", "inf", "1e999", "x"] {
        let run = run(["check", "--max-abs", bound, path.to_str().unwrap()]);
        assert_eq!(run.status, 2);
        assert!(run.err.contains("not a finite number from 0 on"), "{}", run.err);
    }
}

#[test]
fn other_forms() {
    let path = model("measures-services.safetensors");
    let with = |form| check(&path, &["--max-abs", "65504", "--format", form], 1);
    let github = with("github");
    let title = "::error file=x,title=numbers above 65504 in large::\"large\" F32 [2, 2]";
    assert!(github.starts_with(title), "{github}");
    let table = with("table");
    assert!(table.contains("2 above 65504, max |x| 80000 at [1, 0]"), "{table}");
}

#[test]
fn page() {
    let path = model("measures-page.safetensors");
    let page = file("measures.html", b"");
    check(&path, &["--stats", "--max-abs", "65504", "--html", page.to_str().unwrap()], 1);
    let text = fs::read_to_string(&page).unwrap();
    for part in [
        "<h1>1 of 3 tensors holds numbers above the bound: large, at [1, 0]</h1>",
        "<code>F32 [2, 2]</code>: 2 above 65504, max |x| 80000 at [1, 0]</summary>",
        "finite from -80000 to 70000, max |x| at [1, 0], 1 zero<br>",
        "<summary>Finite numbers of each tensor</summary>",
        "<tr><th scope=row>large<td>-80000<td>70000<td>[1, 0]<td>1<td>0\n",
        "<tr><th scope=row>zeros<td>0<td>0<td>[0, 0]<td>all<td>0\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    check(&path, &["--html", page.to_str().unwrap()], 0);
    assert!(!fs::read_to_string(&page).unwrap().contains("Finite numbers"));
}

/// Zeros and -Inf, or zeros and the least number, are a mask. With `--strict` it is bad.
#[test]
fn masks() {
    let file_of = |name, numbers: [f32; 4]| {
        let data = bytes(&numbers);
        let entry = Entry { name, kind: "F32", shape: &[2, 2], data: &data };
        file("measures-masks.safetensors", &safetensors(&[entry]))
    };
    let page = file("measures-masks.html", b"");
    for (number, text) in [
        (f32::NEG_INFINITY, "a mask: zeros and -Inf"),
        (f32::MIN, "a mask: zeros and -3.40282e38, the least number"),
        (-65504.0, "a mask: zeros and -65504, the least number"),
    ] {
        let path = file_of("bias", [0.0, number, -0.0, 0.0]);
        let table = ["--format", "table", "--html", page.to_str().unwrap()];
        for (arguments, status) in [(&[][..], 0), (&["--strict"], 1), (&table, 0)] {
            let out = check(&path, arguments, status);
            assert!(
                out.contains(text) && out.contains("The one tensor that was looked at is a mask. "),
                "{arguments:?} {out}"
            );
            assert!(out.contains("; masks: 1"), "{arguments:?} {out}");
        }
        let html = fs::read_to_string(&*page).unwrap();
        assert!(html.contains(text) && html.contains("0 of 1 tensor bad; 1 mask"), "{html}");
        let document: Value = serde_json::from_str(&check(&path, &["--json"], 0)).unwrap();
        let tensor = &document["files"][0]["tensors"][0];
        assert_eq!((&tensor["mask"], &tensor["bad"]), (&json!(true), &json!([])));
        assert_eq!(document["totals"]["masks"], 1);
        check(&path, &["--strict", "--allow", "bias:all"], 0);
        check(&path, &["--max-abs", "1e4"], 0);
    }
    // Another number, another sign, or no zero: no mask.
    for (others, status) in [
        ([0.0, f32::NEG_INFINITY, 1.0, 0.0], 1),
        ([0.0, f32::NEG_INFINITY, f32::NAN, 0.0], 1),
        ([0.0, f32::INFINITY, 0.0, 0.0], 1),
        ([f32::NEG_INFINITY; 4], 1),
        ([0.0, f32::MIN, -65504.0, 0.0], 0),
        ([0.0, f32::MIN, 1.0, 0.0], 0),
        ([f32::MIN; 4], 0),
    ] {
        let out = check(&file_of("bias", others), &[], status);
        assert!(!out.contains("a mask") && !out.contains("masks:"), "{others:?} {out}");
    }
    check(&file_of("q_proj.weight", [0.0, f32::NEG_INFINITY, 0.0, 0.0]), &[], 1);
}
