//! ONNX: inputs of operators that quantise are scales. Negative ones work in some engines.

use super::{Layout, Legal, Part, needs_nothing};

pub(super) static LAYOUT: Layout = Layout {
    endings: &[],
    is: |_, _, _| false,
    grid: |_, _| Ok(None),
    byte_scales: |_, _, _| None,
    needs: needs_nothing,
    has_global: false,
    zero_is_legal: false,
    negative: Legal::Doubtful,
};

/// The part that a scale is: the name of the tensor is that of the module.
pub(super) const SCALE: (&str, Part) = ("", Part::Scale);
