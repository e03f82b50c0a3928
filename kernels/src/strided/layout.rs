//! Sizes and strides, checked once against the memory that they are for.

use core::fmt;

use super::dims::{Dim, MOST_DIMENSIONS};

/// Why sizes and strides were refused. Dimensions are numbered from 0, the outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LayoutError {
    /// There are more than 64 dimensions.
    TooManyDimensions {
        /// The number of dimensions.
        dimensions: usize,
    },
    /// The sizes of a row-major tensor or mask do not name exactly the given elements.
    ElementCount {
        /// The product of the sizes.
        elements: usize,
        /// The number of given elements (for a mask, bytes).
        given: usize,
    },
    /// The number of strides is not the number of sizes.
    StrideCount {
        /// The number of sizes.
        sizes: usize,
        /// The number of strides.
        strides: usize,
    },
    /// The product of the sizes does not fit into a `usize`.
    TooManyElements {
        /// The dimension at which the product overflows, multiplied from the innermost on.
        dimension: usize,
    },
    /// Coordinate 0 is outside of the given elements.
    OffsetOutOfBounds {
        /// The offset of coordinate 0.
        offset: usize,
        /// The number of given elements (for a mask, bytes).
        elements: usize,
    },
    /// The first or the last coordinate of a dimension is outside of the given elements.
    OutOfBounds {
        /// The first dimension, from the outermost, that leads outside.
        dimension: usize,
        /// Its size.
        size: usize,
        /// Its stride.
        stride: isize,
        /// The number of given elements (for a mask, bytes).
        elements: usize,
    },
    /// Two coordinates of a mask may name one byte; see [`super::MaskView::strided`].
    Overlap {
        /// The dimension whose steps are too short.
        dimension: usize,
        /// Its stride.
        stride: isize,
        /// The least absolute stride that steps over all bytes of the dimensions with shorter
        /// strides.
        needed: usize,
    },
    /// The mask does not have the rank of the input.
    OutputRank {
        /// Dimensions of the input.
        input: usize,
        /// Dimensions of the mask.
        output: usize,
    },
    /// The mask does not have the sizes of the input.
    OutputSize {
        /// The first dimension that differs.
        dimension: usize,
        /// Its size in the input.
        input: usize,
        /// Its size in the mask.
        output: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooManyDimensions { dimensions } => {
                write!(f, "{dimensions} dimensions, but at most {MOST_DIMENSIONS} are possible")
            }
            Self::ElementCount { elements, given } => {
                write!(f, "{elements} elements, but {given} given")
            }
            Self::StrideCount { sizes, strides } => {
                write!(f, "{sizes} sizes, but {strides} strides")
            }
            Self::TooManyElements { dimension } => write!(
                f,
                "with dimension {dimension} there are more elements than a usize can count"
            ),
            Self::OffsetOutOfBounds { offset, elements } => {
                write!(f, "offset {offset} is outside of the {elements} elements given")
            }
            Self::OutOfBounds { dimension, size, stride, elements } => write!(
                f,
                "dimension {dimension} (size {size}, stride {stride}) leads outside of the \
                 {elements} elements given"
            ),
            Self::Overlap { dimension, stride, needed } => write!(
                f,
                "dimension {dimension} of the output (stride {stride}) may name bytes that others \
                 name: its stride must be at least {needed}, forwards or backwards"
            ),
            Self::OutputRank { input, output } => {
                write!(f, "the input has {input} dimensions, but the output has {output}")
            }
            Self::OutputSize { dimension, input, output } => {
                write!(f, "dimension {dimension} has size {input}, but size {output} in the output")
            }
        }
    }
}

impl core::error::Error for LayoutError {}

/// Sizes and strides, outermost first.
#[derive(Clone, Copy, Debug)]
enum Shape<'a> {
    /// One dimension with this stride.
    Line(isize),
    /// Row-major without padding.
    RowMajor(&'a [usize]),
    /// Slices of one length.
    Strided(&'a [usize], &'a [isize]),
}

/// A shape whose elements all exist, or a box of its coordinates: one coordinate of the outermost
/// dimensions, some of the next dimension, and all of the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'a> {
    shape: Shape<'a>,
    /// The number of elements, of the box if it is one.
    len: usize,
    /// Whether the elements are adjacent, in row-major order.
    dense: bool,
}

impl<'a> Layout<'a> {
    /// One dimension of `len` elements, `stride` apart.
    #[inline(always)]
    pub(super) const fn flat(len: usize, stride: isize) -> Self {
        Self { shape: Shape::Line(stride), len, dense: len <= 1 || stride == 1 }
    }

    /// Row-major without padding, for exactly the `given` elements.
    pub(super) fn row_major(sizes: &'a [usize], given: usize) -> Result<Self, LayoutError> {
        let layout = Self { shape: Shape::RowMajor(sizes), len: 0, dense: true }.measured()?;
        match layout.len {
            elements if elements == given => Ok(layout),
            elements => Err(LayoutError::ElementCount { elements, given }),
        }
    }

    /// These sizes and strides in a memory of `elements` elements, with coordinate 0 at element
    /// `offset`. A dimension of size 1 may have any stride, and a shape without elements any offset
    /// and strides.
    pub(super) fn strided(
        sizes: &'a [usize],
        strides: &'a [isize],
        elements: usize,
        offset: usize,
    ) -> Result<Self, LayoutError> {
        let layout = Self::unchecked(sizes, strides)?;
        if layout.len != 0 {
            layout.check_bounds(elements, offset)?;
        }
        Ok(layout)
    }

    /// [`Layout::strided`], of elements that the caller knows to exist.
    pub(super) fn unchecked(sizes: &'a [usize], strides: &'a [isize]) -> Result<Self, LayoutError> {
        if sizes.len() != strides.len() {
            let (sizes, strides) = (sizes.len(), strides.len());
            return Err(LayoutError::StrideCount { sizes, strides });
        }
        Self { shape: Shape::Strided(sizes, strides), len: 0, dense: true }.measured()
    }

    /// The same layout, with the number of its elements.
    fn measured(self) -> Result<Self, LayoutError> {
        let (dimensions, mut len, mut dense) = (self.sizes().len(), 1usize, true);
        if dimensions > MOST_DIMENSIONS {
            return Err(LayoutError::TooManyDimensions { dimensions });
        }
        if self.sizes().contains(&0) {
            return Ok(self);
        }
        for (dimension, size, stride) in self.inside_out() {
            dense &= size == 1 || stride == len as isize;
            len = len.checked_mul(size).ok_or(LayoutError::TooManyElements { dimension })?;
        }
        Ok(Self { len, dense, ..self })
    }

    /// The number, the size and the stride of each dimension, the innermost first.
    #[inline]
    fn inside_out(&self) -> impl Iterator<Item = (usize, usize, isize)> {
        let (sizes, mut inner) = (self.sizes(), 1isize);
        (0..sizes.len()).rev().map(move |dimension| {
            let stride = match &self.shape {
                Shape::Line(stride) => *stride,
                Shape::RowMajor(_) => inner,
                Shape::Strided(_, strides) => strides[dimension],
            };
            // May wrap: `measured` refuses sizes whose product overflows.
            inner = inner.wrapping_mul(sizes[dimension] as isize);
            (dimension, sizes[dimension], stride)
        })
    }

    /// Checks that every element is among `elements`. There must be at least one.
    #[inline(never)]
    fn check_bounds(&self, elements: usize, offset: usize) -> Result<(), LayoutError> {
        if offset >= elements {
            return Err(LayoutError::OffsetOutOfBounds { offset, elements });
        }
        let Shape::Strided(sizes, strides) = self.shape else { return Ok(()) };
        let (mut first, mut last) = (offset, offset);
        for (dimension, (&size, &stride)) in sizes.iter().zip(strides).enumerate() {
            // A number that overflows leads outside of any memory.
            let reach = (size - 1).checked_mul(stride.unsigned_abs());
            let moved = match reach {
                Some(reach) if stride < 0 => first.checked_sub(reach).map(|first| (first, last)),
                Some(reach) => last.checked_add(reach).map(|last| (first, last)),
                None => None,
            };
            (first, last) = moved
                .filter(|(_, last)| *last < elements)
                .ok_or(LayoutError::OutOfBounds { dimension, size, stride, elements })?;
        }
        Ok(())
    }

    /// Checks that no two coordinates name the same element, by the rule of
    /// [`super::MaskView::strided`].
    pub(super) fn check_injective(&self) -> Result<(), LayoutError> {
        let Shape::Strided(sizes, strides) = self.shape else { return Ok(()) };
        if self.len <= 1 {
            return Ok(());
        }
        // Begins with the least stride. All elements exist, so a `usize` holds the distance between
        // any two of them.
        let (mut last, mut reach) = (None, 0);
        while let Some((step, dimension)) = (0..sizes.len())
            .filter(|&dimension| sizes[dimension] > 1)
            .map(|dimension| (strides[dimension].unsigned_abs(), dimension))
            .filter(|&next| Some(next) > last)
            .min()
        {
            if step <= reach {
                let stride = strides[dimension];
                return Err(LayoutError::Overlap { dimension, stride, needed: reach + 1 });
            }
            reach += (sizes[dimension] - 1) * step;
            last = Some((step, dimension));
        }
        Ok(())
    }

    /// Checks that a mask of layout `out` has the sizes of this layout.
    pub(super) fn check_sizes(&self, out: &Self) -> Result<(), LayoutError> {
        let (from, to) = (self.sizes(), out.sizes());
        if from.len() != to.len() {
            return Err(LayoutError::OutputRank { input: from.len(), output: to.len() });
        }
        match (0..from.len()).find(|&dimension| from[dimension] != to[dimension]) {
            None => Ok(()),
            Some(dimension) => {
                let (input, output) = (from[dimension], to[dimension]);
                Err(LayoutError::OutputSize { dimension, input, output })
            }
        }
    }

    #[inline(always)]
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) const fn is_dense(&self) -> bool {
        self.dense
    }

    /// The sizes of the whole shape.
    #[inline]
    pub(super) fn sizes(&self) -> &[usize] {
        match &self.shape {
            Shape::Line(_) => core::slice::from_ref(&self.len),
            Shape::RowMajor(sizes) | Shape::Strided(sizes, _) => sizes,
        }
    }

    /// Whether coordinates of a dimension repeat the same elements.
    pub(super) fn is_broadcast(&self) -> bool {
        self.dims().any(|(_, dim)| dim.size > 1 && dim.input == 0)
    }

    /// The dimensions of the box and their numbers, the innermost first. The output is the
    /// row-major index.
    pub(super) fn dims(&self) -> impl Iterator<Item = (usize, Dim)> {
        let mut inner = 1;
        self.inside_out().map_while(move |(dimension, size, input)| {
            let output = inner;
            (output < self.len).then(|| {
                let size = size.min(self.len / output);
                inner *= size;
                (dimension, Dim { size, input, output: output as isize, row: 0 })
            })
        })
    }

    /// The offset of the element with this row-major index, in elements from coordinate 0.
    pub(super) fn offset_of(&self, mut index: usize) -> isize {
        self.dims().fold(0, |at: isize, (_, dim)| {
            let coordinate = (index % dim.size) as isize;
            index /= dim.size;
            at.wrapping_add(dim.input.wrapping_mul(coordinate))
        })
    }

    /// The number of elements of the largest box from row-major index `first` on, at most `most`.
    pub(super) fn box_len(&self, mut first: usize, most: usize) -> usize {
        let mut inner = 1;
        for (_, dim) in self.dims() {
            let taken = (dim.size - first % dim.size).min(most / inner);
            if taken < dim.size {
                return taken * inner;
            }
            (first, inner) = (first / dim.size, inner * taken);
        }
        inner.min(most)
    }

    /// The row-major index nearest to `middle` at which two boxes meet, if the layout has two.
    pub(super) fn border_near(&self, middle: usize) -> Option<usize> {
        let (_, outermost) = self.dims().filter(|(_, dim)| dim.size > 1).last()?;
        let inner = outermost.output as usize;
        Some((middle / inner).clamp(1, outermost.size - 1) * inner)
    }

    /// `len` elements from row-major index `first` on, and the place of the first, in elements from
    /// coordinate 0. They are a box, or any elements of a dense layout.
    ///
    /// # Panics
    /// If the layout does not have these elements, or if they are neither.
    pub(super) fn part(&self, first: usize, len: usize) -> (Self, isize) {
        assert!(first.checked_add(len).is_some_and(|end| end <= self.len), "a part of the tensor");
        let is_box = self.box_len(first, len) == len;
        if self.dense {
            let layout = if is_box { Self { len, ..*self } } else { Self::flat(len, 1) };
            return (layout, first as isize);
        }
        assert!(is_box, "{len} elements from {first} on are no box");
        let at = if len == 0 { 0 } else { self.offset_of(first) };
        (Self { len, dense: len <= 1, ..*self }, at)
    }
}
