//! One answer for each row.

#[cfg(feature = "stats")]
use nonfinite_kernels::Bitmap;
use nonfinite_kernels::Rule;
use nonfinite_kernels::strided::{self, Rows as Answers};

#[cfg(feature = "rayon")]
use super::threads::Threads;
use super::{Positions, TensorView};
#[cfg(feature = "stats")]
use crate::Stats;
use crate::{Census, Error, Predicate};

/// The rows of a view along one of its dimensions: see [`TensorView::rows`]. Each question has one
/// answer for each row. Rows are numbered in row-major order of the other dimensions. No predicate
/// holds for a null.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Rows<'a> {
    pub(super) view: TensorView<'a>,
    pub(super) axis: usize,
}

impl Rows<'_> {
    /// The number of rows: the product of the sizes of the other dimensions, at most `usize::MAX`.
    #[must_use]
    pub fn len(&self) -> usize {
        let sizes = self.view.shape().iter().enumerate();
        let others = || sizes.clone().filter(|(i, _)| *i != self.axis).map(|(_, &size)| size);
        if others().any(|size| size == 0) { 0 } else { others().fold(1, usize::saturating_mul) }
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of elements of each row.
    #[must_use]
    pub fn row_len(&self) -> usize {
        self.view.shape()[self.axis]
    }

    /// Sets `out[r]` to whether `predicate` holds for any element of row `r`.
    ///
    /// # Errors
    /// [`Error::Rows`] if `out` does not have one place for each row, or
    /// [`Error::ThresholdFormat`]; nothing is written then.
    pub fn any(&self, predicate: Predicate, out: &mut [bool]) -> Result<(), Error> {
        let rule = self.view.format.try_asked(predicate)?;
        self.ask(&rule, out, |out| Answers::Any(out))
    }

    /// Sets `out[r]` to whether `predicate` holds for all elements of row `r` that are not null.
    /// True if there is none.
    ///
    /// # Errors
    /// As [`Rows::any`].
    pub fn all(&self, predicate: Predicate, out: &mut [bool]) -> Result<(), Error> {
        let (counted, opposite) = predicate.counted();
        let rule = self.view.format.try_asked(counted)?.not_if(!opposite);
        self.ask(&rule, out, |out| Answers::Any(out))?;
        out.iter_mut().for_each(|all| *all = !*all);
        Ok(())
    }

    /// Sets `out[r]` to the number of elements of row `r` for which `predicate` holds.
    ///
    /// # Errors
    /// As [`Rows::any`].
    pub fn count(&self, predicate: Predicate, out: &mut [usize]) -> Result<(), Error> {
        let (counted, opposite) = predicate.counted();
        let rule = self.view.format.try_asked(counted)?;
        self.ask(&rule, out, |out| Answers::Count(out))?;
        if opposite && !out.is_empty() {
            out.iter_mut().for_each(|count| *count = self.row_len() - *count);
            let (_, row_of) = self.places();
            self.view.nulls().for_each(|null| out[row_of(null)] -= 1);
        }
        Ok(())
    }

    /// Sets `out[r]` to the index, counted along row `r`, of the first element for which
    /// `predicate` holds.
    ///
    /// # Errors
    /// As [`Rows::any`].
    pub fn position(&self, predicate: Predicate, out: &mut [Option<usize>]) -> Result<(), Error> {
        let rule = self.view.format.try_asked(predicate)?;
        self.ask(&rule, out, |out| Answers::Position(out))
    }

    /// Sets `out[r]` to the census of row `r`. The first of each class is counted along the row.
    ///
    /// # Errors
    /// [`Error::Rows`], as [`Rows::any`].
    pub fn census(&self, out: &mut [Census]) -> Result<(), Error> {
        self.ask(self.view.format.rule(Predicate::NonFinite), out, |out| Answers::Census(out))
    }

    /// Sets `out[r]` to the statistics of row `r`. Indices are counted along the row.
    ///
    /// # Errors
    /// [`Error::Rows`], as [`Rows::any`].
    #[cfg(feature = "stats")]
    pub fn stats(&self, out: &mut [Stats]) -> Result<(), Error> {
        self.each(out, &|rows, out| rows.stats_here(out))
    }

    fn ask<A: Send>(
        &self,
        rule: &Rule,
        out: &mut [A],
        answers: impl Fn(&mut [A]) -> Answers<'_> + Sync,
    ) -> Result<(), Error> {
        self.each(out, &|rows, out| rows.ask_here(rule, answers(out)))
    }

    /// Calls `ask` for the rows of parts of the view, with their places.
    fn each<A: Send>(
        &self,
        out: &mut [A],
        ask: &(impl Fn(Rows<'_>, &mut [A]) + Sync),
    ) -> Result<(), Error> {
        let (rows, output) = (self.len(), out.len());
        if rows != output {
            return Err(Error::Rows { rows, output });
        }
        if out.is_empty() {
            // The product of the sizes may overflow.
            return Ok(());
        }
        #[cfg(feature = "rayon")]
        if self.axis != 0
            && let Some(threads) = Threads::of(&self.view)
        {
            let ask = |view: TensorView<'_>, out: &mut [A]| ask(Rows { view, ..*self }, out);
            threads.rows(out, self.row_len(), &ask);
            return Ok(());
        }
        ask(*self, out);
        Ok(())
    }

    /// The answers for the rule, or for the classes of a census. `out` has one place for each row.
    fn ask_here(&self, rule: &Rule, mut out: Answers<'_>) {
        let Self { view, axis } = self;
        let classes = view.format.classes();
        let rules = if matches!(out, Answers::Census(_)) { &classes[..] } else { &[rule] };
        if view.validity.is_some() {
            self.ask_by_hits(rules, &mut out);
        } else {
            strided::rows(view.backend, &view.tensor, *axis, rule, rules, out);
        }
    }

    /// [`Rows::ask_here`], hit by hit.
    #[inline(never)]
    fn ask_by_hits(&self, rules: &[&Rule], out: &mut Answers<'_>) {
        let (inner, row_of) = self.places();
        out.clear();
        for (class, rule) in rules.iter().enumerate() {
            for i in Positions::new(self.view, rule) {
                out.add(row_of(i), class, 1, || i / inner % self.row_len());
            }
        }
    }

    /// Elements of the dimensions inside of that of the rows, and a function from the row-major
    /// index of an element to its row.
    fn places(&self) -> (usize, impl Fn(usize) -> usize + use<>) {
        let (size, inner) = (self.row_len(), self.view.shape()[self.axis + 1..].iter().product());
        (inner, move |i| i / inner / size * inner + i % inner)
    }

    /// Statistics of the rows. `out` has one place for each.
    #[cfg(feature = "stats")]
    fn stats_here(&self, out: &mut [Stats]) {
        out.fill(Stats::default());
        if !self.view.is_empty() {
            out.iter_mut().enumerate().for_each(|(row, out)| *out = self.stats_of_row(row));
        }
    }

    /// Statistics of one row. Indices count along the row.
    #[cfg(feature = "stats")]
    fn stats_of_row(&self, row: usize) -> Stats {
        const ROOM: usize = 4096;
        let (size, (inner, _)) = (self.row_len(), self.places());
        let start = row / inner * inner * size + row % inner;
        let line = self.view.tensor.row(self.axis, start);
        if self.view.validity.is_none() {
            return TensorView { tensor: line, ..self.view }.stats_here();
        }
        let mut stats = Stats::default();
        for at in (0..size).step_by(ROOM) {
            let tensor = line.part(at, ROOM.min(size - at));
            let mut bits = [0u8; ROOM / 8];
            let is_valid = |i: &usize| self.view.is_valid(start + (at + i) * inner);
            (0..tensor.len()).filter(is_valid).for_each(|i| bits[i / 8] |= 1 << (i % 8));
            let validity = Bitmap::new(&bits, 0, tensor.len());
            let part = TensorView { tensor, validity, ..self.view };
            stats = stats.join(part.stats_of_valid().behind(at));
        }
        stats
    }
}
