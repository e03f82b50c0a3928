//! ONNX: inputs of operators that quantise are scales. Negative ones work in some engines.

use super::{Layout, Legal, NONE, Role};

pub(super) static LAYOUT: Layout = Layout { negative: Legal::Doubtful, ..NONE };

/// Scales of blocks. onnxruntime gives a block of zeros the scale 0, and never divides by it.
pub(super) static BLOCKS: Layout = Layout { zero: Legal::Doubtful, ..LAYOUT };

/// The part that a scale is: the name of the tensor is that of the module.
pub(super) const SCALE: (&str, Role) = ("", Role::Scale);
