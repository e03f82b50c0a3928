//! Threads and observers.

use std::num::NonZeroUsize;

use nonfinite_check::{Error, FileFormat, Options, check_bytes};

use crate::write::{Entry, npy, safetensors};
use crate::zip::zip_with;
use crate::{Counter, report_with};

/// Several pieces of a tensor, with NaNs in all of them.
fn large() -> Vec<u8> {
    let mut data = vec![1.0f32; 5 << 20];
    for place in [1_234_567, 3_000_000, 5_242_879] {
        data[place] = f32::NAN;
    }
    let data: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
    let small =
        Entry { name: "small", kind: "F32", shape: &[1], data: &f32::INFINITY.to_le_bytes() };
    safetensors(&[
        small,
        Entry { name: "large", kind: "F32", shape: &[5 << 10, 1 << 10], data: &data },
    ])
}

/// Bytes are done as often as they are announced.
#[test]
fn observers_see_all_bytes() {
    let archive = |deflate| {
        let data = npy("<f8", &[100_000], false, &[0; 800_000]);
        zip_with(&[("x.npy", &data, deflate)])
    };
    let files = [
        (large(), FileFormat::SAFETENSORS),
        (archive(false), FileFormat::NPZ),
        (archive(true), FileFormat::NPZ),
    ];
    for (bytes, format) in files {
        let counter = Counter::new(u64::MAX);
        let options = Options { observer: Some(counter.clone()), ..Options::default() };
        let report = report_with(&bytes, format, &options);
        let expected: u64 = report.tensors.iter().map(|tensor| tensor.bytes).sum();
        assert_eq!(counter.seen(), [expected; 2]);
    }
}

#[test]
fn observers_can_stop() {
    let counter = Counter::new(1 << 20);
    let options = Options {
        observer: Some(counter.clone()),
        threads: NonZeroUsize::new(1),
        ..Options::default()
    };
    let result = check_bytes(&large(), FileFormat::SAFETENSORS, &options);
    assert!(matches!(result, Err(Error::Stopped)));
    assert!(counter.seen()[1] < 20 << 20, "it went on");
}
