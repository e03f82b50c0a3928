//! What was found in a piece of a tensor, and how pieces add up. The order in which they do makes
//! no difference.

use nonfinite::{Census, Format, Occurrences, TensorView};

use crate::stats::Range;
use crate::tensor::ByteOrder;

/// How many numbers are of one kind, and the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) count: u64,
    /// The place among the numbers of the tensor, and the bits.
    pub(crate) first: Option<(usize, u64)>,
}

impl Found {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.first = match (self.first, other.first) {
            // Two of one place are of a list, whose numbers come in their order.
            (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
            (a, b) => a.or(b),
        };
    }
}

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) nan: Found,
    pub(crate) pos_inf: Found,
    pub(crate) neg_inf: Found,
    pub(crate) range: Option<Range>,
}

impl Tally {
    pub(crate) fn merge(&mut self, other: Self) {
        self.nan.merge(other.nan);
        self.pos_inf.merge(other.pos_inf);
        self.neg_inf.merge(other.neg_inf);
        self.range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some(a.union(b)),
            (a, b) => a.or(b),
        };
    }

    /// Looks at numbers in the byte order of the machine; `place` tells the place of each in the
    /// tensor.
    pub(crate) fn numbers(
        &mut self,
        numbers: &[u8],
        format: Format,
        place: &dyn Fn(usize) -> usize,
        stats: bool,
    ) -> Result<(), nonfinite::Error> {
        let Census { nan, pos_inf, neg_inf, .. } =
            TensorView::from_bytes(numbers, format)?.census();
        let found = |class: Occurrences| Found {
            count: class.count as u64,
            first: class.first.map(|index| (place(index), bits(numbers, format, index))),
        };
        let range = if stats { Range::of(numbers, format) } else { None };
        self.merge(Self {
            nan: found(nan),
            pos_inf: found(pos_inf),
            neg_inf: found(neg_inf),
            range,
        });
        Ok(())
    }
}

/// The bits of one number.
fn bits(numbers: &[u8], format: Format, index: usize) -> u64 {
    let size = format.size_in_bytes();
    let number = &numbers[index * size..][..size];
    let fold = |bits, &byte| bits << 8 | u64::from(byte);
    match ByteOrder::NATIVE {
        ByteOrder::Little => number.iter().rev().fold(0, fold),
        ByteOrder::Big => number.iter().fold(0, fold),
    }
}
