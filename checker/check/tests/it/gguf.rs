//! Unusual GGUF files, and files with false claims.

use nonfinite_check::{FileFormat, LookedAt};

use crate::write::{Entry, gguf, gguf_aligned, string, u32_in, u64_in};
use crate::{check, names, refused};

const F32: u32 = 0;

fn metadata(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&string(key, false)[..], &u32_in(kind, false), value].concat()
}

fn one<'a>(kind: u32, shape: &'a [usize], data: &'a [u8]) -> Entry<'a, u32> {
    Entry { name: "x", kind, shape, data }
}

#[test]
fn metadata_is_read_over() {
    let strings =
        [&u32_in(8, false)[..], &u64_in(2, false), &string("a", false), &string("", false)]
            .concat();
    let numbers = [&u32_in(6, false)[..], &u64_in(3, false), &[0; 12]].concat();
    let values = [
        metadata("string", 8, &string("llama", false)),
        metadata("strings", 9, &strings),
        metadata("numbers", 9, &numbers),
        metadata("bool", 7, &[1]),
        metadata("u16", 2, &[1, 2]),
        metadata("f64", 12, &[0; 8]),
        metadata("general.alignment", 4, &u32_in(64, false)),
    ];
    let data = [1.0f32, f32::NAN].map(f32::to_le_bytes).concat();
    let bytes = gguf_aligned(&[one(F32, &[2], &data)], false, &values, 64);
    let report = check(&bytes, FileFormat::GGUF);
    assert_eq!(names(&report), ["metadata.numbers", "metadata.f64", "x"]);
    assert_eq!(report.tensors[2].found.nan.first.as_ref().unwrap().coordinate, [1]);
}

/// Floats in the metadata are tensors, in either byte order.
#[test]
fn floats_in_metadata() {
    for big in [false, true] {
        let f32s = [1.0, f32::NAN, f32::NEG_INFINITY];
        let f64s = [f64::INFINITY];
        let turned = |mut bytes: Vec<u8>, size| {
            if big {
                bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
            }
            bytes
        };
        let f32s = turned(f32s.map(f32::to_le_bytes).concat(), 4);
        let f64s = turned(f64s.map(f64::to_le_bytes).concat(), 8);
        let value =
            |key, kind, value: &[u8]| [&string(key, big)[..], &u32_in(kind, big), value].concat();
        let array = |kind, count, values: &[u8]| {
            [&u32_in(kind, big)[..], &u64_in(count, big), values].concat()
        };
        let values = [
            value("a", 9, &array(6, 3, &f32s)),
            value("b", 6, &f32s[4..8]),
            value("c", 12, &f64s),
            value("d", 9, &array(12, 1, &f64s)),
            value("e", 9, &array(6, 0, &[])),
            value("f", 9, &array(5, 3, &f32s)),
        ];
        let bytes = gguf(&[one(F32, &[1], &[0; 4])], big, &values);
        let report = check(&bytes, FileFormat::GGUF);
        let found: Vec<_> = report
            .tensors
            .iter()
            .map(|tensor| {
                let counts = tensor.found.as_ref().map(|of_kind| of_kind.count).into_array();
                (tensor.name.as_deref().unwrap(), &*tensor.dtype, &tensor.shape[..], counts)
            })
            .collect();
        let expected: [(_, _, &[u64], _); 6] = [
            ("metadata.a", "F32", &[3], [1, 0, 1]),
            ("metadata.b", "F32", &[], [1, 0, 0]),
            ("metadata.c", "F64", &[], [0, 1, 0]),
            ("metadata.d", "F64", &[1], [0, 1, 0]),
            ("metadata.e", "F32", &[0], [0, 0, 0]),
            ("x", "F32", &[1], [0, 0, 0]),
        ];
        assert_eq!(found, expected);
    }
}

/// Tensors without a gap between them, in either byte order: a NaN is in the scale of the last
/// block.
#[test]
fn scales_of_tensors_that_touch() {
    for big in [false, true] {
        let mut data = vec![0; 34 * 16];
        data[34 * 15..][..2].copy_from_slice(&if big { [0x7E, 1] } else { [1, 0x7E] });
        let entries = ["a", "b"].map(|name| Entry { name, kind: 8, shape: &[512], data: &data });
        let report = check(&gguf(&entries, big, &[]), FileFormat::GGUF);
        assert_eq!(report.tensors.len(), 2);
        for tensor in &report.tensors {
            let nan = &tensor.found.nan;
            assert_eq!((nan.count, &nan.first.as_ref().unwrap().coordinate[..]), (1, &[480][..]));
        }
    }
}

#[test]
fn what_was_looked_at() {
    let entries = [
        Entry { name: "f", kind: F32, shape: &[1], data: &[0; 4] },
        Entry { name: "q", kind: 12, shape: &[256], data: &[0; 144] },
        Entry { name: "i", kind: 26, shape: &[1], data: &[0xFF; 4] },
        Entry { name: "old", kind: 9, shape: &[32], data: &[] },
        Entry { name: "new", kind: 77, shape: &[1], data: &[] },
    ];
    let report = check(&gguf(&entries, false, &[]), FileFormat::GGUF);
    let looked_at: Vec<_> = report.tensors.iter().map(|tensor| &tensor.looked_at).collect();
    assert_eq!(looked_at[0], &LookedAt::Values);
    let scales =
        LookedAt::Scales { block: 256, format: nonfinite::Format::F16, fields: vec!["d", "dmin"] };
    assert_eq!(looked_at[1], &scales);
    assert_eq!(looked_at[2], &LookedAt::NotFloat);
    assert!(
        matches!(looked_at[3], LookedAt::Unreadable(_))
            && matches!(looked_at[4], LookedAt::Unreadable(_))
    );
    assert!(!report.is_complete() && !report.is_bad());
}

#[test]
fn headers_that_lie() {
    let refused = |bytes: &[u8], message| refused(bytes, FileFormat::GGUF, message);
    let head = |tensors: usize, values: usize| {
        [b"GGUF", &u32_in(3, false)[..], &u64_in(tensors, false), &u64_in(values, false)].concat()
    };
    refused(b"GGU\0", "not a GGUF file");
    refused(b"GGUF\x03", "ends before its header");
    refused(b"GGUF\x01\0\0\0", "version 1 ");
    refused(b"GGUF\0\0\0\x01", "version 1 ");
    refused(b"GGUF\x04\0\0\0", "version 4 ");
    refused(b"GGUF\0\0\0\0", "version 0 ");
    refused(&head(usize::MAX, 0), "ends before its list of tensors");
    refused(&head(0, 1), "ends before its metadata");
    refused(&head(0, usize::MAX), "metadata values, more than 65536");
    let value = |kind, value: &[u8]| [head(0, 1), metadata("k", kind, value)].concat();
    refused(&value(13, &[0; 8]), "type 13 of a value");
    refused(&value(8, &u64_in(usize::MAX, false)), "ends before its metadata");
    let array = |kind, count| value(9, &[&u32_in(kind, false)[..], &u64_in(count, false)].concat());
    refused(&array(8, usize::MAX), "ends before its metadata");
    refused(&array(12, usize::MAX), "ends before its metadata");
    refused(&array(12, 1 << 61), "ends before its metadata");
    refused(&array(9, 1), "array of arrays");
    refused(&array(13, 0), "type 13 of a value");
    for (kind, alignment) in [(4, 0u32), (4, 48), (5, 32)] {
        let alignment = metadata("general.alignment", kind, &u32_in(alignment, false));
        refused(&[head(0, 1), alignment].concat(), "general.alignment");
    }
}

#[test]
fn tensors_that_lie() {
    let refused = |entries: &[Entry<'_, u32>], message| {
        refused(&gguf(entries, false, &[]), FileFormat::GGUF, message)
    };
    let data = [0; 64];
    refused(&[one(F32, &[17], &data)], "ends behind the file");
    refused(&[one(F32, &[1 << 60], &data)], "ends behind the file");
    refused(&[one(F32, &[1 << 62], &data)], "too large to exist");
    refused(&[one(F32, &[1 << 63], &data)], "too large to exist");
    refused(&[one(F32, &[1 << 32, 1 << 32], &data)], "too large to exist");
    refused(&[one(F32, &[1 << 63, 4, 0], &data)], "too large to exist");
    check(&gguf(&[one(F32, &[1, 1, 1, 16], &data)], false, &[]), FileFormat::GGUF);
    refused(&[one(F32, &[1, 1, 1, 1, 16], &data)], "5 dimensions, more than 4");
    refused(&[one(2, &[2, 33], &data)], "no whole number of blocks");
    refused(&[one(2, &[32, 3], &data)], "no whole number of blocks");
    refused(&[one(F32, &[1], &data), one(F32, &[1], &data)], r#"two tensors of the name "x""#);
    // Claims longer data than it writes, so the second tensor begins within the first.
    let short = [
        one(F32, &[16], &data[..32]),
        Entry { name: "y", kind: F32, shape: &[8], data: &data[..32] },
    ];
    refused(&short, r#"tensor "y" overlaps"#);
}

#[test]
fn offsets_that_lie() {
    let good = gguf(&[one(F32, &[2], &[0; 8])], false, &[]);
    // The offset is the last field of the header, which padding follows.
    let offset = 4 + 4 + 8 + 8 + (8 + 1) + 4 + 8 + 4;
    for (lie, message) in [
        (8usize, "multiple of the alignment"),
        (32, "behind the file"),
        (!31, "too large to exist"),
    ] {
        let mut bytes = good.clone();
        bytes[offset..offset + 8].copy_from_slice(&u64_in(lie, false));
        refused(&bytes, FileFormat::GGUF, message);
    }
}

/// Each value that is a float is a tensor, so that their number is bounded.
#[test]
fn many_values() {
    let value = metadata("x", 6, &[0; 4]);
    let file = |count: usize| {
        let mut file = gguf(&[], false, &[]);
        file[16..24].copy_from_slice(&u64_in(count, false));
        file.truncate(24);
        file.extend(value.repeat(count));
        file
    };
    // Not in pieces, each of which would read all of them.
    let most = nonfinite_check::check_bytes(&file(1 << 16), FileFormat::GGUF, &Default::default());
    assert_eq!(most.unwrap().tensors.len(), 1 << 16);
    refused(&file((1 << 16) + 1), FileFormat::GGUF, "65537 metadata values, more than 65536");
}

/// Scales whose bits are spread over several words are read in little-endian files only.
#[test]
fn split_scales_in_big_endian_files() {
    const IQ1_M: u32 = 29;
    let data = [0; 56];
    let looked_at = |big| {
        let report = check(&gguf(&[one(IQ1_M, &[256], &data)], big, &[]), FileFormat::GGUF);
        report.tensors[0].looked_at.clone()
    };
    assert!(matches!(looked_at(false), LookedAt::Scales { .. }));
    let why = "this ggml type cannot be looked at".to_owned();
    assert_eq!(looked_at(true), LookedAt::Unreadable(why.into()));
}
