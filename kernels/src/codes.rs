//! The codes that replace NaN and infinities.

use crate::rule::{Comparison, Operation, Rule};

/// The codes that replace NaN and infinities. An element takes the low bytes of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Values {
    /// The code that replaces NaN.
    pub nan: u64,
    /// The code that replaces +Inf.
    pub pos_inf: u64,
    /// The code that replaces -Inf.
    pub neg_inf: u64,
}

/// The codes that replace the hits of a comparison: one for each infinity, and one for all other
/// hits, which are NaN. In formats without infinities the three codes are the same.
#[derive(Clone, Copy)]
pub(crate) struct Codes {
    pub(crate) values: Values,
    /// The codes of the infinities.
    pub(crate) pos_inf: u64,
    pub(crate) neg_inf: u64,
}

impl Codes {
    /// Also returns the comparison for elements to be replaced. `None` if the format has no such
    /// elements.
    #[inline(never)]
    pub(crate) fn new(nan: &Rule, values: Values) -> Option<(Comparison, Self)> {
        let comparison = match *nan {
            Rule::Constant { answer: false, .. } => return None,
            Rule::Constant { answer: true, size } => match Rule::equal(size, 0, 0) {
                Rule::Comparison(always) => always,
                Rule::Constant { .. } | Rule::Either(_) => unreachable!(),
            },
            Rule::Comparison(comparison) => comparison,
            Rule::Either(_) => panic!("no rule for NaN: it holds for infinities"),
        };
        if comparison.is_ieee() {
            let (pos_inf, neg_inf) = (comparison.class(1).bound(), comparison.class(2).bound());
            return Some((comparison.special(), Self { values, pos_inf, neg_inf }));
        }
        let known = match comparison.operation() {
            Operation::Ones => true,
            Operation::Equal => comparison.size() == 1,
            Operation::Greater => false,
        };
        assert!(known && !comparison.negate(), "no rule for NaN: it compares otherwise");
        // Without infinities, every element to be replaced is NaN.
        let values = Values { pos_inf: values.nan, neg_inf: values.nan, ..values };
        Some((comparison, Self { values, pos_inf: 0, neg_inf: 0 }))
    }

    /// The code that replaces an element for which the comparison holds.
    #[inline(always)]
    pub(crate) fn instead_of(&self, bits: u64) -> u64 {
        if bits == self.pos_inf {
            self.values.pos_inf
        } else if bits == self.neg_inf {
            self.values.neg_inf
        } else {
            self.values.nan
        }
    }
}
