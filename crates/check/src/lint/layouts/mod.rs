//! The layouts of quantised matrices: a file and a table for each. Rules know layouts only by
//! [`Layout`].

mod bitsandbytes;
mod gguf;
mod gptq;
mod mlx;
mod mxfp4;
mod onnx;
mod scaled;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nonfinite::Format;

use super::config::{Config, Scheme};
use super::model::Matrix;
use crate::model::{Content, Tensor};

/// The layouts. The first that recognises the tensors of a module has them.
static LAYOUTS: [&Layout; 7] = [
    &mxfp4::LAYOUT,
    &gptq::GPTQ,
    &gptq::AWQ,
    &mlx::LAYOUT,
    &bitsandbytes::LAYOUT,
    &gguf::LAYOUT,
    &scaled::LAYOUT,
];

/// What a tensor is to a quantised matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The codes of the weights.
    Codes,
    /// Scales of rows, columns, groups or blocks.
    Scale,
    /// A scale of the scales.
    Global,
    /// A scale of the activations.
    Input,
    /// A scale of the KV cache.
    Cache,
    /// Zero points.
    Zeros,
    /// The group of each column.
    Index,
    /// Anything else that belongs to the matrix.
    Other,
}

/// A layout.
pub(super) struct Layout {
    /// The endings of names, with what such a tensor is.
    pub(super) endings: &'static [(&'static str, Part)],
    /// Whether the tensors of a module are a matrix in this layout.
    pub(super) is: fn(&Parts, &Tensors<'_>, &Config) -> bool,
    /// How scales lie over the weights, or the number of a tensor of the wrong shape, and why.
    pub(super) grid: fn(&Matrix, &Tensors<'_>) -> Result<Option<Grid>, Misfit>,
    /// The format of scales that are stored as bytes.
    pub(super) byte_scales: fn(&Parts, &Tensors<'_>, &Scheme) -> Option<Format>,
    /// Endings of tensors without which no loader takes the matrix.
    pub(super) needs: fn(&Parts, &Scheme) -> &'static [&'static str],
    /// Whether blocks of FP4 with scales of E4M3 have a global scale, too.
    pub(super) has_global: bool,
    /// A magnitude that integers of a block reach, in units of the scale. None for other codes.
    pub(super) reach: Option<fn(&Scheme) -> f64>,
    /// Whether a scale may be zero.
    pub(super) zero: Legal,
    /// Whether a scale may be negative.
    pub(super) negative: Legal,
}

/// Whether a value is legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Legal {
    Yes,
    /// Some engines take it.
    Doubtful,
    No,
}

/// The parts of a module, by the ending of the name: what the tensor is, and its number.
pub(super) type Parts = BTreeMap<&'static str, (Part, usize)>;

/// A tensor that does not fit, by its number, and why.
pub(super) type Misfit = (usize, String);

/// All tensors.
pub(super) type Tensors<'a> = [&'a Tensor];

/// How scales lie over the weights of a matrix, or of several matrices in one tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    /// The matrices.
    pub(super) matrices: usize,
    /// The rows of a matrix.
    pub(super) rows: usize,
    /// The columns of a matrix.
    pub(super) columns: usize,
    /// Rows and columns of weights that share a scale.
    pub(super) block: (usize, usize),
    /// Bits of a code: 4 or 8. Floating-point codes only: None for integers, and for codes whose
    /// rows do not lie one behind the other.
    pub(super) float_bits: Option<usize>,
}

/// The tensors of a quantised matrix.
pub(super) struct Group {
    pub(super) module: String,
    pub(super) layout: &'static Layout,
    pub(super) parts: Parts,
}

/// Finds the quantised matrices among tensors.
pub(super) fn groups(tensors: &Tensors<'_>, config: &Config) -> Vec<Group> {
    // Some endings are of several layouts.
    let endings: BTreeSet<&'static str> =
        LAYOUTS.iter().flat_map(|layout| layout.endings).map(|(ending, _)| *ending).collect();
    let names = || {
        let named = tensors.iter().enumerate();
        named.filter_map(|(index, tensor)| Some((tensor.name.as_deref()?, index)))
    };
    let mut modules: HashMap<&str, Vec<(&'static str, usize)>> = HashMap::new();
    for (name, index) in names() {
        for ending in endings.iter().filter(|ending| !ending.is_empty()) {
            if let Some(module) = name.strip_suffix(ending) {
                modules.entry(module).or_default().push((ending, index));
            }
        }
    }
    // Codes may have the name of the module. Without a scale beside them they are no matrix, and
    // with `.weight` they are that of the module above: `a.weight_scale_inv` is no `_scale_inv`.
    for (name, index) in names().filter(|(name, _)| !name.ends_with(".weight")) {
        // The experts of a layer in one tensor of fp8 must have a scale.
        let is_fused = name.ends_with("_proj") && is_f8(tensors[index]);
        match modules.get_mut(name) {
            Some(found) => found.push(("", index)),
            None if is_fused => _ = modules.insert(name, vec![("", index)]),
            None => {}
        }
    }
    let mut modules: Vec<_> = modules.into_iter().collect();
    modules.sort_unstable_by_key(|(module, _)| *module);
    let mut groups = Vec::new();
    for (module, found) in modules {
        let parts = |layout: &Layout| -> Parts {
            let part = |ending| {
                let of = layout.endings.iter().find(|(of, _)| *of == ending);
                of.map(|(_, part)| *part)
            };
            let found = found.iter();
            found.filter_map(|&(ending, index)| Some((ending, (part(ending)?, index)))).collect()
        };
        let all = LAYOUTS.iter().map(|&layout| (layout, parts(layout)));
        let mut fitting = all.filter(|(layout, parts)| {
            let has_codes = parts.values().any(|(part, _)| *part == Part::Codes);
            has_codes && (layout.is)(parts, tensors, config)
        });
        if let Some((layout, parts)) = fitting.next() {
            groups.push(Group { module: module.to_owned(), layout, parts });
        }
    }
    groups
}

/// Codes of these bits reach half of their range.
fn of_bits(scheme: &Scheme) -> f64 {
    let bits = scheme.bits.filter(|bits| (2..=8).contains(bits)).unwrap_or(4);
    f64::from((1 << (bits - 1)) - 1)
}

/// Nothing but scales is needed.
fn needs_nothing(_: &Parts, _: &Scheme) -> &'static [&'static str] {
    &[]
}

/// A scale of an ONNX model, as a group of its own.
pub(super) fn of_onnx(tensor: &Tensor, index: usize, is_of_blocks: bool) -> Group {
    // One scale of all weights, or one of each row or column, has no axes, or one.
    let is_of_blocks = is_of_blocks || tensor.shape.len() > 1;
    Group {
        module: tensor.name.clone().unwrap_or_default(),
        layout: if is_of_blocks { &onnx::BLOCKS } else { &onnx::LAYOUT },
        parts: Parts::from([(onnx::SCALE.0, (onnx::SCALE.1, index))]),
    }
}

/// The endings of names that only scales have, in any layout.
pub(super) const ONLY_SCALES: [&str; 9] = [
    ".weight_scale",
    ".weight_scale_inv",
    ".weight_scale_2",
    ".weight_global_scale",
    ".qzeros",
    ".scale_weight",
    ".qscale_weight",
    ".absmax",
    ".SCB",
];

/// Whether the elements are integers of this many bytes.
pub(super) fn is_integer(tensor: &Tensor, bytes: usize) -> bool {
    let elements = tensor.elements();
    matches!(tensor.content, Content::NotFloat)
        && elements > 0
        && Some(tensor.data.length()) == elements.checked_mul(bytes)
        && !tensor.dtype.to_ascii_lowercase().contains("bool")
}

/// Whether the elements are floating-point numbers of 8 bits.
pub(super) fn is_f8(tensor: &Tensor) -> bool {
    matches!(
        tensor.content,
        Content::Floats {
            format: Format::F8E4M3Fn | Format::F8E5M2 | Format::F8E4M3FnUz | Format::F8E5M2FnUz,
            ..
        }
    )
}

/// The matrices, rows and columns of a shape. None for vectors.
pub(super) fn matrices(shape: &[usize]) -> Option<(usize, usize, usize)> {
    let [batch @ .., rows, columns] = shape else { return None };
    let count = batch.iter().fold(1, |all: usize, &length| all.saturating_mul(length));
    Some((count, *rows, *columns))
}

/// The tensor of a part.
pub(super) fn one(parts: &Parts, part: Part) -> Option<usize> {
    parts.values().find(|(of, _)| *of == part).map(|(_, index)| *index)
}
