//! One answer for each row.

#[cfg(feature = "std")]
use std::vec::Vec;

use nonfinite_kernels::strided::{self, Rows as Answers};

use super::TensorView;
use super::part::{CLASSES, Part};
#[cfg(feature = "stats")]
use crate::Stats;
use crate::{Census, Error, Predicate};

/// The rows of a view along one of its dimensions: see [`TensorView::rows`]. Each question has one
/// answer for each row. Rows are numbered in row-major order of the other dimensions.
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
        let dimensions = self.sizes().len();
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
        let sizes = self.view.sizes().iter().enumerate();
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
        self.view.sizes()[self.axis]
    }

    /// Sets `out[r]` to whether `predicate` holds for any element of row `r`.
    ///
    /// # Errors
    /// [`Error::Rows`] if `out` does not have one place for each row; nothing is written then.
    pub fn any(&self, predicate: Predicate, out: &mut [bool]) -> Result<(), Error> {
        self.ask(predicate, out, |out| Answers::Any(out))
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

    /// [`Rows::any`] in a new vector (feature `std`), as are all methods with such names.
    ///
    /// ```
    /// use nonfinite::{Predicate, TensorView};
    /// let x = [0.0f32, f32::NAN, 2.0, 3.0];
    /// let rows = TensorView::shaped(&x, &[2, 2])?.rows(1)?;
    /// assert_eq!(rows.any_vec(Predicate::Nan), [true, false]);
    /// assert_eq!(rows.count_vec(Predicate::Finite), [1, 2]);
    /// assert_eq!(rows.position_vec(Predicate::Nan), [Some(1), None]);
    /// assert!(!rows.census_vec()[0].is_finite());
    /// # Ok::<(), nonfinite::Error>(())
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn any_vec(&self, predicate: Predicate) -> Vec<bool> {
        self.vec(|rows, out| rows.any(predicate, out))
    }

    /// [`Rows::count`] in a new vector.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn count_vec(&self, predicate: Predicate) -> Vec<usize> {
        self.vec(|rows, out| rows.count(predicate, out))
    }

    /// [`Rows::position`] in a new vector.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn position_vec(&self, predicate: Predicate) -> Vec<Option<usize>> {
        self.vec(|rows, out| rows.position(predicate, out))
    }

    /// [`Rows::census`] in a new vector.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn census_vec(&self) -> Vec<Census> {
        self.vec(Self::census)
    }

    /// [`Rows::stats`] in a new vector.
    #[cfg(all(feature = "std", feature = "stats"))]
    #[must_use]
    pub fn stats_vec(&self) -> Vec<Stats> {
        self.vec(Self::stats)
    }

    #[cfg(feature = "std")]
    fn vec<A: Clone + Default>(
        &self,
        ask: impl FnOnce(&Self, &mut [A]) -> Result<(), Error>,
    ) -> Vec<A> {
        let mut out = std::vec![A::default(); self.len()];
        ask(self, &mut out).expect("one place for each row");
        out
    }

    fn ask<A: Send>(
        &self,
        predicate: Predicate,
        out: &mut [A],
        answers: impl Fn(&mut [A]) -> Answers<'_> + Sync,
    ) -> Result<(), Error> {
        self.each(out, &|part, out| part.rows(self.axis, predicate, answers(out)))
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
        ask: &(impl Fn(Part<'_, '_>, &mut [A]) + Sync),
    ) -> Result<(), Error> {
        self.check(out.len())?;
        #[cfg(feature = "rayon")]
        if self.axis != 0
            && let Some(threads) = self.view.shared()
        {
            threads.rows(out, self.row_len(), ask);
            return Ok(());
        }
        ask(Part::whole(&self.view), out);
        Ok(())
    }
}

impl Part<'_, '_> {
    /// Statistics of the rows along dimension `axis`. `out` has one place for each.
    #[cfg(feature = "stats")]
    fn stats_of_rows(&self, axis: usize, out: &mut [Stats]) {
        // `stats_of_rows` leaves out rows without elements.
        out.fill(Stats::default());
        let format = self.view.format;
        let (backend, tensor) = (self.view.backend, self.tensor());
        strided::stats_of_rows(backend, &tensor, axis, format.numbers(), |row, stats| {
            out[row] = Stats::new(stats, format);
        });
    }

    /// The rows along dimension `axis`. `out` has one place for each.
    fn rows(&self, axis: usize, predicate: Predicate, out: Answers<'_>) {
        let (view, tensor, size) = (self.view, self.tensor(), self.view.sizes()[axis]);
        let (counted, complement) = predicate.counted();
        let (rule, counted) = (view.format.rule(predicate), view.format.rule(counted));
        let ask = |search, rules: &[_], out: Answers<'_>| {
            strided::rows(view.backend, &tensor, axis, search, rules, out);
        };
        match out {
            Answers::Census(_) => ask(rule, &CLASSES.map(|class| view.format.rule(class)), out),
            Answers::Count(counts) if complement => {
                ask(counted, &[counted], Answers::Count(&mut *counts));
                counts.iter_mut().for_each(|count| *count = size - *count);
            }
            _ => ask(rule, &[rule], out),
        }
    }
}
