//! Finds NaN and infinities in tensors of burn.
//!
//! ```
//! use burn_tensor::{Device, Tensor};
//! use nonfinite::Predicate;
//! use nonfinite_burn::NonFinite;
//!
//! let device = Device::flex();
//! let logits = Tensor::<2>::from_data([[1f32, f32::NAN], [f32::INFINITY, 2.0]], &device);
//! assert!(!logits.all_finite());
//! let mask = logits.mask_of(Predicate::Finite);
//! assert_eq!(mask.into_data().try_to_vec::<bool>().unwrap(), [true, false, false, true]);
//! assert_eq!(logits.first_of(Predicate::Nan), Some([0, 1]));
//! ```
//!
//! Tensors of the backend flex are read in place, with any strides. Tensors of other backends, and
//! those that autodiff tracks, are copied to the CPU first.

mod view;

use burn_tensor::{Bool, Tensor, TensorData};
use nonfinite::{Census, Predicate, Stats, Watch};
use view::with_view;

/// Questions to a tensor of floats. burn has `is_nan`, `is_inf`, `is_finite` and `contains_nan`,
/// each of which consumes the tensor; the names here are other ones.
///
/// # Panics
/// All methods panic if the tensor is quantized, or if its backend cannot read its memory back.
pub trait NonFinite<const D: usize> {
    /// A tensor of the same shape, on the same device: whether `predicate` holds.
    fn mask_of(&self, predicate: Predicate) -> Tensor<D, Bool>;

    /// Whether `predicate` holds for any element.
    fn any_of(&self, predicate: Predicate) -> bool;

    /// Whether `predicate` holds for all elements.
    fn all_of(&self, predicate: Predicate) -> bool;

    /// The number of elements for which `predicate` holds.
    fn count_of(&self, predicate: Predicate) -> usize;

    /// The coordinate of the first element, in row-major order, for which `predicate` holds.
    fn first_of(&self, predicate: Predicate) -> Option<[usize; D]>;

    /// The number of NaN, +Inf and -Inf, and the row-major index of the first of each.
    fn census(&self) -> Census;

    /// The census, the minimum and the maximum of the finite elements, and how many are zero or
    /// subnormal.
    fn stats(&self) -> Stats;

    /// Whether all elements are finite.
    fn all_finite(&self) -> bool {
        self.all_of(Predicate::Finite)
    }

    /// Whether any element is NaN.
    fn any_nan(&self) -> bool {
        self.any_of(Predicate::Nan)
    }
}

impl<const D: usize> NonFinite<D> for Tensor<D> {
    fn mask_of(&self, predicate: Predicate) -> Tensor<D, Bool> {
        let mut mask = vec![false; self.dims().iter().product()];
        with_view(self, |view| view.mask(predicate, &mut mask).expect("the same length"));
        Tensor::from_data(TensorData::new(mask, self.dims()), &self.device())
    }

    fn any_of(&self, predicate: Predicate) -> bool {
        with_view(self, |view| view.any(predicate))
    }

    fn all_of(&self, predicate: Predicate) -> bool {
        with_view(self, |view| view.all(predicate))
    }

    fn count_of(&self, predicate: Predicate) -> usize {
        with_view(self, |view| view.count(predicate))
    }

    fn first_of(&self, predicate: Predicate) -> Option<[usize; D]> {
        with_view(self, |view| {
            let mut coordinate = view.coordinate(view.position(predicate)?).ok()?;
            Some(core::array::from_fn(|_| coordinate.next().unwrap_or(0)))
        })
    }

    fn census(&self) -> Census {
        with_view(self, |view| view.census())
    }

    fn stats(&self) -> Stats {
        with_view(self, |view| view.stats())
    }
}

/// [`Watch::look`] at a tensor of burn: its statistics.
///
/// ```
/// use burn_tensor::{Device, Tensor};
/// use nonfinite::{Predicate, Watch};
///
/// let watch = Watch::new(Predicate::NonFinite);
/// let x = Tensor::<2>::from_data([[4f32, -1.0], [9.0, 0.0]], &Device::flex());
/// nonfinite_burn::look(&watch, "x", &x);
/// nonfinite_burn::look(&watch, "root", &x.sqrt());
/// let bad = watch.first().unwrap();
/// assert_eq!((bad.name(), bad.coordinate()), ("root", &[0, 1][..]));
/// ```
///
/// # Panics
/// As the methods of [`NonFinite`].
pub fn look<const D: usize>(watch: &Watch, name: &str, tensor: &Tensor<D>) -> Stats {
    with_view(tensor, |view| watch.look(name, *view))
}
