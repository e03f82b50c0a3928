//! One answer for each row along an axis.

use nonfinite::{Census, Error, Predicate, Stats, TensorView};
use pyo3::prelude::*;

use super::ask::run;
use super::out::{self, Answer};
use super::records;
use crate::error::{of_crate, value};
use crate::owners::Array;

/// What `question` answers about the rows of an array along `axis`.
pub(crate) fn answers<'py, A: Answer + IntoPyObject<'py> + Send>(
    py: Python<'py>,
    array: &Array<'_>,
    axis: isize,
    threads: Option<isize>,
    question: impl FnOnce(nonfinite::Rows<'_>, &mut [A]) -> Result<(), Error> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = Rows::new(array, axis)?;
    out::answers(py, &rows.sizes, |out| {
        rows.ask(py, threads, |view, axis| question(view.rows(axis)?, out))
    })
}

/// The index along each row of the first element for which the predicate holds, or -1.
pub(crate) fn position<'py>(
    py: Python<'py>,
    array: &Array<'_>,
    predicate: Predicate,
    axis: isize,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    answers(py, array, axis, threads, |rows, out: &mut [isize]| {
        let mut found = vec![None; out.len()];
        rows.position(predicate, &mut found)?;
        for (answer, index) in out.iter_mut().zip(found) {
            *answer = index.map_or(-1, usize::cast_signed);
        }
        Ok(())
    })
}

/// The census of each row, as records of numpy.
pub(crate) fn census<'py>(
    py: Python<'py>,
    array: &Array<'_>,
    axis: isize,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = Rows::new(array, axis)?;
    let mut answers = vec![Census::default(); rows.len()];
    rows.ask(py, threads, |view, axis| view.rows(axis)?.census(&mut answers))?;
    records::census(py, &rows.sizes, &answers)
}

/// The statistics of each row, as records of numpy.
pub(crate) fn stats<'py>(
    py: Python<'py>,
    array: &Array<'_>,
    axis: isize,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = Rows::new(array, axis)?;
    let mut answers = vec![Stats::default(); rows.len()];
    rows.ask(py, threads, |view, axis| view.rows(axis)?.stats(&mut answers))?;
    records::stats(py, &rows.sizes, &answers)
}

/// The rows of an array along an axis.
struct Rows<'a> {
    view: TensorView<'a>,
    axis: usize,
    /// The sizes of the answers: those of the array without the axis.
    sizes: Vec<usize>,
}

impl<'a> Rows<'a> {
    /// # Errors
    /// ValueError if there is no such axis.
    fn new(array: &'a Array<'_>, axis: isize) -> PyResult<Self> {
        let view = array.view().map_err(of_crate)?;
        let mut sizes = array.shape().sizes().to_vec();
        let rank = sizes.len();
        let from_end = if axis < 0 { rank.cast_signed() } else { 0 };
        let number = axis.checked_add(from_end).and_then(|axis| usize::try_from(axis).ok());
        let Some(axis) = number.filter(|&axis| axis < rank) else {
            return Err(value(format!("axis={axis}, and x has {rank} dimensions")));
        };
        sizes.remove(axis);
        Ok(Self { view, axis, sizes })
    }

    fn len(&self) -> usize {
        self.sizes.iter().product()
    }

    fn ask(
        &self,
        py: Python<'_>,
        threads: Option<isize>,
        question: impl FnOnce(TensorView<'_>, usize) -> Result<(), Error> + Send,
    ) -> PyResult<()> {
        let axis = self.axis;
        run(py, self.view, threads, |view| question(view, axis))?.map_err(of_crate)
    }
}
