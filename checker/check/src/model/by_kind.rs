//! One value for each kind: NaN, +Inf and -Inf.

use nonfinite::Predicate;
use serde::{Deserialize, Serialize};

/// One value for NaN, one for +Inf and one for -Inf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ByKind<T> {
    /// The value for NaN.
    pub nan: T,
    /// The value for +Inf.
    pub pos_inf: T,
    /// The value for -Inf.
    pub neg_inf: T,
}

impl<T> ByKind<T> {
    /// Applies a function to each of the three values.
    #[must_use]
    pub fn map<U>(self, mut function: impl FnMut(T) -> U) -> ByKind<U> {
        ByKind {
            nan: function(self.nan),
            pos_inf: function(self.pos_inf),
            neg_inf: function(self.neg_inf),
        }
    }

    /// Pairs each value with the value of the same kind in another.
    #[must_use]
    pub fn zip<U>(self, other: ByKind<U>) -> ByKind<(T, U)> {
        ByKind {
            nan: (self.nan, other.nan),
            pos_inf: (self.pos_inf, other.pos_inf),
            neg_inf: (self.neg_inf, other.neg_inf),
        }
    }

    /// References to the three values.
    #[must_use]
    pub const fn as_ref(&self) -> ByKind<&T> {
        ByKind { nan: &self.nan, pos_inf: &self.pos_inf, neg_inf: &self.neg_inf }
    }

    /// The values for NaN, +Inf and -Inf, in this order.
    #[must_use]
    pub fn into_array(self) -> [T; 3] {
        [self.nan, self.pos_inf, self.neg_inf]
    }
}

impl ByKind<&'static str> {
    /// `NaN`, `+Inf` and `-Inf`.
    pub const NAMES: Self = Self { nan: "NaN", pos_inf: "+Inf", neg_inf: "-Inf" };
}

impl ByKind<Predicate> {
    /// The predicate of each kind.
    pub(crate) const PREDICATES: Self = Self {
        nan: Predicate::Nan,
        pos_inf: Predicate::PositiveInf,
        neg_inf: Predicate::NegativeInf,
    };
}

/// A set of kinds: some of NaN, +Inf and -Inf.
pub type Kinds = ByKind<bool>;

impl Kinds {
    /// All three kinds.
    pub const ALL: Self = Self { nan: true, pos_inf: true, neg_inf: true };

    /// Whether the set holds no kind.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        !(self.nan || self.pos_inf || self.neg_inf)
    }

    /// The kinds that are in one of the sets or in both.
    pub(crate) fn or(self, other: Self) -> Self {
        self.zip(other).map(|(a, b)| a || b)
    }

    /// The kinds that are in both sets.
    pub(crate) fn and(self, other: Self) -> Self {
        self.zip(other).map(|(a, b)| a && b)
    }

    /// The kinds that are in this set and not in the other.
    pub(crate) fn without(self, other: Self) -> Self {
        self.zip(other).map(|(a, b)| a && !b)
    }
}
