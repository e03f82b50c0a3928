//! Elements that numpy saves as raw bytes: bf16 and fp8 of `ml_dtypes`.

use serde_json::{Value, json};

use crate::{file, npy, refused, results, run, safetensors};

/// One, NaN, -Inf in bf16.
const BF16: [u8; 6] = [0x80, 0x3F, 0xC1, 0x7F, 0x80, 0xFF];

#[test]
fn without_a_word_of_what_they_are() {
    refused(
        "raw.npy",
        &npy("'<V2'", false, "(3,)", &BF16),
        "raw bytes, as bf16 and fp8 are saved: say what",
    );
    refused("raw.npy", &npy("'|V1'", false, "(6,)", &BF16), "--as V1=f8e4m3fn");
    refused("raw.npy", &npy("'<f1'", false, "(6,)", &BF16), "--as f1=f8e5m2");
    // No file at all.
    refused("raw.npy", &npy("'<V2'", false, "(4,)", &BF16), "say 8 bytes of data, the file has 6");
    refused("raw.npy", &npy("'<V'", false, "(4,)", &BF16), "not supported");
}

/// Programs get the name of the option and an example, and no word of another surface.
#[test]
fn in_json() {
    let path = file("raw-json.npy", &npy("'<V2'", false, "(3,)", &BF16));
    let text = path.to_str().unwrap();
    let document: Value = serde_json::from_str(&run(["check", "--json", text]).out).unwrap();
    let reason = "dtype '<V2' is raw bytes, as bf16 and fp8 are saved";
    let asks = json!({"option": "as", "example": "V2=bf16"});
    let of_file = &document["files"][0];
    assert_eq!(of_file["not_looked_at"], json!([{"name": null, "reason": reason, "asks": asks}]));
    let line: Value = serde_json::from_str(&run(["check", "--format=jsonl", text]).out).unwrap();
    for tensor in [&of_file["tensors"][0], &line] {
        assert_eq!((&tensor["reason"], &tensor["asks"]), (&json!(reason), &asks));
    }
    let out = run(["check", "--format", "github", text]).out;
    assert!(out.contains("--as V2=bf16") && !out.contains("Options::"), "{out}");
}

fn check(name: &str, descr: &str, raw: &[&str]) -> (Vec<String>, i32) {
    let path = file(name, &npy(descr, false, "(3,)", &BF16));
    let mut arguments = vec!["check"];
    arguments.extend(raw.iter().flat_map(|raw| ["--as", raw]));
    let path_text = path.to_str().unwrap();
    arguments.push(path_text);
    let run = run(arguments);
    (results(&run, &path), run.status)
}

#[test]
fn with_one() {
    let (lines, status) = check("raw-bf16.npy", "'<V2'", &["V1=f8e5m2", "V2=bf16"]);
    assert_eq!(lines[0], "<V2 [3]: 1 NaN, 0 +Inf, 1 -Inf, first NaN at [1], -Inf at [2]");
    assert_eq!(status, 1);
    // The other of that size: 0x3F80, 0x7FC1 and 0xFF80.
    let (lines, status) = check("raw-f16.npy", "'|V2'", &["V2=f16"]);
    assert_eq!(lines[0], "|V2 [3]: 2 NaN, 0 +Inf, 0 -Inf, first NaN at [1]");
    assert_eq!(status, 1);
    // Not for this dtype.
    assert_eq!(check("raw-none.npy", "'<V2'", &["V1=f8e5m2"]).1, 2);
}

#[test]
fn taken_as_floats_by_name() {
    let header = r#"{"w_scales":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#.to_owned();
    let path = file("scales.safetensors", &safetensors(header, &[1, 0xFF]));
    let text = path.to_str().unwrap();
    assert_eq!(run(["check", text]).status, 0);
    let run = run(["check", "--as", "*_scales=f8e8m0fnu", text]);
    let lines = results(&run, &path);
    assert_eq!(lines[0], "\"w_scales\" U8 [2]: 1 NaN, 0 +Inf, 0 -Inf, first NaN at [1]");
    assert_eq!(run.status, 1);
}
