//! One answer for each row along an axis, or along several.

use nonfinite::{Error, Predicate, TensorView};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::ask::run;
use super::out::{self, Answer};
use crate::error::{of_crate, value};
use crate::owners::Array;

/// `axis=` and `keepdims=`, as in numpy. Without an axis: all of them.
pub(crate) struct Axes<'a, 'py> {
    axis: Option<&'a Bound<'py, PyAny>>,
    keep: bool,
}

impl<'a, 'py> Axes<'a, 'py> {
    /// `None` if the question is asked about all elements.
    pub(crate) fn new(axis: Option<&'a Bound<'py, PyAny>>, keep: bool) -> Option<Self> {
        (axis.is_some() || keep).then_some(Self { axis, keep })
    }

    /// The numbers of the dimensions among `rank`, in order.
    fn among(&self, rank: usize) -> PyResult<Vec<usize>> {
        let Some(given) = self.axis else { return Ok((0..rank).collect()) };
        let mut axes = Vec::new();
        let mut add = |number: isize| {
            let from_end = if number < 0 { rank.cast_signed() } else { 0 };
            let axis = number.checked_add(from_end).and_then(|axis| usize::try_from(axis).ok());
            let Some(axis) = axis.filter(|&axis| axis < rank) else {
                return Err(value(format!("axis={number}, and x has {rank} dimensions")));
            };
            if axes.contains(&axis) {
                return Err(value(format!("duplicate value in axis={given}")));
            }
            axes.push(axis);
            Ok(())
        };
        match given.cast::<PyTuple>() {
            Ok(several) => several.iter().try_for_each(|number| add(number.extract()?))?,
            Err(_) => add(given.extract()?)?,
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
    axes: &Axes<'_, '_>,
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
    axes: &Axes<'_, '_>,
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

/// The sizes of the answers, and the answers.
pub(crate) fn collected<A: Copy + Send + Sync>(
    py: Python<'_>,
    array: Array<'_>,
    axes: &Axes<'_, '_>,
    threads: Option<isize>,
    question: &Question<'_, A>,
) -> PyResult<(Vec<usize>, Vec<A>)> {
    let rows = Rows::new(array, axes)?;
    let mut answers = repeated(question.empty, rows.sizes.iter().product())?;
    rows.ask(py, threads, question, &mut answers)?;
    Ok((rows.sizes, answers))
}

/// # Errors
/// MemoryError if there is no memory for so many.
fn repeated<A: Copy>(answer: A, len: usize) -> PyResult<Vec<A>> {
    let mut answers = Vec::new();
    let memory = answers.try_reserve_exact(len);
    memory.map_err(|_| PyMemoryError::new_err(format!("no memory for {len} answers")))?;
    answers.resize(len, answer);
    Ok(answers)
}

/// The rows of an array along axes.
struct Rows<'py> {
    array: Array<'py>,
    /// Sizes and strides, if they are not those of the array: of several axes, two are one
    /// dimension where a stride leads through both.
    layout: Option<(Vec<usize>, Vec<isize>)>,
    /// The axes among these dimensions, in order.
    axes: Vec<usize>,
    /// The sizes of the answers.
    sizes: Vec<usize>,
}

impl<'py> Rows<'py> {
    /// # Errors
    /// ValueError if there is no such axis, or if one stands twice.
    fn new(array: Array<'py>, wanted: &Axes<'_, '_>) -> PyResult<Self> {
        let mut axes = wanted.among(array.shape().sizes().len())?;
        let size = |(axis, &size)| match axes.contains(&axis) {
            true => wanted.keep.then_some(1),
            false => Some(size),
        };
        let answers = array.shape().sizes().iter().enumerate().filter_map(size).collect();
        if axes.len() == 1 {
            return Ok(Self { array, layout: None, axes, sizes: answers });
        }
        let mut sizes = array.shape().sizes().to_vec();
        let mut strides = array.shape().strides().to_vec();
        if axes.is_empty() {
            // Each element is a row.
            axes.push(sizes.len());
            sizes.push(1);
            strides.push(0);
        }
        for i in (1..axes.len()).rev() {
            let (outer, inner) = (axes[i - 1], axes[i]);
            let reach = strides[inner].checked_mul(sizes[inner].cast_signed());
            if inner == outer + 1 && reach == Some(strides[outer]) {
                sizes[outer] = sizes[outer].saturating_mul(sizes.remove(inner));
                strides[outer] = strides.remove(inner);
                axes.remove(i);
                axes[i..].iter_mut().for_each(|axis| *axis -= 1);
            }
        }
        Ok(Self { array, layout: Some((sizes, strides)), axes, sizes: answers })
    }

    /// Asks about rows along the last axis, and joins the answers along each axis before.
    fn ask<A: Copy + Send + Sync>(
        &self,
        py: Python<'_>,
        threads: Option<isize>,
        question: &Question<'_, A>,
        out: &mut [A],
    ) -> PyResult<()> {
        let view = match &self.layout {
            Some((sizes, strides)) => self.array.view_as(sizes, strides),
            None => self.array.view(),
        };
        let view = view.map_err(of_crate)?;
        let [before @ .., last] = &self.axes[..] else { unreachable!("there is an axis") };
        let (mut sizes, mut behind, mut answers) = (Vec::new(), 0, Vec::new());
        if !before.is_empty() {
            sizes.extend_from_slice(view.shape());
            behind = sizes.remove(*last);
            answers = repeated(question.empty, sizes.iter().product())?;
        }
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
