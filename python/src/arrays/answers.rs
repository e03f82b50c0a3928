//! The answers that are more than a number, as classes of Python. All of them are read-only.

use std::hash::{Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::error::of_crate;
use crate::owners::Array;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Occurrences>()?;
    module.add_class::<Census>()?;
    module.add_class::<Extreme>()?;
    module.add_class::<Stats>()
}

/// A class and its arguments: what `pickle` and `copy` ask for.
type Reduced<'py> = (Bound<'py, PyType>, Bound<'py, PyTuple>);

/// The arguments of each class, which are attributes, too.
const OCCURRENCES: [&str; 2] = ["count", "first"];
const CENSUS: [&str; 3] = ["nan", "pos_inf", "neg_inf"];
const EXTREME: [&str; 3] = ["value", "bits", "first"];
const STATS: [&str; 7] = ["census", "min", "max", "max_abs", "zeros", "subnormals", "normals"];

fn reduced<'py>(answer: &Bound<'py, PyAny>, names: &[&str]) -> PyResult<Reduced<'py>> {
    let arguments = names.iter().map(|name| answer.getattr(*name)).collect::<PyResult<Vec<_>>>()?;
    Ok((answer.get_type(), PyTuple::new(answer.py(), arguments)?))
}

/// The call of the class that makes the answer.
fn text(answer: &Bound<'_, PyAny>, names: &[&str]) -> PyResult<String> {
    let field = |name: &&str| Ok(format!("{name}={}", answer.getattr(*name)?.repr()?));
    let fields = names.iter().map(field).collect::<PyResult<Vec<_>>>()?;
    Ok(format!("{}({})", answer.get_type().name()?, fields.join(", ")))
}

/// The elements of one class: how many there are, and the coordinate of the first one, or None.
#[pyclass(frozen, get_all, eq, hash, from_py_object, module = "nonfinite")]
#[derive(Clone, PartialEq, Hash)]
pub(crate) struct Occurrences {
    /// How many elements belong to the class.
    count: usize,
    /// The coordinate of the first one in row-major order: a tuple, or None.
    first: Coordinate,
}

/// A tuple of indices, or None.
#[derive(Clone, PartialEq, Hash)]
pub(crate) struct Coordinate(Option<Vec<usize>>);

impl<'py> IntoPyObject<'py> for &Coordinate {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.0 {
            Some(indices) => Ok(PyTuple::new(py, indices)?.into_any()),
            None => Ok(py.None().into_bound(py)),
        }
    }
}

impl Coordinate {
    /// Of the element of an array with this row-major index.
    pub(crate) fn new(index: Option<usize>, array: &Array<'_>) -> PyResult<Self> {
        let Some(index) = index else { return Ok(Self(None)) };
        let view = array.view().map_err(of_crate)?;
        Ok(Self(Some(view.coordinate(index).map_err(of_crate)?.collect())))
    }
}

#[pymethods]
impl Occurrences {
    #[new]
    fn of_python(count: usize, first: Option<Vec<usize>>) -> Self {
        Self { count, first: Coordinate(first) }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduced(slf, &OCCURRENCES)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        text(slf, &OCCURRENCES)
    }

    fn __bool__(&self) -> bool {
        self.count > 0
    }
}

impl Occurrences {
    fn new(class: nonfinite::Occurrences, array: &Array<'_>) -> PyResult<Self> {
        Ok(Self { count: class.count, first: Coordinate::new(class.first, array)? })
    }
}

/// How many elements are NaN, +Inf and -Inf, and the first of each.
#[pyclass(frozen, get_all, new = "from_fields", eq, hash, from_py_object, module = "nonfinite")]
#[derive(Clone, PartialEq, Hash)]
pub(crate) struct Census {
    /// NaN of either sign, quiet or signalling.
    nan: Occurrences,
    /// +Inf.
    pos_inf: Occurrences,
    /// -Inf.
    neg_inf: Occurrences,
}

impl Census {
    pub(crate) fn new(census: nonfinite::Census, array: &Array<'_>) -> PyResult<Self> {
        let class = |class| Occurrences::new(class, array);
        let nonfinite::Census { nan, pos_inf, neg_inf, .. } = census;
        Ok(Self { nan: class(nan)?, pos_inf: class(pos_inf)?, neg_inf: class(neg_inf)? })
    }

    /// The name, the number of elements and the first coordinate of each class.
    pub(crate) fn classes(&self) -> [(&'static str, usize, Option<&[usize]>); 3] {
        let classes = [("NaN", &self.nan), ("+Inf", &self.pos_inf), ("-Inf", &self.neg_inf)];
        classes.map(|(name, class)| (name, class.count, class.first.0.as_deref()))
    }
}

#[pymethods]
impl Census {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduced(slf, &CENSUS)
    }

    /// The number of elements that are NaN or infinite.
    #[getter]
    pub(crate) fn total(&self) -> usize {
        // A program can make a census with any counts.
        self.nan.count.saturating_add(self.pos_inf.count).saturating_add(self.neg_inf.count)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        text(slf, &CENSUS)
    }

    fn __bool__(&self) -> bool {
        self.total() > 0
    }
}

/// A minimum or maximum: its value, exactly, and the coordinate of the first element with it.
#[pyclass(frozen, get_all, eq, hash, from_py_object, module = "nonfinite")]
#[derive(Clone, PartialEq)]
pub(crate) struct Extreme {
    /// The number, exactly.
    value: f64,
    /// The bits of the number in the format of the array.
    bits: u64,
    /// The coordinate of the first element with this value: a tuple.
    first: Coordinate,
}

impl Extreme {
    fn new(extreme: nonfinite::Extreme, array: &Array<'_>) -> PyResult<Self> {
        let first = Coordinate::new(Some(extreme.index), array)?;
        Ok(Self { value: extreme.value, bits: extreme.bits, first })
    }
}

/// Equal extremes have equal bits.
impl Hash for Extreme {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.bits, &self.first).hash(state);
    }
}

#[pymethods]
impl Extreme {
    #[new]
    fn of_python(value: f64, bits: u64, first: Vec<usize>) -> Self {
        Self { value, bits, first: Coordinate(Some(first)) }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduced(slf, &EXTREME)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        text(slf, &EXTREME)
    }
}

/// What the elements of an array are. Each is one of the census, zeros, subnormals and normals.
#[pyclass(frozen, get_all, new = "from_fields", eq, hash, module = "nonfinite")]
#[derive(Clone, PartialEq, Hash)]
pub(crate) struct Stats {
    /// NaN, +Inf and -Inf.
    census: Census,
    /// The minimum of the finite elements, or None if there are none.
    min: Option<Extreme>,
    /// The maximum of the finite elements, or None.
    max: Option<Extreme>,
    /// The maximum magnitude of the finite elements, or None.
    max_abs: Option<Extreme>,
    /// How many elements are zero, of either sign.
    zeros: usize,
    /// How many elements are subnormal.
    subnormals: usize,
    /// How many elements are normal numbers.
    normals: usize,
}

impl Stats {
    pub(crate) fn new(stats: nonfinite::Stats, array: &Array<'_>) -> PyResult<Self> {
        let extreme = |x: Option<nonfinite::Extreme>| x.map(|x| Extreme::new(x, array)).transpose();
        Ok(Self {
            census: Census::new(stats.census, array)?,
            min: extreme(stats.min)?,
            max: extreme(stats.max)?,
            max_abs: extreme(stats.max_abs)?,
            zeros: stats.zeros,
            subnormals: stats.subnormals,
            normals: stats.normals,
        })
    }
}

#[pymethods]
impl Stats {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduced(slf, &STATS)
    }

    /// The number of finite elements.
    #[getter]
    fn finite(&self) -> usize {
        // A program can make statistics with any counts.
        self.zeros.saturating_add(self.subnormals).saturating_add(self.normals)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        text(slf, &STATS)
    }
}
