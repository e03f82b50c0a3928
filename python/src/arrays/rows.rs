//! One answer for each row along an axis, or along several.

use nonfinite::{Error, Predicate, TensorView};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use super::ask::run;
use super::out::{self, Answer};
use crate::error::{of_crate, type_error, value};
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

    /// The bits with the numbers of the dimensions among `rank`, of which there are at most 64.
    fn among(&self, rank: usize) -> PyResult<u64> {
        let Some(given) = self.axis else { return Ok((0..rank).fold(0, |all, i| all | 1 << i)) };
        let mut axes = 0;
        let mut add = |number: &Bound<'py, PyAny>| {
            if number.is_instance_of::<PyBool>() {
                return Err(type_error("axis is a bool, and must be an integer"));
            }
            let number = number.extract::<isize>()?;
            let from_end = if number < 0 { rank.cast_signed() } else { 0 };
            let axis = number.checked_add(from_end).and_then(|axis| usize::try_from(axis).ok());
            let Some(axis) = axis.filter(|&axis| axis < rank) else {
                return Err(value(format!("axis={number}, and x has {rank} dimensions")));
            };
            if axes & 1 << axis != 0 {
                return Err(value(format!("duplicate value in axis={given}")));
            }
            axes |= 1 << axis;
            Ok(())
        };
        match given.cast::<PyTuple>() {
            Ok(several) => several.iter().try_for_each(|number| add(&number))?,
            Err(_) => add(given)?,
        }
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
    array: &Array<'_>,
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
    array: &Array<'_>,
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
    array: &Array<'_>,
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
struct Rows<'a, 'py> {
    array: &'a Array<'py>,
    axes: u64,
    /// The sizes of the answers.
    sizes: Vec<usize>,
}

impl<'a, 'py> Rows<'a, 'py> {
    /// # Errors
    /// ValueError if there is no such axis, or if one stands twice.
    fn new(array: &'a Array<'py>, wanted: &Axes<'_, '_>) -> PyResult<Self> {
        let mut sizes = array.shape().sizes().to_vec();
        let axes = wanted.among(sizes.len())?;
        for axis in (0..sizes.len()).rev().filter(|axis| axes & 1 << axis != 0) {
            if wanted.keep {
                sizes[axis] = 1;
            } else {
                sizes.remove(axis);
            }
        }
        Ok(Self { array, axes, sizes })
    }

    /// Asks about rows along the last axis, and joins the answers along the axes before.
    fn ask<A: Copy + Send + Sync>(
        &self,
        py: Python<'_>,
        threads: Option<isize>,
        question: &Question<'_, A>,
        out: &mut [A],
    ) -> PyResult<()> {
        let along = |view: TensorView<'_>, axis, out: &mut [A]| {
            run(py, view, threads, |view| (question.ask)(view.rows(axis)?, out))?.map_err(of_crate)
        };
        if self.axes.is_power_of_two() {
            let view = self.array.view().map_err(of_crate)?;
            return along(view, self.axes.trailing_zeros() as usize, out);
        }
        let (sizes, strides, is_axis) = self.merged();
        let view = self.array.view_as(&sizes, &strides).map_err(of_crate)?;
        let mut axes = (0..sizes.len()).rev().filter(|&i| is_axis[i]);
        let last = axes.next().unwrap_or_default();
        if axes.next().is_none() {
            return along(view, last, out);
        }
        let parts = sizes.iter().enumerate().filter(|(i, _)| *i != last);
        let mut answers = repeated(question.empty, parts.map(|(_, size)| size).product())?;
        along(view, last, &mut answers)?;
        out.fill(question.empty);
        for (mut rest, answer) in answers.into_iter().enumerate() {
            let (mut row, mut rows, mut behind, mut len) = (0, 1, 0, sizes[last]);
            for i in (0..sizes.len()).rev().filter(|&i| i != last) {
                let (place, total) =
                    if is_axis[i] { (&mut behind, &mut len) } else { (&mut row, &mut rows) };
                *place += rest % sizes[i] * *total;
                *total *= sizes[i];
                rest /= sizes[i];
            }
            out[row] = (question.join)(out[row], answer, behind);
        }
        Ok(())
    }

    /// Sizes, strides, and which dimensions are axes. Two axes are one dimension where a stride
    /// leads through both. Without an axis, each element is a row.
    fn merged(&self) -> (Vec<usize>, Vec<isize>, Vec<bool>) {
        let (mut sizes, mut strides, mut is_axis) = (Vec::new(), Vec::new(), Vec::new());
        let shape = self.array.shape();
        for (i, (&size, &stride)) in shape.sizes().iter().zip(shape.strides()).enumerate() {
            let axis = self.axes & 1 << i != 0;
            let reach = stride.checked_mul(size.cast_signed());
            if let (true, [.., true], [.., before], [.., outer]) =
                (axis, &is_axis[..], &mut sizes[..], &mut strides[..])
                && reach == Some(*outer)
            {
                *before = size.saturating_mul(*before);
                *outer = stride;
                continue;
            }
            sizes.push(size);
            strides.push(stride);
            is_axis.push(axis);
        }
        if self.axes == 0 {
            sizes.push(1);
            strides.push(0);
            is_axis.push(true);
        }
        (sizes, strides, is_axis)
    }
}
