//! The result of a census.

use core::fmt;

/// The elements of one class: their number, and the index of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Occurrences {
    /// The number of elements in the class.
    pub count: usize,
    /// The index of the first one.
    pub first: Option<usize>,
}

impl Occurrences {
    /// `count` elements, the first of them at index `first`. `first` is `None` if there are none.
    #[must_use]
    pub const fn new(count: usize, first: Option<usize>) -> Self {
        Self { count, first }
    }

    /// Adds `elements` to each index: for a part that begins at element `elements` of a tensor.
    #[must_use]
    pub fn behind(self, elements: usize) -> Self {
        Self { first: self.first.map(|first| first + elements), ..self }
    }

    /// Adds the elements of a later part of the same tensor. Indices of both parts count from the
    /// start of the tensor: see [`Occurrences::behind`].
    #[must_use]
    pub fn join(self, later: Self) -> Self {
        Self { count: self.count + later.count, first: self.first.or(later.first) }
    }
}

/// The NaN and infinities of a tensor: their numbers, and the first of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Census {
    /// NaN, quiet or signalling, of either sign.
    pub nan: Occurrences,
    /// Positive infinity.
    pub pos_inf: Occurrences,
    /// Negative infinity.
    pub neg_inf: Occurrences,
}

impl Census {
    /// The three classes.
    #[must_use]
    pub const fn new(nan: Occurrences, pos_inf: Occurrences, neg_inf: Occurrences) -> Self {
        Self { nan, pos_inf, neg_inf }
    }

    /// The number of NaN and infinities.
    #[must_use]
    pub fn total(&self) -> usize {
        self.nan.count + self.pos_inf.count + self.neg_inf.count
    }

    /// Adds `elements` to each index: for a part that begins at element `elements` of a tensor.
    #[must_use]
    #[inline(never)]
    pub fn behind(self, elements: usize) -> Self {
        let Self { nan, pos_inf, neg_inf } = self;
        Self::new(nan.behind(elements), pos_inf.behind(elements), neg_inf.behind(elements))
    }

    /// Adds the census of a later part of the same tensor. Indices of both parts count from the
    /// start of the tensor: see [`Census::behind`].
    #[must_use]
    #[inline(never)]
    pub fn join(self, later: Self) -> Self {
        Self {
            nan: self.nan.join(later.nan),
            pos_inf: self.pos_inf.join(later.pos_inf),
            neg_inf: self.neg_inf.join(later.neg_inf),
        }
    }
}

/// Such as `2 NaN, 1 +Inf, 0 -Inf`.
impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [nan, pos_inf, neg_inf] = [self.nan, self.pos_inf, self.neg_inf].map(|x| x.count);
        write!(f, "{nan} NaN, {pos_inf} +Inf, {neg_inf} -Inf")
    }
}
