//! The tally of a mask: zeros, and one large negative number again and again.

use nonfinite::Format;
use serde::{Deserialize, Serialize};

use super::byte_tally::{PAGE, bits, is_zero};
use crate::model::Content;

/// What a tensor, or a piece, holds if it may be a mask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MaskTally {
    /// The bits of the number beside the zeros, and how often it occurs.
    number: Option<u64>,
    count: u64,
    /// Whether there are other numbers, so that the tensor is no mask.
    has_others: bool,
}

impl MaskTally {
    /// Adds numbers in the byte order of the machine. Ends at the first number that no mask has:
    /// of most tensors, that is the first number at all.
    pub(super) fn add(&mut self, numbers: &[u8], format: Format) {
        let size = format.size_in_bytes();
        self.has_others |= size == 1;
        if self.has_others {
            return;
        }
        let pages = numbers.chunks(PAGE as usize).filter(|page| !is_zero(page));
        let numbers = pages.flat_map(|page| page.chunks_exact(size)).map(bits);
        for number in numbers.filter(|number| number & (u64::MAX >> (65 - 8 * size)) != 0) {
            let is_first = *self.number.get_or_insert(number) == number;
            self.count += 1;
            if !is_first || format.to_f64(number) > -1e4 {
                self.has_others = true;
                return;
            }
        }
    }

    /// The number beside the zeros, if the tensor is a mask: -Inf, or the least finite number of a
    /// format, such as that in which the mask was made. A mask has zeros, too.
    pub(crate) fn of_mask(&self, content: &Content, elements: u64) -> Option<f64> {
        let Content::Floats { format, parts: 1, .. } = *content else { return None };
        let number = format.to_f64(self.number?);
        let mut formats = [Format::F16, Format::Bf16, Format::F32, Format::F64].into_iter();
        let is_least = formats.any(|format| number == -format.to_f64(format.max_bits()));
        let is_mask = !self.has_others && self.count < elements;
        (is_mask && (is_least || number.is_infinite())).then_some(number)
    }

    pub(super) fn merge(&mut self, other: Self) {
        let differ = self.number.zip(other.number).is_some_and(|(a, b)| a != b);
        self.number = self.number.or(other.number);
        self.count += other.count;
        self.has_others |= other.has_others || differ;
    }
}
