//! One answer for each row along an axis, or along several.

use nonfinite::{Census, Error, Predicate, Stats, TensorView};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::ask::run;
use super::out::{self, Answer};
use super::records;
use crate::error::{of_border, of_crate, value};
use crate::owners::Array;

/// `axis=` and `keepdims=`, as in numpy.
pub(crate) struct Axes {
    /// `None` stands for all dimensions.
    numbers: Option<Vec<isize>>,
    keep: bool,
}

impl Axes {
    /// `None` if the question is asked about all elements.
    ///
    /// # Errors
    /// TypeError if `axis` is neither a number nor a tuple of numbers.
    pub(crate) fn new(axis: Option<&Bound<'_, PyAny>>, keep: bool) -> PyResult<Option<Self>> {
        let numbers = match axis {
            None if !keep => return Ok(None),
            None => None,
            Some(axis) => Some(match axis.cast::<PyTuple>() {
                Ok(several) => several.extract()?,
                Err(_) => vec![axis.extract()?],
            }),
        };
        Ok(Some(Self { numbers, keep }))
    }

    /// The numbers of the dimensions among `rank`, in order.
    fn among(&self, rank: usize) -> PyResult<Vec<usize>> {
        let Some(numbers) = &self.numbers else { return Ok((0..rank).collect()) };
        let mut axes = Vec::new();
        for &number in numbers {
            let from_end = if number < 0 { rank.cast_signed() } else { 0 };
            let axis = number.checked_add(from_end).and_then(|axis| usize::try_from(axis).ok());
            let Some(axis) = axis.filter(|&axis| axis < rank) else {
                return Err(value(format!("axis={number}, and x has {rank} dimensions")));
            };
            if axes.contains(&axis) {
                return Err(value(format!("duplicate value in axis: {numbers:?}")));
            }
            axes.push(axis);
        }
        axes.sort_unstable();
        Ok(axes)
    }
}

/// Fills a place for each row.
type Ask<'a, A> = dyn Fn(nonfinite::Rows<'_>, &mut [A]) -> Result<(), Error> + Sync + 'a;

/// A question about rows.
pub(crate) struct Question<'a, A> {
    /// The answer about no elements.
    pub(crate) empty: A,
    pub(crate) ask: &'a Ask<'a, A>,
    /// Joins the answer about elements with that about others, which begin so many elements behind.
    pub(crate) join: fn(A, A, usize) -> A,
}

/// What a question answers about the rows of an array.
pub(crate) fn answers<'py, A: Answer + Copy + IntoPyObject<'py> + Send + Sync>(
    py: Python<'py>,
    array: Array<'_>,
    axes: &Axes,
    threads: Option<isize>,
    question: &Question<'_, A>,
) -> PyResult<Bound<'py, PyAny>> {
    let rows = Rows::new(array, axes)?;
    out::answers(py, &rows.sizes, |out| rows.ask(py, threads, question, out))
}

/// The index along each row of the first element for which the predicate holds, or -1.
pub(crate) fn position<'py>(
    py: Python<'py>,
    array: Array<'_>,
    predicate: Predicate,
    axes: &Axes,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let ask = &|rows: nonfinite::Rows<'_>, out: &mut [isize]| {
        let mut found = vec![None; out.len()];
        rows.position(predicate, &mut found)?;
        for (answer, index) in out.iter_mut().zip(found) {
            *answer = index.map_or(-1, usize::cast_signed);
        }
        Ok(())
    };
    let join = |a, b, behind: usize| if a >= 0 || b < 0 { a } else { b + behind.cast_signed() };
    answers(py, array, axes, threads, &Question { empty: -1, ask, join })
}

/// The census of each row, as records of numpy.
pub(crate) fn census<'py>(
    py: Python<'py>,
    array: Array<'_>,
    axes: &Axes,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let ask = &|rows: nonfinite::Rows<'_>, out: &mut [Census]| rows.census(out);
    let join = |a: Census, b: Census, behind| a.join(b.behind(behind));
    let (rows, empty) = (Rows::new(array, axes)?, Census::default());
    let mut answers = repeated(empty, rows.sizes.iter().product())?;
    rows.ask(py, threads, &Question { empty, ask, join }, &mut answers)?;
    records::census(py, &rows.sizes, &answers)
}

/// The statistics of each row, as records of numpy.
pub(crate) fn stats<'py>(
    py: Python<'py>,
    array: Array<'_>,
    axes: &Axes,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let ask = &|rows: nonfinite::Rows<'_>, out: &mut [Stats]| rows.stats(out);
    let join = |a: Stats, b: Stats, behind| a.join(b.behind(behind));
    let (rows, empty) = (Rows::new(array, axes)?, Stats::default());
    let mut answers = repeated(empty, rows.sizes.iter().product())?;
    rows.ask(py, threads, &Question { empty, ask, join }, &mut answers)?;
    records::stats(py, &rows.sizes, &answers)
}

/// # Errors
/// MemoryError if there is no memory for so many.
fn repeated<A: Copy>(answer: A, len: usize) -> PyResult<Vec<A>> {
    let mut answers = Vec::new();
    let bytes = len.saturating_mul(size_of::<A>());
    let memory = answers.try_reserve_exact(len);
    memory.map_err(|_| of_border(nonfinite_border::Error::Memory(bytes)))?;
    answers.resize(len, answer);
    Ok(answers)
}

/// The rows of an array along axes.
struct Rows<'py> {
    array: Array<'py>,
    /// In order. Neighbours are one dimension of the array where a stride leads through both.
    axes: Vec<usize>,
    /// The sizes of the answers.
    sizes: Vec<usize>,
}

impl<'py> Rows<'py> {
    /// # Errors
    /// ValueError if there is no such axis, or if one stands twice.
    fn new(mut array: Array<'py>, axes: &Axes) -> PyResult<Self> {
        let mut sizes = array.shape().sizes().to_vec();
        let mut numbers = axes.among(sizes.len())?;
        if numbers.is_empty() {
            // Without axes, each element is a row.
            numbers.push(array.deepen().map_err(of_border)?);
        } else if axes.keep {
            numbers.iter().for_each(|&axis| sizes[axis] = 1);
        } else {
            let others = sizes.iter().enumerate().filter(|(axis, _)| !numbers.contains(axis));
            sizes = others.map(|(_, &size)| size).collect();
        }
        for i in (1..numbers.len()).rev() {
            if numbers[i] == numbers[i - 1] + 1 && array.merge(numbers[i - 1]) {
                numbers.remove(i);
                numbers[i..].iter_mut().for_each(|axis| *axis -= 1);
            }
        }
        Ok(Self { array, axes: numbers, sizes })
    }

    /// Asks about rows along the last axis, and joins the answers along each axis before.
    fn ask<A: Copy + Send + Sync>(
        &self,
        py: Python<'_>,
        threads: Option<isize>,
        question: &Question<'_, A>,
        out: &mut [A],
    ) -> PyResult<()> {
        let view = self.array.view().map_err(of_crate)?;
        let [before @ .., last] = &self.axes[..] else { unreachable!("there is an axis") };
        let mut sizes = view.shape().to_vec();
        let mut behind = sizes.remove(*last);
        let mut answers = match before {
            [] => Vec::new(),
            _ => repeated(question.empty, sizes.iter().product())?,
        };
        let along_last = if before.is_empty() { &mut *out } else { &mut answers };
        let ask = |view: TensorView<'_>| (question.ask)(view.rows(*last)?, along_last);
        run(py, view, threads, ask)?.map_err(of_crate)?;
        if before.is_empty() {
            return Ok(());
        }
        for &axis in before.iter().rev() {
            let size = sizes.remove(axis);
            let inner = sizes[axis..].iter().product::<usize>();
            let mut joined = repeated(question.empty, sizes.iter().product())?;
            for (i, answer) in answers.into_iter().enumerate() {
                let row = &mut joined[i / inner / size * inner + i % inner];
                *row = (question.join)(*row, answer, i / inner % size * behind);
            }
            (answers, behind) = (joined, behind * size);
        }
        out.copy_from_slice(&answers);
        Ok(())
    }
}
