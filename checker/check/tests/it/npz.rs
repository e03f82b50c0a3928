//! Unusual archives, and archives with false claims.

use std::num::NonZeroUsize;

use nonfinite_check::{Error, FileFormat, LookedAt, Options, check_bytes};

use crate::write::npy;
use crate::zip::{deflated, zip, zip_with};
use crate::{check, names, refused, unread};

fn array() -> Vec<u8> {
    npy("<f4", &[300], false, &[0; 1200])
}

fn one(data: &[u8], deflate: bool) -> Vec<u8> {
    zip_with(&[("x.npy", data, deflate)])
}

/// Adds to a number of 4 bytes behind a signature.
fn tamper(bytes: &mut [u8], signature: &[u8], offset: usize, add: i64) {
    let at =
        bytes.windows(4).position(|window| window == signature).expect("the signature") + offset;
    let field: &mut [u8; 4] = (&mut bytes[at..at + 4]).try_into().unwrap();
    *field = (i64::from(u32::from_le_bytes(*field)) + add).to_le_bytes()[..4].try_into().unwrap();
}

const LOCAL: &[u8] = b"PK\x03\x04";
const DIRECTORY: &[u8] = b"PK\x01\x02";

#[test]
fn members_of_other_kinds() {
    let object = npy("|O", &[1], false, &[0; 8]);
    let archive = zip_with(&[
        ("folder/x.npy", &array(), true),
        ("object.npy", &object, true),
        ("readme.txt", b"hello, world", false),
        ("none", b"", true),
    ]);
    let report = check(&archive, FileFormat::NPZ);
    assert_eq!(names(&report), ["folder/x", "object", "readme.txt", "none"]);
    assert_eq!(report.tensors[0].looked_at, LookedAt::Values);
    let LookedAt::Unreadable(why) = &report.tensors[1].looked_at else { panic!("{report:?}") };
    assert!(why.text().contains("pickled"), "{why:?}");
    assert_eq!(report.tensors[2].looked_at, LookedAt::NotFloat);
    assert_eq!(report.tensors[3].looked_at, LookedAt::NotFloat);
    assert!(!report.is_complete());
}

/// Every zip archive begins like a .npz file. Members that are not looked at are reported.
#[test]
fn members_that_are_not_looked_at() {
    let nested = one(&array(), false);
    let members = [
        ("x.npy", &array()[1..], "a member of an unknown format"),
        ("model.pt", &nested, "a file of the format npz: files in files are not read"),
        ("weights.h5", b"\x89HDF\r\n\x1A\n\0", "an HDF5 file (Keras, NetCDF)"),
        ("data.pkl", b"\x80\x02]\x94.", "a pickle of Python"),
        ("raw", &[0, 0, 0xC0, 0x7F], "a member of an unknown format"),
    ];
    for deflate in [false, true] {
        let all: Vec<_> = members.iter().map(|&(name, data, _)| (name, data, deflate)).collect();
        let report = check(&zip_with(&all), FileFormat::NPZ);
        let expected = members.map(|(name, _, why)| (name.trim_end_matches(".npy"), why));
        assert_eq!(unread(&report), expected);
        assert!(!report.is_complete() && !report.is_bad());
    }
    // Text is inflated up to a bound.
    let text = |length, deflate| {
        let data = vec![b'a'; length];
        check(&zip_with(&[("text", &data, deflate)]), FileFormat::NPZ)
    };
    assert!(text(1 << 20, true).is_complete());
    assert!(!text((1 << 20) + 1, true).is_complete());
    assert!(text((1 << 20) + 1, false).is_complete());
}

/// Members that cannot be decoded: another method of compression, and encrypted ones.
#[test]
fn members_that_are_not_decoded() {
    for (at, value, why) in
        [(8, 12, "stored by zip method 12, which is not supported"), (6, 1, "encrypted")]
    {
        let mut bytes = one(&array(), true);
        for (signature, at) in [(LOCAL, at), (DIRECTORY, at + 2)] {
            let start = bytes.windows(4).position(|window| window == signature).unwrap();
            bytes[start + at] = value;
        }
        let report = check(&bytes, FileFormat::NPZ);
        assert_eq!(unread(&report), [("x", why)]);
        assert!(!report.is_damaged());
    }
}

/// A deflated member that claims to be longer than this machine can address.
#[test]
fn sizes_of_members() {
    for (size, message) in [(isize::MAX as u64, "the file has"), (1 << 63, "invalid size")] {
        let good = one(&array(), true);
        let start = good.windows(4).position(|window| window == DIRECTORY).unwrap();
        let end = good.len() - 22;
        // The field of zip64 has the size that the entry leaves out.
        let field = [&[1, 0, 8, 0], &size.to_le_bytes()[..]].concat();
        let mut bytes = [&good[..end], &field, &good[end..]].concat();
        bytes[start + 24..start + 28].fill(0xFF);
        bytes[start + 30..start + 32].copy_from_slice(&12u16.to_le_bytes());
        tamper(&mut bytes, b"PK\x05\x06", 12, 12);
        refused(&bytes, FileFormat::NPZ, message);
    }
}

/// Bytes behind the end of a deflated stream, within the member, could hold anything.
#[test]
fn bytes_behind_deflated_data() {
    let good = one(&array(), true);
    let directory = good.windows(4).position(|window| window == DIRECTORY).unwrap();
    let mut bytes = [&good[..directory], &[7; 5], &good[directory..]].concat();
    // The compressed sizes, and the offset of the directory.
    tamper(&mut bytes, LOCAL, 18, 5);
    tamper(&mut bytes, DIRECTORY, 20, 5);
    tamper(&mut bytes, b"PK\x05\x06", 16, 5);
    refused(&bytes, FileFormat::NPZ, "there are bytes behind the deflated data");
}

/// The caller limits how far archives are inflated. Stored members do not count.
#[test]
fn inflation_is_bounded() {
    let file =
        |elements, deflate| one(&npy("<f4", &[elements], false, &vec![0; elements * 4]), deflate);
    let check = |file: &[u8], most| {
        let options = Options { max_bytes: Some(most), ..Options::default() };
        check_bytes(file, FileFormat::NPZ, &options)
    };
    let (elements, bytes) = (3 << 14, 3 << 16);
    let deflated = file(elements, true);
    check(&deflated, bytes).expect("within the bound");
    match check(&deflated, bytes - 1) {
        Err(Error::Expansion { decoded, file, most }) => {
            assert_eq!((decoded, file, most), (bytes, deflated.len() as u64, bytes - 1));
        }
        other => panic!("{other:?}"),
    }
    // Numbers that are not compressed do not count.
    check(&file(elements, false), 1).expect("within the bound");
}

#[test]
fn archives_that_lie() {
    let refused = |bytes: &[u8], message| refused(bytes, FileFormat::NPZ, message);
    refused(b"PK\x03\x04", "bad zip archive");
    refused(&one(b"\x93NUMPY\x01\0\xFF\xFF{", true), "ends before its header");
    refused(&one(b"\x93NUMPY\x02\0\xFF\xFF\xFF\xFF{", true), "4294967295 bytes are too many");
    refused(&one(&npy("<f4", &[301], false, &[0; 1200]), true), "the file has");
    refused(&one(&npy("<f4", &[299], false, &[0; 1200]), false), "the file has");
    let good = array();
    let twice = [good.as_slice(); 2].map(|data| ("x.npy", data, false));
    refused(&zip_with(&twice), "two members of the name");
    // Another checksum than that of the data.
    let mut bytes = one(&good, true);
    tamper(&mut bytes, LOCAL, 14, 1);
    tamper(&mut bytes, DIRECTORY, 16, 1);
    refused(&bytes, "checksum");
    // A stored member of another size.
    let mut bytes = one(&good, false);
    tamper(&mut bytes, LOCAL, 22, 4);
    tamper(&mut bytes, DIRECTORY, 24, 4);
    refused(&bytes, "size");
}

/// A stored member with one wrong bit, in each of the pieces. The type of the member makes no
/// difference, since the type itself may be damaged.
#[test]
fn checksums_of_stored_members() {
    let zeros = vec![0; 9 << 20];
    for descr in ["<f4", "<i4"] {
        let data = npy(descr, &[zeros.len() / 4], false, &zeros);
        let first = array();
        let good = zip(&[("a.npy", &first), ("b.npy", &data)]);
        assert!(!check(&good, FileFormat::NPZ).is_bad());
        let start = good.windows(data.len()).position(|bytes| bytes == data).unwrap();
        let end = start + data.len();
        for at in [end - zeros.len(), start + (4 << 20), start + (4 << 20) - 1, end - 1] {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            for threads in [1, 2, 5] {
                let threads = NonZeroUsize::new(threads);
                let options = Options { threads, ..Options::default() };
                match check_bytes(&bytes, FileFormat::NPZ, &options) {
                    Err(Error::Checksum { name }) => assert_eq!(name, "b.npy"),
                    other => panic!("{descr}, byte {at}: {other:?}"),
                }
            }
        }
    }
    // Of no bytes, too.
    let mut bytes = zip(&[("none", b"")]);
    tamper(&mut bytes, LOCAL, 14, 1);
    tamper(&mut bytes, DIRECTORY, 16, 1);
    refused(&bytes, FileFormat::NPZ, "member \"none\": the checksum is wrong");
}

/// Two entries of the directory for the same data.
#[test]
fn overlapping_members() {
    let data = array();
    let mut bytes = deflated(&[("a.npy", &data), ("b.npy", &data)]);
    let second = bytes.windows(4).rposition(|window| window == DIRECTORY).unwrap();
    bytes[second + 42..second + 46].copy_from_slice(&0u32.to_le_bytes());
    refused(&bytes, FileFormat::NPZ, "overlaps");
}

/// A shape of 4 GiB with a short stream, which must take neither memory nor time.
#[test]
fn claims_of_size() {
    let bytes = one(&npy("<f4", &[1 << 30], false, &[0; 4]), true);
    refused(&bytes, FileFormat::NPZ, "4294967296 bytes of data");
    let mut bytes = one(&npy("<f4", &[1 << 20], false, &[0; 4]), true);
    let claimed = (1 << 22) - 4;
    tamper(&mut bytes, LOCAL, 22, claimed);
    tamper(&mut bytes, DIRECTORY, 24, claimed);
    refused(&bytes, FileFormat::NPZ, "less data than the archive says");
}
