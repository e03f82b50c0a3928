//! The report on the sample files. `ci/samples` checks that their script still writes them.

use crate::{command, without_speed};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");

fn check(files: &[&str]) -> (i32, Vec<String>) {
    let output = command()
        .arg("check")
        .args(files)
        .current_dir(SAMPLES)
        .output()
        .expect("the command starts");
    assert!(output.stderr.is_empty(), "{output:?}");
    let out = String::from_utf8(output.stdout).expect("output is UTF-8");
    (output.status.code().expect("no signal"), out.lines().map(without_speed).collect())
}

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
        "checked 11 tensors, 492 elements, 1569 bytes: 7 bad; \
         skipped 1 without floats, 1 always finite",
    ];
    let (status, lines) = check(&["sample.safetensors", "sample.npy", "clean.npy"]);
    assert_eq!(lines, expected);
    assert_eq!(status, 1);
}

#[test]
fn clean() {
    let expected = ["checked 1 tensor, 60 elements, 240 bytes: 0 bad; \
         skipped 0 without floats, 0 always finite"];
    let (status, lines) = check(&["clean.npy"]);
    assert_eq!(lines, expected);
    assert_eq!(status, 0);
}

/// All backends say the same.
#[test]
fn every_backend() {
    for backend in nonfinite::Backend::available() {
        let mut check = command();
        check
            .args(["check", "sample.safetensors"])
            .current_dir(SAMPLES)
            .env("NONFINITE_BACKEND", backend.name());
        let out =
            String::from_utf8(check.output().expect("the command starts").stdout).expect("UTF-8");
        assert!(out.contains(&format!(" GB/s, backend {}: 6 bad; ", backend.name())), "{out}");
        assert!(
            out.contains("2 NaN, 0 +Inf, 1 -Inf, first NaN at [1, 0, 3], -Inf at [1, 3, 7]"),
            "{out}"
        );
    }
}
