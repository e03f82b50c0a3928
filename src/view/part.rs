//! Parts of a view, and the questions asked of them by the kernels.
//!
//! Every question of [`TensorView`] comes here: for the whole view, or for parts of it if threads
//! share the work or if a search continues after a hit.

use nonfinite_kernels as kernels;
use nonfinite_kernels::strided::{self, Tensor};
use nonfinite_kernels::{MaskOut, Rule};

use super::TensorView;
#[cfg(feature = "stats")]
use crate::Stats;
use crate::{Census, Predicate};

/// A part of a view: `len` elements from row-major index `first` on.
///
/// If the view is not dense, a part is a box: some coordinates of dimension `dimension`, one
/// coordinate of each dimension before it, and all coordinates of the dimensions after it.
#[derive(Clone, Copy)]
pub(super) struct Part<'v, 'a> {
    pub(super) view: &'v TensorView<'a>,
    pub(super) first: usize,
    pub(super) len: usize,
    pub(super) dimension: usize,
}

impl<'v, 'a> Part<'v, 'a> {
    /// All elements.
    #[inline]
    pub(super) fn whole(view: &'v TensorView<'a>) -> Self {
        Self { view, first: 0, len: view.len(), dimension: 0 }
    }

    /// A box of at most `most` elements from element `from` on. Consecutive boxes cover the rest of
    /// a view that is not dense.
    pub(super) fn after(view: &'v TensorView<'a>, from: usize, most: usize) -> Self {
        let part = Self { first: from, ..Self::whole(view) };
        let (mut rest, mut inner) = (from, 1);
        for (dimension, &size) in view.sizes().iter().enumerate().rev() {
            let coordinate = rest % size;
            let coordinates = (size - coordinate).min(most / inner);
            if coordinates < size || dimension == 0 {
                return Self { len: coordinates * inner, dimension, ..part };
            }
            (rest, inner) = (rest / size, inner * size);
        }
        part
    }

    /// Whether the elements lie in one piece, in row-major order.
    #[inline]
    pub(super) fn is_dense(&self) -> bool {
        self.view.tensor.is_dense()
    }

    /// `len` elements of the part from row-major index `first` on. In a box both are multiples of
    /// the number of elements in one coordinate of the outermost dimension.
    #[cfg(feature = "rayon")]
    fn of(&self, first: usize, len: usize) -> Self {
        Self {
            first,
            len,
            dimension: self.outermost().map_or(self.dimension, |(dimension, ..)| dimension),
            ..*self
        }
    }

    /// Elements of the dimensions inside of `dimension`.
    #[cfg(feature = "rayon")]
    pub(super) fn inner(&self, dimension: usize) -> usize {
        self.view.sizes()[dimension + 1..].iter().product()
    }

    /// The number of elements before the place nearest to element `middle` at which the part can be
    /// cut.
    #[cfg(feature = "rayon")]
    pub(super) fn border_near(&self, middle: usize) -> Option<usize> {
        if !self.is_dense() {
            let (_, inner, size) = self.outermost()?;
            return Some((middle / inner).clamp(1, size - 1) * inner);
        }
        (0 < middle && middle < self.len).then_some(middle)
    }

    /// The outermost dimension with several coordinates in the box, the number of elements inside
    /// of this dimension, and the number of coordinates.
    #[cfg(feature = "rayon")]
    fn outermost(&self) -> Option<(usize, usize, usize)> {
        let dimensions = self.dimension..self.view.sizes().len();
        dimensions
            .map(|dimension| (dimension, self.inner(dimension)))
            .map(|(dimension, inner)| (dimension, inner, self.len / inner))
            .find(|(_, _, size)| *size > 1)
    }

    /// Cuts the part at the border nearest to element `middle`, if there is one.
    #[cfg(feature = "rayon")]
    pub(super) fn split_at(&self, middle: usize) -> Option<(Self, Self)> {
        let middle = self.border_near(middle)?;
        let (first, second) = (self.first, self.first + middle);
        Some((self.of(first, middle), self.of(second, self.len - middle)))
    }

    /// Bytes of the elements.
    #[cfg(feature = "rayon")]
    pub(super) fn bytes(&self) -> usize {
        self.len.saturating_mul(self.view.format.size_in_bytes())
    }

    /// The elements, if the view is dense.
    #[inline]
    pub(super) fn dense(&self) -> &'a [u8] {
        let size = self.view.format.size_in_bytes();
        let bytes = self.view.tensor.dense().expect("a dense view");
        &bytes[self.first * size..][..self.len * size]
    }

    /// The elements, dense or not.
    pub(super) fn tensor(&self) -> Tensor<'a> {
        self.view.tensor.part(self.first, self.len, self.dimension)
    }

    /// Asks a view that is not dense. Not inlined, so that other calls need no room for the tensor
    /// and save no registers.
    #[inline(never)]
    fn ask_strided<R>(&self, question: impl FnOnce(&Tensor<'a>) -> R) -> R {
        question(&self.tensor())
    }

    #[inline]
    pub(super) fn mask(&self, rule: &Rule, out: MaskOut<'_>) {
        let backend = self.view.backend;
        if !self.is_dense() {
            return self.ask_strided(|x| strided::mask(backend, x, rule, out));
        }
        kernels::mask(backend, self.dense(), rule, out);
    }

    #[inline]
    pub(super) fn bits(&self, rule: &Rule, out: &mut [u8], offset: usize) {
        let backend = self.view.backend;
        if !self.is_dense() {
            return self.ask_strided(|x| strided::bits(backend, x, rule, out, offset));
        }
        kernels::bits(backend, self.dense(), rule, out, offset);
    }

    /// Whether the rule holds for any element.
    #[inline]
    pub(super) fn any(&self, rule: &Rule) -> bool {
        let backend = self.view.backend;
        if !self.is_dense() {
            return self.ask_strided(|x| strided::any(backend, x, rule));
        }
        kernels::position(backend, self.dense(), rule).is_some()
    }

    /// The index within the part of the first element for which the rule holds.
    #[inline]
    pub(super) fn position(&self, rule: &Rule) -> Option<usize> {
        let backend = self.view.backend;
        if !self.is_dense() {
            return self.ask_strided(|x| strided::position(backend, x, rule));
        }
        kernels::position(backend, self.dense(), rule)
    }

    /// Fast if the rule holds for few elements: see `Predicate::counted`.
    #[inline]
    pub(super) fn count(&self, rule: &Rule) -> usize {
        let backend = self.view.backend;
        if !self.is_dense() {
            let [count] = self.ask_strided(|x| strided::counts(backend, x, rule, [rule]));
            return count;
        }
        kernels::count(backend, self.dense(), rule)
    }

    /// Indices are counted within the part.
    #[inline]
    pub(super) fn census(&self) -> Census {
        if !self.is_dense() {
            return self.census_of_strided();
        }
        kernels::census(self.view.backend, self.dense(), self.view.format.rule(Predicate::Nan))
    }

    #[inline(never)]
    fn census_of_strided(&self) -> Census {
        let (format, backend, tensor) = (self.view.format, self.view.backend, self.tensor());
        let rules = CLASSES.map(|predicate| format.rule(predicate));
        let counts = strided::counts(backend, &tensor, format.rule(Predicate::NonFinite), rules);
        let mut census = Census::default();
        let classes = [&mut census.nan, &mut census.pos_inf, &mut census.neg_inf];
        for ((class, count), rule) in classes.into_iter().zip(counts).zip(rules) {
            class.count = count;
            if count > 0 {
                class.first = strided::position(backend, &tensor, rule);
            }
        }
        census
    }

    /// Indices are counted within the part.
    #[cfg(feature = "stats")]
    pub(super) fn stats(&self) -> Stats {
        let (format, backend) = (self.view.format, self.view.backend);
        if !self.is_dense() {
            return Stats::new(strided::stats(backend, &self.tensor(), format.numbers()), format);
        }
        Stats::new(kernels::stats(backend, self.dense(), format.numbers()), format)
    }
}

/// The classes of a census.
pub(super) const CLASSES: [Predicate; 3] =
    [Predicate::Nan, Predicate::PositiveInf, Predicate::NegativeInf];
