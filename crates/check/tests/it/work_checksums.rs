//! Checksums of archives that are checked in pieces.

use std::num::NonZeroUsize;

use nonfinite_check::work::{self, Piece, Target, check_piece, merge, plan};
use nonfinite_check::{Error, Options, check_file};

use crate::pieces::{Random, cut, merge_at_random, report_of_pieces};
use crate::work::file;
use crate::write::{Member, npy, zip};

/// Checksums are cut into pieces as well, and those of the pieces add up.
#[test]
fn checksums_of_stored_members() {
    let mut random = Random(4);
    let zeros = npy("<i4", &[50_000], false, &[0; 200_000]);
    let member = |name, data| Member { name, data, deflate: false };
    let good = zip(&[member("a.npy", &zeros), member("b.npy", &zeros)]);
    let options = Options::default();
    let (_folder, path) = file("x.npz", &good);
    for _ in 0..10 {
        let expected = check_file(path.as_ref(), &options).unwrap();
        assert_eq!(report_of_pieces(&path, &options, &mut random).unwrap(), expected);
    }
    // Nothing else is looked at: these are integers.
    let mut plan = plan(&path, NonZeroUsize::new(60_000).unwrap(), &options).unwrap();
    let pieces = plan.take_pieces();
    let of: Vec<_> = pieces.iter().map(Piece::of).collect();
    assert_eq!(of, [[Target::Checksum(0); 4], [Target::Checksum(1); 4]].concat());
    let found: Vec<_> = pieces.iter().map(|piece| check_piece(piece).unwrap()).collect();
    let merged = merge(&plan, found[..7].iter().cloned(), &options);
    match merged {
        Err(work::Error::Missing { of: Target::Checksum(1), at: 180_000 }) => {}
        other => panic!("{other:?}"),
    }
    let merged = merge(&plan, found.iter().chain(&found[2..3]).cloned(), &options);
    assert!(matches!(merged, Err(work::Error::Repeated { of: Target::Checksum(0), at: 120_000 })));

    let start = good.windows(zeros.len()).position(|bytes| bytes == zeros).unwrap();
    for at in [start + 128, start + 60_000, start + zeros.len() - 1] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        let (_folder, path) = file("x.npz", &bytes);
        let mut plan = work::plan(&path, NonZeroUsize::new(60_000).unwrap(), &options).unwrap();
        let pieces = cut(plan.take_pieces(), &mut random);
        let found = pieces.iter().map(|piece| check_piece(piece).unwrap()).collect();
        match merge(&plan, merge_at_random(found, &mut random), &options) {
            Err(work::Error::Check(Error::Checksum { name })) => assert_eq!(name, "a.npy"),
            other => panic!("byte {at}: {other:?}"),
        }
    }
}

/// The checksum of a member without bytes needs no piece.
#[test]
fn checksums_of_no_bytes() {
    let mut bytes = zip(&[Member { name: "none", data: b"", deflate: false }]);
    let options = Options::default();
    let plan_of = |bytes: &[u8]| {
        let (_folder, path) = file("x.npz", bytes);
        plan(&path, work::PIECE, &options).unwrap()
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
