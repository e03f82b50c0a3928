//! The order of tensors in .safetensors files, and files with false claims.

use nonfinite_check::{FileFormat, LookedAt};

use crate::write::{Entry, safetensors};
use crate::{check, refused};

/// A file with this text as its header, and 8 bytes of data.
fn head(text: impl AsRef<[u8]>) -> Vec<u8> {
    let text = text.as_ref();
    [&(text.len() as u64).to_le_bytes(), text, &[0; 8]].concat()
}

/// A header of one tensor.
fn entry(dtype: &str, shape: &str, offsets: &str) -> String {
    format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#)
}

#[track_caller]
fn refuse(bytes: &[u8], message: &str) {
    refused(bytes, FileFormat::SAFETENSORS, message);
}

#[test]
fn lengths_of_headers() {
    refuse(&[2, 0, 0], "too short");
    refuse(&[0; 8], "EOF");
    for (length, message) in [
        (3, "ends before its header of 3 bytes"),
        (100_000_000u64, "ends before its header"),
        (100_000_001, "100000001 bytes are too many"),
        (u64::MAX, "bytes are too many"),
    ] {
        refuse(&[&length.to_le_bytes()[..], b"{}"].concat(), message);
    }
}

/// Tensors in another order than that of the data, at an odd address, and empty ones.
#[test]
fn order_and_metadata() {
    let header =
        br#"{"b":{"dtype":"F32","shape":[1,2],"data_offsets":[1,9]},"__metadata__":{"by":"me"},
        "e":{"dtype":"F32","shape":[0,5],"data_offsets":[1,1]},
        "a":{"dtype":"F8_E5M2","shape":[],"data_offsets":[0,1]}}  "#;
    let data = [&[0x7C], &1f32.to_le_bytes()[..], &f32::NEG_INFINITY.to_le_bytes()].concat();
    let file = [&(header.len() as u64).to_le_bytes(), &header[..], &data].concat();
    let tensors = check(&file, FileFormat::SAFETENSORS).tensors;
    let names: Vec<_> = tensors.iter().map(|tensor| tensor.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["a", "e", "b"]);
    let first = |at: usize| {
        let found = &tensors[at].found;
        [&found.nan, &found.pos_inf, &found.neg_inf]
            .map(|of| of.first.as_ref().map(|first| first.coordinate.clone()))
    };
    assert_eq!(first(0), [None, Some(vec![]), None]);
    assert_eq!(first(2), [None, None, Some(vec![0, 1])]);
}

#[test]
fn always_finite() {
    for (kind, bytes) in [("F4", 4), ("F6_E2M3", 6), ("F6_E3M2", 6)] {
        let entry = Entry { name: "x", kind, shape: &[8], data: &vec![0xFF; bytes] };
        let report = check(&safetensors(&[entry]), FileFormat::SAFETENSORS);
        assert_eq!(report.tensors[0].looked_at, LookedAt::AlwaysFinite, "{kind}");
    }
}

#[test]
fn headers_that_lie() {
    refuse(&head(b"{\"\xFF\":0}"), "utf-8");
    refuse(&head("{\"x\":".repeat(100_000)), ".safetensors header");
    refuse(&head("[".repeat(100_000)), ".safetensors header");
    for (text, message) in [
        ("{", "EOF"),
        ("{}x", "trailing"),
        ("{}", "ends at byte 0 of the data, the file has 8"),
        (r#"{"x":1}"#, "invalid type"),
        (r#"{"x":{}}"#, "missing field"),
        (r#"{"__metadata__":{"a":1}}"#, "invalid type"),
        (r#"{"__metadata__":{},"__metadata__":{}}"#, "duplicate field"),
    ] {
        refuse(&head(text), message);
    }
    for (dtype, message) in [
        ("F33", r#"tensor "x": dtype "F33" is not known to this version"#),
        (r"\u001b[2J\n", r#"dtype "\u{1b}[2J\n" is not known"#),
    ] {
        let report = check(&head(entry(dtype, "[2]", "[0,8]")), FileFormat::SAFETENSORS);
        let (tensor, why) = report.not_looked_at().next().unwrap();
        let text = format!("tensor {:?}: {why}", tensor.name.as_deref().unwrap());
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn shapes_and_offsets_that_lie() {
    for (dtype, shape, offsets, message) in [
        ("F32", "[-2]", "[0,8]", "invalid value"),
        ("F32", "[1e3]", "[0,8]", "invalid type"),
        ("F32", "[99999999999999999999999]", "[0,8]", ".safetensors header"),
        ("F32", "[4294967296,4294967296]", "[0,8]", "overflow"),
        ("F32", "[4611686018427387904]", "[0,8]", "overflow"),
        ("F32", "[3]", "[0,8]", "do not fit shape and dtype"),
        ("F64", "[2]", "[0,8]", "do not fit shape and dtype"),
        ("F4", "[3]", "[0,2]", ".safetensors header"),
        ("F32", "[2]", "[8,0]", "does not begin where"),
        ("F32", "[1]", "[4,8]", "does not begin where"),
        ("F32", "[4]", "[0,16]", "ends at byte 16 of the data, the file has 8"),
        ("F32", "[1]", "[0,4]", "ends at byte 4 of the data, the file has 8"),
        ("F32", "[2]", "[0,18446744073709551615]", "the file has 8"),
        ("F32", "[2]", "[0,8,9]", ".safetensors header"),
    ] {
        refuse(&head(entry(dtype, shape, offsets)), message);
    }
}

#[test]
fn overlaps_and_repeated_names() {
    let twice = r#"two tensors of the name "a""#;
    for (second, offsets, message) in [
        ("b", ["[0,4]", "[2,6]"], r#"tensor "b" does not begin"#),
        ("b", ["[0,4]", "[0,4]"], "does not begin"),
        (r"\u001b", ["[0,4]", "[2,6]"], r"\u{1b}"),
        ("a", ["[0,4]", "[4,8]"], twice),
        ("a", ["[0,4]", "[0,4]"], twice),
        (r"\u0061", ["[0,4]", "[4,8]"], twice),
    ] {
        let tensor = |name: &str, offsets: &str| {
            format!(r#""{name}":{{"dtype":"U8","shape":[4],"data_offsets":{offsets}}}"#)
        };
        let [first, second] = [tensor("a", offsets[0]), tensor(second, offsets[1])];
        refuse(&head(format!("{{{first},{second}}}")), message);
    }
}

/// Tensors that fit their offsets one by one, up to an end to which nothing can be added.
#[test]
fn offsets_up_to_the_last() {
    let mut start = 0;
    let entry = |i: u128| {
        let end = (i << 60).min(u128::from(u64::MAX));
        let (size, from) = (end - start, start);
        start = end;
        format!(r#""{i:02}":{{"dtype":"U8","shape":[{size}],"data_offsets":[{from},{end}]}}"#)
    };
    let entries: Vec<_> = (1..=16).map(entry).collect();
    refuse(&head(format!("{{{}}}", entries.join(","))), "the file has 8");
}
