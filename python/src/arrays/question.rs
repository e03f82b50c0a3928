//! Questions with one answer, or one answer for each row.

use nonfinite::{Predicate, Rows, TensorView};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use super::answers::{Census, Coordinate, Stats};
use super::ask::{ask, ask_array, check_float};
use super::out::Answer;
use super::rows::{self, Axes, Question};
use super::{fallback, input, predicate, records};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(all_finite, module)?)?;
    module.add_function(wrap_pyfunction!(any_nan, module)?)?;
    module.add_function(wrap_pyfunction!(any_inf, module)?)?;
    module.add_function(wrap_pyfunction!(any, module)?)?;
    module.add_function(wrap_pyfunction!(all, module)?)?;
    module.add_function(wrap_pyfunction!(count, module)?)?;
    module.add_function(wrap_pyfunction!(position, module)?)?;
    module.add_function(wrap_pyfunction!(census, module)?)?;
    module.add_function(wrap_pyfunction!(stats, module)?)
}

/// Whether all elements are finite. True if there are none. Nulls of Arrow do not count.
///
/// x: an array of any shape, or a number. Integers and bool are finite. Or several of them in a
///     dict, an iterator, or a table of pandas, Polars or pyarrow: the answer is about all
///     elements together, and None counts for nothing.
/// threads: the number of threads for more than 2 MiB; 0 for all CPUs. Without it, one.
///
/// Operations of torch answer about a tensor of torch on a GPU, where it is. The call waits for the
/// device, and threads make no difference. any_nan, any_inf, any, all and count do so, too.
///
/// Raises TypeError if x is no array of numbers in the memory of the CPU, and no such tensor.
///
/// >>> import array, nonfinite
/// >>> nonfinite.all_finite(array.array("f", [1.0, 2.0]))
/// True
#[pyfunction]
#[pyo3(signature = (x, /, *, threads=None))]
fn all_finite(x: &Bound<'_, PyAny>, threads: Option<isize>) -> PyResult<bool> {
    ask(x, false, threads, |view| view.all(Predicate::Finite))
        .or_else(|error| fallback::ask(x, error, "all", "finite", threads)?.extract())
}

/// Whether any element is NaN. Arguments and errors as in all_finite.
///
/// >>> import nonfinite
/// >>> nonfinite.any_nan(float("nan"))
/// True
#[pyfunction]
#[pyo3(signature = (x, /, *, threads=None))]
fn any_nan(x: &Bound<'_, PyAny>, threads: Option<isize>) -> PyResult<bool> {
    ask(x, false, threads, |view| view.any(Predicate::Nan))
        .or_else(|error| fallback::ask(x, error, "any", "nan", threads)?.extract())
}

/// Whether any element is infinite, of either sign. Arguments and errors as in all_finite.
#[pyfunction]
#[pyo3(signature = (x, /, *, threads=None))]
fn any_inf(x: &Bound<'_, PyAny>, threads: Option<isize>) -> PyResult<bool> {
    ask(x, false, threads, |view| view.any(Predicate::Inf))
        .or_else(|error| fallback::ask(x, error, "any", "inf", threads)?.extract())
}

/// Whether the predicate holds for any element: a bool. With axis=, one bool for each row along
/// this axis, as an array of the shape of x without the axis. It is a tensor if x is one of torch.
///
/// x: as in all_finite; with axis= or keepdims=, an array or a number.
/// predicate: "nan", "inf", "+inf", "-inf", "finite", "non-finite", "nan or +inf" or "never".
/// axis: the number of a dimension, or a tuple of them; negative numbers count from the last one.
///     Rows along several dimensions run in row-major order.
/// keepdims: leaves each such dimension in the answer, with the size 1.
///
/// Raises TypeError as all_finite, and ValueError for an unknown predicate or axis.
#[pyfunction]
#[pyo3(signature = (x, predicate, /, *, axis=None, keepdims=false, threads=None))]
fn any<'py>(
    x: &Bound<'py, PyAny>,
    predicate: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: bool,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let predicate = predicate::parse(predicate)?;
    let ask = &|rows: Rows<'_>, out: &mut [bool]| rows.any(predicate, out);
    let rows = Question { empty: false, ask, join: |a, b, _| a | b };
    let whole = |view: TensorView<'_>| view.any(predicate);
    answer(x, predicate, Axes::new(axis, keepdims), threads, "any", whole, &rows)
}

/// Whether the predicate holds for all elements. Arguments, axis= and errors as in any.
#[pyfunction]
#[pyo3(signature = (x, predicate, /, *, axis=None, keepdims=false, threads=None))]
fn all<'py>(
    x: &Bound<'py, PyAny>,
    predicate: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: bool,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let predicate = predicate::parse(predicate)?;
    let ask = &|rows: Rows<'_>, out: &mut [bool]| rows.all(predicate, out);
    let rows = Question { empty: true, ask, join: |a, b, _| a & b };
    let whole = |view: TensorView<'_>| view.all(predicate);
    answer(x, predicate, Axes::new(axis, keepdims), threads, "all", whole, &rows)
}

/// The number of elements for which the predicate holds: an int. With axis=, one number for each
/// row, as an array of intp. Arguments and errors as in any.
#[pyfunction]
#[pyo3(signature = (x, predicate, /, *, axis=None, keepdims=false, threads=None))]
fn count<'py>(
    x: &Bound<'py, PyAny>,
    predicate: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: bool,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let predicate = predicate::parse(predicate)?;
    let ask = &|rows: Rows<'_>, out: &mut [usize]| rows.count(predicate, out);
    let rows = Question { empty: 0, ask, join: |a, b, _| a + b };
    let whole = |view: TensorView<'_>| view.count(predicate);
    answer(x, predicate, Axes::new(axis, keepdims), threads, "count_nonzero", whole, &rows)
}

/// The coordinate of the first element, in row-major order, for which the predicate holds: a tuple
/// with one index for each dimension. None if there is no such element. With axis=, one index along
/// each row, or -1, as an array of intp. Arguments and errors as in any.
#[pyfunction]
#[pyo3(signature = (x, predicate, /, *, axis=None, keepdims=false, threads=None))]
fn position<'py>(
    x: &Bound<'py, PyAny>,
    predicate: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: bool,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, predicate) = (x.py(), predicate::parse(predicate)?);
    let array = input::read_for(x, predicate::has_sign(predicate))?;
    if let Some(axes) = Axes::new(axis, keepdims) {
        return input::answer_for(x, rows::position(py, &array, predicate, &axes, threads)?);
    }
    let found = ask_array(py, &array, threads, |view| view.position(predicate))?;
    Coordinate::new(found, &array)?.into_bound_py_any(py)
}

/// How many elements are NaN, +Inf and -Inf, and the coordinate of the first of each: a Census.
/// With axis=, an array of records of numpy, one for each row along this axis. Their fields are
/// named as the attributes of Census, and first is an index along the row, or -1. Arguments and
/// errors as in all_finite, and ValueError for an unknown axis.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, threads=None))]
fn census<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: bool,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let array = input::read_for(x, true)?;
    if let Some(axes) = Axes::new(axis, keepdims) {
        let rows = Question {
            empty: nonfinite::Census::default(),
            ask: &|rows, out| rows.census(out),
            join: |a, b, behind| a.join(b.behind(behind)),
        };
        let (sizes, answers) = rows::collected(py, &array, &axes, threads, &rows)?;
        return records::census(py, &sizes, &answers);
    }
    let census = ask_array(py, &array, threads, |view| view.census())?;
    Census::new(census, &array)?.into_bound_py_any(py)
}

/// Minimum, maximum and maximum magnitude of the finite elements, and how many elements are zero,
/// subnormal, normal, NaN and infinite: a Stats. With axis=, records as those of census. Where a
/// row has no finite element, the value is NaN and first is -1. Arguments and errors as in census,
/// and TypeError for integers.
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None, keepdims=false, threads=None))]
fn stats<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: bool,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, array) = (x.py(), input::read_for(x, true)?);
    check_float(&array)?;
    if let Some(axes) = Axes::new(axis, keepdims) {
        let rows = Question {
            empty: nonfinite::Stats::default(),
            ask: &|rows, out| rows.stats(out),
            join: |a, b, behind| a.join(b.behind(behind)),
        };
        let (sizes, answers) = rows::collected(py, &array, &axes, threads, &rows)?;
        return records::stats(py, &sizes, &answers);
    }
    let stats = ask_array(py, &array, threads, |view| view.stats())?;
    Stats::new(stats, &array)?.into_bound_py_any(py)
}

/// What `whole` answers about all elements, or `rows` about rows. In torch the operation for all
/// elements is called `question`.
#[inline]
fn answer<'py, W, A>(
    x: &Bound<'py, PyAny>,
    predicate: Predicate,
    axes: Option<Axes<'_, 'py>>,
    threads: Option<isize>,
    question: &str,
    whole: impl FnOnce(TensorView<'_>) -> W + Send,
    rows: &Question<'_, A>,
) -> PyResult<Bound<'py, PyAny>>
where
    W: Send + IntoPyObject<'py>,
    A: Answer + Copy + Send + Sync + IntoPyObject<'py>,
{
    let (py, signs) = (x.py(), predicate::has_sign(predicate));
    let Some(axes) = axes else {
        return match ask(x, signs, threads, whole) {
            Ok(answer) => answer.into_bound_py_any(py),
            Err(error) => fallback::ask(x, error, question, predicate.name(), threads),
        };
    };
    let array = input::read_for(x, signs)?;
    input::answer_for(x, rows::answers(py, &array, &axes, threads, rows)?)
}
