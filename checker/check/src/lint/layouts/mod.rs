//! The layouts of quantised matrices: a file and a table for each. Rules know layouts only by
//! [`Layout`] and the [`Role`]s of tensors.

mod bitsandbytes;
mod gguf;
mod gptq;
mod mlx;
mod mxfp4;
mod onnx;
mod scaled;

use std::collections::{BTreeMap, BTreeSet};

use nonfinite::Format;

use super::config::{Config, Scheme};
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
pub(super) enum Role {
    /// The codes of the weights.
    Codes,
    /// Scales of rows, columns, groups or blocks.
    Scale,
    /// A scale of the scales: the weights are multiplied by it.
    Global,
    /// A scale of the scales: the weights are divided by it.
    Divisor,
    /// A scale of the activations.
    Input,
    /// A scale of the KV cache.
    Cache,
    /// Zero points.
    Zeros,
    /// The group of each column.
    Index,
    /// The rows and columns of packed codes.
    Shape,
    /// JSON with the shape of the weights and the size of blocks.
    State,
    /// The numbers that codes stand for, or that scale the scales.
    Map,
    /// Anything else that belongs to the matrix.
    Other,
}

impl Role {
    /// Whether this is a scale of the scales.
    pub(super) fn is_global(self) -> bool {
        matches!(self, Self::Global | Self::Divisor)
    }
}

/// A layout.
pub(super) struct Layout {
    /// The endings of names, with what such a tensor is.
    pub(super) endings: &'static [(&'static str, Role)],
    /// Whether the tensors of a module are a matrix in this layout.
    pub(super) is: fn(&Parts, &Tensors<'_>, &Config) -> bool,
    /// How scales lie over the weights, or the number of a tensor of the wrong shape, and why.
    pub(super) grid: fn(&Matrix, &Tensors<'_>) -> Result<Option<Grid>, Misfit>,
    /// The format of scales that are stored as bytes.
    pub(super) byte_scales: fn(&Parts, &Tensors<'_>, &Scheme) -> Option<Format>,
    /// Endings of tensors without which no loader takes the matrix.
    pub(super) needs: fn(&Parts, &Scheme) -> Vec<&'static str>,
    /// Whether blocks of FP4 with scales of E4M3 have a global scale, too: the largest magnitude
    /// over 2688.
    pub(super) has_global: bool,
    /// Whether version 1 of the layout stores zero points minus 1. The scales of such a layout have
    /// a row for each group; others have a column.
    pub(super) is_gptq: bool,
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
pub(super) type Parts = BTreeMap<&'static str, (Role, usize)>;

/// A tensor that does not fit, by its number, and why.
pub(super) type Misfit = (usize, String);

/// All tensors.
pub(super) type Tensors<'a> = [&'a Tensor];

/// How scales lie over the weights of a matrix, or of several matrices in one tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Grid {
    /// The matrices.
    pub(super) matrices: u64,
    /// The rows of a matrix.
    pub(super) rows: u64,
    /// The columns of a matrix.
    pub(super) columns: u64,
    /// Rows and columns of weights that share a scale.
    pub(super) block: (u64, u64),
    /// Bits of a code: 4 or 8. Floating-point codes only: None for integers, and for codes whose
    /// rows do not lie one behind the other.
    pub(super) float_bits: Option<u64>,
}

/// A quantised matrix, or several in one tensor: its codes and what belongs to them. The numbers
/// are indexes of tensors.
pub(super) struct Matrix {
    /// The name of the module.
    pub(super) module: String,
    pub(super) layout: &'static Layout,
    pub(super) parts: Parts,
    pub(super) scheme: Scheme,
    /// How the scales lie over the weights. None if there are no scales, if their shape is wrong,
    /// or before the shape was checked.
    pub(super) grid: Option<Grid>,
}

impl Matrix {
    /// The tensor with a role.
    pub(super) fn one(&self, role: Role) -> Option<usize> {
        one(&self.parts, role)
    }

    /// The global scale: its role, and the tensor.
    pub(super) fn global(&self) -> Option<(Role, usize)> {
        self.parts.values().copied().find(|(role, _)| role.is_global())
    }

    /// The tensor of this ending, and its shape.
    pub(super) fn shape<'a>(
        &self,
        ending: &str,
        tensors: &Tensors<'a>,
    ) -> Option<(usize, &'a [u64])> {
        let index = self.parts.get(ending)?.1;
        Some((index, tensors[index].shape.as_slice()))
    }
}

/// Finds the quantised matrices among tensors.
pub(super) fn matrices(tensors: &Tensors<'_>, config: &Config) -> Vec<Matrix> {
    // Some endings are of several layouts.
    let endings: BTreeSet<&'static str> =
        LAYOUTS.iter().flat_map(|layout| layout.endings).map(|(ending, _)| *ending).collect();
    let names = || {
        let named = tensors.iter().enumerate();
        named.filter_map(|(index, tensor)| Some((tensor.name.as_deref()?, index)))
    };
    // A list takes less memory than a map: a hostile file can describe a million tensors.
    let mut parts: Vec<(&str, &'static str, usize)> = Vec::new();
    for (name, index) in names() {
        let endings = endings.iter().filter(|ending| !ending.is_empty());
        parts.extend(endings.filter_map(|&end| Some((name.strip_suffix(end)?, end, index))));
    }
    parts.sort_unstable();
    // Codes may have the name of the module. Without a scale beside them they are no matrix, and
    // with `.weight` they are that of the module above: `a.weight_scale_inv` is no `_scale_inv`.
    let is_named = |name: &str| parts.binary_search_by_key(&name, |part| part.0).is_ok();
    let bare = names().filter(|&(name, index)| {
        // The experts of a layer in one tensor of fp8 must have a scale.
        let is_fused = || name.ends_with("_proj") && is_f8(tensors[index]);
        !name.ends_with(".weight") && (is_named(name) || is_fused())
    });
    let bare: Vec<_> = bare.map(|(name, index)| (name, "", index)).collect();
    parts.extend(bare);
    parts.sort_unstable();
    let mut matrices = Vec::new();
    for found in parts.chunk_by(|a, b| a.0 == b.0) {
        let module = found[0].0;
        let parts = |layout: &Layout| -> Parts {
            let role = |ending| {
                let of = layout.endings.iter().find(|(of, _)| *of == ending);
                of.map(|(_, role)| *role)
            };
            let found = found.iter();
            found.filter_map(|&(_, ending, index)| Some((ending, (role(ending)?, index)))).collect()
        };
        let all = LAYOUTS.iter().map(|&layout| (layout, parts(layout)));
        let mut fitting = all.filter(|(layout, parts)| {
            let has_codes = parts.values().any(|(role, _)| *role == Role::Codes);
            has_codes && (layout.is)(parts, tensors, config)
        });
        if let Some((layout, parts)) = fitting.next() {
            let (module, scheme) = (module.to_owned(), config.scheme(module));
            matrices.push(Matrix { module, layout, parts, scheme, grid: None });
        }
    }
    matrices
}

/// Codes of these bits reach half of their range.
fn of_bits(scheme: &Scheme) -> f64 {
    let bits = scheme.bits.filter(|bits| (2..=8).contains(bits)).unwrap_or(4);
    f64::from((1 << (bits - 1)) - 1)
}

/// A layout that no matrix has. Others begin with it, and say only what they have.
const NONE: Layout = Layout {
    endings: &[],
    is: |_, _, _| false,
    grid: |_, _| Ok(None),
    byte_scales: |_, _, _| None,
    needs: |_, _| Vec::new(),
    has_global: false,
    is_gptq: false,
    reach: None,
    zero: Legal::No,
    negative: Legal::No,
};

/// A scale of an ONNX model, as a matrix without codes.
pub(super) fn of_onnx(tensor: &Tensor, index: usize, is_of_blocks: bool) -> Matrix {
    // One scale of all weights, or one of each row or column, has no axes, or one.
    let is_of_blocks = is_of_blocks || tensor.shape.len() > 1;
    Matrix {
        module: tensor.label().to_owned(),
        layout: if is_of_blocks { &onnx::BLOCKS } else { &onnx::LAYOUT },
        parts: Parts::from([(onnx::SCALE.0, (onnx::SCALE.1, index))]),
        scheme: Scheme::default(),
        grid: None,
    }
}

/// The endings of the scales of the KV cache: of its keys, and of its values.
pub(super) const CACHE: [&str; 2] = [".k_scale", ".v_scale"];

/// Whether a tensor of this name is the state of a quantiser, which no loader reads.
pub(super) fn is_left_over(name: &str) -> bool {
    // A vector quantizer is a module of models that have a codebook.
    let is_quantiser = name.contains("_quantizer.") && !name.contains("vector_quantizer.");
    is_quantiser || name.ends_with("_amax") || name.ends_with("_double_scale")
}

/// Whether a tensor of this name is a scale, in any layout. None if it is one in some models only.
pub(super) fn is_scale(name: &str) -> Option<bool> {
    if ONLY_SCALES.iter().any(|ending| name.ends_with(ending)) {
        return Some(true);
    }
    let may_be = name.ends_with("_scales") || name.ends_with(".scales");
    (!may_be).then_some(false)
}

/// The endings of names that only scales have, in any layout.
const ONLY_SCALES: [&str; 9] = [
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
pub(super) fn is_integer(tensor: &Tensor, bytes: u64) -> bool {
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
fn extents(shape: &[u64]) -> Option<(u64, u64, u64)> {
    let [batch @ .., rows, columns] = shape else { return None };
    let count = batch.iter().fold(1, |all: u64, &length| all.saturating_mul(length));
    Some((count, *rows, *columns))
}

/// The tensor with a role.
pub(super) fn one(parts: &Parts, role: Role) -> Option<usize> {
    parts.values().find(|(of, _)| *of == role).map(|(_, index)| *index)
}
