//! Parts of a view, and the questions asked of them by the kernels.
//!
//! Every question of [`TensorView`] comes here: for the whole view, or for parts of it if threads
//! share the work or if a search continues behind a hit.

use nonfinite_kernels as kernels;
#[cfg(feature = "views")]
use nonfinite_kernels::strided::{self, Source, Target};
use nonfinite_kernels::{MaskOut, Rule};

use super::{Memory, TensorView};
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
    #[cfg(feature = "views")]
    pub(super) dimension: usize,
}

impl<'v, 'a> Part<'v, 'a> {
    /// All elements.
    #[inline]
    pub(super) fn whole(view: &'v TensorView<'a>) -> Self {
        Self {
            view,
            first: 0,
            len: view.len(),
            #[cfg(feature = "views")]
            dimension: 0,
        }
    }

    /// A box of at most `most` elements from element `from` on. Consecutive boxes cover the rest of
    /// a view that is not dense.
    #[cfg(feature = "views")]
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
    #[cfg(feature = "validity")]
    pub(super) fn is_dense(&self) -> bool {
        self.view.layout.is_dense()
    }

    /// `len` elements of a dense part from row-major index `first` on.
    #[cfg(feature = "validity")]
    pub(super) fn piece(&self, first: usize, len: usize) -> Self {
        debug_assert!(self.is_dense());
        Self { first, len, ..*self }
    }

    /// `len` elements of the part from row-major index `first` on. In a box both are multiples of
    /// the number of elements in one coordinate of the outermost dimension.
    #[cfg(feature = "rayon")]
    fn of(&self, first: usize, len: usize) -> Self {
        Self {
            first,
            len,
            #[cfg(feature = "views")]
            dimension: self.outermost().map_or(self.dimension, |(dimension, ..)| dimension),
            ..*self
        }
    }

    /// Elements of the dimensions inside of `dimension`.
    #[cfg(all(feature = "rayon", feature = "views"))]
    pub(super) fn inner(&self, dimension: usize) -> usize {
        self.view.sizes()[dimension + 1..].iter().product()
    }

    /// The number of elements before the cut: the place nearest to element `middle` at which the
    /// part can be cut in two.
    #[cfg(feature = "rayon")]
    pub(super) fn border_near(&self, middle: usize) -> Option<usize> {
        #[cfg(feature = "views")]
        if !self.view.layout.is_dense() {
            let (_, inner, size) = self.outermost()?;
            return Some((middle / inner).clamp(1, size - 1) * inner);
        }
        (0 < middle && middle < self.len).then_some(middle)
    }

    /// The outermost dimension with several coordinates in the box, the number of elements inside
    /// of this dimension, and the number of coordinates.
    #[cfg(all(feature = "rayon", feature = "views"))]
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
        let (view, size) = (self.view, self.view.format.size_in_bytes());
        debug_assert!(view.layout.is_dense());
        match view.memory {
            Memory::Bytes(bytes) => {
                let first = (view.layout.offset() + self.first) * size;
                &bytes[first..first + self.len * size]
            }
            #[cfg(feature = "ndarray")]
            Memory::Array(_) => unreachable!("no array counts as dense"),
        }
    }

    /// The elements, dense or not.
    #[cfg(feature = "views")]
    #[inline(never)]
    pub(super) fn source(&self) -> Source<'a> {
        let layout = &self.view.layout;
        match self.view.memory {
            Memory::Bytes(bytes) => {
                let dimensions = || layout.dimensions().zip(self.ranges());
                let offset = dimensions().fold(layout.offset(), |at, ((_, stride), (start, _))| {
                    at.wrapping_add_signed(stride.wrapping_mul(start as isize))
                });
                let dimensions = dimensions().map(|((_, stride), (_, count))| (count, stride));
                Source::new(bytes, self.view.format.size_in_bytes(), offset, dimensions)
            }
            #[cfg(feature = "ndarray")]
            Memory::Array(array) => array.source(self.ranges()),
        }
    }

    /// Asks a view that is not dense. Not inlined, so that other calls make no room for the source
    /// and save no registers.
    #[cfg(feature = "views")]
    #[inline(never)]
    fn ask_strided<R>(&self, question: impl FnOnce(&Source<'a>) -> R) -> R {
        question(&self.source())
    }

    /// For each dimension, innermost first: the first coordinate of the box, and the number of
    /// coordinates.
    #[cfg(feature = "views")]
    fn ranges(&self) -> impl Iterator<Item = (usize, usize)> + Clone + use<'v, 'a> {
        let sizes = self.view.sizes();
        let (mut rest, mut inner, part) = (self.first, 1usize, *self);
        sizes.iter().enumerate().rev().map(move |(dimension, &size)| {
            let (start, count) = match dimension.cmp(&part.dimension) {
                core::cmp::Ordering::Greater => (0, size),
                core::cmp::Ordering::Equal => {
                    (rest % size.max(1), part.len.checked_div(inner).unwrap_or(size))
                }
                core::cmp::Ordering::Less => (rest % size.max(1), size.min(1)),
            };
            (rest, inner) = (rest / size.max(1), inner.saturating_mul(size));
            (start, count)
        })
    }

    #[inline]
    pub(super) fn mask(&self, rule: &Rule, out: MaskOut<'_>) {
        let backend = self.view.backend;
        #[cfg(feature = "views")]
        if !self.view.layout.is_dense() {
            return self.ask_strided(|x| strided::mask(backend, x, rule, Target::contiguous(out)));
        }
        kernels::mask(backend, self.dense(), rule, out);
    }

    #[cfg(feature = "views")]
    pub(super) fn mask_into(&self, predicate: Predicate, out: Target<'_>) {
        let rule = self.view.format.rule(predicate);
        strided::mask(self.view.backend, &self.source(), rule, out);
    }

    #[inline]
    pub(super) fn bits(&self, rule: &Rule, out: &mut [u8], offset: usize) {
        let backend = self.view.backend;
        #[cfg(feature = "views")]
        if !self.view.layout.is_dense() {
            return self.ask_strided(|x| strided::bits(backend, x, rule, out, offset));
        }
        kernels::bits(backend, self.dense(), rule, out, offset);
    }

    /// Whether the rule holds for any element.
    #[inline]
    pub(super) fn any(&self, rule: &Rule) -> bool {
        let backend = self.view.backend;
        #[cfg(feature = "views")]
        if !self.view.layout.is_dense() {
            return self.ask_strided(|x| strided::any(backend, x, rule));
        }
        kernels::position(backend, self.dense(), rule).is_some()
    }

    /// The index within the part of the first element for which the rule holds.
    #[inline]
    pub(super) fn position(&self, rule: &Rule) -> Option<usize> {
        let backend = self.view.backend;
        #[cfg(feature = "views")]
        if !self.view.layout.is_dense() {
            return self.ask_strided(|x| strided::position(backend, x, rule));
        }
        kernels::position(backend, self.dense(), rule)
    }

    /// Fast if the rule holds for few elements: see `Predicate::counted`.
    #[inline]
    pub(super) fn count(&self, rule: &Rule) -> usize {
        let backend = self.view.backend;
        #[cfg(feature = "views")]
        if !self.view.layout.is_dense() {
            let [count] = self.ask_strided(|x| strided::counts(backend, x, rule, [rule]));
            return count;
        }
        kernels::count(backend, self.dense(), rule)
    }

    /// Indices are counted within the part.
    #[inline]
    pub(super) fn census(&self) -> Census {
        #[cfg(feature = "views")]
        if !self.view.layout.is_dense() {
            return self.census_of_strided();
        }
        kernels::census(self.view.backend, self.dense(), self.view.format.rule(Predicate::Nan))
    }

    #[cfg(feature = "views")]
    #[inline(never)]
    fn census_of_strided(&self) -> Census {
        let (format, backend, source) = (self.view.format, self.view.backend, self.source());
        let rules = CLASSES.map(|predicate| format.rule(predicate));
        let counts = strided::counts(backend, &source, format.rule(Predicate::NonFinite), rules);
        let mut census = Census::default();
        let classes = [&mut census.nan, &mut census.pos_inf, &mut census.neg_inf];
        for ((class, count), rule) in classes.into_iter().zip(counts).zip(rules) {
            class.count = count;
            if count > 0 {
                class.first = strided::position(backend, &source, rule);
            }
        }
        census
    }

    /// Indices are counted within the part.
    #[cfg(feature = "stats")]
    pub(super) fn stats(&self) -> Stats {
        let (format, backend) = (self.view.format, self.view.backend);
        #[cfg(feature = "views")]
        if !self.view.layout.is_dense() {
            return Stats::new(strided::stats(backend, &self.source(), format.numbers()), format);
        }
        Stats::new(kernels::stats(backend, self.dense(), format.numbers()), format)
    }
}

/// The classes of a census.
#[cfg(feature = "views")]
pub(super) const CLASSES: [Predicate; 3] =
    [Predicate::Nan, Predicate::PositiveInf, Predicate::NegativeInf];
