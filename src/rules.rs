//! The rules of formats: what the kernels are asked for a predicate.

use core::ops::Deref;

#[cfg(feature = "stats")]
use nonfinite_kernels::Numbers;
use nonfinite_kernels::Rule;

use crate::format::Special;
use crate::{Error, Format, Predicate};

impl Format {
    /// [`Format::asked`] for a question that returns errors.
    #[inline(always)]
    pub(crate) fn try_asked(self, predicate: Predicate) -> Result<Asked, Error> {
        match predicate {
            #[cfg(feature = "stats")]
            Predicate::Exceeds(threshold) if threshold.format() != self => {
                Err(Error::ThresholdFormat { threshold: threshold.format(), elements: self })
            }
            _ => Ok(self.asked(predicate)),
        }
    }

    /// The rule of a predicate, for the kernels.
    ///
    /// # Panics
    /// If the predicate has a threshold for elements of another format.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn asked(self, predicate: Predicate) -> Asked {
        match predicate {
            #[cfg(feature = "stats")]
            Predicate::Exceeds(threshold) => Asked::Made(threshold.rule_for(self)),
            _ => Asked::Known(self.rule(predicate)),
        }
    }

    /// The rule of a predicate without a threshold, for the kernels.
    #[inline]
    pub(crate) const fn rule(self, predicate: Predicate) -> &'static Rule {
        &RULES[self as usize][predicate.place()]
    }

    /// The rules of the classes of a census: NaN, +Inf and -Inf.
    pub(crate) fn classes(self) -> [&'static Rule; 3] {
        [Predicate::Nan, Predicate::PositiveInf, Predicate::NegativeInf]
            .map(|class| self.rule(class))
    }

    #[cfg(feature = "stats")]
    /// The order of the codes, as the kernels have it.
    pub(crate) const fn numbers(self) -> &'static Numbers {
        &NUMBERS[self as usize]
    }

    #[cfg(feature = "stats")]
    pub(crate) const fn make_numbers(self) -> Numbers {
        let (nan, special) = (*self.rule(Predicate::Nan), *self.rule(Predicate::NonFinite));
        let (magnitude, largest) = (self.magnitude(), self.max_bits());
        Numbers::new(nan, special, self.sign(), magnitude, self.least_normal(), largest)
    }

    /// All rules of the format. A caller with a fixed type links only these.
    pub(crate) const fn rules(self) -> Rules {
        let mut rules = [Rule::never(1); Predicate::ALL.len()];
        let mut i = 0;
        while i < rules.len() {
            assert!(Predicate::ALL[i].place() == i, "all predicates in their places");
            rules[i] = self.make_rule(Predicate::ALL[i]);
            i += 1;
        }
        rules
    }

    const fn make_rule(self, predicate: Predicate) -> Rule {
        let (size, special) = (self.size_in_bytes(), self.row().special);
        let sign = 1 << (8 * size - 1);
        let never = Rule::never(size);
        let nan = match special {
            Special::Ieee { exponent } => Rule::greater(size, sign - 1, exponent),
            Special::NanOnes { bits } => Rule::equal(size, bits as u64, bits as u64),
            Special::NanCode { code } => Rule::equal(size, 0xFF, code as u64),
            Special::AllFinite => never,
        };
        match (special, predicate) {
            (_, Predicate::Nan) => nan,
            (_, Predicate::Finite) => self.make_rule(Predicate::NonFinite).not(),
            (_, Predicate::Never) => never,
            #[cfg(feature = "stats")]
            (_, Predicate::Exceeds(_)) => panic!("a threshold has no place"),
            (Special::Ieee { exponent }, Predicate::Inf) => Rule::equal(size, sign - 1, exponent),
            (Special::Ieee { exponent }, Predicate::PositiveInf) => {
                Rule::equal(size, sign | (sign - 1), exponent)
            }
            (Special::Ieee { exponent }, Predicate::NegativeInf) => {
                Rule::equal(size, sign | (sign - 1), sign | exponent)
            }
            (Special::Ieee { exponent }, Predicate::NonFinite) => {
                Rule::equal(size, exponent, exponent)
            }
            (Special::Ieee { exponent }, Predicate::NanOrPositiveInf) => {
                Rule::nan_or_pos_inf(size, exponent)
            }
            (_, Predicate::NonFinite | Predicate::NanOrPositiveInf) => nan,
            (_, Predicate::Inf | Predicate::PositiveInf | Predicate::NegativeInf) => never,
        }
    }
}

/// The rule of a predicate: of a table, since a copy takes 2 to 3 ns (AMD EPYC Zen 4), or made.
pub(crate) enum Asked {
    Known(&'static Rule),
    Made(Rule),
}

impl Asked {
    /// This rule or its opposite.
    #[inline(always)]
    pub(crate) fn not_if(self, opposite: bool) -> Self {
        if opposite { Self::Made(self.not()) } else { self }
    }
}

impl Deref for Asked {
    type Target = Rule;

    #[inline(always)]
    fn deref(&self) -> &Rule {
        match self {
            Self::Known(rule) => rule,
            Self::Made(rule) => rule,
        }
    }
}

/// The rules of one format, by predicate.
pub(crate) type Rules = [Rule; Predicate::ALL.len()];

/// All rules, by format and predicate. A constant would have a copy in each unit of code that uses
/// it.
static RULES: [Rules; Format::ALL.len()] = {
    let mut all = [[Rule::never(1); Predicate::ALL.len()]; Format::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = Format::ALL[i].rules();
        i += 1;
    }
    all
};

/// The order of the codes of each format.
#[cfg(feature = "stats")]
static NUMBERS: [Numbers; Format::ALL.len()] = {
    let mut all = [Format::F16.make_numbers(); Format::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = Format::ALL[i].make_numbers();
        i += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    extern crate std;

    use std::println;

    use super::*;

    /// Prints every rule of the kernels. `ci/prove` reads this output.
    #[test]
    fn rules() {
        for format in Format::ALL.iter().copied() {
            for predicate in Predicate::ALL.iter().copied() {
                let rule = format.rule(predicate);
                let opposite = rule.not();
                println!("rule {format} {predicate:?} {rule:?}");
                println!("opposite {format} {predicate:?} {opposite:?}");
                assert_eq!(rule.size(), format.size_in_bytes());
                assert_eq!(opposite.not(), *rule);
            }
        }
    }
}
