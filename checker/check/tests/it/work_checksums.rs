//! Checksums of archives that are checked in pieces.

use nonfinite_check::work::{self, check_pieces, merge};
use nonfinite_check::{Error, Options};

use crate::pieces::{Random, assert_same_elsewhere, tallies};
use crate::work::{file, plan};
use crate::write::npy;
use crate::zip::zip;

/// Checksums are cut into pieces as well, and those of the pieces add up.
#[test]
fn checksums_of_stored_members() {
    let mut random = Random(4);
    let zeros = npy("<i4", &[50_000], false, &[0; 200_000]);
    let good = zip(&[("a.npy", &zeros), ("b.npy", &zeros)]);
    let options = Options::default();
    let (_folder, path) = file("x.npz", &good);
    for _ in 0..10 {
        assert_same_elsewhere(path.as_ref(), &options, &mut random);
    }
    // Nothing else is looked at: these are integers.
    let mut all = plan(&path, 60_000, &options);
    let pieces = all.take_pieces();
    assert_eq!(pieces.len(), 8);
    let most = check_pieces(&pieces[..7], &options).unwrap();
    let merged = merge(&all, [most], &options);
    assert!(matches!(merged, Err(work::Error::NotOnce)), "{merged:?}");

    let start = good.windows(zeros.len()).position(|bytes| bytes == zeros).unwrap();
    for at in [start + 128, start + 60_000, start + zeros.len() - 1] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        let (_folder, path) = file("x.npz", &bytes);
        let mut plan = plan(&path, 60_000, &options);
        let found = tallies(plan.take_pieces(), &mut random).unwrap();
        match merge(&plan, found, &options) {
            Err(work::Error::Check(Error::Checksum { name })) => assert_eq!(name, "a.npy"),
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

/// The checksum of a member without bytes needs no piece.
#[test]
fn checksums_of_no_bytes() {
    let mut bytes = zip(&[("none", b"")]);
    let options = Options::default();
    let plan_of = |bytes: &[u8]| {
        let (_folder, path) = file("x.npz", bytes);
        plan(&path, 1, &options)
    };
    merge(&plan_of(&bytes), [], &options).unwrap();
    for (signature, offset) in [(b"PK\x03\x04", 14), (b"PK\x01\x02", 16)] {
        let place = bytes.windows(4).position(|four| four == signature).unwrap();
        bytes[place + offset] ^= 1;
    }
    match merge(&plan_of(&bytes), [], &options) {
        Err(work::Error::Check(Error::Checksum { name })) => assert_eq!(name, "none"),
        other => panic!("{other:?}"),
    }
}
