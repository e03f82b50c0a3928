//! Streams: what they report of their progress, and streams that end too early.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nonfinite_check::{Error, FileFormat, Observer, Options, check_bytes, check_stream};

use crate::records;
use crate::refused;
use crate::write::{Entry, gguf, npy, safetensors};

/// Adds up what is announced, and what is done.
#[derive(Debug, Default)]
struct Progress {
    started: AtomicU64,
    advanced: AtomicU64,
}

impl Observer for Progress {
    fn started(&self, bytes: u64) {
        self.started.fetch_add(bytes, Ordering::Relaxed);
    }

    fn advanced(&self, bytes: u64) -> ControlFlow<()> {
        self.advanced.fetch_add(bytes, Ordering::Relaxed);
        ControlFlow::Continue(())
    }
}

/// The bytes that a check announces, and those that it reports as done.
fn progress(check: impl FnOnce(&Options)) -> (u64, u64) {
    let progress = Arc::new(Progress::default());
    let observer: Arc<dyn Observer> = Arc::<Progress>::clone(&progress);
    check(&Options { observer: Some(observer), ..Options::default() });
    (progress.started.load(Ordering::Relaxed), progress.advanced.load(Ordering::Relaxed))
}

fn files() -> [(&'static str, Vec<u8>, u64); 3] {
    let data = vec![0; 100_000];
    let entries = |kind| Entry { name: "x", kind, shape: &[25_000], data: &data };
    [
        ("npy", npy("<f4", &[25_000], false, &data), 100_000),
        (
            "safetensors",
            safetensors(&[entries("I32"), Entry { name: "y", ..entries("F32") }]),
            200_000,
        ),
        (
            "gguf",
            gguf(
                &[
                    // With names of this length the header needs no padding.
                    Entry { name: "integer", kind: 26, shape: &[25_000], data: &data },
                    Entry { name: "f", kind: 0, shape: &[25_000], data: &data },
                ],
                false,
                &[],
            ),
            200_000,
        ),
    ]
}

/// What is announced is all bytes of the data, and all of them are done.
#[test]
fn progress_of_streams() {
    for (name, bytes, length) in files() {
        let done = progress(|options| {
            check_stream(&bytes[..], options).expect("a whole stream");
        });
        assert_eq!(done, (length, length), "{name}");
    }
}

/// The fields of records are done as often as they are announced.
#[test]
fn progress_of_records() {
    let file = records::npy("[('x', '<f4'), ('y', '<f8', 2)]", "(30000,)", false, &[0; 600_000]);
    let (started, advanced) = progress(|options| {
        check_bytes(&file, FileFormat::NPY, options).expect("a good file");
    });
    assert_eq!((started, advanced), (600_000, 600_000));
}

/// A stream may end nowhere but at its end: not in integers, which are passed over, and not
/// between tensors.
#[test]
fn streams_that_end_early() {
    for (name, bytes, _) in files() {
        check_stream(&bytes[..], &Options::default()).expect("a whole stream");
        for missing in [1, 50_000, 100_000, 100_001, 150_000] {
            let Some(length) = bytes.len().checked_sub(missing) else { continue };
            let error = check_stream(&bytes[..length], &Options::default());
            let error = error.expect_err("a stream that is cut").to_string();
            let is_header = length < 1000;
            assert!(is_header || error.contains("ends too early"), "{name}, {missing}: {error}");
        }
    }
    // Integers come last.
    let entry = Entry { name: "i", kind: "I32", shape: &[4], data: &[7; 16] };
    let bytes = safetensors(&[entry]);
    for missing in 1..=16 {
        let error = check_stream(&bytes[..bytes.len() - missing], &Options::default());
        match error {
            Err(Error::Decode { tensor, .. }) => assert_eq!(tensor, "i"),
            other => panic!("{other:?}"),
        }
    }
}

/// The tensors of a .safetensors file cover its data, and a stream may claim no more than this
/// machine can address.
#[test]
fn ends_of_safetensors() {
    let bytes = safetensors(&[Entry { name: "x", kind: "F32", shape: &[1], data: &[0; 4] }]);
    let longer = [&bytes[..], &f32::NAN.to_le_bytes()].concat();
    refused(&longer, FileFormat::SAFETENSORS, "the file has 8");
    let error = check_stream(&longer[..], &Options::default()).expect_err("more bytes");
    assert!(matches!(error, Error::Trailing(at) if at == bytes.len()), "{error:?}");
    // One tensor cannot claim so much, but several together.
    let claiming = |end: usize| {
        let most = usize::MAX / 16 + 1;
        let starts = (0..end).step_by(most);
        let entries = starts.map(|start| {
            let end = end.min(start + most);
            let length = end - start;
            format!(
                r#""{start}":{{"dtype":"U8","shape":[{length}],"data_offsets":[{start},{end}]}}"#
            )
        });
        let mut header = format!("{{{}}}", entries.collect::<Vec<_>>().join(","));
        header.extend(std::iter::repeat_n(' ', 1000 - header.len()));
        [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()
    };
    let most = isize::MAX as usize - 1008;
    for (end, message) in [(most, "ends too early"), (most + 1, "ends at byte")] {
        let stream = claiming(end);
        let error = check_stream(&stream[..], &Options::default()).expect_err("no such data");
        assert!(error.to_string().contains(message), "{end}: {error}");
    }
}
