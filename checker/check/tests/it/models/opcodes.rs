//! Opcodes of pickles that PyTorch itself does not write: those of other protocols. Each of them
//! leads to a NaN.

use nonfinite_check::{FileFormat, LookedAt, Report};

use super::pickles::{array, bytes, dtype};
use super::pytorch::{archive, integers, state_dict, storage, text, untyped};
use crate::check;
use crate::codes::assert_found;

fn one(value: &[u8], storages: &[&[u8]]) -> Report {
    check(&archive(&state_dict(&[("x", value.to_vec())]), storages), FileFormat::PYTORCH)
}

/// The tensors that hold a NaN.
fn bad(value: &[u8]) -> Vec<String> {
    let report = one(value, &[]);
    let bad = report.tensors.iter().filter(|tensor| tensor.is_bad());
    bad.map(|tensor| tensor.name.as_deref().unwrap().to_owned()).collect()
}

#[test]
fn each_leads_to_its_numbers() {
    let nan = array(&dtype("<", "f4"), &[1], false, &bytes(&f32::NAN.to_le_bytes()));
    let long_text = [&b"\x8D"[..], &1u64.to_le_bytes(), b"k"].concat();
    let key = text("k");
    // The longest integer that is one, and a longer one, as keys.
    let integer = [&b"(\x8A\x08"[..], &(1i64 << 62).to_le_bytes()].concat();
    let long = [&b"(\x8A\x09"[..], &[1; 9]].concat();
    let cases: [(&str, Vec<&[u8]>, &str); 18] = [
        ("FRAME", vec![b"\x95\0\0\0\0\0\0\0\0", &nan], "x"),
        ("POP_MARK", vec![b"(NN1", &nan], "x"),
        ("DUP", vec![b"(", &nan, b"20l"], "x.0"),
        ("DICT", vec![b"(", &key, &nan, b"d"], "x.k"),
        ("BINUNICODE8", vec![b"(", &long_text, &nan, b"d"], "x.k"),
        ("UNICODE with \\U", vec![b"(V\\U0000006b\n", &nan, b"d"], "x.k"),
        ("PUT and GET", vec![&nan, b"p9\n0g9\n"], "x"),
        ("PERSID", vec![b"](Pkey\n", &nan, b"e"], "x.1"),
        ("BUILD of a list", vec![b"]", &nan, b"b"], "x.0"),
        ("APPEND", vec![b"](", &nan, b"eNa"], "x.0"),
        ("APPEND of it", vec![b"]Na", &nan, b"a"], "x.1"),
        ("MEMOIZE and BINGET", vec![&nan, b"\x940N\x940h\x00"], "x"),
        ("NEWOBJ_EX", vec![b"cmy\nclass\n(N", &nan, b"t}\x92"], "x.0.1"),
        ("NEWOBJ_EX by keywords", vec![b"cmy\nclass\n)}", &key, &nan, b"s\x92"], "x.1.k"),
        ("a boolean as a key", vec![b"(I01\n", &nan, b"d"], "x.?"),
        ("LONG1 of a negative number", vec![b"(\x8A\x01\xFE", &nan, b"d"], "x.-2"),
        ("LONG1 of 8 bytes", vec![&integer, &nan, b"d"], "x.4611686018427387904"),
        ("LONG1 of 9 bytes", vec![&long, &nan, b"d"], "x.?"),
    ];
    for (opcode, value, name) in cases {
        assert_eq!(bad(&value.concat()), [name], "{opcode}");
    }
    // The names of what is in an unknown object are not specified.
    for (opcode, value) in [
        ("BUILD of a dict", vec![&b"}"[..], &nan, b"b"]),
        ("NEWOBJ_EX", vec![b"cmy\nclass\n(", &nan, b"t}\x92"]),
        ("INST", vec![b"(", &nan, b"imy\nclass\n"]),
        ("OBJ", vec![b"(cmy\nclass\n", &nan, b"o"]),
        ("APPENDS to an object", vec![b"cmy\nclass\n)R(", &nan, b"e"]),
    ] {
        let found = bad(&value.concat());
        assert!(!found.is_empty(), "{opcode}: {found:?}");
    }
}

/// A tensor by the calls of other protocols. A persistent id that is a text is no storage.
#[test]
fn calls() {
    let nan = f32::NAN.to_le_bytes();
    let tensor = [&storage("FloatStorage", "0", 1)[..], b"K\0", &integers(&[1]), &integers(&[1])];
    let tensor = tensor.concat();
    let function = b"torch._utils\n_rebuild_tensor_v2\n";
    for call in [
        [b"(", &tensor[..], b"i", function].concat(),
        [b"(c", &function[..], &tensor, b"o"].concat(),
    ] {
        let report = one(&call, &[&nan]);
        assert_eq!(report.tensors[0].name.as_deref(), Some("x"));
        assert_found(&report.tensors[0], 0, &[0]);
    }
    let other = [b"c", &function[..], b"(Pkey\nK\0", &integers(&[1]), &integers(&[1]), b"tR"];
    assert!(!one(&other.concat(), &[&nan]).is_complete());
}

/// Integers and booleans of every protocol, as the shape and the order of an array.
#[test]
fn integers_and_booleans() {
    let mut data = vec![0; 4 * 6];
    data[4..8].copy_from_slice(&f32::NAN.to_le_bytes());
    let with = |order: &[u8], shape: &[u8]| {
        let array = array(&dtype("<", "f4"), &[2, 3], false, &bytes(&data));
        let standard = [&integers(&[2, 3])[..], &dtype("<", "f4"), b"\x89"].concat();
        let at = array.windows(standard.len()).position(|part| part == standard).unwrap();
        let other = [shape, &dtype("<", "f4"), order].concat();
        let value = [&array[..at], &other, &array[at + standard.len()..]].concat();
        one(&value, &[])
    };
    for shape in [&b"(I2\nI3\nt"[..], b"(L2L\nL3L\nt", b"(M\x02\0\x8A\x01\x03t", b"(K\x02K\x03t"] {
        assert_found(&with(b"I00\n", shape).tensors[0], 0, &[0, 1]);
        assert_found(&with(b"I01\n", shape).tensors[0], 0, &[1, 0]);
    }
    // An integer of two bytes: 300 numbers.
    let mut long = vec![0; 300 * 4];
    long[299 * 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    let value = array(&dtype("<", "f4"), &[300], false, &bytes(&long));
    let standard = integers(&[300]);
    let at = value.windows(standard.len()).position(|part| part == standard).unwrap();
    let value = [&value[..at], b"(\x8A\x02\x2C\x01t", &value[at + standard.len()..]].concat();
    assert_found(&one(&value, &[]).tensors[0], 0, &[299]);
}

/// A view of bytes as numbers of this dtype.
fn view(dtype: &str, data: &[u8]) -> Report {
    one(&untyped(dtype, data.len(), &[1], &[1]), &[data])
}

#[test]
fn dtypes() {
    let halves = [0x3C00u16, 0x7E00].map(u16::to_le_bytes).concat();
    let singles = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let doubles = [1.0, f64::NAN].map(f64::to_le_bytes).concat();
    for (dtype, data) in [
        ("complex32", &halves),
        ("chalf", &halves),
        ("complex64", &singles),
        ("cfloat", &singles),
        ("complex128", &doubles),
        ("cdouble", &doubles),
    ] {
        let report = view(dtype, data);
        assert_eq!((report.tensors[0].found.nan.count, report.is_bad()), (1, true), "{dtype}");
    }
    assert_eq!(view("float4_e2m1fn_x2", &[0xFF]).tensors[0].looked_at, LookedAt::AlwaysFinite);
    assert_eq!(view("int64", &[0xFF; 8]).tensors[0].looked_at, LookedAt::NotFloat);
    // Of a dtype that is not known, nothing is known to be finite.
    for dtype in ["float12", "posit8", "complex256"] {
        assert!(!view(dtype, &[0xFF; 32]).is_complete(), "{dtype}");
    }
}
