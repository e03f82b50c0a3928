//! The table of quantised blocks, and blocks in what is sent to another process: by their names.
//!
//! Source: the block structs of ggml-common.h; sizes agree with the `gguf` package of PyPI.

use nonfinite::Format;
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::Serializer;

use super::blocks::{Blocks, Scales};

impl Blocks {
    /// The blocks of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        TYPES.iter().find(|blocks| blocks.name == name)
    }
}

pub(super) fn serialize<S: Serializer>(blocks: &&Blocks, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(blocks.name)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<&'static Blocks, D::Error> {
    let blocks = Blocks::named(&String::deserialize(from)?);
    blocks.ok_or_else(|| D::Error::custom("a type of blocks that is not known"))
}

const fn at(
    name: &'static str,
    (elements, bytes): (u64, usize),
    format: Format,
    scales: &'static [(&'static str, usize)],
) -> Blocks {
    Blocks { name, elements, bytes, format, scales: Scales::At(scales) }
}

/// The scales of most types: each an f16 at its offset.
const fn f16(
    name: &'static str,
    size: (u64, usize),
    scales: &'static [(&'static str, usize)],
) -> Blocks {
    at(name, size, Format::F16, scales)
}

/// Elements and bytes of a block, and the offsets of its scales.
#[rustfmt::skip]
static TYPES: [Blocks; 26] = [
    f16("Q4_0", (32, 18), &[("d", 0)]),
    f16("Q4_1", (32, 20), &[("d", 0), ("m", 2)]),
    f16("Q5_0", (32, 22), &[("d", 0)]),
    f16("Q5_1", (32, 24), &[("d", 0), ("m", 2)]),
    f16("Q8_0", (32, 34), &[("d", 0)]),
    f16("Q2_K", (256, 84), &[("d", 80), ("dmin", 82)]),
    f16("Q3_K", (256, 110), &[("d", 108)]),
    f16("Q4_K", (256, 144), &[("d", 0), ("dmin", 2)]),
    f16("Q5_K", (256, 176), &[("d", 0), ("dmin", 2)]),
    f16("Q6_K", (256, 210), &[("d", 208)]),
    at("Q8_K", (256, 292), Format::F32, &[("d", 0)]),
    f16("IQ2_XXS", (256, 66), &[("d", 0)]),
    f16("IQ2_XS", (256, 74), &[("d", 0)]),
    f16("IQ3_XXS", (256, 98), &[("d", 0)]),
    f16("IQ1_S", (256, 50), &[("d", 0)]),
    f16("IQ4_NL", (32, 18), &[("d", 0)]),
    f16("IQ3_S", (256, 110), &[("d", 0)]),
    f16("IQ2_S", (256, 82), &[("d", 0)]),
    f16("IQ4_XS", (256, 136), &[("d", 0)]),
    Blocks {
        name: "IQ1_M", elements: 256, bytes: 56, format: Format::F16,
        scales: Scales::Nibbles("d", 48),
    },
    f16("TQ1_0", (256, 54), &[("d", 52)]),
    f16("TQ2_0", (256, 66), &[("d", 64)]),
    at("MXFP4", (32, 17), Format::F8E8M0Fnu, &[("e", 0)]),
    at("NVFP4", (64, 36), Format::F8E4M3Fn, &[
        ("d[0]", 0), ("d[1]", 1), ("d[2]", 2), ("d[3]", 3),
    ]),
    f16("Q1_0", (128, 18), &[("d", 0)]),
    f16("Q2_0", (64, 18), &[("d", 0)]),
];
