//! The result of a fix.

use crate::model::{ByKind, FileFormat};

/// The replacements in each tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The format of the file.
    pub format: FileFormat,
    /// All tensors, in the order of their data.
    pub tensors: Vec<FixedTensor>,
}

/// The replacements in a tensor. The parts of a complex number count as two numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedTensor {
    /// The name, if the file gives one.
    pub name: Option<String>,
    /// The element type as the file spells it.
    pub dtype: String,
    /// The shape.
    pub shape: Vec<usize>,
    /// The number of replaced NaN, +Inf and -Inf.
    pub replaced: ByKind<usize>,
}

impl FixedTensor {
    /// The number of replaced numbers, of all kinds.
    #[must_use]
    pub fn total(&self) -> usize {
        self.replaced.into_array().into_iter().sum()
    }
}
