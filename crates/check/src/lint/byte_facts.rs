//! What lint sees in the bytes of tensors during the check.

use std::ops::Range;
use std::sync::Mutex;

use nonfinite::Format;

use crate::model::{ByteOrder, Content, Data, Tensor};
use crate::scan::Witness;
use crate::sync::lock;

/// Bytes of a page. A hole in a file has whole pages.
pub(super) const PAGE: usize = 4096;

/// Numbers that are sampled of each part of a tensor that the scan shows at once.
const SAMPLES: usize = 1024;

/// Tensors of fewer elements are not sampled.
const LARGE: usize = 1 << 16;

/// What the bytes of a tensor are to lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Floating-point weights.
    Weights,
    /// Codes of quantised weights.
    Codes,
    /// Scales of one byte.
    ByteScales,
    /// Nothing that rules ask about.
    Other,
}

/// What lint saw in the bytes of a tensor.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Whether the bytes were looked at.
    pub(super) was_seen: bool,
    /// Whether any byte is not zero.
    pub(super) has_nonzero: bool,
    /// Pages of the file that hold zeros of this tensor only.
    pub(super) zero_pages: usize,
    /// The first of these pages, from its first byte in the tensor.
    pub(super) first_zero_page: Option<usize>,
    /// How often each byte occurs. Of scales of one byte only.
    pub(super) bytes: Option<Box<[u64; 256]>>,
    /// The exponents of some of the numbers, as those of f32. Of large tensors only.
    exponents: Option<Box<[u32; 256]>>,
}

impl Facts {
    /// A magnitude that no more than one of a thousand sampled numbers exceeds. None for tensors
    /// that were not sampled, and if nearly all numbers are zero.
    pub(super) fn most_are_below(&self) -> Option<f64> {
        let exponents = self.exponents.as_ref()?;
        let mut left = exponents.iter().sum::<u32>() / 1000;
        let high = exponents.iter().rposition(|&count| match left.checked_sub(count) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        })?;
        (high > 0).then(|| 2f64.powi(high as i32 - 126))
    }
}

/// The facts of all tensors of a file.
pub(super) struct Seen {
    tensors: Vec<(Kind, ByteInfo, Mutex<Facts>)>,
}

/// Where the bytes of a tensor are, and what their numbers are.
struct ByteInfo {
    /// The offset of the tensor in its file. None for decoded data.
    offset: Option<usize>,
    format: Option<Format>,
    is_large: bool,
}

impl Seen {
    /// Nothing was seen yet of these tensors.
    pub(super) fn new(tensors: &[Tensor], kind: impl Fn(usize) -> Kind) -> Self {
        let tensors = tensors.iter().enumerate().map(|(index, tensor)| {
            let offset = match &tensor.data {
                Data::Input(range) | Data::Other { range, .. } => Some(range.start),
                Data::Owned(_) | Data::Decoded(_) | Data::Column(_) => None,
            };
            let format = match tensor.content {
                Content::Floats { format, order: ByteOrder::NATIVE, .. } => Some(format),
                _ => None,
            };
            let is_large = tensor.elements() >= LARGE;
            (kind(index), ByteInfo { offset, format, is_large }, Mutex::default())
        });
        Self { tensors: tensors.collect() }
    }

    /// The facts, in the order of the tensors.
    pub(super) fn into_facts(self) -> impl Iterator<Item = Facts> {
        self.tensors.into_iter().map(|(_, _, facts)| std::mem::take(&mut *lock(&facts)))
    }
}

impl Witness for Seen {
    fn wants(&self, tensor: usize) -> bool {
        matches!(self.tensors[tensor].0, Kind::Codes | Kind::ByteScales)
    }

    fn see(&self, tensor: usize, start: usize, bytes: &[u8]) {
        let (kind, place, facts) = &self.tensors[tensor];
        let mut seen = Facts { was_seen: true, ..Facts::default() };
        if *kind == Kind::Other {
            return;
        }
        if *kind == Kind::ByteScales {
            let mut counts = Box::new([0; 256]);
            bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
            seen.bytes = Some(counts);
        }
        if let Some(offset) = place.offset {
            zero_pages(start, bytes, offset, &mut seen);
        }
        seen.has_nonzero = lock(facts).has_nonzero || bytes.chunks(PAGE).any(|page| !is_zero(page));
        if *kind == Kind::Weights && place.is_large {
            seen.exponents = place.format.and_then(|format| sampled(bytes, format));
        }
        lock(facts).merge(seen);
    }
}

impl Facts {
    fn merge(&mut self, other: Self) {
        fn add<T: Copy + std::ops::AddAssign>(
            a: &mut Option<Box<[T; 256]>>,
            b: Option<Box<[T; 256]>>,
        ) {
            match (a, b) {
                (Some(a), Some(b)) => a.iter_mut().zip(*b).for_each(|(a, b)| *a += b),
                (a @ None, b) => *a = b,
                (Some(_), None) => {}
            }
        }
        self.was_seen |= other.was_seen;
        self.has_nonzero |= other.has_nonzero;
        self.zero_pages += other.zero_pages;
        let firsts = [self.first_zero_page, other.first_zero_page];
        self.first_zero_page = firsts.into_iter().flatten().min();
        add(&mut self.bytes, other.bytes);
        add(&mut self.exponents, other.exponents);
    }
}

/// Counts the pages of zeros. `start` is the place of the bytes in the tensor, and `offset` that of
/// the tensor in the file.
fn zero_pages(start: usize, bytes: &[u8], offset: usize, seen: &mut Facts) {
    let before_page = (offset + start).next_multiple_of(PAGE) - (offset + start);
    let Some(pages) = bytes.get(before_page..) else { return };
    for (number, page) in pages.as_chunks::<PAGE>().0.iter().enumerate() {
        // Nearly all pages end here.
        if page[0] | page[1] | page[2] | page[3] == 0 && is_zero(page) {
            seen.zero_pages += 1;
            let place = start + before_page + number * PAGE;
            seen.first_zero_page = seen.first_zero_page.or(Some(place));
        }
    }
}

/// Whether all bytes are zero. Without an early end, so that the compiler uses vectors.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().fold(0, |all, byte| all | byte) == 0
}

/// The exponents of numbers at equal distances.
fn sampled(bytes: &[u8], format: Format) -> Option<Box<[u32; 256]>> {
    let (size, exponent): (_, fn(u64) -> u64) = match format {
        Format::F16 => (2, |bits| match bits >> 10 & 31 {
            0 => 0,
            exponent => exponent + 112,
        }),
        Format::Bf16 => (2, |bits| bits >> 7 & 255),
        Format::F32 => (4, |bits| bits >> 23 & 255),
        Format::F64 => (8, |bits| (bits >> 52 & 2047).saturating_sub(896).min(255)),
        _ => return None,
    };
    let mut exponents = Box::new([0; 256]);
    let step = (bytes.len() / size / SAMPLES).max(1) * size;
    for number in bytes.chunks(step) {
        exponents[exponent(bits(number.get(..size)?)) as usize] += 1;
    }
    Some(exponents)
}

/// The bits of a number in the byte order of the machine.
pub(super) fn bits(number: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..number.len()].copy_from_slice(number);
    match ByteOrder::NATIVE {
        ByteOrder::Little => u64::from_le_bytes(bytes),
        ByteOrder::Big => u64::from_be_bytes(bytes) >> (64 - 8 * number.len()),
    }
}

/// The pages of zeros around a place, as a range of bytes in the tensor, which `read` reads.
pub(super) fn run_of_zeros(
    page: usize,
    length: usize,
    mut read: impl FnMut(Range<usize>) -> Option<Vec<u8>>,
) -> Option<Range<usize>> {
    let before = page.saturating_sub(PAGE);
    let head = read(before..page)?;
    let start = head.iter().rposition(|&byte| byte != 0).map_or(before, |at| before + at + 1);
    let mut end = page + PAGE;
    while end < length {
        let next = end..(end + (1 << 20)).min(length);
        match read(next.clone())?.iter().position(|&byte| byte != 0) {
            Some(at) => return Some(start..end + at),
            None => end = next.end,
        }
    }
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of the file count, not of the tensor.
    #[test]
    fn pages_of_zeros() {
        let mut bytes = vec![1; 5 * PAGE];
        bytes[PAGE + 90..3 * PAGE + 110].fill(0);
        for (offset, pages, first) in [
            (0, 1, Some(2 * PAGE)),
            (PAGE - 100, 2, Some(PAGE + 100)),
            (10, 1, Some(2 * PAGE - 10)),
        ] {
            let mut seen = Facts::default();
            zero_pages(0, &bytes, offset, &mut seen);
            assert_eq!((seen.zero_pages, seen.first_zero_page), (pages, first), "{offset}");
        }
        let read = |range: Range<usize>| Some(bytes[range].to_vec());
        let run = run_of_zeros(2 * PAGE, bytes.len(), read);
        assert_eq!(run, Some(PAGE + 90..3 * PAGE + 110));
    }

    /// One of a thousand numbers may be larger.
    #[test]
    fn magnitudes_of_most_numbers() {
        let mut numbers = vec![1.5f32; 100_000];
        numbers[..50].fill(1e6);
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let exponents = sampled(&bytes, Format::F32);
        let facts = Facts { exponents, ..Facts::default() };
        assert_eq!(facts.most_are_below(), Some(2.0));
        assert_eq!(Facts::default().most_are_below(), None);
    }
}
