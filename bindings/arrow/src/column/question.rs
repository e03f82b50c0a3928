//! The questions, and how the answers of parts are put together.

use nonfinite::{Census, Occurrences, Predicate, TensorView};
#[cfg(feature = "stats")]
use nonfinite::{Extreme, Stats};

/// A question about the values of an array.
pub(super) trait Question {
    type Answer;

    /// The answer where there is no value.
    fn none(&self) -> Self::Answer;

    /// If there is a predicate and no value for which it holds, the answer is [`Question::none`].
    fn screen(&self) -> Option<Predicate>;

    /// The answer for the elements of a primitive array.
    fn of_floats(&self, floats: &TensorView<'_>) -> Self::Answer;

    /// The answer for two parts. Indices of both count from the same row.
    fn join(&self, a: Self::Answer, b: Self::Answer) -> Self::Answer;

    /// The answer with other indices.
    fn in_rows(&self, answer: Self::Answer, row: &dyn Fn(usize) -> usize) -> Self::Answer;

    /// Whether later rows make no difference.
    fn is_decided(&self, _: &Self::Answer) -> bool {
        false
    }
}

/// How many values are no nulls.
pub(super) struct ValidCount;

impl Question for ValidCount {
    type Answer = usize;

    fn none(&self) -> usize {
        0
    }
    fn screen(&self) -> Option<Predicate> {
        None
    }
    fn of_floats(&self, floats: &TensorView<'_>) -> usize {
        floats.valid_count()
    }
    fn join(&self, a: usize, b: usize) -> usize {
        a + b
    }
    fn in_rows(&self, count: usize, _: &dyn Fn(usize) -> usize) -> usize {
        count
    }
}

/// For how many values the predicate holds.
pub(super) struct Count(pub(super) Predicate);

impl Question for Count {
    type Answer = usize;

    fn none(&self) -> usize {
        0
    }
    fn screen(&self) -> Option<Predicate> {
        Some(self.0)
    }
    fn of_floats(&self, floats: &TensorView<'_>) -> usize {
        floats.count(self.0)
    }
    fn join(&self, a: usize, b: usize) -> usize {
        a + b
    }
    fn in_rows(&self, count: usize, _: &dyn Fn(usize) -> usize) -> usize {
        count
    }
}

/// The first row with a value for which the predicate holds.
pub(super) struct Position(pub(super) Predicate);

impl Question for Position {
    type Answer = Option<usize>;

    fn none(&self) -> Option<usize> {
        None
    }
    fn screen(&self) -> Option<Predicate> {
        Some(self.0)
    }
    fn of_floats(&self, floats: &TensorView<'_>) -> Option<usize> {
        floats.position(self.0)
    }
    fn join(&self, a: Option<usize>, b: Option<usize>) -> Option<usize> {
        a.into_iter().chain(b).min()
    }
    fn in_rows(&self, first: Option<usize>, row: &dyn Fn(usize) -> usize) -> Option<usize> {
        first.map(row)
    }
    fn is_decided(&self, first: &Option<usize>) -> bool {
        first.is_some()
    }
}

/// NaN, +Inf and -Inf: how many of each, and the first row.
pub(super) struct TakeCensus;

impl TakeCensus {
    fn classes(&self, census: Census, class: impl Fn(Occurrences) -> Occurrences) -> Census {
        Census::new(class(census.nan), class(census.pos_inf), class(census.neg_inf))
    }
}

impl Question for TakeCensus {
    type Answer = Census;

    fn none(&self) -> Census {
        Census::default()
    }
    fn screen(&self) -> Option<Predicate> {
        Some(Predicate::NonFinite)
    }
    fn of_floats(&self, floats: &TensorView<'_>) -> Census {
        floats.census()
    }
    fn join(&self, a: Census, b: Census) -> Census {
        let class = |a: Occurrences, b: Occurrences| {
            Occurrences::new(a.count + b.count, a.first.into_iter().chain(b.first).min())
        };
        let (nan, pos_inf) = (class(a.nan, b.nan), class(a.pos_inf, b.pos_inf));
        Census::new(nan, pos_inf, class(a.neg_inf, b.neg_inf))
    }
    fn in_rows(&self, census: Census, row: &dyn Fn(usize) -> usize) -> Census {
        self.classes(census, |class| Occurrences::new(class.count, class.first.map(row)))
    }
}

/// What the numbers are.
#[cfg(feature = "stats")]
pub(super) struct TakeStats;

#[cfg(feature = "stats")]
impl Question for TakeStats {
    type Answer = Stats;

    fn none(&self) -> Stats {
        Stats::default()
    }
    fn screen(&self) -> Option<Predicate> {
        None
    }
    fn of_floats(&self, floats: &TensorView<'_>) -> Stats {
        floats.stats()
    }
    fn join(&self, a: Stats, b: Stats) -> Stats {
        let mut all = a.join(b);
        all.census = TakeCensus.join(a.census, b.census);
        all
    }
    fn in_rows(&self, mut stats: Stats, row: &dyn Fn(usize) -> usize) -> Stats {
        let in_rows = |extreme: &mut Option<Extreme>| {
            if let Some(extreme) = extreme {
                extreme.index = row(extreme.index);
            }
        };
        in_rows(&mut stats.min);
        in_rows(&mut stats.max);
        in_rows(&mut stats.max_abs);
        stats.census = TakeCensus.in_rows(stats.census, row);
        stats
    }
}
