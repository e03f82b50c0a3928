//! One answer for each row.

use nonfinite_kernels::strided::{self, Rows as Answers};

use super::part::CLASSES;
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
    view: TensorView<'a>,
    axis: usize,
}

impl<'a> TensorView<'a> {
    /// The rows that run along dimension `axis`, counted from 0, the outermost.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// let x = [0.0f32, 1.0, f32::NAN, 3.0, 4.0, 5.0];
    /// let view = TensorView::shaped(&x, &[2, 3])?;
    /// let (mut rows, mut columns) = ([false; 2], [false; 3]);
    /// view.rows(1)?.any(Predicate::Nan, &mut rows)?;
    /// view.rows(0)?.any(Predicate::Nan, &mut columns)?;
    /// assert_eq!((rows, columns), ([true, false], [false, false, true]));
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Axis`] if there is no such dimension.
    pub fn rows(self, axis: usize) -> Result<Rows<'a>, Error> {
        let dimensions = self.shape().len();
        if axis >= dimensions {
            return Err(Error::Axis { axis, dimensions });
        }
        Ok(Rows { view: self, axis })
    }
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
    /// [`Error::Rows`] if `out` does not have one place for each row; nothing is written then.
    pub fn any(&self, predicate: Predicate, out: &mut [bool]) -> Result<(), Error> {
        self.ask(predicate, out, |out| Answers::Any(out))
    }

    /// Sets `out[r]` to whether `predicate` holds for all elements of row `r` that are not null.
    /// True if there is none.
    ///
    /// # Errors
    /// As [`Rows::any`].
    pub fn all(&self, predicate: Predicate, out: &mut [bool]) -> Result<(), Error> {
        self.each(out, &|part, out| part.all_rows(self.axis, predicate, out))
    }

    /// Sets `out[r]` to the number of elements of row `r` for which `predicate` holds.
    ///
    /// # Errors
    /// As [`Rows::any`].
    pub fn count(&self, predicate: Predicate, out: &mut [usize]) -> Result<(), Error> {
        self.ask(predicate, out, |out| Answers::Count(out))
    }

    /// Sets `out[r]` to the index, counted along row `r`, of the first element for which
    /// `predicate` holds.
    ///
    /// # Errors
    /// As [`Rows::any`].
    pub fn position(&self, predicate: Predicate, out: &mut [Option<usize>]) -> Result<(), Error> {
        self.ask(predicate, out, |out| Answers::Position(out))
    }

    /// Sets `out[r]` to the census of row `r`. The first of each class is counted along the row.
    ///
    /// # Errors
    /// As [`Rows::any`].
    pub fn census(&self, out: &mut [Census]) -> Result<(), Error> {
        self.ask(Predicate::NonFinite, out, |out| Answers::Census(out))
    }

    /// Sets `out[r]` to the statistics of row `r`. Indices are counted along the row.
    ///
    /// # Errors
    /// As [`Rows::any`].
    #[cfg(feature = "stats")]
    pub fn stats(&self, out: &mut [Stats]) -> Result<(), Error> {
        self.each(out, &|part, out| part.stats_of_rows(self.axis, out))
    }

    fn ask<A: Send>(
        &self,
        predicate: Predicate,
        out: &mut [A],
        answers: impl Fn(&mut [A]) -> Answers<'_> + Sync,
    ) -> Result<(), Error> {
        self.each(out, &|part, out| part.rows_here(self.axis, predicate, answers(out)))
    }

    /// Whether an output of this length has one place for each row.
    #[inline(never)]
    fn check(&self, output: usize) -> Result<(), Error> {
        let rows = self.len();
        if rows == output { Ok(()) } else { Err(Error::Rows { rows, output }) }
    }

    /// Calls `ask` for parts of the view with the places of their rows.
    fn each<A: Send>(
        &self,
        out: &mut [A],
        ask: &(impl Fn(&TensorView<'_>, &mut [A]) + Sync),
    ) -> Result<(), Error> {
        self.check(out.len())?;
        if out.is_empty() {
            // The product of the sizes may overflow.
            return Ok(());
        }
        #[cfg(feature = "rayon")]
        if self.axis != 0
            && let Some(threads) = self.view.shared()
        {
            threads.rows(out, self.row_len(), ask);
            return Ok(());
        }
        ask(&self.view, out);
        Ok(())
    }
}

impl TensorView<'_> {
    /// Elements of the dimensions inside of `axis`.
    pub(super) fn inner(&self, axis: usize) -> usize {
        self.shape()[axis + 1..].iter().product()
    }

    /// Statistics of the rows along dimension `axis`. `out` has one place for each.
    #[cfg(feature = "stats")]
    fn stats_of_rows(&self, axis: usize, out: &mut [Stats]) {
        // `stats_of_rows` leaves out rows without elements.
        out.fill(Stats::default());
        let (backend, format) = (self.backend, self.format);
        if self.validity.is_some() && !self.is_empty() {
            let rows = out.iter_mut().enumerate();
            return rows.for_each(|(row, out)| *out = self.stats_of_row(axis, row));
        }
        strided::stats_of_rows(backend, &self.tensor, axis, format.numbers(), |row, stats| {
            out[row] = Stats::new(stats, format);
        });
    }

    /// The rows along dimension `axis`. `out` has one place for each.
    fn rows_here(&self, axis: usize, predicate: Predicate, mut out: Answers<'_>) {
        if self.validity.is_some() {
            return self.rows_by_hits(axis, predicate, &mut out);
        }
        let ask = |search: &_, rules: &[_], out: Answers<'_>| {
            strided::rows(self.backend, &self.tensor, axis, search, rules, out);
        };
        let (counted, complement) = predicate.counted();
        let (rule, counted) = (self.rule(predicate), self.rule(counted));
        match out {
            Answers::Census(_) => ask(&rule, &CLASSES.map(|class| self.format.rule(class)), out),
            Answers::Count(counts) if complement => {
                ask(&counted, &[&*counted], Answers::Count(&mut *counts));
                let size = self.shape()[axis];
                counts.iter_mut().for_each(|count| *count = size - *count);
            }
            _ => ask(&rule, &[&*rule], out),
        }
    }

    /// Whether the predicate holds for all elements of each row along dimension `axis`.
    fn all_rows(&self, axis: usize, predicate: Predicate, out: &mut [bool]) {
        let opposite = self.opposite(predicate);
        if self.validity.is_some() {
            out.fill(false);
            let row_of = self.row_of(axis);
            Positions::new(*self, predicate, true).for_each(|i| out[row_of(i)] = true);
        } else {
            let out = Answers::Any(&mut *out);
            strided::rows(self.backend, &self.tensor, axis, &opposite, &[&*opposite], out);
        }
        out.iter_mut().for_each(|all| *all = !*all);
    }

    /// The row along dimension `axis` of the element with a row-major index.
    fn row_of(&self, axis: usize) -> impl Fn(usize) -> usize + use<> {
        let (size, inner) = (self.shape()[axis], self.inner(axis));
        move |i| i / inner / size * inner + i % inner
    }

    /// [`TensorView::rows_here`], hit by hit.
    #[inline(never)]
    fn rows_by_hits(&self, axis: usize, predicate: Predicate, out: &mut Answers<'_>) {
        let (size, inner) = (self.shape()[axis], self.inner(axis));
        let row_of = self.row_of(axis);
        let (counted, complement) = predicate.counted();
        if let Answers::Count(counts) = out
            && complement
        {
            // All elements but the nulls and the hits of the opposite.
            counts.fill(size);
            let nulls = self.validity.iter().flat_map(|validity| validity.nulls());
            return nulls.chain(self.positions(counted)).for_each(|i| counts[row_of(i)] -= 1);
        }
        out.clear();
        let classes = if matches!(out, Answers::Census(_)) { &CLASSES[..] } else { &[predicate] };
        for (class, &predicate) in classes.iter().enumerate() {
            for i in self.positions(predicate) {
                out.add(row_of(i), class, 1, || i / inner % size);
            }
        }
    }
}
