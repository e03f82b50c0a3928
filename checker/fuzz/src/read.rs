//! The fuzz targets of the readers. Any bytes must be read or refused, and a report must be
//! consistent.

use std::hint;
use std::num::NonZeroUsize;

pub use nonfinite_check::FileFormat;
use nonfinite_check::containers::zip::{self, Method};
use nonfinite_check::{Error, LookedAt, Options, Report, check_bytes};
pub use peak_alloc::PeakAlloc;

/// The most bytes of memory for each byte of the file. The shortest tensor of an ONNX model takes
/// four bytes in the file, and a description, a report and counts in memory. In other formats, the
/// worst case is an extent of a shape: a digit and a comma in the file.
pub(crate) const FACTOR: usize = 512;
/// The size of buffers that do not depend on the file: two pieces of data, and the state of the
/// inflater.
pub(crate) const FIXED: usize = 512 << 10;
/// The most bytes that a deflated byte can inflate to.
const DEFLATE: u64 = 1032;

/// Further bytes for the places of bad numbers: a bit for each index, and the cells of a map.
const PLACES: usize = (32 << 20) + (4 << 20);

/// A whole fuzz target that reads any bytes as files of a format, such as `NPY`.
#[macro_export]
macro_rules! read_target {
    ($format:ident) => {
        #[global_allocator]
        static ALLOCATED: $crate::read::PeakAlloc = $crate::read::PeakAlloc;

        libfuzzer_sys::fuzz_target!(
            init: $crate::read::counts_memory(),
            |bytes: &[u8]| $crate::read::check(bytes, $crate::read::FileFormat::$format)
        );
    };
}

/// Proves that the target allocates by [`PeakAlloc`].
///
/// # Panics
/// If the target does not.
pub fn counts_memory() {
    let before = PeakAlloc.current_usage();
    let allocated = hint::black_box(vec![0_u8; 1 << 10]);
    assert!(PeakAlloc.current_usage() > before, "the target does not count what is allocated");
    drop(allocated);
}

/// Reads the bytes as a file of this format, and checks the report and the memory. The target must
/// allocate by [`PeakAlloc`].
///
/// # Panics
/// If a promise is broken.
pub fn check(bytes: &[u8], format: FileFormat) {
    let limit = FACTOR * (bytes.len() + inflated(bytes)) + FIXED;
    // Both results are fine.
    let _ = check_by(limit, &|options| check_bytes(bytes, format, options));
}

/// Runs a check twice: the second time with places, if a number is bad. Checks the reports and the
/// memory, of which a check takes `limit` bytes at most. Returns the first result.
///
/// # Panics
/// If a promise is broken.
pub fn check_by(
    limit: usize,
    check: &dyn Fn(&Options) -> Result<Report, Error>,
) -> Result<Report, Error> {
    let whole = within(limit, || check(&options()));
    match &whole {
        Ok(report) => verify(report),
        Err(error) => assert!(!error.to_string().is_empty(), "an error without a message"),
    }
    if whole.as_ref().is_ok_and(Report::is_bad) {
        let drawn = Options { draw: true, ..options() };
        match within(limit + PLACES, || check(&drawn)) {
            Ok(report) => verify_places(&report),
            Err(error) => panic!("with places: {error}"),
        }
    }
    whole
}

fn options() -> Options {
    Options { stats: true, threads: NonZeroUsize::new(1), ..Options::default() }
}

/// The most bytes that the deflated members of an archive can inflate to. Headers may have this
/// length.
fn inflated(bytes: &[u8]) -> usize {
    let members = zip::read(&bytes).map(|archive| archive.members).unwrap_or_default();
    let deflated = members.iter().filter(|member| member.method == Method::Deflated);
    let lengths =
        deflated.map(|member| member.size.min(DEFLATE * (member.range.end - member.range.start)));
    lengths.sum::<u64>() as usize
}

/// Runs a function, and compares the memory that it takes with the limit.
pub(crate) fn within<T>(limit: usize, run: impl FnOnce() -> T) -> T {
    let before = PeakAlloc.current_usage();
    PeakAlloc.reset_peak_usage();
    let result = run();
    let taken = PeakAlloc.peak_usage().saturating_sub(before);
    assert!(taken <= limit, "{taken} bytes of memory, of {limit}");
    result
}

fn verify_places(report: &Report) {
    for tensor in &report.tensors {
        let Some(places) = &tensor.places else { continue };
        assert!(tensor.is_bad() && 0 < places.elements && places.elements <= places.of);
        assert!(!places.statement(tensor.name.as_deref().unwrap_or_default()).is_empty());
        for axis in &places.axes {
            assert!(0 < axis.indices && axis.indices <= axis.extent);
            let listed = axis.ranges.iter().map(|(first, last)| last - first + 1).sum::<u64>();
            assert!(axis.ranges.is_empty() || listed == axis.indices);
        }
        if let Some(map) = &places.map {
            let lit = map.lit.iter().map(|lit| lit.elements).sum::<u64>();
            assert_eq!(lit, places.elements, "the cells of a map");
        }
    }
}

fn verify(report: &Report) {
    for tensor in &report.tensors {
        assert_eq!(tensor.shape.iter().product::<u64>(), tensor.elements);
        let looked_at = matches!(tensor.looked_at, LookedAt::Values | LookedAt::Scales { .. });
        for finding in tensor.found.as_ref().into_array() {
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
        if let Some(stats) = &tensor.stats {
            let [min, max, largest] = [&stats.min, &stats.max, &stats.max_abs]
                .map(|extreme| extreme.as_ref().map(|extreme| extreme.value));
            assert_eq!([min.is_some(), largest.is_some()], [max.is_some(); 2]);
            if let (Some(min), Some(max), Some(largest)) = (min, max, largest) {
                assert!(min <= max && largest == min.abs().max(max.abs()) && largest.is_finite());
            }
        }
    }
}
