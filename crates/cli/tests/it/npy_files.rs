//! Arrays of every kind: byte orders, layouts, dtypes.

use crate::{assert_found, assert_results, npy, npy_text, refused};

const NAN: u32 = 0x7FC0_0000;
const INF: u32 = 0x7F80_0000;

/// `count` ones, except these.
fn f32s(count: usize, special: &[(usize, u32)]) -> Vec<u32> {
    let mut values = vec![1.0f32.to_bits(); count];
    for &(index, bits) in special {
        values[index] = bits;
    }
    values
}

fn little(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn big(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

#[test]
fn layout() {
    // 3 by 4: place 6 is [1, 2] by rows, [0, 2] by columns.
    let data = little(&f32s(12, &[(6, NAN), (11, INF | 1 << 31)]));
    let line = "<f4 [3, 4]: 1 NaN, 0 +Inf, 1 -Inf, first NaN at [1, 2], -Inf at [2, 3]";
    assert_found("rows.npy", &npy("'<f4'", false, "(3, 4)", &data), &[line]);
    let line = "<f4 [3, 4]: 1 NaN, 0 +Inf, 1 -Inf, first NaN at [0, 2], -Inf at [2, 3]";
    assert_found("columns.npy", &npy("'<f4'", true, "(3, 4)", &data), &[line]);
}

#[test]
fn three_dimensions_by_columns() {
    // Place i + 2 * j + 6 * k of shape [2, 3, 4].
    let data = little(&f32s(24, &[(1 + 2 * 2 + 6 * 3, INF)]));
    let line = "<f4 [2, 3, 4]: 0 NaN, 1 +Inf, 0 -Inf, first +Inf at [1, 2, 3]";
    assert_found("columns3.npy", &npy("'<f4'", true, "(2, 3, 4)", &data), &[line]);
}

/// Bytes that are NaN in one order are finite in the other; several chunks, and hits on both sides
/// of their borders.
#[test]
fn big_endian_equals_little_endian() {
    const COUNT: usize = 10_001;
    let special = [(4095, INF), (4096, NAN), (8192, INF | 1 << 31), (9000, NAN), (10_000, NAN)];
    let mut values = f32s(COUNT, &special);
    values[17] = NAN.swap_bytes();
    for (descr, dtype, data) in [("'<f4'", "<f4", little(&values)), ("'>f4'", ">f4", big(&values))]
    {
        let line = format!(
            "{dtype} [10001]: 3 NaN, 1 +Inf, 1 -Inf, first NaN at [4096], +Inf at [4095], \
             -Inf at [8192]; indices 4095-4096, 8192, 9000, 10000 only, in full"
        );
        assert_found("order.npy", &npy(descr, false, "(10001,)", &data), &[&line]);
    }
}

#[test]
fn big_endian_halves_and_doubles() {
    let halves: Vec<u8> =
        [0x3C00u16, 0x007C, 0xFC00, 0x7C01].iter().flat_map(|bits| bits.to_be_bytes()).collect();
    let line = ">f2 [4]: 1 NaN, 0 +Inf, 1 -Inf, first NaN at [3], -Inf at [2]";
    assert_found("big2.npy", &npy("'>f2'", false, "(4,)", &halves), &[line]);

    let doubles: Vec<u8> =
        [1.0, f64::NAN, f64::INFINITY].iter().flat_map(|x| x.to_be_bytes()).collect();
    let line = ">f8 [3]: 1 NaN, 1 +Inf, 0 -Inf, first NaN at [1], +Inf at [2]";
    assert_found("big8.npy", &npy("'>f8'", false, "(3,)", &doubles), &[line]);
}

#[test]
fn complex_is_two_floats() {
    let data = little(&f32s(12, &[(7, INF), (10, NAN), (11, NAN)]));
    let line = "<c8 [2, 3]: 2 NaN, 1 +Inf, 0 -Inf, first NaN at [1, 2], +Inf at [1, 0]";
    assert_found("c8.npy", &npy("'<c8'", false, "(2, 3)", &data), &[line]);

    let data: Vec<u8> = [0.0, 1.0, 2.0, f64::NAN].iter().flat_map(|x| x.to_be_bytes()).collect();
    let line = ">c16 [2]: 1 NaN, 0 +Inf, 0 -Inf, first NaN at [1]";
    assert_found("c16.npy", &npy("'>c16'", false, "(2,)", &data), &[line]);
}

#[test]
fn scalars_and_empty_arrays() {
    let line = "<f4 []: 1 NaN, 0 +Inf, 0 -Inf, first NaN at []";
    assert_found("scalar.npy", &npy("'<f4'", false, "()", &NAN.to_le_bytes()), &[line]);
    assert_found("none.npy", &npy("'<f4'", false, "(3, 0)", &[]), &[]);
}

#[test]
fn other_dtypes_are_skipped() {
    let skipped =
        "checked 0 tensors, 0 elements, 0 bytes: 0 bad; skipped 1 without floats, 0 always finite";
    let all = [
        ("'|b1'", 1),
        ("'|u1'", 1),
        ("'<i2'", 2),
        ("'>u4'", 4),
        ("'<i8'", 8),
        ("'|S3'", 3),
        ("'<U2'", 8),
        ("'<M8[ns]'", 8),
        ("'<m8'", 8),
    ];
    for (descr, size) in all {
        assert_results(
            "other.npy",
            &npy(descr, false, "(2,)", &vec![0xFF; 2 * size]),
            0,
            &[skipped],
        );
    }
}

/// An unsupported dtype that could hold a NaN is an error, not skipped.
#[test]
fn unknown_dtypes_are_refused() {
    refused("v2.npy", &npy("'|V2'", false, "(2,)", &[0; 4]), "dtype '|V2' is raw bytes");
    refused("v1.npy", &npy("'<V1'", false, "(2,)", &[0; 2]), "dtype '<V1' is raw bytes");
    refused("object.npy", &npy("'|O'", false, "(2,)", &[0; 4]), "pickled Python objects");
    refused("subarray.npy", &npy("('<f4', (2,))", false, "(1,)", &[0; 8]), "no array");
    for descr in ["<f16", "<c32", "<float32", "<i3", "<", "", "<f04", "<S-1", "<M8x", "<S+1"] {
        let content = npy(&format!("'{descr}'"), false, "(0,)", &[]);
        refused("dtype.npy", &content, &format!("dtype '{descr}' is not supported"));
    }
}

/// The fields of structured arrays are not read.
#[test]
fn structured_arrays() {
    let content = npy("[('a', '<f4'), ('b', '<i4')]", false, "(1,)", &[0; 8]);
    refused("record.npy", &content, "a structured dtype, which is not read: save each field");
}

/// Other spellings of the same header that numpy reads too.
#[test]
fn header_spellings() {
    for text in [
        "{\"shape\": (3,), \"fortran_order\": True, \"descr\": \"<f4\"}",
        "{'descr':'<f4','fortran_order':False,'shape':(3,)}\n",
        "{'descr':'=f4','fortran_order':False,'shape':(3,)}\n",
        "{'descr':'f4','fortran_order':False,'shape':(3,)}\n",
        "{'descr':'float32','fortran_order':False,'shape':(3,)}\n",
        " { 'shape' : (3L , ) , 'descr': '<f4', 'fortran_order': False , } \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1), }   \n",
    ] {
        assert_found("spelling.npy", &npy_text(text, &[0; 12]), &[]);
    }
}

#[test]
fn versions_with_a_long_length() {
    let text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n";
    for version in [2, 3] {
        let length = u32::try_from(text.len()).unwrap().to_le_bytes();
        let content = [b"\x93NUMPY", &[version, 0][..], &length, text, &[0; 12]].concat();
        assert_found("version.npy", &content, &[]);
    }
}
