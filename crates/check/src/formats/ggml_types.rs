//! The types of ggml: the block length of each type, and which bytes of a block are scales.
//!
//! Source: the enum `ggml_type` and the block structs of ggml-common.h; sizes agree with the `gguf`
//! package of PyPI.

use nonfinite::Format;

use crate::model::{Blocks, ByteOrder, Content, Scales};

/// A type of ggml.
pub(super) struct Kind {
    /// Its number in files.
    id: u32,
    pub(super) name: &'static str,
    values: Values,
}

enum Values {
    Floats(Format),
    Integers { size: usize },
    Blocks(Blocks),
}

impl Kind {
    /// Elements and bytes of a block.
    pub(super) fn block(&self) -> (usize, usize) {
        match &self.values {
            Values::Floats(format) => (1, format.size_in_bytes()),
            Values::Integers { size } => (1, *size),
            Values::Blocks(blocks) => (blocks.elements, blocks.bytes),
        }
    }

    pub(super) fn content(&'static self, order: ByteOrder) -> Content {
        match &self.values {
            Values::Floats(format) => Content::Floats { format: *format, parts: 1, order },
            Values::Integers { .. } => Content::NotFloat,
            Values::Blocks(blocks) => Content::Blocks { blocks, order },
        }
    }

    /// Whether the scale is split into pieces. Such types are read only in little-endian files.
    pub(super) fn is_nibbles(&self) -> bool {
        matches!(&self.values, Values::Blocks(Blocks { scales: Scales::Nibbles(..), .. }))
    }
}

/// The type of this number, if ggml stores tensors of it.
pub(super) fn find(id: u32) -> Option<&'static Kind> {
    TYPES.iter().find(|kind| kind.id == id)
}

/// The blocks of a type by its name, in what is sent to another machine.
pub(crate) mod by_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{Blocks, TYPES, Values};

    fn blocks(named: impl Fn(&str, &Blocks) -> bool) -> Option<(&'static str, &'static Blocks)> {
        TYPES.iter().find_map(|kind| match &kind.values {
            Values::Blocks(blocks) if named(kind.name, blocks) => Some((kind.name, blocks)),
            _ => None,
        })
    }

    pub(crate) fn serialize<S: Serializer>(of: &&Blocks, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(blocks(|_, known| known == *of).map_or("", |(name, _)| name))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<&'static Blocks, D::Error> {
        let name = String::deserialize(from)?;
        let found = blocks(|known, _| known == name).map(|(_, blocks)| blocks);
        found.ok_or_else(|| D::Error::custom("a type of blocks that is not known"))
    }
}

const fn floats(id: u32, name: &'static str, format: Format) -> Kind {
    Kind { id, name, values: Values::Floats(format) }
}

const fn integers(id: u32, name: &'static str, size: usize) -> Kind {
    Kind { id, name, values: Values::Integers { size } }
}

const fn blocks(
    id: u32,
    name: &'static str,
    (elements, bytes): (usize, usize),
    format: Format,
    scales: &'static [(&'static str, usize)],
) -> Kind {
    Kind {
        id,
        name,
        values: Values::Blocks(Blocks { elements, bytes, format, scales: Scales::At(scales) }),
    }
}

/// The scale of most types: one f16 at this offset.
const fn one(
    id: u32,
    name: &'static str,
    size: (usize, usize),
    scales: &'static [(&'static str, usize); 1],
) -> Kind {
    blocks(id, name, size, Format::F16, scales)
}

/// Two scales, each an f16.
const fn two(
    id: u32,
    name: &'static str,
    size: (usize, usize),
    scales: &'static [(&'static str, usize); 2],
) -> Kind {
    blocks(id, name, size, Format::F16, scales)
}

#[rustfmt::skip]
static TYPES: [Kind; 34] = [
    floats(0, "F32", Format::F32),
    floats(1, "F16", Format::F16),
    one(2, "Q4_0", (32, 18), &[("d", 0)]),
    two(3, "Q4_1", (32, 20), &[("d", 0), ("m", 2)]),
    one(6, "Q5_0", (32, 22), &[("d", 0)]),
    two(7, "Q5_1", (32, 24), &[("d", 0), ("m", 2)]),
    one(8, "Q8_0", (32, 34), &[("d", 0)]),
    // 9 is Q8_1, an intermediate type. ggml accepts it in no file.
    two(10, "Q2_K", (256, 84), &[("d", 80), ("dmin", 82)]),
    one(11, "Q3_K", (256, 110), &[("d", 108)]),
    two(12, "Q4_K", (256, 144), &[("d", 0), ("dmin", 2)]),
    two(13, "Q5_K", (256, 176), &[("d", 0), ("dmin", 2)]),
    one(14, "Q6_K", (256, 210), &[("d", 208)]),
    blocks(15, "Q8_K", (256, 292), Format::F32, &[("d", 0)]),
    one(16, "IQ2_XXS", (256, 66), &[("d", 0)]),
    one(17, "IQ2_XS", (256, 74), &[("d", 0)]),
    one(18, "IQ3_XXS", (256, 98), &[("d", 0)]),
    one(19, "IQ1_S", (256, 50), &[("d", 0)]),
    one(20, "IQ4_NL", (32, 18), &[("d", 0)]),
    one(21, "IQ3_S", (256, 110), &[("d", 0)]),
    one(22, "IQ2_S", (256, 82), &[("d", 0)]),
    one(23, "IQ4_XS", (256, 136), &[("d", 0)]),
    integers(24, "I8", 1),
    integers(25, "I16", 2),
    integers(26, "I32", 4),
    integers(27, "I64", 8),
    floats(28, "F64", Format::F64),
    Kind { id: 29, name: "IQ1_M", values: Values::Blocks(Blocks {
        elements: 256, bytes: 56, format: Format::F16, scales: Scales::Nibbles("d", 48),
    }) },
    floats(30, "BF16", Format::Bf16),
    one(34, "TQ1_0", (256, 54), &[("d", 52)]),
    one(35, "TQ2_0", (256, 66), &[("d", 64)]),
    blocks(39, "MXFP4", (32, 17), Format::F8E8M0Fnu, &[("e", 0)]),
    blocks(40, "NVFP4", (64, 36), Format::F8E4M3Fn, &[
        ("d[0]", 0), ("d[1]", 1), ("d[2]", 2), ("d[3]", 3),
    ]),
    one(41, "Q1_0", (128, 18), &[("d", 0)]),
    one(42, "Q2_0", (64, 18), &[("d", 0)]),
];
