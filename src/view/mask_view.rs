//! Masks with their own strides.

use nonfinite_kernels::MaskOut;
use nonfinite_kernels::strided::Target;

use super::TensorView;
use super::layout::Layout;
use super::part::Part;
use crate::{Error, Predicate};

/// The output of a mask: one byte for each element, with its own strides. Bytes between the results
/// keep their values.
#[derive(Debug)]
pub struct MaskView<'a> {
    out: Out<'a>,
    layout: Layout<'a>,
}

#[derive(Debug)]
enum Out<'a> {
    Bytes(MaskOut<'a>),
    #[cfg(feature = "ndarray")]
    Array(nonfinite_kernels::strided::ArrayMut<'a>),
}

impl<'a> MaskView<'a> {
    /// The mask of these sizes and strides (in bytes) whose coordinate 0 is byte `offset` of `out`.
    /// `out` may be slices, arrays and vectors of `bool` or `u8`, or `&mut [MaybeUninit<bool>]`.
    ///
    /// No two coordinates may name the same byte. The check is sufficient, not necessary: sort the
    /// dimensions larger than 1 by absolute stride; each must step over all bytes, from the first
    /// to the last, that the dimensions before it reach. All slices, permutations, reversals and
    /// paddings of a dense tensor pass. Layouts whose dimensions interleave, such as sizes 2 x 3
    /// with strides 3 and 2 (bytes 0 2 4 and 3 5 7), are refused.
    ///
    /// # Errors
    /// As [`TensorView::strided`], and [`Error::Overlap`].
    pub fn strided(
        out: impl Into<MaskOut<'a>>,
        offset: usize,
        sizes: &'a [usize],
        strides: &'a [isize],
    ) -> Result<Self, Error> {
        let out = out.into();
        let layout = Layout::signed(out.len(), offset, sizes, strides)?;
        layout.check_injective()?;
        Ok(Self { out: Out::Bytes(out), layout })
    }

    /// The mask of these sizes in row-major order from the first byte of `out` on. Bytes behind the
    /// last result keep their values.
    ///
    /// # Errors
    /// As [`TensorView::shaped`].
    pub fn shaped(out: impl Into<MaskOut<'a>>, sizes: &'a [usize]) -> Result<Self, Error> {
        let out = out.into();
        let layout = Layout::row_major(out.len(), sizes)?;
        Ok(Self { out: Out::Bytes(out), layout })
    }

    /// The number of results: the product of the sizes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether a size is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sizes of the dimensions, outermost first.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        self.layout.sizes()
    }

    /// The strides of the dimensions in bytes, outermost first.
    pub fn strides(&self) -> impl ExactSizeIterator<Item = isize> + use<'_, 'a> {
        self.layout.strides()
    }
}

impl TensorView<'_> {
    /// Writes one byte for each element, at the place of its coordinate in `out`: 1 if `predicate`
    /// holds, otherwise 0.
    ///
    /// # Errors
    /// [`Error::OutputRank`] or [`Error::OutputSize`] if `out` does not have the sizes of the view;
    /// nothing is written then.
    pub fn mask_into(&self, predicate: Predicate, out: &mut MaskView<'_>) -> Result<(), Error> {
        let (from, to) = (self.sizes(), out.sizes());
        if from.len() != to.len() {
            return Err(Error::OutputRank { input: from.len(), output: to.len() });
        }
        if let Some(dimension) = (0..from.len()).find(|&i| from[i] != to[i]) {
            let (input, output) = (from[dimension], to[dimension]);
            return Err(Error::OutputSize { dimension, input, output });
        }
        let layout = &out.layout;
        let target = match &mut out.out {
            Out::Bytes(out) => Target::new(out, layout.offset(), layout.dimensions()),
            #[cfg(feature = "ndarray")]
            Out::Array(array) => array.target(),
        };
        Part::whole(self).mask_into(predicate, target);
        Ok(())
    }
}

/// The dimensions and the layout of the array. Bytes between its elements are not written.
#[cfg(feature = "ndarray")]
impl<'o, S, D> From<&'o mut ndarray::ArrayBase<S, D>> for MaskView<'o>
where
    S: ndarray::DataMut<Elem = bool>,
    D: ndarray::Dimension,
{
    fn from(out: &'o mut ndarray::ArrayBase<S, D>) -> Self {
        let array = nonfinite_kernels::strided::ArrayMut::from(out);
        let layout = Layout::trusted(array.sizes(), array.strides());
        Self { out: Out::Array(array), layout }
    }
}
