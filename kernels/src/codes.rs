//! What takes the place of elements that are not finite.

use crate::rule::{Operation, Rule, Test};

/// The bits to be put in the place of elements that are not finite; the low bytes count, as many as
/// an element has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Values {
    /// In the place of NaN.
    pub nan: u64,
    /// In the place of +Inf.
    pub pos_inf: u64,
    /// In the place of -Inf.
    pub neg_inf: u64,
}

/// What takes the place of the hits of a test: one value for each of the two codes, and one for all
/// other hits, which are NaN. Without infinities the three values are the same.
#[derive(Clone, Copy)]
pub struct Codes {
    pub(crate) values: Values,
    /// The codes of the infinities.
    pub(crate) pos_inf: u64,
    pub(crate) neg_inf: u64,
}

impl Codes {
    /// With the test for elements to be replaced; `None` if there are none.
    #[inline(never)]
    pub(crate) fn new(nan: &Rule, values: Values) -> Option<(Test, Self)> {
        let test = match *nan {
            Rule::Constant { answer: false, .. } => return None,
            Rule::Constant { answer: true, size } => match Rule::equal(size, 0, 0) {
                Rule::Test(always) => always,
                Rule::Constant { .. } => unreachable!(),
            },
            Rule::Test(test) => test,
        };
        if test.is_ieee() {
            let (pos_inf, neg_inf) = (test.class(1).bound(), test.class(2).bound());
            return Some((test.special(), Self { values, pos_inf, neg_inf }));
        }
        let known = match test.operation() {
            Operation::Ones => true,
            Operation::Equal => test.size() == 1,
            Operation::Greater => false,
        };
        assert!(known && !test.negate(), "no rule for NaN: it compares otherwise");
        // Without infinities every element to be replaced is NaN, whatever its code.
        let values = Values { pos_inf: values.nan, neg_inf: values.nan, ..values };
        Some((test, Self { values, pos_inf: 0, neg_inf: 0 }))
    }

    /// What is put in the place of an element for which the test holds.
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
