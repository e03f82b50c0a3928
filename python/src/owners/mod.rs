//! The objects of other owners: numpy, DLPack, Arrow, the buffer protocol.
//!
//! All unsafe code of this crate is here. Each file finds the structures of one owner and has
//! `nonfinite-border` read them, which returns an [`Array`].

pub(crate) mod arrow;
pub(crate) mod buffer;
pub(crate) mod capsule;
pub(crate) mod dlpack;
pub(crate) mod new;
pub(crate) mod numpy;
pub(crate) mod torch;

use nonfinite::Format;
use nonfinite_border::managed::Managed;
pub(crate) use nonfinite_border::{Kind, Shape};
use pyo3::prelude::*;

/// An array, and the object that keeps its memory alive.
pub(crate) type Array<'py> = nonfinite_border::Array<Owner<'py>>;

/// Keeps the memory of an [`Array`] alive. The fields are only dropped.
///
/// The thread that drops the owner holds the GIL: an `Array` has pointers, so it is not `Send`, and
/// it is not dropped inside of `Python::detach`.
#[expect(dead_code, reason = "the fields are dropped, never read")]
pub(crate) enum Owner<'py> {
    Object(Bound<'py, PyAny>),
    Tensor(Managed),
    Buffer(buffer::Held),
}

/// The elements of an array of numpy or a tensor of torch that lie one after the other in the order
/// of the machine, without the steps that an [`Array`] takes for any layout. `None` for other
/// objects, and for everything that is an error. Signs may be wrong if the type of `x` is not
/// `numpy.ndarray` itself: see [`nonfinite_border::Array::tensor`].
#[inline]
pub(crate) fn flat<'a>(x: &'a Bound<'_, PyAny>) -> Option<(&'a [u8], Format)> {
    if numpy::is_exact(x) { numpy::flat(x) } else { dlpack::flat(x) }
}
