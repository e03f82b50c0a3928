//! The tensors of a model, and its quantised matrices.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use nonfinite::Format;

use super::config::{Config, Scheme};
use super::facts::{Facts, bits};
use super::layouts::{self, Grid, Layout, Part};
use crate::model::{Content, Data, Description, Extreme, ReadAt, Tensor};
use crate::report::TensorReport;

/// A tensor, with what the check found.
pub(super) struct Looked {
    pub(super) tensor: Tensor,
    pub(super) report: TensorReport,
    pub(super) facts: Facts,
    /// The file that the tensor was read from.
    pub(super) source: Arc<dyn ReadAt>,
    /// Whether the file is an ONNX model.
    pub(super) is_of_onnx: bool,
    /// Whether an operator of an ONNX model reads the tensor as a scale.
    pub(super) is_onnx_scale: bool,
    /// The file to name.
    pub(super) file: PathBuf,
}

impl Looked {
    pub(super) fn name(&self) -> &str {
        self.tensor.name.as_deref().unwrap_or_default()
    }

    pub(super) fn shape(&self) -> &[usize] {
        &self.tensor.shape
    }

    /// The format of the elements, if they are floating-point numbers.
    pub(super) fn format(&self) -> Option<Format> {
        match self.tensor.content {
            Content::Floats { format, parts: 1, .. } => Some(format),
            _ => None,
        }
    }

    /// The coordinate of an element.
    pub(super) fn coordinate(&self, element: usize) -> Vec<usize> {
        Description::of(&self.tensor).coordinate(element)
    }

    /// Bytes of the tensor. None if they cannot be read: the check says so.
    pub(super) fn bytes(&self, range: Range<usize>) -> Option<Vec<u8>> {
        let read = |source: &dyn ReadAt, at: usize| {
            let mut bytes = vec![0; range.len()];
            source.read_exact_at(&mut bytes, at + range.start).ok()?;
            Some(bytes)
        };
        if range.end > self.tensor.data.length() {
            return None;
        }
        match &self.tensor.data {
            Data::Input(whole) => read(&*self.source, whole.start),
            Data::Other { source, range: whole } => read(&**source, whole.start),
            Data::Owned(bytes) => bytes.get(range).map(<[u8]>::to_vec),
            Data::Decoded(decode) => {
                let mut stream = decode.open(self.source.bytes().ok()?).ok()?;
                std::io::copy(&mut (&mut stream).take(range.start as u64), &mut std::io::sink())
                    .ok()?;
                let mut bytes = Vec::new();
                stream.take(range.len() as u64).read_to_end(&mut bytes).ok()?;
                (bytes.len() == range.len()).then_some(bytes)
            }
            Data::Column(_) => None,
        }
    }

    /// Calls `see` with each element and its bits, until `see` returns false.
    pub(super) fn elements(&self, size: usize, mut see: impl FnMut(usize, u64) -> bool) {
        const STEP: usize = 1 << 20;
        let length = self.tensor.data.length() / size * size;
        let mut start = 0;
        while start < length {
            let end = (start + STEP).min(length);
            let Some(bytes) = self.bytes(start..end) else { return };
            for (index, element) in bytes.chunks_exact(size).enumerate() {
                if !see(start / size + index, bits(element)) {
                    return;
                }
            }
            start = end;
        }
    }

    /// The elements for which the predicate holds: the first, and how many.
    pub(super) fn those(&self, is: impl Fn(f64) -> bool) -> Option<(usize, usize)> {
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

    /// The only number of the tensor. None if there are several.
    pub(super) fn only(&self) -> Option<f64> {
        let format = self.format()?;
        let bytes = (self.tensor.elements() == 1).then(|| self.bytes(0..format.size_in_bytes()));
        Some(format.to_f64(bits(&bytes??)))
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
        match self.tensor.content {
            Content::Floats { .. } => self.report.is_all_zeros(),
            _ => !self.facts.has_nonzero && self.tensor.data.length() > 0,
        }
    }
}

/// A quantised matrix, or several in one tensor: its codes and what belongs to them. The numbers
/// are indexes of tensors.
pub(super) struct Matrix {
    /// The name of the module.
    pub(super) module: String,
    pub(super) layout: &'static Layout,
    pub(super) parts: BTreeMap<&'static str, (Part, usize)>,
    pub(super) scheme: Scheme,
    /// How the scales lie over the weights. None if there are no scales, or if their shape is
    /// wrong.
    pub(super) grid: Option<Grid>,
}

impl Matrix {
    /// The tensors of a part.
    pub(super) fn all(&self, part: Part) -> impl Iterator<Item = usize> {
        let of_part = self.parts.values().filter(move |(of, _)| *of == part);
        of_part.map(|(_, index)| *index)
    }

    /// The tensor of this ending, and its shape.
    pub(super) fn shape<'a>(
        &self,
        ending: &str,
        tensors: &[&'a Tensor],
    ) -> Option<(usize, &'a [usize])> {
        let index = self.parts.get(ending)?.1;
        Some((index, tensors[index].shape.as_slice()))
    }

    /// The tensor of a part.
    pub(super) fn one(&self, part: Part) -> Option<usize> {
        self.all(part).next()
    }
}

/// The tensors of the files of a folder.
#[derive(Default)]
pub(super) struct Model {
    pub(super) config: Config,
    pub(super) tensors: Vec<Looked>,
    pub(super) matrices: Vec<Matrix>,
    /// Files of the configuration that cannot be read, with the reason.
    pub(super) broken: Vec<(PathBuf, String)>,
    /// The shards that were checked, without an index, and how many there should be.
    shards: (BTreeSet<String>, usize),
    /// Whether some shards are missing.
    pub(super) is_partial: bool,
}

impl Model {
    /// Notes a file that is one of several by its name: `model-00001-of-00003.safetensors`.
    pub(super) fn note_shard(&mut self, path: &str) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        let count = stem.rsplit_once("-of-").and_then(|(_, count)| count.parse().ok());
        if let Some(count) = count {
            self.shards.0.insert(name.to_owned());
            self.shards.1 = self.shards.1.max(count);
        }
    }

    /// Finds the matrices among the tensors. Returns what is wrong with the shapes of scales: the
    /// number of the tensor, and a sentence.
    pub(super) fn arrange(&mut self) -> Vec<(usize, String)> {
        self.is_partial = self.shards.0.len() < self.shards.1;
        let tensors: Vec<&Tensor> = self.tensors.iter().map(|looked| &looked.tensor).collect();
        let (mut matrices, mut wrong): (Vec<Matrix>, Vec<_>) = Default::default();
        let onnx = layouts::of_onnx(&tensors, |index| self.tensors[index].is_onnx_scale);
        let groups = layouts::groups(&tensors, &self.config).into_iter().chain(onnx);
        for layouts::Group { module, layout, parts } in groups {
            let scheme = self.config.scheme(&module);
            let mut matrix = Matrix { module, layout, parts, scheme, grid: None };
            match (layout.grid)(&matrix, &tensors) {
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
