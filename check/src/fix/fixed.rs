//! What was done with a file.

use crate::model::{ByKind, FileFormat};

/// What was done with each tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The format of the file.
    pub format: FileFormat,
    /// All tensors, in the order of their data.
    pub tensors: Vec<FixedTensor>,
}

/// What was done with a tensor. The parts of a complex number count as two numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedTensor {
    /// The name, where the file gives one.
    pub name: Option<String>,
    /// The element type as the file spells it.
    pub dtype: String,
    /// The shape.
    pub shape: Vec<usize>,
    /// How many NaN, +Inf and -Inf were replaced.
    pub replaced: ByKind<usize>,
}

impl FixedTensor {
    /// How many numbers were replaced, of all kinds.
    #[must_use]
    pub fn total(&self) -> usize {
        self.replaced.into_array().into_iter().sum()
    }
}
