//! Damaged and malicious files: a message and exit status 2, whatever they hold.

use crate::{file, npy, npy_text, refused, run, safetensors};

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");

#[test]
fn npy_headers() {
    let head = |text: &str| npy_text(text, &[0; 12]);
    refused("h.npy", b"\x93NUMPY", "ends before its header");
    refused("h.npy", b"\x93NUMPY\x01\0\xFF", "ends before its header");
    refused("h.npy", b"\x93NUMPY\x01\0\xFF\xFF{", "ends before its header");
    refused("h.npy", b"\x93NUMPY\x02\0\xFF\xFF\0\0{", "ends before its header");
    refused("h.npy", b"\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{", "4294967295 bytes are too many");
    refused("h.npy", b"\x93NUMPY\x04\0\0\0", "version 4.0");
    refused("h.npy", b"\x93NUMPY\x01\x01\0\0", "version 1.1");
    refused("h.npy", b"\x93NUMPY\x01\0\0\0", "expected '{' at byte 0");
    refused("h.npy", &head("{}"), "'descr' is missing");
    refused("h.npy", &head("{'descr': '<f4', 'shape': (3,)}"), "'fortran_order' is missing");
    refused("h.npy", &head("{'descr': '<f4', 'fortran_order': False}"), "'shape' is missing");
    refused("h.npy", &head("{'descr': '<f4', 'descr': '<f4'}"), "'descr' is there twice");
    refused(
        "h.npy",
        &head("{'extra': 1}"),
        "expected 'descr', 'fortran_order' or 'shape' at byte 1",
    );
    refused("h.npy", &head("{'descr"), "a string that ends");
    refused("h.npy", &head("{'descr': '<f\\x34'}"), "plain characters");
    refused("h.npy", &head("{'descr': '\x1b[2J'}"), "plain characters");
    refused("h.npy", &head("{'descr': 4}"), "expected a string");
    refused("h.npy", &head("{'fortran_order': 1}"), "True or False");
    refused("h.npy", &head("{'descr': '<f4' 'shape'"), "',' or '}'");
    let whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}";
    refused("h.npy", &head(&format!("{whole}x")), "nothing but space");
    // Latin-1 and broken UTF-8.
    let mut bytes = head("{'descr': '<f4?'}");
    let place = bytes.iter().position(|&byte| byte == b'?').unwrap();
    bytes[place] = 0xFF;
    refused("h.npy", &bytes, "plain characters");
}

#[test]
fn npy_shapes() {
    let shape = |shape: &str| npy("'<f4'", false, shape, &[0; 12]);
    refused("s.npy", &shape("(-3,)"), "negative dimension");
    refused("s.npy", &shape("(3)"), "a tuple of one");
    refused("s.npy", &shape("[3]"), "expected '('");
    refused("s.npy", &shape("(3,,)"), "an integer");
    refused("s.npy", &shape("(3.0,)"), "',' or ')'");
    refused("s.npy", &shape("(+3,)"), "an integer");
    refused("s.npy", &shape("(3,"), "an integer");
    refused("s.npy", &shape("(99999999999999999999999999,)"), "too large");
    refused("s.npy", &shape("(4294967296, 4294967296)"), "too large");
    refused("s.npy", &shape("(4611686018427387905,)"), "too large");
    refused("s.npy", &shape("(9223372036854775808, 2, 0)"), "too large");
    refused("s.npy", &shape("(2305843009213693952,)"), "bytes of data, the file has 12");
    refused("s.npy", &shape("(4,)"), "say 16 bytes of data, the file has 12");
    refused("s.npy", &shape("(2,)"), "say 8 bytes of data, the file has 12");
    refused("s.npy", &shape(&format!("({})", "1, ".repeat(65))), "more than 64 dimensions");
    refused("s.npy", &npy("'<U4611686018427387905'", false, "(1,)", &[0; 4]), "not supported");
    refused("s.npy", &npy("'|S99999999999999999999999'", false, "(1,)", &[0; 4]), "not supported");
}

/// One tensor of one entry.
fn entry(dtype: &str, shape: &str, offsets: &str) -> String {
    format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#)
}

#[test]
fn safetensors_headers() {
    let head = |text: &[u8]| safetensors(text, &[0; 8]);
    refused("h.safetensors", b"{", "too short");
    refused("h.safetensors", &[0; 7], "too short");
    refused("h.safetensors", &[0; 8], "EOF");
    refused(
        "h.safetensors",
        b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}",
        "18446744073709551615 bytes are too many",
    );
    refused(
        "h.safetensors",
        b"\xFF\xE0\xF5\x05\0\0\0\0{}",
        "ends before its header of 99999999 bytes",
    );
    refused("h.safetensors", b"\x03\0\0\0\0\0\0\0{}", "ends before its header of 3 bytes");
    refused("h.safetensors", &head(b"{\"\xFF\":0}"), "utf-8");
    refused("h.safetensors", &head(b"{"), "EOF");
    refused("h.safetensors", &head(b"[]"), "expected a JSON object");
    refused("h.safetensors", &head(b"{}x"), "trailing");
    refused("h.safetensors", &head(b"{\"x\":1}"), "invalid type");
    refused("h.safetensors", &head(b"{\"x\":{}}"), "missing field");
    refused("h.safetensors", &head(b"{\"__metadata__\":{\"a\":1}}"), "invalid type");
    refused("h.safetensors", &head(br#"{"__metadata__":{},"__metadata__":{}}"#), "duplicate field");
    refused("h.safetensors", &head(&b"{\"x\":".repeat(100_000)), ".safetensors header");
    refused("h.safetensors", &head(&b"[".repeat(100_000)), ".safetensors header");
    refused(
        "h.safetensors",
        &head(entry("F33", "[2]", "[0,8]").as_bytes()),
        "tensor \"x\": dtype \"F33\" is not known to this version",
    );
    refused(
        "h.safetensors",
        &head(entry("\\u001b[2J\\n", "[2]", "[0,8]").as_bytes()),
        "dtype \"\\u{1b}[2J\\n\" is not known",
    );
    let long = entry(&"F".repeat(100_000), "[2]", "[0,8]");
    refused("h.safetensors", &head(long.as_bytes()), "FFF...");
}

#[test]
fn safetensors_shapes_and_offsets() {
    let one = |dtype: &str, shape: &str, offsets: &str| {
        safetensors(entry(dtype, shape, offsets), &[0; 8])
    };
    refused("o.safetensors", &one("F32", "[-2]", "[0,8]"), "invalid value");
    refused("o.safetensors", &one("F32", "[1e3]", "[0,8]"), "invalid type");
    refused(
        "o.safetensors",
        &one("F32", "[99999999999999999999999]", "[0,8]"),
        ".safetensors header",
    );
    refused("o.safetensors", &one("F32", "[4294967296,4294967296]", "[0,8]"), "overflow");
    refused("o.safetensors", &one("F32", "[4611686018427387904]", "[0,8]"), "overflow");
    refused("o.safetensors", &one("F32", "[3]", "[0,8]"), "do not fit shape and dtype");
    refused("o.safetensors", &one("F64", "[2]", "[0,8]"), "do not fit shape and dtype");
    refused("o.safetensors", &one("F4", "[3]", "[0,2]"), ".safetensors header");
    refused("o.safetensors", &one("F32", "[2]", "[8,0]"), "does not begin where");
    refused("o.safetensors", &one("F32", "[1]", "[4,8]"), "does not begin where");
    refused(
        "o.safetensors",
        &one("F32", "[4]", "[0,16]"),
        "ends at byte 16 of the data, the file has 8",
    );
    refused(
        "o.safetensors",
        &one("F32", "[1]", "[0,4]"),
        "ends at byte 4 of the data, the file has 8",
    );
    refused("o.safetensors", &one("F32", "[2]", "[0,18446744073709551615]"), "the file has 8");
    refused("o.safetensors", &one("F32", "[2]", "[0,8,9]"), ".safetensors header");
    refused(
        "o.safetensors",
        &safetensors("{}", &[0; 8]),
        "ends at byte 0 of the data, the file has 8",
    );
}

fn two(names: [&str; 2], offsets: [&str; 2]) -> Vec<u8> {
    let [a, b] = [0, 1].map(|i| {
        format!(r#""{}":{{"dtype":"U8","shape":[4],"data_offsets":{}}}"#, names[i], offsets[i])
    });
    safetensors(format!("{{{a},{b}}}"), &[0; 8])
}

#[test]
fn safetensors_overlaps_and_repeated_names() {
    refused(
        "two.safetensors",
        &two(["a", "b"], ["[0,4]", "[2,6]"]),
        r#"tensor "b" does not begin"#,
    );
    refused("two.safetensors", &two(["a", "b"], ["[0,4]", "[0,4]"]), "does not begin");
    refused(
        "two.safetensors",
        &two(["a", "a"], ["[0,4]", "[4,8]"]),
        r#"two tensors of the name "a""#,
    );
    refused(
        "two.safetensors",
        &two(["a", "a"], ["[0,4]", "[0,4]"]),
        r#"two tensors of the name "a""#,
    );
    refused(
        "two.safetensors",
        &two(["a", "\\u0061"], ["[0,4]", "[4,8]"]),
        r#"two tensors of the name "a""#,
    );
    refused("two.safetensors", &two(["a", "\\u001b"], ["[0,4]", "[2,6]"]), r"\u{1b}");
}

/// Tensors that fit their offsets one by one, up to an end to which nothing can be added.
#[test]
fn safetensors_offsets_up_to_the_last() {
    let mut start = 0;
    let entries: Vec<String> = (1..=16u128)
        .map(|i| {
            let end = (i << 60).min(u128::from(u64::MAX));
            let size = end - start;
            let entry = format!(
                r#""{i:02}":{{"dtype":"U8","shape":[{size}],"data_offsets":[{start},{end}]}}"#
            );
            start = end;
            entry
        })
        .collect();
    let header = format!("{{{}}}", entries.join(","));
    refused("last.safetensors", &safetensors(header, &[0; 8]), "the file has 8");
}

/// Every beginning of a good file is refused: nothing is read behind the end.
#[test]
fn truncated_anywhere() {
    for name in ["sample.safetensors", "sample.npy"] {
        let whole = std::fs::read(format!("{SAMPLES}/{name}")).expect("the samples are there");
        let files: Vec<_> = (0..whole.len())
            .map(|length| file(&format!("truncated-{length:04}-{name}"), &whole[..length]))
            .collect();
        let arguments =
            std::iter::once("check".as_ref()).chain(files.iter().map(|file| file.as_os_str()));
        let run = run(arguments);
        assert_eq!(run.status, 2);
        assert_eq!(run.err.lines().count(), whole.len());
        assert_eq!(run.out.lines().count(), 1);
        assert!(run.out.ends_with(&format!("; files in error: {}\n", whole.len())), "{}", run.out);
    }
}

/// Every header with one byte changed is read or refused, and nothing else.
#[test]
fn one_byte_changed() {
    for (name, header) in [("sample.safetensors", 1000), ("sample.npy", 128)] {
        let whole = std::fs::read(format!("{SAMPLES}/{name}")).expect("the samples are there");
        let mut files = Vec::new();
        for (place, new) in
            (0..header).zip([0, b'9', b'-', b'"', b'[', 0xFF, b'}'].into_iter().cycle())
        {
            let mut changed = whole.clone();
            changed[place] = new;
            files.push(file(&format!("changed-{place:04}-{name}"), &changed));
        }
        let arguments =
            std::iter::once("check".as_ref()).chain(files.iter().map(|file| file.as_os_str()));
        let run = run(arguments);
        assert_eq!(run.status, 2);
        assert!(run.err.lines().all(|line| line.starts_with("nonfinite: ")), "{}", run.err);
        assert!(!run.err.contains("panicked"), "{}", run.err);
    }
}

/// A header may claim gigabytes: memory follows what is there.
#[cfg(target_os = "linux")]
#[test]
fn memory_follows_the_file() {
    let claims = [
        file("claim.npy", b"\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{'descr'"),
        file(
            "claim.safetensors",
            &safetensors(entry("F64", "[1000000000]", "[0,8000000000]"), &[0; 8]),
        ),
    ];
    for claim in claims {
        assert_eq!(crate::check(&claim).status, 2);
        // 64 MiB of address space is less than either claims, and enough for the command.
        let limited = std::process::Command::new("sh")
            .args([
                "-c",
                "ulimit -v 65536 && exec \"$0\" check \"$1\"",
                env!("CARGO_BIN_EXE_nonfinite"),
            ])
            .arg(&claim)
            .output()
            .expect("a shell is there");
        assert_eq!(limited.status.code(), Some(2), "{limited:?}");
    }
}
