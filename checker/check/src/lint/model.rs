//! The tensors of a model, and its quantised matrices.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nonfinite::Format;

use super::config::Config;
use super::finding::Rule;
use super::layouts::{self, Matrix};
use super::sizes::Sizes;
use crate::model::source::part;
use crate::model::{
    ByteOrder, Content, Data, Extreme, ReadAt, Tensor, coordinate, span, swap_bytes,
};
use crate::report::TensorReport;
use crate::scan::{ByteTally, bits};

/// Bytes that are read at a time, and the most of them.
pub(super) const STEP: u64 = 1 << 20;
const MOST: u64 = 16 << 20;

/// A tensor as its file describes it, with its report.
pub(super) struct ReportedTensor {
    pub(super) described: Tensor,
    pub(super) report: Arc<TensorReport>,
    pub(super) byte_tally: Arc<ByteTally>,
    /// The file that the tensor was read from.
    pub(super) source: Arc<dyn ReadAt>,
    /// Whether the file is an ONNX model.
    pub(super) is_of_onnx: bool,
    /// Whether an operator of an ONNX model reads the tensor as a scale, and only as that of
    /// blocks.
    pub(super) onnx_scale: Option<bool>,
    /// The file to name.
    pub(super) file: Arc<Path>,
}

impl ReportedTensor {
    pub(super) fn name(&self) -> &str {
        self.described.name.as_deref().unwrap_or_default()
    }

    pub(super) fn shape(&self) -> &[u64] {
        &self.described.shape
    }

    /// The format of the elements, if they are floating-point numbers.
    pub(super) fn format(&self) -> Option<Format> {
        match self.described.content {
            Content::Floats { format, parts: 1, .. } => Some(format),
            _ => None,
        }
    }

    /// The coordinate of an element.
    pub(super) fn coordinate(&self, element: u64) -> Vec<u64> {
        coordinate(&self.described.shape, &self.described.layout, element)
    }

    /// Bytes of the tensor. None if they cannot be read: the check says so.
    pub(super) fn bytes(&self, range: Range<u64>) -> Option<Vec<u8>> {
        self.window(0).read(range)
    }

    /// Reads bytes of the tensor, at least so many at a time.
    pub(super) fn window(&self, length: u64) -> Window<'_> {
        let length = length.clamp(STEP, MOST);
        Window { tensor: self, length, start: 0, bytes: Vec::new(), stream: None }
    }

    /// Calls `see` with each element and its bits, until `see` returns false.
    pub(super) fn elements(&self, size: usize, mut see: impl FnMut(u64, u64) -> bool) {
        let length = self.described.data.length() / size as u64 * size as u64;
        let is_swapped = matches!(self.described.content, Content::Floats { order, .. }
            if order != ByteOrder::NATIVE);
        let (mut window, mut start) = (self.window(0), 0);
        while start < length {
            let end = (start + STEP).min(length);
            let Some(mut bytes) = window.read(start..end) else { return };
            if is_swapped {
                swap_bytes(&mut bytes, size);
            }
            for (index, element) in bytes.chunks_exact(size).enumerate() {
                if !see(start / size as u64 + index as u64, bits(element)) {
                    return;
                }
            }
            start = end;
        }
    }

    /// The elements for which the predicate holds: the first, and how many.
    pub(super) fn those(&self, is: impl Fn(f64) -> bool) -> Option<(u64, u64)> {
        let format = self.format()?;
        let (mut first, mut count) = (None, 0);
        self.elements(format.size_in_bytes(), |index, bits| {
            if is(format.to_f64(bits)) {
                first = first.or(Some(index));
                count += 1;
            }
            true
        });
        first.map(|first| (first, count))
    }

    /// Whether the shape is that of the weights: numbers, or blocks of GGUF.
    pub(super) fn has_true_shape(&self) -> bool {
        matches!(self.described.content, Content::Floats { .. } | Content::Blocks { .. })
    }

    /// The only number of the tensor. None if there are several.
    pub(super) fn only(&self) -> Option<f64> {
        let format = self.format()?;
        let mut only = None;
        if self.described.elements() == 1 {
            self.elements(format.size_in_bytes(), |_, bits| {
                only = Some(format.to_f64(bits));
                false
            });
        }
        only
    }

    /// Whether the bytes of two tensors are the same. Reads both if their statistics are. None if
    /// they cannot be read.
    pub(super) fn is_equal_to(&self, other: &Self) -> Option<bool> {
        let length = self.described.data.length();
        let is_alike = self.shape() == other.shape()
            && self.described.content == other.described.content
            && length == other.described.data.length()
            && self.report.stats == other.report.stats;
        let (mut own, mut others) = (self.window(0), other.window(0));
        for start in (0..length).step_by(STEP as usize).filter(|_| is_alike) {
            let range = start..(start + STEP).min(length);
            if own.read(range.clone())? != others.read(range)? {
                return Some(false);
            }
        }
        Some(is_alike)
    }

    /// The largest finite number.
    pub(super) fn max(&self) -> Option<&Extreme> {
        self.report.stats.as_ref()?.max.as_ref()
    }

    /// The least finite number.
    pub(super) fn min(&self) -> Option<&Extreme> {
        self.report.stats.as_ref()?.min.as_ref()
    }

    /// The largest finite magnitude.
    pub(super) fn max_abs(&self) -> Option<&Extreme> {
        self.report.stats.as_ref()?.max_abs.as_ref()
    }

    /// Whether the tensor has elements, all of them zero.
    pub(super) fn is_all_zero(&self) -> bool {
        match self.described.content {
            Content::Floats { .. } => self.report.is_all_zeros(),
            // Blocks are zero if their scales are.
            Content::Blocks { .. } if self.report.is_all_zeros() => true,
            _ => self.byte_tally.was_seen && !self.byte_tally.has_nonzero,
        }
    }
}

/// Reads bytes of a tensor in their order, many at a time.
pub(super) struct Window<'a> {
    pub(super) tensor: &'a ReportedTensor,
    length: u64,
    start: u64,
    bytes: Vec<u8>,
    /// The stream of decoded data, and its place.
    stream: Option<(Box<dyn Read + 'a>, u64)>,
}

impl Window<'_> {
    /// Bytes of the tensor. None if they cannot be read.
    pub(super) fn get(&mut self, range: Range<u64>) -> Option<&[u8]> {
        if range.start < self.start || range.end > self.start + self.bytes.len() as u64 {
            let end = range.end.max(range.start.saturating_add(self.length));
            self.bytes = self.read(range.start..end.min(self.tensor.described.data.length()))?;
            self.start = range.start;
        }
        part(&self.bytes, range.start - self.start..range.end - self.start)
    }

    fn read(&mut self, range: Range<u64>) -> Option<Vec<u8>> {
        let ReportedTensor { described, source, .. } = self.tensor;
        if range.end > described.data.length() {
            return None;
        }
        let length = usize::try_from(span(&range)).ok()?;
        let read = |source: &dyn ReadAt, at: u64| {
            let mut bytes = vec![0; length];
            source.read_exact_at(&mut bytes, at + range.start).ok()?;
            Some(bytes)
        };
        match &described.data {
            Data::Input(whole) => read(&**source, whole.start),
            Data::Other { source, range: whole } => read(&**source, whole.start),
            Data::Owned(bytes) => part(bytes, range).map(<[u8]>::to_vec),
            Data::Decoded(decode) => {
                // Decodes the bytes before only once if ranges rise.
                let (mut stream, at) = match self.stream.take() {
                    Some((stream, at)) if at <= range.start => (stream, at),
                    _ => (decode.open(&**source).ok()?, 0),
                };
                let before = range.start - at;
                io::copy(&mut (&mut stream).take(before), &mut io::sink()).ok()?;
                let mut bytes = Vec::new();
                (&mut stream).take(length as u64).read_to_end(&mut bytes).ok()?;
                self.stream = Some((stream, range.end));
                (bytes.len() == length).then_some(bytes)
            }
        }
    }
}

/// The tensors of the files of a folder, or of some of them.
#[derive(Default)]
pub(super) struct Model {
    pub(super) config: Arc<Config>,
    /// The sizes that a file of the model has, and no configuration.
    pub(super) sizes: Option<Sizes>,
    pub(super) tensors: Vec<ReportedTensor>,
    /// The names of the tensors, until the model is arranged.
    pub(super) names: HashSet<Arc<str>>,
    pub(super) matrices: Vec<Matrix>,
    /// What is wrong with a file as a whole.
    pub(super) of_files: Vec<(&'static Rule, PathBuf, String)>,
    /// The shards that were checked, without an index, and how many there should be: by the name
    /// without the number.
    shards: BTreeMap<String, (BTreeSet<String>, usize)>,
    /// Whether some shards are missing.
    pub(super) is_partial: bool,
}

impl Model {
    /// A model without tensors.
    pub(super) fn new(
        config: Arc<Config>,
        of_files: Vec<(&'static Rule, PathBuf, String)>,
    ) -> Self {
        Self { config, of_files, ..Self::default() }
    }

    /// The sizes of the model.
    pub(super) fn sizes(&self) -> &Sizes {
        self.sizes.as_ref().unwrap_or(&self.config.sizes)
    }

    /// Whether the model has a tensor of one of the names.
    pub(super) fn has_any(&self, tensors: &[Tensor]) -> bool {
        let mut names = tensors.iter().filter_map(|tensor| tensor.name.as_ref());
        names.any(|name| self.names.contains(name))
    }

    /// Notes a file that is one of several by its name: `model-00001-of-00003.safetensors`.
    pub(super) fn note_shard(&mut self, path: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((before, behind)) = name.rsplit_once("-of-") else { return };
        let prefix = before.trim_end_matches(|char: char| char.is_ascii_digit());
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        if let (true, Ok(count)) = (prefix.len() < before.len(), behind[..digits].parse()) {
            let set = self.shards.entry(format!("{prefix}-of-{behind}")).or_default();
            set.0.insert(before.to_owned());
            set.1 = count;
        }
    }

    /// Finds the matrices among the tensors. Returns what is wrong with the shapes of scales: the
    /// number of the tensor, and a sentence.
    pub(super) fn arrange(&mut self) -> Vec<(usize, String)> {
        self.names = HashSet::new();
        self.is_partial = self.shards.values().any(|(checked, count)| checked.len() < *count);
        let tensors: Vec<&Tensor> = self.tensors.iter().map(|tensor| &tensor.described).collect();
        let (mut matrices, mut wrong): (Vec<Matrix>, Vec<_>) = Default::default();
        let scales = self.tensors.iter().enumerate();
        let onnx = scales.filter_map(|(index, tensor)| {
            Some(layouts::of_onnx(&tensor.described, index, tensor.onnx_scale?))
        });
        let found = layouts::matrices(&tensors, &self.config).into_iter().chain(onnx);
        for mut matrix in found {
            match (matrix.layout.grid)(&matrix, &tensors) {
                // A matrix without weights has no blocks.
                Ok(grid) => {
                    matrix.grid = grid.filter(|grid| grid.block.0 > 0 && grid.block.1 > 0);
                }
                Err(error) => wrong.push(error),
            }
            matrices.push(matrix);
        }
        // Rules search by the name.
        matrices.sort_by(|a, b| a.module.cmp(&b.module));
        self.matrices = matrices;
        wrong
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::model::{Decode, FullDescription};
    use crate::options::Options;

    /// Zeros, which count how often they are read or opened.
    #[derive(Debug, Default)]
    struct Zeros(Arc<AtomicUsize>);

    const LENGTH: u64 = 8 << 20;

    impl ReadAt for Zeros {
        fn length(&self) -> u64 {
            LENGTH
        }

        fn read_exact_at(&self, out: &mut [u8], _: u64) -> io::Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            out.fill(0);
            Ok(())
        }
    }

    impl Decode for Zeros {
        fn length(&self) -> u64 {
            LENGTH
        }

        fn open<'a>(&'a self, _: &'a dyn ReadAt) -> io::Result<Box<dyn Read + 'a>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(io::repeat(0)))
        }
    }

    /// Neighbouring rows share a read, and data is decoded once.
    #[test]
    fn reads_are_few() {
        for (is_decoded, most) in [(false, (LENGTH / STEP) as usize), (true, 1)] {
            let count = Arc::new(AtomicUsize::new(0));
            let zeros = || Zeros(Arc::clone(&count));
            let data =
                if is_decoded { Data::Decoded(Box::new(zeros())) } else { Data::Input(0..LENGTH) };
            let described = Tensor::new("x", "U8", vec![LENGTH], Content::NotFloat, data);
            let tensor = ReportedTensor {
                report: TensorReport::unseen(FullDescription::of(&described), &Options::default())
                    .into(),
                described,
                byte_tally: Arc::default(),
                source: Arc::new(zeros()),
                is_of_onnx: false,
                onnx_scale: None,
                file: PathBuf::new().into(),
            };
            let mut window = tensor.window(0);
            assert!((0..LENGTH).step_by(64).all(|at| window.get(at..at + 64) == Some(&[0; 64])));
            assert_eq!(count.swap(0, Ordering::Relaxed), most);
            let mut elements = 0;
            tensor.elements(1, |_, bits| {
                elements += 1;
                bits == 0
            });
            assert_eq!((elements, count.load(Ordering::Relaxed)), (LENGTH, most));
        }
    }
}
