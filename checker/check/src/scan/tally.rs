//! The tally of the numbers in a piece of a tensor, and the sum of tallies. Sums do not depend on
//! the order of the pieces.

use nonfinite::{Format, Occurrences, TensorView};
use serde::{Deserialize, Serialize};

use super::byte_tally::bits;
use super::finite_tally::FiniteTally;
use super::mask_tally::MaskTally;
use crate::model::ByKind;
use crate::options::Asked;

/// The count of the numbers of one kind, and the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KindTally {
    pub(crate) count: u64,
    /// The index of the first number in the tensor, and its bits.
    pub(crate) first: Option<(u64, u64)>,
}

impl KindTally {
    fn merged(self, other: Self) -> Self {
        let first = match (self.first, other.first) {
            (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
            (a, b) => a.or(b),
        };
        Self { count: self.count + other.count, first }
    }
}

/// The tally of the numbers in a tensor, or in a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) found: ByKind<KindTally>,
    /// The finite numbers. Empty unless [`Asked`] asks about them.
    pub(crate) finite: FiniteTally,
    /// The numbers, if they are those of a mask.
    pub(crate) mask: MaskTally,
}

impl Tally {
    pub(crate) fn merge(&mut self, other: Self) {
        let Self { found, finite, mask } = self;
        *found = found.zip(other.found).map(|(a, b)| a.merged(b));
        *finite = finite.merged(other.finite);
        mask.merge(other.mask);
    }

    /// Whether there are NaN or infinities.
    pub(super) fn is_bad(&self) -> bool {
        self.found.into_array().iter().any(|found| found.count > 0)
    }

    /// Whether there is no more than one number of each kind, so that their places are known.
    pub(super) fn has_few(&self) -> bool {
        self.found.into_array().iter().all(|found| found.count <= 1)
    }

    /// Adds numbers in the byte order of the machine. `start` is the place in the tensor of the
    /// first of them.
    pub(super) fn numbers(
        &mut self,
        numbers: &[u8],
        format: Format,
        start: u64,
        asked: Asked,
    ) -> Result<(), nonfinite::Error> {
        let view = TensorView::from_bytes(numbers, format)?;
        let (census, finite) = if asked.is_any() {
            let stats = view.stats();
            (stats.census, FiniteTally::new(numbers, format, &stats, start, asked.max_abs())?)
        } else {
            (view.census(), FiniteTally::default())
        };
        let size = format.size_in_bytes();
        let census = ByKind { nan: census.nan, pos_inf: census.pos_inf, neg_inf: census.neg_inf };
        let found = census.map(|class: Occurrences| KindTally {
            count: class.count as u64,
            first: class
                .first
                .map(|index| (start + index as u64, bits(&numbers[index * size..][..size]))),
        });
        self.mask.add(numbers, format);
        self.merge(Self { found, finite, mask: MaskTally::default() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of two numbers is that of the lower place.
    #[test]
    fn first_of_two() {
        let found = |place, bits| KindTally { count: 1, first: Some((place, bits)) };
        for (a, b, first) in [
            (found(1, 10), found(2, 20), (1, 10)),
            (found(2, 20), found(1, 10), (1, 10)),
            (KindTally::default(), found(1, 20), (1, 20)),
        ] {
            let merged = a.merged(b);
            assert_eq!((merged.count, merged.first), (a.count + b.count, Some(first)));
        }
    }
}
