//! GGUF: the scales of blocks are in the tensor itself, which `check` looks at. NVFP4 has a scale
//! of the whole tensor beside it. Scales of blocks may be zero and negative.

use super::{Layout, Legal, NONE, Role};
use crate::model::Content;

pub(super) static LAYOUT: Layout = Layout {
    endings: &[(".weight", Role::Codes), (".scale", Role::Global), (".input_scale", Role::Input)],
    is: |parts, tensors, _| {
        parts
            .get(".weight")
            .is_some_and(|&(_, index)| matches!(tensors[index].content, Content::Blocks { .. }))
    },
    zero: Legal::Yes,
    negative: Legal::Yes,
    ..NONE
};
