//! Sets of kinds of elements.

use core::fmt;
use core::ops::BitOr;

use nonfinite::Predicate;

use crate::Error;

/// A set of the kinds NaN, +Inf and -Inf.
///
/// ```
/// use nonfinite_cuda::Kinds;
/// let bad = Kinds::NAN | Kinds::POS_INF;
/// assert!(bad.contains(Kinds::NAN) && !bad.contains(Kinds::NEG_INF));
/// assert_eq!(bad.to_string(), "NaN, +Inf");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kinds(u32);

impl Kinds {
    /// No kind.
    pub const NONE: Self = Self(0);
    /// NaN, quiet or signalling, of either sign.
    pub const NAN: Self = Self(1);
    /// Positive infinity.
    pub const POS_INF: Self = Self(2);
    /// Negative infinity.
    pub const NEG_INF: Self = Self(4);
    /// All three.
    pub const ALL: Self = Self(7);

    /// Whether all kinds of `other` are in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether no kind is in this set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// As the kernels write the set.
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// From what a kernel wrote.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits as u32 & Self::ALL.0)
    }
}

impl BitOr for Kinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The kinds for which a predicate holds.
///
/// # Errors
/// [`Error::Predicate`] for [`Predicate::Finite`], which holds for elements of no kind.
impl TryFrom<Predicate> for Kinds {
    type Error = Error;

    fn try_from(predicate: Predicate) -> Result<Self, Error> {
        match predicate {
            Predicate::Nan => Ok(Self::NAN),
            Predicate::Inf => Ok(Self::POS_INF | Self::NEG_INF),
            Predicate::PositiveInf => Ok(Self::POS_INF),
            Predicate::NegativeInf => Ok(Self::NEG_INF),
            Predicate::NonFinite => Ok(Self::ALL),
            Predicate::NanOrPositiveInf => Ok(Self::NAN | Self::POS_INF),
            Predicate::Never => Ok(Self::NONE),
            _ => Err(Error::Predicate(predicate)),
        }
    }
}

/// Names, with commas between them; `none` for the empty set.
impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(Self::NAN, "NaN"), (Self::POS_INF, "+Inf"), (Self::NEG_INF, "-Inf")];
        let here: Vec<_> =
            names.iter().filter(|(kind, _)| self.contains(*kind)).map(|(_, name)| *name).collect();
        f.pad(&if here.is_empty() { "none".into() } else { here.join(", ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the answers of the library for one element of each kind.
    #[test]
    fn kinds_of_predicates() {
        let kinds = [
            (f32::NAN, Kinds::NAN),
            (f32::INFINITY, Kinds::POS_INF),
            (f32::NEG_INFINITY, Kinds::NEG_INF),
        ];
        for predicate in Predicate::ALL.iter().copied() {
            let Ok(set) = Kinds::try_from(predicate) else {
                assert_eq!(predicate, Predicate::Finite);
                continue;
            };
            for (element, kind) in kinds {
                let holds = nonfinite::any(&[element], predicate);
                assert_eq!(set.contains(kind), holds, "{predicate} of {element}");
            }
            assert!(!nonfinite::any(&[1.0_f32], predicate));
        }
    }

    #[test]
    fn names() {
        assert_eq!(Kinds::NONE.to_string(), "none");
        assert_eq!(Kinds::ALL.to_string(), "NaN, +Inf, -Inf");
        assert_eq!(Kinds::from_bits(4), Kinds::NEG_INF);
    }
}
