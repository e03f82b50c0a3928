//! The codes that replace NaN and infinities.

use crate::rule::{Classes, Rule};

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

/// The hits of a rule, and the codes that replace them: one for each infinity, and one for all
/// other hits, which are NaN. In formats without infinities the three codes are the same.
pub(crate) struct Codes {
    pub(crate) rule: Rule,
    pub(crate) values: Values,
    /// The codes of the infinities.
    pub(crate) pos_inf: u64,
    pub(crate) neg_inf: u64,
}

impl Codes {
    /// # Panics
    /// If the rule is that for NaN or +Inf.
    #[track_caller]
    pub(crate) fn new(nan: &Rule, values: Values) -> Self {
        assert!(!nan.is_tilted(), "a rule for NaN or +Inf, where one for NaN is needed");
        let Some(classes) = Classes::of(nan) else {
            let values = Values { pos_inf: values.nan, neg_inf: values.nan, ..values };
            return Self { rule: *nan, values, pos_inf: 0, neg_inf: 0 };
        };
        let (pos_inf, sign) = (classes.exponent, nan.mask() + 1);
        Self { rule: classes.special(), values, pos_inf, neg_inf: pos_inf | sign }
    }

    /// The code that replaces a hit.
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
