//! The report on the sample files. `checker/cli/samples/test` checks that their script still writes
//! them.

use crate::{Run, check_in, command, without_speed};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");

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
    let run = check_in(SAMPLES.as_ref(), &["sample.safetensors", "sample.npy", "clean.npy"]);
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    assert_eq!(run.out.lines().map(without_speed).collect::<Vec<_>>(), expected);
}

/// All backends say the same.
#[test]
fn every_backend() {
    for backend in nonfinite::Backend::available() {
        let mut check = command();
        check.args(["check", "sample.safetensors"]).current_dir(SAMPLES);
        let run = Run::from(check.env("NONFINITE_BACKEND", backend.name()).output().unwrap());
        let out = run.out;
        assert!(out.contains(&format!(" GB/s, backend {}: 6 bad; ", backend.name())), "{out}");
        assert!(
            out.contains("2 NaN, 0 +Inf, 1 -Inf, first NaN at [1, 0, 3], -Inf at [1, 3, 7]"),
            "{out}"
        );
    }
}
