//! The short ways of the questions (see `border::short`): for arrays of numpy and tensors of at
//! most 64 KiB whose dtype or class an earlier call has met.

use nonfinite::{MaskOut, Predicate, TensorView};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use super::ask::RELEASE;
use super::error::of_crate;
use super::{out, predicate};
use crate::border::{Flat, Room, flat, numpy};

/// The answer to a question about a small array, read in the fastest way. If `signs` is set, the
/// answer depends on signs. `None` for every other object.
#[inline]
pub(crate) fn small<R>(
    x: &Bound<'_, PyAny>,
    signs: bool,
    question: impl FnOnce(TensorView<'_>) -> R,
) -> Option<R> {
    if signs && !numpy::is_exact(x) {
        return None;
    }
    let mut room = Room::new();
    let flat = flat(x, &mut room).filter(|flat| flat.bytes.len() <= RELEASE)?;
    Some(question(TensorView::from_bytes(flat.bytes, flat.format).ok()?))
}

/// The mask of a small array of numpy with at least one dimension: a new array, or `out` if it is
/// an array of numpy in row-major order that can be written to.
#[inline]
fn small_mask<'py>(
    x: &Bound<'py, PyAny>,
    predicate: Predicate,
    out: Option<&Bound<'py, PyAny>>,
) -> Option<Bound<'py, PyAny>> {
    if !numpy::is_exact(x) {
        return None;
    }
    let mut room = Room::new();
    let Flat { bytes, format, sizes, copied } = flat(x, &mut room)?;
    if bytes.len() > RELEASE || sizes.is_empty() {
        return None;
    }
    let view = TensorView::from_bytes(bytes, format).ok()?;
    let Some(out) = out else {
        let fill = |out: MaskOut<'_>| view.mask(predicate, out).map_err(of_crate);
        return out::mask(x.py(), sizes, fill).ok();
    };
    // The memory of `out` is compared with that of `x`, not with that of a copy.
    if copied {
        return None;
    }
    view.mask(predicate, numpy::dense_mask(out, sizes, bytes)?).ok()?;
    Some(out.clone())
}

/// The functions with a short way.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Function {
    AllFinite,
    AnyNan,
    Any,
    All,
    Count,
    Mask,
    IsNan,
    IsInf,
    IsFinite,
}

impl Function {
    /// All functions, each at the place of its number.
    pub(crate) const ALL: [Self; 9] = [
        Self::AllFinite,
        Self::AnyNan,
        Self::Any,
        Self::All,
        Self::Count,
        Self::Mask,
        Self::IsNan,
        Self::IsInf,
        Self::IsFinite,
    ];

    /// The place of the argument `out`, which may be given by its name.
    #[inline]
    pub(crate) const fn place_of_out(self) -> Option<usize> {
        match self {
            Self::AllFinite | Self::AnyNan | Self::Any | Self::All | Self::Count => None,
            Self::Mask => Some(2),
            Self::IsNan | Self::IsInf | Self::IsFinite => Some(1),
        }
    }

    /// The answer to a call with these arguments. `None` if this needs the function of PyO3.
    #[inline(always)]
    pub(crate) fn answer<'py>(
        self,
        py: Python<'py>,
        arguments: &[Borrowed<'_, 'py, PyAny>],
    ) -> Option<Bound<'py, PyAny>> {
        let bool = |answer| Some(PyBool::new(py, answer?).to_owned().into_any());
        match (self, arguments) {
            (Self::AllFinite, [x]) => bool(small(x, false, |view| view.all(Predicate::Finite))),
            (Self::AnyNan, [x]) => bool(small(x, false, |view| view.any(Predicate::Nan))),
            (Self::Any, [x, name]) => bool(small_by_name(x, name, |view, p| view.any(p))),
            (Self::All, [x, name]) => bool(small_by_name(x, name, |view, p| view.all(p))),
            (Self::Count, [x, name]) => {
                let count = small_by_name(x, name, |view, p| view.count(p))?;
                Some(count.into_pyobject(py).ok()?.into_any())
            }
            (Self::Mask, [x, name]) => small_mask(x, predicate::interned(name)?, None),
            (Self::Mask, [x, name, out]) => small_mask(x, predicate::interned(name)?, Some(out)),
            (Self::IsNan, [x]) => small_mask(x, Predicate::Nan, None),
            (Self::IsNan, [x, out]) => small_mask(x, Predicate::Nan, Some(out)),
            (Self::IsInf, [x]) => small_mask(x, Predicate::Inf, None),
            (Self::IsInf, [x, out]) => small_mask(x, Predicate::Inf, Some(out)),
            (Self::IsFinite, [x]) => small_mask(x, Predicate::Finite, None),
            (Self::IsFinite, [x, out]) => small_mask(x, Predicate::Finite, Some(out)),
            _ => None,
        }
    }
}

/// A question with the predicate of this name.
#[inline]
fn small_by_name<R>(
    x: &Bound<'_, PyAny>,
    name: &Bound<'_, PyAny>,
    question: impl FnOnce(TensorView<'_>, Predicate) -> R,
) -> Option<R> {
    let predicate = predicate::interned(name)?;
    small(x, predicate::has_sign(predicate), |view| question(view, predicate))
}
