//! What must hold of a report on any bytes, and of the memory that it takes.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nonfinite_check::zip::{self, Method};
use nonfinite_check::{
    Error, FileFormat, LookedAt, Observer, Options, Report, check_bytes, check_stream,
};
use peak_alloc::PeakAlloc;

/// Bytes of memory for a byte of file. The shortest tensor of an ONNX model takes four bytes there,
/// and here a description, a report and what is counted; elsewhere a number of a shape is a digit
/// and a comma.
const FACTOR: usize = 384;
/// Buffers that do not depend on the file: two pieces of data, and the state of the inflater.
const FIXED: usize = 512 << 10;
/// Bytes that a deflated one can become.
const DEFLATE: usize = 1032;

/// What tables take besides: windows of their decoders, and pages of 256 MiB that are compressed to
/// almost nothing.
const TABLES: usize = 1 << 30;
/// Bytes of data after which a check is stopped: a few bytes of a table can stand for any number of
/// equal values.
const MOST: u64 = 32 << 20;

/// Stops a check that takes too long.
#[derive(Debug, Default)]
struct Budget(AtomicU64);

impl Observer for Budget {
    fn advanced(&self, bytes: u64) -> ControlFlow<()> {
        let all = self.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if all > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Reads the bytes as a file of this format; a report, if there is one, is checked, and so is that
/// of the same bytes as a stream. The target must allocate by [`PeakAlloc`].
///
/// # Panics
/// If anything is wrong.
pub fn check(bytes: &[u8], format: FileFormat) {
    let tables = matches!(format, FileFormat::Arrow | FileFormat::Parquet);
    let mut options = Options { stats: true, threads: NonZeroUsize::new(1), ..Options::default() };
    if tables {
        options.observer = Some(Arc::<Budget>::default());
    }
    let limit = FACTOR * (bytes.len() + inflated(bytes)) + if tables { TABLES } else { FIXED };
    let whole = within(limit, || check_bytes(bytes, format, &options));
    match &whole {
        Ok(report) => verify(report, tables),
        Err(error) => assert!(!error.to_string().is_empty(), "an error without a message"),
    }
    // A stream is told by its first bytes, which must say the same.
    if FileFormat::detect(bytes.get(..16).unwrap_or(bytes), None) == Some(format) {
        if tables {
            options.observer = Some(Arc::<Budget>::default());
        }
        match (within(limit, || check_stream(bytes, &options)), whole) {
            (Ok(stream), Ok(whole)) => assert_eq!(stream, whole),
            (Err(Error::NoStream(_)), _) | (Err(_), Err(_)) => {}
            (stream, whole) => panic!("stream {stream:?}, whole {whole:?}"),
        }
    }
}

/// What the deflated members of an archive can be at most, which is what its headers may be.
fn inflated(bytes: &[u8]) -> usize {
    let members = zip::members(bytes).unwrap_or_default();
    let deflated = members.iter().filter(|member| member.method == Method::Deflated);
    deflated.map(|member| member.size.min(DEFLATE * member.range.len())).sum()
}

/// Runs it, and holds the memory that it takes meanwhile against the limit.
fn within<T>(limit: usize, run: impl FnOnce() -> T) -> T {
    let before = PeakAlloc.current_usage();
    assert!(before > 0, "the target does not count what is allocated");
    PeakAlloc.reset_peak_usage();
    let result = run();
    let taken = PeakAlloc.peak_usage().saturating_sub(before);
    assert!(taken <= limit, "{taken} bytes of memory, of {limit}");
    result
}

fn verify(report: &Report, tables: bool) {
    for tensor in &report.tensors {
        // In a table, lists of varying length have the shape of their rows.
        assert!(tables || tensor.shape.iter().product::<usize>() == tensor.elements);
        let looked_at = matches!(tensor.looked_at, LookedAt::Values | LookedAt::Scales { .. });
        for finding in [&tensor.nan, &tensor.pos_inf, &tensor.neg_inf] {
            assert_eq!(finding.first.is_some(), finding.count > 0);
            assert!(looked_at || finding.count == 0);
            if let Some(first) = &finding.first {
                assert_eq!(first.coordinate.len(), tensor.shape.len());
                let inside = first
                    .coordinate
                    .iter()
                    .zip(&tensor.shape)
                    .all(|(index, extent)| index < extent);
                assert!(inside, "{:?} is outside {:?}", first.coordinate, tensor.shape);
            }
        }
        if let Some(range) = tensor.range {
            assert!(range.min <= range.max && range.min.is_finite() && range.max.is_finite());
        }
    }
}
