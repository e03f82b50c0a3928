//! Threads, stats and observers.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nonfinite_check::{Error, FileFormat, Observer, Options, check_bytes, check_stream};

use crate::write::{Entry, Member, npy, safetensors, zip};
use crate::{report, report_with};

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

#[test]
fn any_number_of_threads_says_the_same() {
    let bytes = large();
    let with = |threads| {
        let options =
            Options { threads: NonZeroUsize::new(threads), stats: true, ..Options::default() };
        report_with(&bytes, FileFormat::SAFETENSORS, &options)
    };
    let one = with(1);
    let first = one.tensors[1].found.nan.first.as_ref().unwrap();
    assert_eq!(
        (one.tensors[1].found.nan.count, &first.coordinate),
        (3, &vec![1_234_567 >> 10, 1_234_567 & 1023])
    );
    for threads in [2, 3, 16] {
        assert_eq!(with(threads), one, "{threads} threads");
    }
    assert_eq!(
        check_stream(&bytes[..], &Options { stats: true, ..Options::default() }).unwrap(),
        one
    );
}

/// Oracle: the comparison of the standard library and of `half`, and values of the small formats
/// from their standards.
#[test]
fn least_and_greatest() {
    let of = |kind: &str, data: &[u8], size: usize| {
        let entry = Entry { name: "x", kind, shape: &[data.len() / size], data };
        let options = Options { stats: true, ..Options::default() };
        let report = report_with(&safetensors(&[entry]), FileFormat::SAFETENSORS, &options);
        let stats = report.tensors[0].stats.clone().unwrap();
        stats.min.zip(stats.max).map(|(min, max)| (min.value, max.value))
    };
    let mut f32s: Vec<f32> = (0..1000).map(|i| (i as f32 - 300.5) * 1e3).collect();
    f32s[7] = f32::NAN;
    f32s[500] = f32::NEG_INFINITY;
    f32s[501] = f32::INFINITY;
    let finite = || f32s.iter().copied().filter(|x| x.is_finite());
    let expected =
        (finite().fold(f32::MAX, f32::min).into(), finite().fold(f32::MIN, f32::max).into());
    assert_eq!(
        of("F32", &f32s.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>(), 4),
        Some(expected)
    );
    let f64s = [1e300, -5e-324, f64::NAN, f64::NEG_INFINITY];
    assert_eq!(of("F64", &f64s.map(f64::to_le_bytes).concat(), 8), Some((-5e-324, 1e300)));
    assert_eq!(of("F32", &[f32::NAN, f32::INFINITY].map(f32::to_le_bytes).concat(), 4), None);
    let zeros = of("F32", &[0.0f32, -0.0].map(f32::to_le_bytes).concat(), 4).unwrap();
    // Zeros are equal, so both are the first.
    assert!(zeros.0.is_sign_positive() && zeros.1.is_sign_positive());
    let f16s = [0x7BFFu16, 0xFBFF, 0x7C00, 0x7E00].map(u16::to_le_bytes).concat();
    assert_eq!(of("F16", &f16s, 2), Some((-65504.0, 65504.0)));
    let bf16s = [0xC000u16, 0x3F80, 0xFF80].map(u16::to_le_bytes).concat();
    assert_eq!(of("BF16", &bf16s, 2), Some((-2.0, 1.0)));
    let all: Vec<u8> = (0..=255).collect();
    for (kind, most) in
        [("F8_E4M3", 448.0), ("F8_E5M2", 57344.0), ("F8_E4M3FNUZ", 240.0), ("F8_E5M2FNUZ", 57344.0)]
    {
        assert_eq!(of(kind, &all, 1), Some((-most, most)), "{kind}");
    }
    assert_eq!(of("F8_E8M0", &all, 1), Some((2f64.powi(-127), 2f64.powi(127))));
    assert_eq!(of("F8_E4M3", &[1], 1), Some((2f64.powi(-9), 2f64.powi(-9))));
    assert_eq!(of("F8_E5M2", &[0x81], 1), Some((-(2f64.powi(-16)), -(2f64.powi(-16)))));
    assert_eq!(of("F32", &[], 4), None);
}

#[derive(Debug, Default)]
struct Counter {
    started: AtomicU64,
    advanced: AtomicU64,
    stop_after: Option<u64>,
}

impl Observer for Counter {
    fn started(&self, bytes: u64) {
        self.started.fetch_add(bytes, Ordering::Relaxed);
    }

    fn advanced(&self, bytes: u64) -> ControlFlow<()> {
        let before = self.advanced.fetch_add(bytes, Ordering::Relaxed);
        match self.stop_after {
            Some(most) if before + bytes > most => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

#[test]
fn observers_see_all_bytes() {
    let archive = |deflate| {
        let data = npy("<f8", &[100_000], false, &[0; 800_000]);
        zip(&[Member { name: "x.npy", data: &data, deflate }])
    };
    let files = [
        (large(), FileFormat::SAFETENSORS),
        (archive(false), FileFormat::NPZ),
        (archive(true), FileFormat::NPZ),
    ];
    for (bytes, format) in files {
        let counter = Arc::new(Counter::default());
        let options = Options { observer: Some(counter.clone()), ..Options::default() };
        let expected: usize =
            report_with(&bytes, format, &options).tensors.iter().map(|tensor| tensor.bytes).sum();
        assert_eq!(counter.started.load(Ordering::Relaxed), expected as u64);
        assert_eq!(counter.advanced.load(Ordering::Relaxed), expected as u64);
    }
}

#[test]
fn observers_can_stop() {
    let counter = Arc::new(Counter { stop_after: Some(1 << 20), ..Counter::default() });
    let options = Options {
        observer: Some(counter.clone()),
        threads: NonZeroUsize::new(1),
        ..Options::default()
    };
    let result = check_bytes(&large(), FileFormat::SAFETENSORS, &options);
    assert!(matches!(result, Err(Error::Stopped)));
    assert!(counter.advanced.load(Ordering::Relaxed) < 20 << 20, "it went on");
}

#[test]
fn quiet_and_signalling() {
    let data = [0x7F80_0001u32, 0x7FC0_0000].map(u32::to_le_bytes).concat();
    let first = |data: &[u8]| {
        let tensor = report(&npy("<f4", &[1], false, data), FileFormat::NPY).tensors.remove(0);
        tensor.found.nan.first.unwrap()
    };
    assert_eq!(
        (first(&data[..4]).quiet(), first(&data[..4]).hex().as_str()),
        (Some(false), "0x7f800001")
    );
    assert_eq!(
        (first(&data[4..]).quiet(), first(&data[4..]).hex().as_str()),
        (Some(true), "0x7fc00000")
    );
}
