//! Files that hold the data of several models, such as the encoder and the decoder of an ONNX
//! export. Each model refers to a part of the file. Bytes are unused only if no model refers to
//! them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::slice;

use crate::model::{FileFormat, ReadAt, Source, may_hold_numbers};
use crate::report::{Report, TensorReport};

/// The bytes of shared files that no model refers to.
///
/// The report of a single model names all bytes of its data file that this model does not refer to.
/// [`SharedFiles::add`] the reports of all models, and then [`SharedFiles::apply`] removes from a
/// report the bytes that another model refers to.
///
/// ```no_run
/// use nonfinite_check::{Options, SharedFiles, check_file};
///
/// # fn main() -> Result<(), nonfinite_check::Error> {
/// let paths = ["encoder_model.onnx", "decoder_model.onnx"];
/// let mut reports = Vec::new();
/// let mut shared = SharedFiles::default();
/// for path in paths {
///     let report = check_file(path.as_ref(), &Options::default())?;
///     shared.add(&report);
///     reports.push(report);
/// }
/// reports.iter_mut().for_each(|report| shared.apply(report));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct SharedFiles {
    /// For each file: the ranges that no model so far refers to, in rising order.
    unused: BTreeMap<PathBuf, Vec<Range<usize>>>,
}

impl SharedFiles {
    /// Adds the files of a model. Reports on files of other formats than ONNX change nothing.
    pub fn add(&mut self, report: &Report) {
        for (file, unused) in unused(report) {
            let all = self.unused.entry(real(file)).or_insert_with(|| unused.clone());
            *all = common(all, &unused);
        }
    }

    /// Whether a report names bytes that another model could refer to.
    #[must_use]
    pub fn concerns(report: &Report) -> bool {
        unused(report).values().any(|unused| !unused.is_empty())
    }

    /// Removes from a report the bytes of [`Report::other_files`] that a model refers to. Keeps the
    /// parts that none refers to.
    pub fn apply(&self, report: &mut Report) {
        let tensors = std::mem::take(&mut report.tensors);
        report.tensors = tensors.into_iter().flat_map(|tensor| self.left(tensor)).collect();
    }

    /// What is left of a tensor: itself, unless it stands for bytes that a model refers to.
    fn left(&self, tensor: TensorReport) -> Vec<TensorReport> {
        let bytes = tensor.unreferenced().zip(tensor.file.as_deref());
        let Some((bytes, file, unused)) =
            bytes.and_then(|(bytes, file)| Some((bytes, file, self.unused.get(&real(file))?)))
        else {
            return vec![tensor];
        };
        let first = unused.partition_point(|range| range.end <= bytes.start);
        let unused = unused.get(first..).unwrap_or_default();
        // The whole holds neither zeros nor text only. A part may.
        let source = Source::open(file).ok();
        let contents = source.as_ref().and_then(|source| source.bytes().ok());
        let may_hold_numbers = |part: &Range<usize>| {
            contents.and_then(|all| all.get(part.clone())).is_none_or(may_hold_numbers)
        };
        let left = common(unused, slice::from_ref(bytes)).into_iter().filter(may_hold_numbers);
        left.map(|part| tensor.unreferenced_part(part)).collect()
    }
}

/// For each file of external data: the ranges that the model does not refer to, in rising order.
/// Empty for other formats than ONNX, since their reports do not name all bytes that are not used.
fn unused(report: &Report) -> BTreeMap<&Path, Vec<Range<usize>>> {
    if report.format != FileFormat::ONNX {
        return BTreeMap::new();
    }
    let files = report.other_files.iter().map(|file| (file.as_path(), Vec::new()));
    let mut unused: BTreeMap<_, Vec<_>> = files.collect();
    for tensor in &report.tensors {
        let Some(bytes) = tensor.unreferenced() else { continue };
        let of_file = tensor.file.as_deref().and_then(|file| unused.get_mut(file));
        of_file.into_iter().for_each(|of_file| of_file.push(bytes.clone()));
    }
    unused.values_mut().for_each(|ranges| ranges.sort_unstable_by_key(|range| range.start));
    unused
}

/// The path with links resolved, so that two models name a file in the same way.
fn real(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
}

/// The bytes in both lists of ranges. Each list is in rising order, without overlaps.
fn common(a: &[Range<usize>], b: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut common = Vec::new();
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let both = x.start.max(y.start)..x.end.min(y.end);
        // The range that ends first has nothing in common with the ranges that follow.
        if x.end < y.end {
            a.next()
        } else {
            b.next()
        };
        if !both.is_empty() {
            common.push(both);
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::common;

    #[test]
    fn ranges_in_both() {
        let ranges = |pairs: &[(usize, usize)]| -> Vec<_> {
            pairs.iter().map(|&(start, end)| start..end).collect()
        };
        for (a, b, both) in [
            (&[(0, 10)][..], &[(2, 3), (5, 12)][..], &[(2, 3), (5, 10)][..]),
            (&[(0, 4), (8, 10)], &[(4, 8)], &[]),
            (&[(0, 4), (8, 10)], &[(0, 4), (8, 10)], &[(0, 4), (8, 10)]),
            (&[], &[(0, 1)], &[]),
        ] {
            assert_eq!(common(&ranges(a), &ranges(b)), ranges(both));
            assert_eq!(common(&ranges(b), &ranges(a)), ranges(both));
        }
    }
}
