//! Numbers in pickles of PyTorch outside of storages: arrays of numpy, scales, bytes. Also files
//! before version 1.6.

use nonfinite_check::{FileFormat, LookedAt, Report};

use super::pytorch::{archive, integers, state_dict, storage, tensor, text};
use super::{error, read};
use crate::codes::{BF16, ELEMENTS, F16, F32, F64, SHAPE, STRIDES, assert_found, plant};
use crate::zip::{deflated, zip};
use crate::{check, names, unread};

fn one(value: &[u8]) -> Report {
    check(&archive(&state_dict(&[("x", value.to_vec())]), &[]), FileFormat::PYTORCH)
}

fn float(number: f64) -> Vec<u8> {
    [b"G", &number.to_be_bytes()[..]].concat()
}

/// Bytes as protocol 3 has them.
pub(super) fn bytes(bytes: &[u8]) -> Vec<u8> {
    [b"B", &(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
}

/// Bytes as protocol 2 has them: the text of their characters.
fn encoded(bytes: &[u8]) -> Vec<u8> {
    let characters: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    [b"c_codecs\nencode\n", &text(&characters)[..], &text("latin1"), b"\x86R"].concat()
}

/// Bytes as protocol 0 has them: a line in raw-unicode-escape.
fn escaped(bytes: &[u8]) -> Vec<u8> {
    let mut line = Vec::new();
    for &byte in bytes {
        match byte {
            0 | b'\n' | b'\r' | 0x1A | b'\\' => line.extend(format!("\\u{byte:04x}").bytes()),
            _ => line.push(byte),
        }
    }
    [b"c_codecs\nencode\n(V", &line[..], b"\nVlatin1\ntR"].concat()
}

pub(super) fn dtype(order: &str, kind: &str) -> Vec<u8> {
    let call = [b"cnumpy\ndtype\n", &text(kind)[..], b"\x89\x88\x87R"].concat();
    [&call[..], b"(K\x03", &text(order), b"NNNJ\xFF\xFF\xFF\xFFJ\xFF\xFF\xFF\xFFK\x00tb"].concat()
}

/// The pickle of numpy for an array.
pub(super) fn array(dtype: &[u8], shape: &[usize], fortran: bool, raw: &[u8]) -> Vec<u8> {
    let call = b"cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R";
    let order: &[u8] = if fortran { b"\x88" } else { b"\x89" };
    [&call[..], b"(K\x01", &integers(shape)[..], dtype, order, raw, b"tb"].concat()
}

/// The first object of a pickle is a text with the bytes of an array, which is recalled later.
#[test]
fn bytes_of_the_first_object() {
    let recalled = b"c_codecs\nencode\n(g0\nVlatin1\ntR";
    let value = array(&dtype("<", "f4"), &[1], false, recalled);
    let text = b"\x80\x02V\\u0000\\u0000\xC0\x7F\np0\n0";
    let pickle = [&text[..], &state_dict(&[("x", value)])].concat();
    let report = check(&archive(&pickle, &[]), FileFormat::PYTORCH);
    assert_eq!(report.tensors[0].name.as_deref(), Some("x"));
    assert_found(&report.tensors[0], 0, &[0]);
}

#[test]
fn planted_in_arrays() {
    let protocol_5 = |dtype: &[u8], data: &[u8]| {
        let length = (data.len() as u64).to_le_bytes();
        let call = [b"cnumpy._core.numeric\n_frombuffer\n(\x96", &length[..], data, dtype];
        [&call.concat()[..], &integers(&SHAPE), &text("C"), b"tR"].concat()
    };
    for (descr, codes) in [("f4", F32), ("f8", F64), ("f2", F16)] {
        let found = |pickle: &[u8]| {
            let mut report = one(pickle);
            assert_eq!(report.tensors.len(), 1);
            assert_eq!(report.tensors[0].name.as_deref(), Some("x"));
            assert!(report.is_complete());
            report.tensors.remove(0)
        };
        for order in ["<", ">"] {
            let (is_big, dtype) = (order == ">", dtype(order, descr));
            for raw in [bytes as fn(&[u8]) -> Vec<u8>, encoded, escaped] {
                plant(&codes, is_big, descr, |data| {
                    found(&array(&dtype, &SHAPE, false, &raw(data)))
                });
            }
            plant(&codes, is_big, descr, |data| found(&protocol_5(&dtype, data)));
        }
    }
}

#[test]
fn scalars_and_others_of_numpy() {
    let scalar = |dtype: &[u8], raw: &[u8]| {
        [b"cnumpy.core.multiarray\nscalar\n", dtype, raw, b"\x86R"].concat()
    };
    let report = one(&scalar(&dtype("<", "f8"), &encoded(&f64::NEG_INFINITY.to_le_bytes())));
    assert_found(&report.tensors[0], 2, &[]);
    // Python 2: a string that is text, and one that is not.
    let python_2 = |raw: &[u8]| [b"U", &[raw.len() as u8][..], raw].concat();
    let report = one(&scalar(&dtype("<", "f4"), &python_2(&f32::NAN.to_le_bytes())));
    assert_found(&report.tensors[0], 0, &[]);
    let report = one(&scalar(&dtype("<", "f4"), &python_2(b"ABCD")));
    assert!(report.is_complete() && report.tensors[0].looked_at == LookedAt::Values);
    let report = one(&scalar(&dtype("<", "i8"), &bytes(&[0xFF; 8])));
    assert_eq!(report.tensors[0].looked_at, LookedAt::NotFloat);
    // Elements that are objects: numbers of Python, and what is looked at.
    let objects = |objects: &[&[u8]]| {
        let objects = [b"](", &objects.concat()[..], b"e"].concat();
        one(&array(&dtype("|", "O8"), &[2], false, &objects))
    };
    let report = objects(&[b"N", &float(f64::NAN)]);
    assert_eq!(unread(&report), [("x", "an array of objects with numbers of Python")]);
    assert!(objects(&[&text("k"), b"K\x01"]).is_complete());
    let inner = array(&dtype("<", "f4"), &[1], false, &bytes(&f32::NAN.to_le_bytes()));
    let report = objects(&[b"N", &inner]);
    assert_eq!(report.tensors[0].name.as_deref(), Some("x.1"));
    assert!(report.is_bad() && report.is_complete());
    // Wrong numbers of bytes, and unknown dtypes.
    let report = one(&array(&dtype("<", "f4"), &[2], false, &bytes(&[0xFF; 4])));
    assert_eq!(unread(&report), [("x", "its length does not match dtype and shape")]);
    let report = one(&array(&dtype("<", "f16"), &[1], false, &bytes(&[0xFF; 16])));
    assert_eq!(unread(&report), [("x", "dtype '<f16' is not supported")]);
    let fields = [
        b"cnumpy\ndtype\n",
        &text("V4")[..],
        b"\x89\x88\x87R(K\x03",
        &text("|"),
        b"N)}K\x04K\x01K\x00tb",
    ]
    .concat();
    let report = one(&array(&fields, &[1], false, &bytes(&[0xFF; 4])));
    assert_eq!(unread(&report), [("x", "bytes in a pickle that could be anything")]);
}

/// Numbers of Python are no tensors, wherever they stand.
#[test]
fn numbers_of_python() {
    let nan = float(f64::NAN);
    let pickle = state_dict(&[
        ("best", float(f64::INFINITY)),
        ("losses", [b"](", &nan[..], &nan, b"e"].concat()),
        ("complex", [b"cbuiltins\ncomplex\n", &nan[..], &nan, b"\x86R"].concat()),
        ("old", b"Fnan\n".to_vec()),
    ]);
    let report = check(&archive(&pickle, &[]), FileFormat::PYTORCH);
    assert_eq!(report.tensors, []);
    assert!(report.is_complete() && !report.is_bad());
    assert!(
        error(&archive(b"\x80\x02Fx\n.", &[]), FileFormat::PYTORCH)
            .contains("a float that cannot be parsed")
    );
}

#[test]
fn scales_of_quantised_tensors() {
    let quantised = |quantiser: &[u8]| {
        [
            b"ctorch._utils\n_rebuild_qtensor\n(",
            &storage("QInt8Storage", "0", 4)[..],
            b"K\x00",
            &integers(&[4]),
            &integers(&[1]),
            quantiser,
            b"\x89NtR",
        ]
        .concat()
    };
    let per_tensor = |scale| {
        quantised(&[b"ctorch\nper_tensor_affine\n", &float(scale)[..], b"K\x00\x87"].concat())
    };
    let scales = tensor(&storage("DoubleStorage", "1", 2), 0, &[2], &[1]);
    let zeros = tensor(&storage("LongStorage", "2", 2), 0, &[2], &[1]);
    let per_channel =
        quantised(&[b"(ctorch\nper_channel_affine\n", &scales[..], &zeros, b"K\x00t"].concat());
    let pickle = state_dict(&[
        ("good", per_tensor(0.5)),
        ("bad", per_tensor(f64::NAN)),
        ("channels", per_channel),
    ]);
    let data = [1.0, f64::NAN].map(f64::to_le_bytes).concat();
    let report = check(&archive(&pickle, &[&[0; 4], &data, &[0; 16]]), FileFormat::PYTORCH);
    let mut names = names(&report);
    names.retain(|name| name.contains('.'));
    assert_eq!(names, ["good.scale", "bad.scale", "channels.scale", "channels.zero_point"]);
    let bad: Vec<_> = report.tensors.iter().filter(|tensor| tensor.is_bad()).collect();
    assert_eq!(bad.len(), 2);
    assert_eq!(bad[0].name.as_deref(), Some("bad.scale"));
    assert_eq!(bad[1].name.as_deref(), Some("channels.scale"));
    assert_found(bad[1], 0, &[1]);
    assert!(report.is_complete());
}

#[test]
fn bytes_that_could_be_anything() {
    let nan = f32::NAN.to_le_bytes();
    let why = "bytes in a pickle that could be anything";
    for value in [
        bytes(&nan),
        encoded(&nan),
        [b"cbuiltins\nbytearray\n", &bytes(&nan)[..], b"\x85R"].concat(),
    ] {
        assert_eq!(unread(&one(&value)), [("x", why)]);
        let list = [b"](", &value[..], &value, b"e"].concat();
        let report = one(&list);
        assert_eq!(unread(&report), [("x.0", why)]);
        assert_eq!(report.tensors[0].shape, [8]);
        // No name leads to it.
        assert_eq!(unread(&one(&[&value[..], b"0N"].concat())), [("data.pkl", why)]);
    }
    // Text is printable ASCII. An infinity of f16 has two ASCII characters, of which one is zero.
    for (raw, is_text) in [(&b"text"[..], true), (&[0, 0x7C], false), (&[0xE9], false)] {
        for value in [bytes(raw), encoded(raw)] {
            assert_eq!(one(&value).is_complete(), is_text, "{raw:?}");
        }
    }
    // A text that is none, and NaN of f16 that are text.
    for value in [b"X\x04\0\0\0\0\0\xC0\x7F".to_vec(), bytes(b"A|A|A|A|"), encoded(b"A|A|")] {
        assert_eq!(unread(&one(&value)), [("x", why)]);
    }
}

/// Strings of Python 2 with escapes could hold numbers, and are not read.
#[test]
fn strings_with_escapes() {
    let refused = |line: &[u8]| error(&archive(line, &[]), FileFormat::PYTORCH);
    assert!(refused(b"S'\\x00\\x00\xC0\\x7f'\n.").contains("protocol 0 with escapes"));
    assert!(refused(b"S'\xFF'\n.").contains("protocol 0 with escapes"));
    assert!(refused(b"V\\u12\n.").contains("an escape stands for no character"));
    assert!(refused(b"V\\ud800\n.").contains("an escape stands for no character"));
    assert!(check(&archive(b"S'plain'\n.", &[]), FileFormat::PYTORCH).is_complete());
}

/// Bounds of the time and the memory that references could take.
#[test]
fn bounds() {
    let names = "names and shapes that are far longer";
    let pickle = |pickle: &[u8]| error(&archive(pickle, &[]), FileFormat::PYTORCH);
    // Arrays of the same bytes, of the same text, and bytes made of the same text.
    let long = vec![0xFF; 1 << 16];
    let scalar = b"h\x00h\x01h\x02\x86R";
    let start =
        [&b"\x80\x02cnumpy.core.multiarray\nscalar\nq\x00"[..], &dtype("<", "f4"), b"q\x01"];
    for raw in [bytes(&long), encoded(&long)] {
        let arrays = [&start.concat()[..], &raw, b"q\x02](", &scalar.repeat(2000), b"e."].concat();
        assert!(pickle(&arrays).contains(names));
    }
    let characters = &encoded(&long)[..encoded(&long).len() - text("latin1").len() - 2];
    let again = b"c_codecs\nencode\nh\x00h\x01\x86R".repeat(2000);
    let start =
        [&b"\x80\x02"[..], characters, b"q\x00", &text("latin1"), b"q\x01](", &again, b"e."];
    assert!(pickle(&start.concat()).contains(names));
    // Wrappers of wrappers, of tensors and of bytes.
    for wraps in [7, 8] {
        let mut value = tensor(&storage("FloatStorage", "0", 1), 0, &[1], &[1]);
        let mut raw = bytes(&f32::NAN.to_le_bytes());
        for _ in 0..wraps {
            value = [b"ctorch._utils\n_rebuild_parameter\n(", &value[..], b"\x88}tR"].concat();
            raw = [b"cbuiltins\nbytes\n", &raw[..], b"\x85R"].concat();
        }
        let report = check(&archive(&state_dict(&[("w", value)]), &[&[0; 4]]), FileFormat::PYTORCH);
        // Beyond the bound, the tensor goes by the name of an argument.
        let name = if wraps == 7 { "w" } else { "w.0" };
        assert_eq!(report.tensors[0].name.as_deref(), Some(name));
        let array = one(&array(&dtype("<", "f4"), &[1], false, &raw));
        assert_eq!((array.is_bad(), array.is_complete()), (wraps == 7, wraps == 7), "{wraps}");
    }
}

/// Tensors of one storage with a long name.
#[test]
fn names_of_storages() {
    let first = [&storage("FloatStorage", &"k".repeat(1 << 16), 1)[..], b"q\x00"].concat();
    let tensors = tensor(b"h\x00", 0, &[1], &[1]).repeat(2000);
    let pickle = [&b"\x80\x02]("[..], &tensor(&first, 0, &[1], &[1]), &tensors, b"e."].concat();
    let error = error(&archive(&pickle, &[]), FileFormat::PYTORCH);
    assert!(error.contains("names and shapes that are far longer"), "{error}");
}

/// References to an object that was visited before take no room, whatever the name they would have.
#[test]
fn references_are_free() {
    let raw = bytes(&f32::NAN.to_le_bytes());
    let numbers = [&array(&dtype("<", "f4"), &[1], false, &raw)[..], b"q\x00"].concat();
    let key = text(&"k".repeat(4000));
    let again = [&b"]("[..], &b"h\x00".repeat(4000), b"e"].concat();
    let pickle = [&b"\x80\x02}("[..], &text("x"), &numbers, &key, &again, b"u."].concat();
    let report = check(&archive(&pickle, &[]), FileFormat::PYTORCH);
    assert_eq!(report.tensors.len(), 1, "{report:?}");
    assert_eq!(report.tensors[0].name.as_deref(), Some("x"));
}

/// A deflated pickle is inflated up to a bound. A stored one has none: it is no longer than the
/// file.
#[test]
fn long_pickles() {
    let long = |length: usize| [b"\x80\x02", &text(&"a".repeat(length - 8))[..], b"."].concat();
    let most = 1 << 20;
    let of = |length, deflate| {
        let pickle = long(length);
        let members: [(&str, &[u8]); 1] = [("m/data.pkl", &pickle)];
        let file = if deflate { deflated(&members) } else { zip(&members) };
        read(&file, FileFormat::PYTORCH)
    };
    assert!(of(most, true).is_ok() && of(most + 1, false).is_ok());
    let error = of(most + 1, true).unwrap_err().to_string();
    assert!(error.contains("longer than a deflated pickle"), "{error}");
}

const MAGIC: &[u8] = b"\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.";

/// A file as torch wrote it before version 1.6: the object, and storages in the order of their
/// names.
fn old(object: &[u8], storages: &[(&str, usize, &[u8])]) -> Vec<u8> {
    let facts = [b"\x80\x02}(", &text("little_endian")[..], b"\x88u."].concat();
    let names: Vec<u8> = storages.iter().flat_map(|(name, ..)| text(name)).collect();
    let data = storages
        .iter()
        .flat_map(|(_, count, data)| [&(*count as u64).to_le_bytes()[..], data].concat());
    let list = [b"\x80\x02](", &names[..], b"e."].concat();
    [MAGIC, b"\x80\x02M\xE9\x03.", &facts, object, &list, &data.collect::<Vec<_>>()].concat()
}

/// A persistent id of these files: with a view of the storage, or without.
fn old_storage(class: &str, key: &str, view: &[u8]) -> Vec<u8> {
    let class = format!("ctorch\n{class}\n");
    let (word, key, place) = (text("storage"), text(key), text("cpu"));
    [b"(", &word[..], class.as_bytes(), &key, &place, b"K\x06", view, b"tQ"].concat()
}

/// Such a file with a NaN.
pub(super) fn legacy() -> Vec<u8> {
    let object =
        state_dict(&[("w", tensor(&old_storage("FloatStorage", "7", b"N"), 0, &[1], &[1]))]);
    old(&object, &[("7", 1, &f32::NAN.to_le_bytes())])
}

#[test]
fn planted_before_1_6() {
    for (class, codes) in [("FloatStorage", F32), ("BFloat16Storage", BF16)] {
        plant(&codes, false, class, |data| {
            let object = state_dict(&[
                ("n", tensor(&old_storage("LongStorage", "12", b"N"), 0, &[1], &[1])),
                ("w", tensor(&old_storage(class, "9", b"N"), 0, &SHAPE, &STRIDES)),
                ("x", array(&dtype("<", "f4"), &[1], false, &bytes(&[0; 4]))),
            ]);
            let file = old(&object, &[("12", 1, &[0; 8]), ("9", ELEMENTS, data)]);
            let mut report = check(&file, FileFormat::PYTORCH);
            assert_eq!(names(&report), ["n", "w", "x"]);
            assert!(report.is_complete());
            report.tensors.remove(1)
        });
    }
}

#[test]
fn lies_before_1_6() {
    let data = [0.0, 0.0, 0.0, f32::NAN].map(f32::to_le_bytes).concat();
    // A view of two elements from element 2 on.
    let view = [&text("view")[..], b"K\x02K\x02\x87"].concat();
    let of_view = tensor(&old_storage("FloatStorage", "7", &view), 0, &[2], &[1]);
    let report =
        check(&old(&state_dict(&[("w", of_view)]), &[("7", 4, &data)]), FileFormat::PYTORCH);
    assert_found(&report.tensors[0], 0, &[1]);
    assert_eq!(report.tensors[0].elements, 2);

    let whole = legacy();
    let nan = f32::NAN.to_le_bytes();
    let behind = check(&[&whole[..], &nan].concat(), FileFormat::PYTORCH);
    let why = "no storage that this version knows holds these bytes";
    assert_eq!(unread(&behind), [("bytes behind the storages", why)]);
    // A storage that no tensor refers to, and storages of an unknown type.
    let hidden =
        [b"cmy.code\nrebuild\n", &old_storage("FloatStorage", "7", b"N")[..], b"\x85R"].concat();
    let report =
        check(&old(&state_dict(&[("h", hidden)]), &[("7", 4, &data)]), FileFormat::PYTORCH);
    assert_eq!(unread(&report)[0].0, "storage 7");
    let report = check(&old(b"\x80\x02}.", &[("7", 4, &data)]), FileFormat::PYTORCH);
    assert_eq!(unread(&report)[0].1, why);

    // The place of what is wrong counts from the beginning of the file.
    let object = b"\x80\x02}(u\xFF.";
    let wrong = error(&old(object, &[]), FileFormat::PYTORCH);
    let before = old(b"", &[]).len() - [b"\x80\x02](", &b"e."[..]].concat().len();
    assert!(wrong.contains(&format!("at byte {}", before + 5)), "{wrong}");

    // Protocol 1 has another magic number, and no version in front of a pickle. In protocol 0 a
    // storage is the text of a tuple, which torch refuses.
    let decimal = b"L119547037146038801333356L\n.";
    let of_protocol_1 = [decimal, &whole[MAGIC.len()..]].concat();
    assert_found(&check(&of_protocol_1, FileFormat::PYTORCH).tensors[0], 0, &[0]);
    let storage = b"P('storage', <class 'torch.FloatStorage'>, '7', 'cpu', 1, None)\n";
    let object = state_dict(&[("w", tensor(storage, 0, &[1], &[1]))]);
    let of_protocol_0 = [decimal, &old(&object, &[("7", 1, &nan)])[MAGIC.len()..]].concat();
    assert_eq!(unread(&check(&of_protocol_0, FileFormat::PYTORCH))[0].1, why);

    for cut in MAGIC.len()..whole.len() {
        assert!(read(&whole[..cut], FileFormat::PYTORCH).is_err());
    }
    let many = old(
        &state_dict(&[("w", tensor(&old_storage("FloatStorage", "7", b"N"), 0, &[5], &[1]))]),
        &[("7", 4, &data)],
    );
    assert!(error(&many, FileFormat::PYTORCH).contains("beyond its storage"));
}
