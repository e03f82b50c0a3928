//! Layouts and spellings of .npy files, and files with false claims.

use nonfinite_check::{FileFormat, LookedAt};

use crate::write::{npy, npy_text};
use crate::{check, refused};

const INF: u32 = 0x7F80_0000;
const NAN: u32 = 0x7FC0_0000;

/// The first place of a number is counted by rows, whatever the order in the file.
#[test]
fn orders_of_indices() {
    let place = |shape: &[usize], fortran, at: usize| {
        let mut data = vec![0; 4 * shape.iter().product::<usize>()];
        data[4 * at..][..4].copy_from_slice(&INF.to_le_bytes());
        let report = check(&npy("<f4", shape, fortran, &data), FileFormat::NPY);
        report.tensors[0].found.pos_inf.first.as_ref().unwrap().coordinate.clone()
    };
    assert_eq!(place(&[3, 4], false, 6), [1, 2]);
    assert_eq!(place(&[3, 4], true, 6), [0, 2]);
    assert_eq!(place(&[2, 3, 4], true, 1 + 2 * 2 + 6 * 3), [1, 2, 3]);
}

/// Bytes that are NaN in one order are finite in the other. Hits lie on both sides of the borders
/// of chunks.
#[test]
fn big_endian_equals_little_endian() {
    let mut numbers = vec![1f32.to_bits(); 10_001];
    let special = [(4095, INF), (4096, NAN), (8192, INF | 1 << 31), (9000, NAN), (10_000, NAN)];
    special.into_iter().for_each(|(at, bits)| numbers[at] = bits);
    numbers[17] = NAN.swap_bytes();
    for (descr, big) in [("<f4", false), (">f4", true)] {
        let bytes = |bits: &u32| if big { bits.to_be_bytes() } else { bits.to_le_bytes() };
        let data: Vec<u8> = numbers.iter().flat_map(bytes).collect();
        let found = check(&npy(descr, &[10_001], false, &data), FileFormat::NPY).tensors.remove(0);
        let all = found.found.as_ref().into_array();
        let places = all.map(|of| (of.count, of.first.clone().unwrap().coordinate));
        assert_eq!(places, [(3, vec![4096]), (1, vec![4095]), (1, vec![8192])], "{descr}");
    }
}

#[test]
fn scalars_and_empty_arrays() {
    let scalar = check(&npy("<f4", &[], false, &NAN.to_le_bytes()), FileFormat::NPY);
    assert!(scalar.tensors[0].found.nan.first.as_ref().unwrap().coordinate.is_empty());
    let empty = check(&npy("<f4", &[3, 0], false, &[]), FileFormat::NPY);
    assert_eq!((&empty.tensors[0].looked_at, empty.is_bad()), (&LookedAt::Values, false));
}

/// Other spellings of a header that numpy reads too, and versions with a long length.
#[test]
fn spellings() {
    for text in [
        "{\"shape\": (3,), \"fortran_order\": True, \"descr\": \"<f4\"}",
        "{'descr':'<f4','fortran_order':False,'shape':(3,)}\n",
        " { 'shape' : (3L , ) , 'descr': '<f4', 'fortran_order': False , } \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1), }   \n",
    ] {
        let mut files = vec![npy_text(text, &[0; 12])];
        for version in [2, 3] {
            let length = u32::try_from(text.len()).unwrap().to_le_bytes();
            let header = [b"\x93NUMPY", &[version, 0][..], &length, text.as_bytes()].concat();
            files.push([&header[..], &[0; 12]].concat());
        }
        for file in files {
            let report = check(&file, FileFormat::NPY);
            assert_eq!(report.tensors[0].shape.iter().product::<u64>(), 3, "{text}");
        }
    }
}

#[test]
fn headers_that_lie() {
    let whole = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}";
    let more = format!("{whole}x");
    for (text, message) in [
        ("", "expected '{' at byte 0"),
        ("{}", "'descr' is missing"),
        ("{'descr': '<f4', 'shape': (3,)}", "'fortran_order' is missing"),
        ("{'descr': '<f4', 'fortran_order': False}", "'shape' is missing"),
        ("{'descr': '<f4', 'descr': '<f4'}", "'descr' is there twice"),
        ("{'extra': 1}", "expected 'descr', 'fortran_order' or 'shape' at byte 1"),
        ("{'descr", "a string that ends"),
        ("{'descr': '<f4\u{FF}'}", "plain characters"),
        ("{'descr': '\x1b[2J'}", "plain characters"),
        ("{'descr': 4}", "expected a string"),
        ("{'descr': ('<f4', (2,))}", "no array"),
        ("{'fortran_order': 1}", "True or False"),
        ("{'descr': '<f4' 'shape'", "',' or '}'"),
        (&more, "nothing but space"),
    ] {
        refused(&npy_text(text, &[0; 12]), FileFormat::NPY, message);
    }
    // No UTF-8.
    let mut file = npy_text("{'descr': '<f4?'}", &[]);
    let at = file.iter().position(|&byte| byte == b'?').unwrap();
    file[at] = 0xFF;
    refused(&file, FileFormat::NPY, "plain characters");
    refused(b"\x93NUMPY\x01\x01\0\0", FileFormat::NPY, "version 1.1");
    refused(b"\x93NUMPY\x04\0\0\0", FileFormat::NPY, "version 4.0 is not known");
}

#[test]
fn shapes_that_lie() {
    let many = format!("({})", "1, ".repeat(65));
    for (shape, message) in [
        ("(-3,)", "negative dimension"),
        ("(3)", "a tuple of one"),
        ("[3]", "expected '('"),
        ("(3,,)", "an integer"),
        ("(3.0,)", "',' or ')'"),
        ("(+3,)", "an integer"),
        ("(3,", "an integer"),
        ("(99999999999999999999999999,)", "too large"),
        ("(4294967296, 4294967296)", "too large"),
        ("(4611686018427387905,)", "too large"),
        ("(9223372036854775808, 2, 0)", "too large"),
        ("(2305843009213693952,)", "bytes of data, the file has 12"),
        ("(4,)", "say 16 bytes of data, the file has 12"),
        ("(2,)", "say 8 bytes of data, the file has 12"),
        (&many, "more than 64 dimensions"),
    ] {
        let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        refused(&npy_text(&text, &[0; 12]), FileFormat::NPY, message);
    }
}
