//! The tally of the finite numbers in a piece of a tensor, and the sum over pieces. Sums do not
//! depend on the order of the pieces.

use nonfinite::{Error, Format, Predicate, TensorView};
use serde::{Deserialize, Serialize};

use crate::model::Stats;

/// A finite number, and its place in the tensor. Serialised as the place and the bits, since some
/// forms change floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub(crate) struct Peak {
    pub(crate) value: f64,
    pub(crate) place: u64,
}

impl From<(u64, u64)> for Peak {
    fn from((place, bits): (u64, u64)) -> Self {
        Self { value: f64::from_bits(bits), place }
    }
}

impl From<Peak> for (u64, u64) {
    fn from(peak: Peak) -> Self {
        (peak.place, peak.value.to_bits())
    }
}

impl Peak {
    /// The one with the larger key, or of equal ones the first.
    fn best(a: Self, b: Self, key: fn(f64) -> i64) -> Self {
        let b_is_better = (key(b.value), a.place) > (key(a.value), b.place);
        if b_is_better { b } else { a }
    }
}

/// An integer in the order of the numbers: -0 equals +0. A floating-point comparison would take
/// subnormal numbers for zero in a flush-to-zero mode.
fn key(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    (bits & i64::MAX) * bits.signum()
}

/// The tally of the finite numbers in a tensor, or in a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FiniteTally {
    /// The maximum magnitude has no sign.
    pub(crate) stats: Stats<Peak>,
    /// The numbers of a larger magnitude than the bound, if there is one.
    pub(crate) large: u64,
}

impl FiniteTally {
    /// The finite numbers among `numbers`, by their statistics. `start` is the place in the tensor
    /// of the first of them.
    pub(super) fn new(
        numbers: &[u8],
        format: Format,
        stats: &nonfinite::Stats,
        start: u64,
        max_abs: Option<f64>,
    ) -> Result<Self, Error> {
        let peak = |extreme: nonfinite::Extreme| Peak {
            value: extreme.value,
            place: start + extreme.index as u64,
        };
        let largest = stats.max_abs.map(|extreme| key(extreme.value));
        let large = match max_abs {
            Some(bound) if largest > Some(key(bound)) => {
                let census = stats.census;
                let others = census.nan.count + census.pos_inf.count + census.neg_inf.count;
                above(numbers, format, bound)?.saturating_sub(others)
            }
            Some(_) | None => 0,
        };
        let stats = Stats {
            min: stats.min.map(peak),
            max: stats.max.map(peak),
            max_abs: stats.max_abs.map(peak),
            zeros: stats.zeros as u64,
            subnormals: stats.subnormals as u64,
            normals: stats.normals as u64,
        };
        Ok(Self { stats, large: large as u64 })
    }

    pub(super) fn merged(self, other: Self) -> Self {
        let best: [fn(Peak, Peak) -> Peak; 3] = [
            |a, b| Peak::best(a, b, |value| -key(value)),
            |a, b| Peak::best(a, b, key),
            |a, b| Peak::best(a, b, key),
        ];
        let stats = self.stats.merged(other.stats, best);
        Self { stats, large: self.large + other.large }
    }
}

/// How many numbers have a larger magnitude than the bound. NaN and infinities count.
fn above(numbers: &[u8], format: Format, bound: f64) -> Result<usize, Error> {
    if let Ok(above) = Predicate::exceeds(format, bound) {
        return Ok(TensorView::from_bytes(numbers, format)?.count(above));
    }
    // The library has no thresholds for some formats of one byte.
    let magnitude = |code: usize| key(format.to_f64(code as u64)).abs();
    let above: [bool; 256] = core::array::from_fn(|code| magnitude(code) > key(bound));
    Ok(numbers.iter().filter(|&&code| above[usize::from(code)]).count())
}

#[cfg(test)]
mod tests {
    use nonfinite_oracle as oracle;

    use super::*;

    #[test]
    fn every_code_of_a_byte() {
        let codes: Vec<u8> = (0..=255).collect();
        for format in Format::ALL.iter().copied().filter(|format| format.size_in_bytes() == 1) {
            for bound in [0.0, 0.3, 1.0, 240.0, 57344.0] {
                let is_above = |code: &&u8| oracle::exceeds(format, u64::from(**code), bound);
                let want = codes.iter().filter(is_above).count();
                assert_eq!(above(&codes, format, bound), Ok(want), "{format} {bound}");
            }
        }
    }

    /// The value decides first, and then the place. Zeros are equal.
    #[test]
    fn best_of_two() {
        let peak = |value, place| Peak { value, place };
        for (a, b, is_b) in [
            (peak(1.0, 0), peak(2.0, 1), true),
            (peak(2.0, 0), peak(1.0, 1), false),
            (peak(-1.0, 0), peak(-2.0, 1), false),
            (peak(1.0, 1), peak(1.0, 0), true),
            (peak(1.0, 0), peak(1.0, 1), false),
            (peak(-0.0, 3), peak(0.0, 4), false),
            (peak(0.0, 3), peak(-0.0, 4), false),
            (peak(0.0, 3), peak(-0.0, 2), true),
            (peak(-0.0, 2), peak(f64::MIN_POSITIVE / 4.0, 3), true),
        ] {
            let best = Peak::best(a, b, key);
            let expected = if is_b { b } else { a };
            assert_eq!(
                (best.value.to_bits(), best.place),
                (expected.value.to_bits(), expected.place),
                "{a:?} {b:?}"
            );
        }
    }
}
