//! What the loops find.

use crate::census::{Census, Occurrences};

/// The number of hits, and the beginning of a run of bytes that holds the first hit.
#[derive(Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) hits: usize,
    /// The beginning of the run, in elements. Only if there is a hit.
    pub(crate) from: usize,
}

/// The counts of NaN, +Inf and -Inf, in this order.
pub(crate) type Three = [usize; 3];

/// The counts, and the index of the first element of each class that occurs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassCounts {
    pub(crate) three: Three,
    pub(crate) first: Three,
}

impl ClassCounts {
    /// Adds elements of a class, of which the first is `first`, behind all others.
    #[cfg(feature = "stats")]
    #[inline(always)]
    pub(crate) fn add(&mut self, class: usize, count: usize, first: usize) {
        if self.three[class] == 0 {
            self.first[class] = first;
        }
        self.three[class] += count;
    }

    /// Adds the counts of some elements behind all others. `find` returns the first element of a
    /// class. It is called for classes that did not occur before.
    #[inline(always)]
    pub(crate) fn add_three(&mut self, three: Three, find: impl Fn(usize) -> usize) {
        for (class, more) in three.into_iter().enumerate() {
            if more != 0 && self.three[class] == 0 {
                self.first[class] = find(class);
            }
            self.three[class] += more;
        }
    }

    /// As a census.
    #[inline(always)]
    pub(crate) fn census(&self) -> Census {
        Census::new(self.class(0), self.class(1), self.class(2))
    }

    #[inline(always)]
    pub(crate) fn class(&self, class: usize) -> Occurrences {
        let count = self.three[class];
        Occurrences { count, first: if count == 0 { None } else { Some(self.first[class]) } }
    }
}
