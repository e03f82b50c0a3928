//! Where the data of a tensor lies in a file beside the model.

use std::ops::Range;

/// Where data lies in a file.
pub(super) struct Extent {
    start: u64,
    length: u64,
}

impl Extent {
    /// The extent by what the model says of it: the elements of the shape, and no bytes behind
    /// them. None of a type whose elements have no known size, so that no such tensor hides what
    /// the file holds.
    pub(super) fn new(
        offset: Option<u64>,
        length: Option<u64>,
        data_type: u64,
        dims: &[i64],
    ) -> Self {
        let bits = bits_of(data_type).and_then(|bits| {
            dims.iter().try_fold(bits, |bits, &dim| bits.checked_mul(u64::try_from(dim).ok()?))
        });
        let shape = bits.map_or(0, |bits| bits.div_ceil(8));
        let length = length.map_or(shape, |length| length.min(shape));
        Self { start: offset.unwrap_or(0), length }
    }

    /// The range of the data in a file of this length.
    pub(super) fn within(&self, file: usize) -> Range<usize> {
        let end = self.start.saturating_add(self.length);
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(file);
        place(self.start)..place(end)
    }
}

/// Bits of an element in external data. None for a type that is not known, and for text.
fn bits_of(code: u64) -> Option<u64> {
    match code {
        25 | 26 => Some(2),
        21..=23 => Some(4),
        2 | 3 | 9 | 17..=20 | 24 => Some(8),
        4 | 5 | 10 | 16 => Some(16),
        1 | 6 | 12 => Some(32),
        7 | 11 | 13 | 14 => Some(64),
        15 => Some(128),
        // Also FP6 (27 and 28): how its elements are packed is not specified.
        _ => None,
    }
}
