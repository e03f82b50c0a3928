//! A file in every usual container, for tests of this crate and of the command.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use nonfinite_check::{FileFormat, Options, check_bytes};

use crate::write::npy;
use crate::zip::{deflated, zip};

/// The headers of a tar archive, and the data behind it.
fn tar(file: &[u8]) -> Vec<u8> {
    let mut tar = vec![0; 512];
    tar[..6].copy_from_slice(b"x.data");
    tar[257..265].copy_from_slice(b"ustar\x0000");
    tar.extend(file);
    tar.resize(tar.len().next_multiple_of(512) + 1024, 0);
    tar
}

fn gzip(file: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(file).unwrap();
    gzip.finish().unwrap()
}

/// A .pt file with an empty dict, and one more member.
fn torch(name: &str, member: &[u8]) -> Vec<u8> {
    zip(&[("m/data.pkl", b"\x80\x02}."), ("m/version", b"3\n"), (name, member)])
}

/// The file in each container, with the name of the container.
pub(crate) fn wrapped(file: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let good = npy("<f4", &[1], false, &[0; 4]);
    let clean = zip(&[("good.npy", &good)]);
    assert!(check_bytes_is_clean(&clean), "a clean archive");
    let pickled = [b"\x80\x03B", &(file.len() as u32).to_le_bytes()[..], file, b"."].concat();
    let legacy = b"\x80\x02\x8A\x0Al\xFC\x9CF\xF9 j\xA8P\x19.\x80\x02M\xE9\x03.";
    let legacy = [&legacy[..], b"\x80\x02}.\x80\x02}.\x80\x02]."].concat();
    let mut deep = file.to_vec();
    for _ in 0..9 {
        deep = zip(&[("inner", &deep)]);
    }
    vec![
        ("alone", file.to_vec()),
        ("zip", zip(&[("inner", file)])),
        ("deflated", deflated(&[("inner", file)])),
        ("as .npy", zip(&[("inner.npy", file)])),
        ("npz", zip(&[("good.npy", &good), ("inner.bin", file)])),
        ("torch, extra", torch("m/extra/inner", file)),
        ("torch, outside", torch("inner", file)),
        ("torch, storage", torch("m/data/7", file)),
        ("torch, constants", torch("m/constants/7", file)),
        ("torch, pickle", zip(&[("m/data.pkl", &pickled)])),
        ("torch, behind a pickle", zip(&[("m/data.pkl", &[b"\x80\x02}.", file].concat())])),
        ("zip in zip", zip(&[("inner", &zip(&[("inner", file)]))])),
        ("deflated zip in zip", zip(&[("inner", &deflated(&[("inner", file)]))])),
        ("nine zips", deep),
        ("gzip", gzip(file)),
        ("gzip in zip", zip(&[("inner.gz", &gzip(file))])),
        ("tar", tar(file)),
        ("tar in zip", zip(&[("inner.tar", &tar(file))])),
        ("before a zip", [file, &clean].concat()),
        ("behind a zip", [&clean, file].concat()),
        ("behind old torch", [&legacy, file].concat()),
    ]
}

fn check_bytes_is_clean(bytes: &[u8]) -> bool {
    let report = check_bytes(bytes, FileFormat::NPZ, &Options::default()).unwrap();
    report.is_complete() && !report.is_bad() && !report.tensors.is_empty()
}
