//! What views, rows of slices and arrays have in common: elements anywhere in memory.

use nonfinite_kernels::strided::{self, Source, Target};

pub(crate) use nonfinite_kernels::strided::Rows;

use crate::{Backend, Census, Format, Predicate};

/// Elements that questions are asked about.
pub(crate) struct Asked<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) format: Format,
    pub(crate) backend: Option<Backend>,
}

impl Asked<'_> {
    pub(crate) fn mask(&self, predicate: Predicate, out: Target<'_>) {
        strided::mask(self.kernel(), &self.source, self.format.rule(predicate), out);
    }

    pub(crate) fn bits(&self, predicate: Predicate, out: &mut [u8], offset: usize) {
        strided::bits(self.kernel(), &self.source, self.format.rule(predicate), out, offset);
    }

    pub(crate) fn any(&self, predicate: Predicate) -> bool {
        strided::any(self.kernel(), &self.source, self.format.rule(predicate))
    }

    pub(crate) fn all(&self, predicate: Predicate) -> bool {
        !strided::any(self.kernel(), &self.source, self.format.opposite(predicate))
    }

    pub(crate) fn count(&self, predicate: Predicate) -> usize {
        let rule = self.format.rule(predicate);
        let [count] = match predicate {
            // What is rare is found faster.
            Predicate::Finite => {
                let opposite = self.format.opposite(predicate);
                strided::counts(self.kernel(), &self.source, opposite, [opposite])
                    .map(|count| self.source.len() - count)
            }
            _ => strided::counts(self.kernel(), &self.source, rule, [rule]),
        };
        count
    }

    pub(crate) fn position(&self, predicate: Predicate) -> Option<usize> {
        strided::position(self.kernel(), &self.source, self.format.rule(predicate))
    }

    pub(crate) fn census(&self) -> Census {
        let search = self.format.rule(Predicate::NonFinite);
        let rules = CLASSES.map(|predicate| self.format.rule(predicate));
        let counts = strided::counts(self.kernel(), &self.source, search, rules);
        let mut census = Census::default();
        let classes = [&mut census.nan, &mut census.pos_inf, &mut census.neg_inf];
        for ((class, count), predicate) in classes.into_iter().zip(counts).zip(CLASSES) {
            class.count = count;
            class.first = if count > 0 { self.position(predicate) } else { None };
        }
        census
    }

    /// Rows of `size` elements along dimension `axis`, counted from the innermost. There is one
    /// place for each.
    pub(crate) fn rows(&self, axis: usize, size: usize, predicate: Predicate, out: Rows<'_>) {
        let rule = self.format.rule(predicate);
        let ask = |search, rules: &[_], out: Rows<'_>| {
            strided::rows(self.kernel(), &self.source, axis, search, rules, out);
        };
        match out {
            Rows::Census(_) => {
                ask(rule, &CLASSES.map(|predicate| self.format.rule(predicate)), out)
            }
            // What is rare is found faster.
            Rows::Count(counts) if predicate == Predicate::Finite => {
                let opposite = self.format.opposite(predicate);
                ask(opposite, &[opposite], Rows::Count(&mut *counts));
                counts.iter_mut().for_each(|count| *count = size - *count);
            }
            _ => ask(rule, &[rule], out),
        }
    }

    fn kernel(&self) -> Option<nonfinite_kernels::Backend> {
        self.backend.map(Backend::kernel)
    }
}

/// What a census counts.
const CLASSES: [Predicate; 3] = [Predicate::Nan, Predicate::PositiveInf, Predicate::NegativeInf];
