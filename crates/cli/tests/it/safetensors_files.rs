//! Tensors of every dtype of the format.

use crate::{assert_found, assert_results, safetensors};

/// A file with one tensor of shape [n].
fn one(dtype: &str, n: usize, data: &[u8]) -> Vec<u8> {
    let length = data.len();
    safetensors(
        format!(r#"{{"x":{{"dtype":"{dtype}","shape":[{n}],"data_offsets":[0,{length}]}}}}"#),
        data,
    )
}

#[test]
fn every_float_dtype() {
    // A finite element, then those that are not.
    let cases: [(&str, &[u8], &str); 9] = [
        (
            "F16",
            &[0xFF, 0x7B, 0x00, 0x7C, 0x01, 0xFC],
            "1 NaN, 1 +Inf, 0 -Inf, first NaN at [2], +Inf at [1]",
        ),
        (
            "BF16",
            &[0x7F, 0x7F, 0x80, 0xFF, 0x81, 0x7F],
            "1 NaN, 0 +Inf, 1 -Inf, first NaN at [2], -Inf at [1]",
        ),
        (
            "F32",
            &[0, 0, 0, 0, 0, 0, 0x80, 0x7F, 1, 0, 0x80, 0x7F],
            "1 NaN, 1 +Inf, 0 -Inf, first NaN at [2], +Inf at [1]",
        ),
        (
            "F64",
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xF0, 0xFF],
            "0 NaN, 0 +Inf, 1 -Inf, first -Inf at [1]",
        ),
        (
            "F8_E5M2",
            &[0x7B, 0x7C, 0xFC, 0x7F],
            "1 NaN, 1 +Inf, 1 -Inf, first NaN at [3], +Inf at [1], -Inf at [2]",
        ),
        ("F8_E4M3", &[0x7E, 0x78, 0x7F, 0xFF], "2 NaN, 0 +Inf, 0 -Inf, first NaN at [2]"),
        ("F8_E8M0", &[0x7F, 0xFE, 0xFF], "1 NaN, 0 +Inf, 0 -Inf, first NaN at [2]"),
        ("F8_E4M3FNUZ", &[0x7F, 0xFF, 0x80], "1 NaN, 0 +Inf, 0 -Inf, first NaN at [2]"),
        ("F8_E5M2FNUZ", &[0x7C, 0xFF, 0x80], "1 NaN, 0 +Inf, 0 -Inf, first NaN at [2]"),
    ];
    for (dtype, data, found) in cases {
        let size = match dtype {
            "F64" => 8,
            "F32" => 4,
            "F16" | "BF16" => 2,
            _ => 1,
        };
        let n = data.len() / size;
        let line = format!(r#""x" {dtype} [{n}]: {found}"#);
        assert_found("dtype.safetensors", &one(dtype, n, data), &[&line]);
    }
}

#[test]
fn complex_is_two_floats() {
    let data: Vec<u8> =
        [0.0, 1.0, 2.0, f32::NAN].iter().flat_map(|x: &f32| x.to_le_bytes()).collect();
    let line = r#""x" C64 [2]: 1 NaN, 0 +Inf, 0 -Inf, first NaN at [1]"#;
    assert_found("c64.safetensors", &one("C64", 2, &data), &[line]);
}

#[test]
fn always_finite() {
    let skipped =
        "checked 0 tensors, 0 elements, 0 bytes: 0 bad; skipped 0 without floats, 1 always finite";
    for (dtype, bytes) in [("F4", 4), ("F6_E2M3", 6), ("F6_E3M2", 6)] {
        assert_results("packed.safetensors", &one(dtype, 8, &vec![0xFF; bytes]), 0, &[skipped]);
    }
}

/// Data that begins at an odd address, tensors listed in another order than stored, empty ones, and
/// metadata.
#[test]
fn order_alignment_and_metadata() {
    let header =
        br#"{"b":{"dtype":"F32","shape":[1,2],"data_offsets":[1,9]},"__metadata__":{"by":"hand"},
        "e":{"dtype":"F32","shape":[0,5],"data_offsets":[1,1]},
        "a":{"dtype":"F8_E5M2","shape":[],"data_offsets":[0,1]}}  "#;
    let mut data = vec![0x7C];
    data.extend([1.0, f32::NEG_INFINITY].iter().flat_map(|x: &f32| x.to_le_bytes()));
    let lines = [
        r#""a" F8_E5M2 []: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at []"#,
        r#""b" F32 [1, 2]: 0 NaN, 0 +Inf, 1 -Inf, first -Inf at [0, 1]"#,
    ];
    assert_found("odd.safetensors", &safetensors(header, &data), &lines);
}

#[test]
fn names_cannot_drive_the_terminal() {
    let header = r#"{"\u001b[2J\u202e\n\"x":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[0,1]}}"#;
    let line = r#""\u{1b}[2J\u{202e}\n\"x" F8_E5M2 [1]: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at [0]"#;
    assert_found("escape.safetensors", &safetensors(header, &[0x7C]), &[line]);
}
