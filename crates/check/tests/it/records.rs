//! Structured arrays of numpy: each field is a tensor.

use nonfinite_check::{ByKind, Error, FileFormat, LookedAt, Options, TensorReport, check_bytes};

use crate::write::{Member, zip};
use crate::{refused, report};

/// A .npy file with this dtype.
pub(crate) fn npy(descr: &str, shape: &str, fortran: bool, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let length = u32::try_from(text.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x02\0", &length[..], text.as_bytes(), data].concat()
}

/// Records of 24 bytes: a f4, i4, gap of 2 bytes, f2, and an array [2] of (f4, u2) without gaps.
const DESCR: &str = "[('a', '<f4'), (('title', 'i'), '<i4'), ('', '|V2'), ('h h', '<f2'), \
                     ('n', [('x', '>f4'), ('y', '<u2')], (2,))]";
const RECORD: usize = 24;
const FIELDS: [&str; 5] = ["a", "i", "h h", "n.x", "n.y"];

fn tensor<'a>(tensors: &'a [TensorReport], name: &str) -> &'a TensorReport {
    tensors.iter().find(|tensor| tensor.name.as_deref() == Some(name)).expect(name)
}

/// A file, alone and as a member of archives, with the prefix that names have there. Returns the
/// first `most` of these.
fn forms(file: Vec<u8>, most: usize) -> impl Iterator<Item = (Vec<u8>, FileFormat, &'static str)> {
    (0..most).map(move |form| match form {
        0 => (file.clone(), FileFormat::NPY, ""),
        _ => {
            let member = Member { name: "m.npy", data: &file, deflate: form > 1 };
            (zip(&[member]), FileFormat::NPZ, "m.")
        }
    })
}

/// Few records in every form, and enough records for several threads.
#[test]
fn planted_in_each_field() {
    let nan = f32::NAN;
    let fields: [(usize, &[u8], &str, Option<usize>); 7] = [
        (0, &nan.to_le_bytes(), "a", None),
        (4, &nan.to_le_bytes(), "i", None),
        (8, &[0, 0x7E], "", None),
        (10, &[0, 0x7E], "h h", None),
        (12, &nan.to_be_bytes(), "n.x", Some(0)),
        (18, &nan.to_be_bytes(), "n.x", Some(1)),
        (16, &[0, 0x7E], "n.y", None),
    ];
    for (columns, most) in [(1000, 3), (70_000, 1)] {
        let records = 3 * columns;
        for record in [0, 1, columns - 1, records - 1] {
            for field in fields {
                let (at, number, ..) = field;
                let mut data = vec![0; records * RECORD];
                data[record * RECORD + at..][..number.len()].copy_from_slice(number);
                for fortran in [false, true] {
                    let file = npy(DESCR, &format!("(3, {columns})"), fortran, &data);
                    let place = match fortran {
                        false => [record / columns, record % columns],
                        true => [record % 3, record / 3],
                    };
                    for (bytes, format, prefix) in forms(file, most) {
                        assert_planted(
                            &report(&bytes, format).tensors,
                            prefix,
                            columns,
                            field,
                            place,
                        );
                    }
                }
            }
        }
    }
}

/// One NaN in this place of this field, if it is one of floats, and no other.
fn assert_planted(
    tensors: &[TensorReport],
    prefix: &str,
    columns: usize,
    (_, _, name, inner): (usize, &[u8], &str, Option<usize>),
    place: [usize; 2],
) {
    let names: Vec<_> = tensors.iter().map(|tensor| tensor.name.clone().unwrap()).collect();
    assert_eq!(names, FIELDS.map(|field| format!("{prefix}{field}")));
    let of = |name: &str| tensor(tensors, &format!("{prefix}{name}"));
    assert_eq!((of("a").elements, of("i").elements), (3 * columns, 3 * columns));
    assert_eq!(of("n.x").shape, [3, columns, 2]);
    assert_eq!(of("n.y").looked_at, LookedAt::NotFloat);
    assert_eq!(of("i").looked_at, LookedAt::NotFloat);
    let is_float = matches!(name, "a" | "h h" | "n.x");
    assert_eq!(tensors.iter().any(TensorReport::is_bad), is_float, "{name}");
    if is_float {
        let ByKind { nan, pos_inf, neg_inf } = &of(name).found;
        assert_eq!((nan.count, pos_inf.count, neg_inf.count), (1, 0, 0));
        let coordinate: Vec<_> = place.into_iter().chain(inner).collect();
        assert_eq!(nan.first.as_ref().unwrap().coordinate, coordinate);
    }
}

#[test]
fn complex_raw_and_unreadable_fields() {
    let descr = "[('c', '<c8'), ('v', '<V2'), ('g', '<f16'), ('s', '<f4', 3)]";
    let mut data = vec![0; 38 * 2];
    // The imaginary part of the second record, a bf16, and the last number of the array.
    data[42..46].copy_from_slice(&f32::NAN.to_le_bytes());
    data[8..10].copy_from_slice(&[0xC0, 0x7F]);
    data[34..38].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let options = Options { taken_as: vec!["V2=bf16".parse().unwrap()], ..Options::default() };
    for (bytes, format, prefix) in forms(npy(descr, "(2,)", false, &data), 3) {
        let tensors = check_bytes(&bytes, format, &options).unwrap().tensors;
        let of = |name: &str| tensor(&tensors, &format!("{prefix}{name}"));
        let first = of("c").found.nan.first.as_ref().unwrap();
        assert_eq!((&first.coordinate[..], first.part), (&[1][..], Some("imaginary")));
        assert_eq!(of("v").found.nan.first.as_ref().unwrap().coordinate, [0]);
        assert!(
            matches!(&of("g").looked_at, LookedAt::Unreadable(why) if why.cause().contains("<f16"))
        );
        assert_eq!((of("s").elements, of("s").found.pos_inf.count), (6, 1));
        assert_eq!(of("s").found.pos_inf.first.as_ref().unwrap().coordinate, [0, 2]);
        assert!(!check_bytes(&bytes, format, &Options::default()).unwrap().is_complete());
    }
}

/// Arrays in fields that are longer than a copy buffer, and records that are too long to be
/// decoded.
#[test]
fn long_fields() {
    for (elements, is_decoded) in [(40_000, true), (1 << 18, true), ((1 << 18) + 1, false)] {
        let mut data = vec![0; elements * 4];
        data[elements * 4 - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        let descr = format!("[('x', '<f4', ({elements},))]");
        for (bytes, format, prefix) in forms(npy(&descr, "(1,)", false, &data), 3) {
            let report = report(&bytes, format);
            let tensor = tensor(&report.tensors, &format!("{prefix}x"));
            let is_stored = bytes.len() > data.len();
            if is_stored || is_decoded {
                let first = tensor.found.nan.first.as_ref().unwrap();
                assert_eq!(first.coordinate, [0, elements - 1]);
            } else {
                assert!(matches!(&tensor.looked_at,
                    LookedAt::Unreadable(why) if why.cause().contains("too long")));
            }
        }
    }
}

/// Compressed records of an archive within an archive count for the limit of expansion.
#[test]
fn records_in_archives_of_archives() {
    let file = npy("[('x', '<f4')]", "(100000,)", false, &[0; 400_000]);
    let inner = zip(&[Member { name: "m.npy", data: &file, deflate: true }]);
    let outer = zip(&[Member { name: "in.npz", data: &inner, deflate: false }]);
    for (bytes, name) in [(inner, "m.x"), (outer, "in.npz/m.x")] {
        let check = |most| {
            let options = Options { max_bytes: Some(most), ..Options::default() };
            check_bytes(&bytes, FileFormat::NPZ, &options)
        };
        let Err(Error::Expansion { decoded, .. }) = check(399_999) else { panic!("{name}") };
        assert_eq!(decoded, 400_000, "{name}");
        let report = check(400_000).expect("within the limit");
        assert_eq!(report.tensors[0].name.as_deref(), Some(name));
    }
}

#[test]
fn records_without_numbers() {
    for (descr, shape) in [
        ("[]", "(3,)"),
        ("[]", "(1152921504606846976, 1152921504606846976)"),
        ("[('x', '<f4', (0,))]", "(3,)"),
        ("[('x', '<f4', (1152921504606846976, 0))]", "(1152921504606846976,)"),
        ("[('x', '<f4')]", "(0,)"),
        ("[('x', '<f4')]", "(4611686018427387903, 0)"),
    ] {
        for (bytes, format, _) in forms(npy(descr, shape, false, &[]), 3) {
            assert!(!report(&bytes, format).is_bad(), "{descr} {shape}");
        }
    }
}

#[test]
fn dtypes_that_lie() {
    let refused = |descr: &str, message| {
        refused(&npy(descr, "(1,)", false, &[0; 4]), FileFormat::NPY, message)
    };
    refused("[('x', '<f8')]", "say 8 bytes of data");
    refused("[('x', '<f4'", "expected an integer");
    refused("[('x', '<f4')", "expected '('");
    refused("[('x', '<f4') 'y'", "',' or ']'");
    refused("[(\"x)]", "a string that ends");
    refused("[(\"x\\", "a string that ends");
    refused("[('x', '|O')]", "pickled Python objects");
    refused("[('x', '<q4')]", "is not supported");
    refused("('<f4', (2,))", "no array");
    refused("[('x', '<f4', (9223372036854775807,))]", "too large to exist");
    let deep = |depth| format!("{}[('x', '<f4')]{}", "[('r', ".repeat(depth), ")]".repeat(depth));
    let bytes = npy(&deep(31), "(1,)", false, &[0; 4]);
    assert_eq!(report(&bytes, FileFormat::NPY).tensors.len(), 1);
    refused(&deep(32), "nested too deeply");
    refused(&deep(100_000), "nested too deeply");
    let dims = |count| format!("[('r', [('x', '<f4')], ({}))]", "1, ".repeat(count));
    let bytes = npy(&dims(64), "(1,)", false, &[0; 4]);
    assert_eq!(report(&bytes, FileFormat::NPY).tensors[0].shape.len(), 65);
    let twice = format!("[('o', {}, (1,))]", dims(64));
    refused(&twice, "more than 64 dimensions");
    // A comma may follow the dtype of a field.
    let bytes = npy("[('x', '<f4',), ('y', '<f4', (),),]", "(1,)", false, &[0; 8]);
    assert_eq!(report(&bytes, FileFormat::NPY).tensors.len(), 2);
    // Numbers of a known length.
    for descr in ["<fx", "<c-1", "<f1x", "<f+16"] {
        refused(&format!("[('x', '{descr}')]"), "is not supported");
    }
    // A long name around many fields.
    let many = "('', '<f4'), ".repeat(5000);
    let wide = format!("[('{}', [{many}])]", "y".repeat(100_000));
    refused(&wide, "nested too deeply");
}

/// A compressed record has to be in memory: at most 1 MiB of it. Others need not.
#[test]
fn long_records() {
    for (length, is_read) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let descr = format!("[('', '|V{}'), ('x', '<f4')]", length - 4);
        let data = [vec![0; length - 4], f32::NAN.to_le_bytes().to_vec()].concat();
        let file = npy(&descr, "(1,)", false, &data);
        for (form, (bytes, format, _)) in forms(file, 3).enumerate() {
            let report = report(&bytes, format);
            let is_stored = form < 2;
            assert_eq!(report.is_bad(), is_read || is_stored, "{form}: {length}");
            assert_eq!(report.is_complete(), is_read || is_stored, "{form}: {length}");
        }
    }
}

/// The names of fields, which begin with those of the records around them, take at most 32 bytes
/// for each byte of the header.
#[test]
fn names_that_are_repeated() {
    let (long, fields) = (1592, 100);
    let many = "('y', '<f4'), ".repeat(fields);
    let descr = format!("[('{}', [{many}])]", "x".repeat(long));
    let names = long + fields * (long + ".y".len());
    let header = npy(&descr, "(1,)", false, &[]);
    let text = String::from_utf8(header[12..].to_vec()).expect("text");
    assert_eq!(names % 32, 0);
    assert!(text.len() < names / 32 - 1);
    for (length, is_read) in [(names / 32, true), (names / 32 - 1, false)] {
        let length_of_header = u32::try_from(length).unwrap().to_le_bytes();
        let mut bytes = [b"\x93NUMPY\x02\0", &length_of_header[..], text.as_bytes()].concat();
        bytes.resize(12 + length, b' ');
        bytes.resize(bytes.len() + 4 * fields, 0);
        if is_read {
            assert_eq!(report(&bytes, FileFormat::NPY).tensors.len(), fields);
        } else {
            refused(&bytes, FileFormat::NPY, "nested too deeply");
        }
    }
}
