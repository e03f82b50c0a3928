//! Quantised blocks: the places of their scales.

use nonfinite::Format;

use super::codes;

/// A block of quantised elements.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// The name of their type.
    pub(crate) name: &'static str,
    /// Elements in a block.
    pub(crate) elements: u64,
    /// Bytes of a block.
    pub(crate) bytes: usize,
    /// The format of its scales.
    pub(crate) format: Format,
    /// The places of its scales.
    pub(crate) scales: Scales,
}

/// The places of the scales of a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Scales {
    /// Each at its offset in the block, with its name.
    At(&'static [(&'static str, usize)]),
    /// One f16 in four pieces of four bits: the upper bits of four 16-bit words, which begin at
    /// this offset. The first word has the lowest bits (ggml's IQ1_M).
    Nibbles(&'static str, usize),
}

impl Scales {
    /// Scales in a block.
    pub(crate) const fn count(&self) -> usize {
        match self {
            Self::At(fields) => fields.len(),
            Self::Nibbles(..) => 1,
        }
    }

    /// The name of the scale with this index in the block.
    pub(crate) fn name(&self, index: usize) -> &'static str {
        match self {
            Self::At(fields) => fields[index].0,
            Self::Nibbles(name, _) => name,
        }
    }

    /// The names of all scales.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        (0..self.count()).map(|index| self.name(index)).collect()
    }
}

impl Blocks {
    /// The number of elements that a scale applies to. If the names of the scales have indices
    /// (NVFP4: `d[0]` to `d[3]`), each scale applies to an equal part of the block, in order.
    /// Otherwise each scale applies to the whole block.
    pub(crate) fn elements_of_a_scale(&self) -> u64 {
        let is_shared = self.scales.names().iter().all(|name| name.ends_with(']'));
        self.elements / if is_shared { self.scales.count().max(1) as u64 } else { 1 }
    }

    /// Whether these blocks may hold a scale that is NaN or infinite. False means that all scales
    /// are finite. The scales must have the byte order of the machine. Only compares exponents with
    /// all ones, and so copies no scales, unlike [`Blocks::gather`].
    pub(crate) fn may_have_hit(&self, blocks: &[u8]) -> bool {
        // These bits are all ones in every NaN and infinity, and in few finite scales.
        let exponent = u32::try_from(codes::first_beyond(self.format));
        let (Scales::At(fields), Ok(exponent)) = (&self.scales, exponent) else {
            return true;
        };
        fields.iter().any(|&(_, at)| match self.format.size_in_bytes() {
            1 => self.any_all_ones(blocks, at, exponent, |[code]| code.into()),
            2 => self.any_all_ones(blocks, at, exponent, |bytes| u16::from_ne_bytes(bytes).into()),
            _ => self.any_all_ones(blocks, at, exponent, u32::from_ne_bytes),
        })
    }

    #[inline(always)]
    fn any_all_ones<const SIZE: usize>(
        &self,
        blocks: &[u8],
        at: usize,
        exponent: u32,
        number: impl Fn([u8; SIZE]) -> u32 + Copy,
    ) -> bool {
        // Files have many short blocks: loops with a constant length are faster.
        match self.bytes {
            18 => all_ones(blocks.as_chunks::<18>().0, at, exponent, number),
            20 => all_ones(blocks.as_chunks::<20>().0, at, exponent, number),
            22 => all_ones(blocks.as_chunks::<22>().0, at, exponent, number),
            24 => all_ones(blocks.as_chunks::<24>().0, at, exponent, number),
            34 => all_ones(blocks.as_chunks::<34>().0, at, exponent, number),
            _ => all_ones(blocks.chunks_exact(self.bytes), at, exponent, number),
        }
    }

    /// Copies the scales of whole blocks, block by block, in the byte order of the blocks. Returns
    /// the bytes written.
    ///
    /// # Panics
    /// If `scales` is too short for them.
    pub(crate) fn gather(&self, blocks: &[u8], scales: &mut [u8]) -> usize {
        match (&self.scales, self.format.size_in_bytes()) {
            (Scales::Nibbles(_, at), _) => self.gather_nibbles(*at, blocks, scales),
            (Scales::At(fields), 1) => self.gather_fields::<1>(fields, blocks, scales),
            (Scales::At(fields), 2) => self.gather_fields::<2>(fields, blocks, scales),
            (Scales::At(fields), 4) => self.gather_fields::<4>(fields, blocks, scales),
            (Scales::At(fields), _) => self.gather_fields::<8>(fields, blocks, scales),
        }
    }

    fn gather_fields<const SIZE: usize>(
        &self,
        fields: &[(&str, usize)],
        blocks: &[u8],
        scales: &mut [u8],
    ) -> usize {
        let count = blocks.len() / self.bytes;
        let out = &mut scales.as_chunks_mut::<SIZE>().0[..count * fields.len()];
        // Block after block, so that each block is read once and the scales keep their order.
        match fields {
            [(_, at)] => {
                for (block, out) in blocks.chunks_exact(self.bytes).zip(out) {
                    *out = scale(block, *at);
                }
            }
            _ => {
                let blocks = blocks.chunks_exact(self.bytes);
                for (block, out) in blocks.zip(out.chunks_exact_mut(fields.len().max(1))) {
                    for (&(_, at), out) in fields.iter().zip(out) {
                        *out = scale(block, at);
                    }
                }
            }
        }
        count * fields.len() * SIZE
    }

    /// The words are little-endian, and so is the scale. Big-endian files are not handled here:
    /// their reader reports such tensors as unreadable.
    fn gather_nibbles(&self, at: usize, blocks: &[u8], scales: &mut [u8]) -> usize {
        let count = blocks.len() / self.bytes;
        let out = &mut scales.as_chunks_mut::<2>().0[..count];
        for (block, out) in blocks.chunks_exact(self.bytes).zip(out) {
            let [_, a, _, b, _, c, _, d] = scale::<8>(block, at);
            *out = [a >> 4 | b & 0xF0, c >> 4 | d & 0xF0];
        }
        count * 2
    }
}

/// Whether the exponent of a number at this offset of a block is all ones.
#[inline(always)]
fn all_ones<const SIZE: usize>(
    blocks: impl IntoIterator<Item: AsRef<[u8]>>,
    at: usize,
    exponent: u32,
    number: impl Fn([u8; SIZE]) -> u32,
) -> bool {
    let lowest = exponent & exponent.wrapping_neg();
    let seen = blocks.into_iter().fold(0, |seen, block| {
        // Adds the lowest bit of the exponent. The sum carries into the bit above only if the
        // exponent is all ones.
        seen | (u64::from(number(scale(block.as_ref(), at)) & exponent) + u64::from(lowest))
    });
    seen & (u64::from(exponent) + u64::from(lowest)) != 0
}

#[inline(always)]
fn scale<const SIZE: usize>(block: &[u8], at: usize) -> [u8; SIZE] {
    let mut scale = [0; SIZE];
    scale.copy_from_slice(&block[at..at + SIZE]);
    scale
}
