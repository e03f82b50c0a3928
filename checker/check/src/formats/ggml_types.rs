//! The types of ggml, by their numbers in the enum `ggml_type`.

use nonfinite::Format;

use crate::model::{Blocks, ByteOrder, Content, Scales};

/// A type of ggml.
pub(super) struct Kind {
    pub(super) name: &'static str,
    values: Values,
}

enum Values {
    Floats(Format),
    Integers { size: u64 },
    Blocks(&'static Blocks),
}

impl Kind {
    /// Elements and bytes of a block.
    pub(super) fn block(&self) -> (u64, u64) {
        match self.values {
            Values::Floats(format) => (1, format.size_in_bytes() as u64),
            Values::Integers { size } => (1, size),
            Values::Blocks(blocks) => (blocks.elements, blocks.bytes as u64),
        }
    }

    pub(super) fn content(&self, order: ByteOrder) -> Content {
        match self.values {
            Values::Floats(format) => Content::Floats { format, parts: 1, order },
            Values::Integers { .. } => Content::NotFloat,
            Values::Blocks(blocks) => Content::Blocks { blocks, order },
        }
    }

    /// Whether the scale is split into pieces. Such types are read only in little-endian files.
    pub(super) fn is_nibbles(&self) -> bool {
        matches!(self.values, Values::Blocks(Blocks { scales: Scales::Nibbles(..), .. }))
    }
}

/// The type of this number, if ggml stores tensors of it.
pub(super) fn find(id: u32) -> Option<Kind> {
    let &(_, name) = TYPES.iter().find(|(known, _)| *known == id)?;
    let values = match name {
        "I8" => Values::Integers { size: 1 },
        "I16" => Values::Integers { size: 2 },
        "I32" => Values::Integers { size: 4 },
        "I64" => Values::Integers { size: 8 },
        _ => match name.parse() {
            Ok(format) => Values::Floats(format),
            Err(_) => Values::Blocks(Blocks::named(name)?),
        },
    };
    Some(Kind { name, values })
}

#[rustfmt::skip]
const TYPES: [(u32, &str); 34] = [
    (0, "F32"),
    (1, "F16"),
    (2, "Q4_0"),
    (3, "Q4_1"),
    (6, "Q5_0"),
    (7, "Q5_1"),
    (8, "Q8_0"),
    // 9 is Q8_1, an intermediate type. ggml accepts it in no file.
    (10, "Q2_K"),
    (11, "Q3_K"),
    (12, "Q4_K"),
    (13, "Q5_K"),
    (14, "Q6_K"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (24, "I8"),
    (25, "I16"),
    (26, "I32"),
    (27, "I64"),
    (28, "F64"),
    (29, "IQ1_M"),
    (30, "BF16"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (39, "MXFP4"),
    (40, "NVFP4"),
    (41, "Q1_0"),
    (42, "Q2_0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_type() {
        assert!(TYPES.iter().all(|&(id, name)| find(id).is_some_and(|kind| kind.name == name)));
    }
}
