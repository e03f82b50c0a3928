//! The tally of bytes, for lint. The scan makes the tally while it reads the numbers.

use std::ops::Range;

use nonfinite::Format;
use serde::{Deserialize, Serialize};

use crate::model::{ByteOrder, Content};

/// Bytes of a page. A hole in a file has whole pages.
pub(crate) const PAGE: u64 = 4096;
const BYTES: usize = PAGE as usize;

/// Numbers that are sampled of each chunk of a tensor that the scan reads at once.
const SAMPLES: usize = 1024;

/// Tensors of fewer elements are not sampled.
const LARGE: u64 = 1 << 16;

/// What the bytes of a tensor are to lint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ByteKind {
    /// Floating-point weights.
    Weights {
        /// Whether there are so many that their magnitudes are sampled.
        are_many: bool,
    },
    /// Codes of quantised weights.
    Codes,
    /// Scales of one byte.
    ByteScales,
    /// Nothing that rules ask about.
    #[default]
    Other,
}

impl ByteKind {
    /// Floating-point weights, this many.
    pub(crate) fn weights(elements: u64) -> Self {
        Self::Weights { are_many: elements >= LARGE }
    }

    /// Whether the bytes are read although they hold no floating-point numbers.
    pub(crate) fn is_wanted(self) -> bool {
        matches!(self, Self::Codes | Self::ByteScales)
    }
}

/// The tally of the bytes of a tensor, or of a piece.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ByteTally {
    /// Whether the bytes were read.
    pub(crate) was_seen: bool,
    /// Whether any byte is not zero.
    pub(crate) has_nonzero: bool,
    /// Pages of the file that hold zeros of this tensor only.
    pub(crate) zero_pages: u64,
    /// The first of these pages, from its first byte in the tensor.
    pub(crate) first_zero_page: Option<u64>,
    /// How often each byte occurs. Of scales of one byte only, otherwise empty.
    pub(crate) bytes: Vec<u64>,
    /// The exponents of some of the numbers, as those of f32. Of large tensors only, otherwise
    /// empty.
    exponents: Vec<u64>,
}

impl ByteTally {
    /// A magnitude that no more than one of a thousand sampled numbers exceeds. None for tensors
    /// that were not sampled, and if nearly all numbers are zero.
    pub(crate) fn most_are_below(&self) -> Option<f64> {
        let mut left = self.exponents.iter().sum::<u64>() / 1000;
        let high = self.exponents.iter().rposition(|&count| match left.checked_sub(count) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        })?;
        (high > 0).then(|| 2f64.powi(high as i32 - 126))
    }

    /// Adds bytes of a tensor whose first byte is at `start` in the tensor. `offset` is the place
    /// of the tensor in the file, if its bytes lie there as they are.
    pub(super) fn add(
        &mut self,
        kind: ByteKind,
        content: &Content,
        offset: Option<u64>,
        start: u64,
        bytes: &[u8],
    ) {
        if kind == ByteKind::Other {
            return;
        }
        self.was_seen = true;
        if kind == ByteKind::ByteScales {
            self.bytes.resize(256, 0);
            bytes.iter().for_each(|&byte| self.bytes[usize::from(byte)] += 1);
        }
        if let Some(offset) = offset {
            self.count_zero_pages(start, bytes, offset);
        }
        self.has_nonzero = self.has_nonzero || bytes.chunks(BYTES).any(|page| !is_zero(page));
        if let (ByteKind::Weights { are_many: true }, Content::Floats { format, order, .. }) =
            (kind, content)
            && *order == ByteOrder::NATIVE
        {
            self.sample(bytes, *format);
        }
    }

    /// Adds what was seen in other bytes of the tensor.
    pub(super) fn merge(&mut self, other: Self) {
        let add = |all: &mut Vec<u64>, more: Vec<u64>| {
            all.resize(all.len().max(more.len()), 0);
            all.iter_mut().zip(more).for_each(|(a, b)| *a += b);
        };
        self.was_seen |= other.was_seen;
        self.has_nonzero |= other.has_nonzero;
        self.zero_pages += other.zero_pages;
        let firsts = [self.first_zero_page, other.first_zero_page];
        self.first_zero_page = firsts.into_iter().flatten().min();
        add(&mut self.bytes, other.bytes);
        add(&mut self.exponents, other.exponents);
    }

    /// Counts the pages of zeros.
    fn count_zero_pages(&mut self, start: u64, bytes: &[u8], offset: u64) {
        // Less than a page.
        let before_page = ((offset + start).next_multiple_of(PAGE) - (offset + start)) as usize;
        let Some(pages) = bytes.get(before_page..) else { return };
        for (number, page) in pages.as_chunks::<BYTES>().0.iter().enumerate() {
            // Nearly all pages end here.
            if page[0] | page[1] | page[2] | page[3] == 0 && is_zero(page) {
                self.zero_pages += 1;
                let place = start + before_page as u64 + number as u64 * PAGE;
                self.first_zero_page = self.first_zero_page.or(Some(place));
            }
        }
    }

    /// Counts the exponents of numbers at equal distances.
    fn sample(&mut self, bytes: &[u8], format: Format) {
        let (size, exponent): (_, fn(u64) -> u64) = match format {
            Format::F16 => (2, |bits| match bits >> 10 & 31 {
                0 => 0,
                exponent => exponent + 112,
            }),
            Format::Bf16 => (2, |bits| bits >> 7 & 255),
            Format::F32 => (4, |bits| bits >> 23 & 255),
            Format::F64 => (8, |bits| (bits >> 52 & 2047).saturating_sub(896).min(255)),
            _ => return,
        };
        self.exponents.resize(256, 0);
        let step = (bytes.len() / size / SAMPLES).max(1) * size;
        for number in bytes.chunks(step).filter_map(|numbers| numbers.get(..size)) {
            self.exponents[exponent(bits(number)) as usize] += 1;
        }
    }
}

/// Whether all bytes are zero. Without an early end, so that the compiler uses vectors.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |all, byte| all | byte) == 0
}

/// The bits of a number in the byte order of the machine.
pub(crate) fn bits(number: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..number.len()].copy_from_slice(number);
    match ByteOrder::NATIVE {
        ByteOrder::Little => u64::from_le_bytes(bytes),
        ByteOrder::Big => u64::from_be_bytes(bytes) >> (64 - 8 * number.len()),
    }
}

/// Where the zeros begin that end with a page, at most a page before that. `read` reads a range of
/// bytes in the tensor.
pub(crate) fn start_of_zeros(
    page: u64,
    read: impl FnOnce(Range<u64>) -> Option<Vec<u8>>,
) -> Option<u64> {
    let before = page.saturating_sub(PAGE);
    let head = read(before..page)?;
    Some(head.iter().rposition(|&byte| byte != 0).map_or(before, |at| before + at as u64 + 1))
}

/// Where the zeros end that begin with a page.
pub(crate) fn end_of_zeros(
    page: u64,
    length: u64,
    mut read: impl FnMut(Range<u64>) -> Option<Vec<u8>>,
) -> Option<u64> {
    let mut end = page + PAGE;
    while end < length {
        let next = end..(end + (1 << 20)).min(length);
        match read(next.clone())?.iter().position(|&byte| byte != 0) {
            Some(at) => return Some(end + at as u64),
            None => end = next.end,
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::source::part;

    /// Pages of the file count, not of the tensor.
    #[test]
    fn pages_of_zeros() {
        let mut bytes = vec![1; 5 * BYTES];
        bytes[BYTES + 90..3 * BYTES + 110].fill(0);
        for (offset, pages, first) in [
            (0, 1, Some(2 * PAGE)),
            (PAGE - 100, 2, Some(PAGE + 100)),
            (10, 1, Some(2 * PAGE - 10)),
        ] {
            let mut seen = ByteTally::default();
            seen.count_zero_pages(0, &bytes, offset);
            assert_eq!((seen.zero_pages, seen.first_zero_page), (pages, first), "{offset}");
        }
        let read = |range: Range<u64>| part(&bytes, range).map(<[u8]>::to_vec);
        assert_eq!(start_of_zeros(2 * PAGE, read), Some(PAGE + 90));
        assert_eq!(end_of_zeros(2 * PAGE, bytes.len() as u64, read), Some(3 * PAGE + 110));
    }

    /// One of a thousand numbers may be larger.
    #[test]
    fn magnitudes_of_most_numbers() {
        let mut numbers = vec![1.5f32; 100_000];
        numbers[..50].fill(1e6);
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let mut tally = ByteTally::default();
        tally.sample(&bytes, Format::F32);
        assert_eq!(tally.most_are_below(), Some(2.0));
        assert_eq!(ByteTally::default().most_are_below(), None);
    }
}
