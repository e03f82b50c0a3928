//! Sizes and strides, checked once against the memory that they are for.

use core::fmt;

use super::dims::{Dim, Dims, MOST_DIMENSIONS};

/// The most dimensions whose sizes and strides are copied.
pub(super) const INSIDE: usize = 8;

/// Why sizes and strides were refused. Dimensions are numbered from 0, the outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LayoutError {
    /// There are more dimensions than the function takes: 8 where sizes and strides are copied, 64
    /// where they are borrowed.
    TooManyDimensions {
        /// The number of dimensions.
        dimensions: usize,
        /// The most dimensions.
        most: usize,
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
    /// A stride of type `usize` exceeds `isize::MAX`: it may be a negative stride that was cast.
    LargeStride {
        /// The dimension.
        dimension: usize,
        /// Its stride.
        stride: usize,
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
            Self::TooManyDimensions { dimensions, most } => {
                write!(f, "{dimensions} dimensions, but at most {most} are taken")
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
            Self::LargeStride { dimension, stride } => {
                write!(f, "dimension {dimension} has stride {stride}, more than an isize can hold")
            }
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
pub(super) enum Shape<'a> {
    /// One dimension of adjacent elements.
    Flat,
    /// Copies. Only the first `rank` count.
    Inside { rank: usize, sizes: [usize; INSIDE], strides: [isize; INSIDE] },
    /// Slices of one length.
    Borrowed { sizes: &'a [usize], strides: &'a [isize] },
}

impl<'a> Shape<'a> {
    /// Copies of the sizes, with the strides that `stride` returns for the dimensions, from the
    /// innermost to the outermost.
    #[inline(always)]
    fn copied(
        sizes: &[usize],
        mut stride: impl FnMut(usize) -> Result<isize, LayoutError>,
    ) -> Result<Self, LayoutError> {
        let rank = sizes.len();
        if rank > INSIDE {
            return Err(LayoutError::TooManyDimensions { dimensions: rank, most: INSIDE });
        }
        let (mut copies, mut strides) = ([0; INSIDE], [0; INSIDE]);
        for dimension in (0..rank).rev() {
            copies[dimension] = sizes[dimension];
            strides[dimension] = stride(dimension)?;
        }
        Ok(Self::Inside { rank, sizes: copies, strides })
    }

    /// Row-major without padding.
    #[inline(always)]
    pub(super) fn row_major(sizes: &[usize]) -> Result<Self, LayoutError> {
        let mut reach = 1isize;
        Self::copied(sizes, |dimension| {
            let stride = reach;
            // May wrap: `Layout::unchecked` refuses sizes whose product overflows.
            reach = reach.wrapping_mul(sizes[dimension] as isize);
            Ok(stride)
        })
    }

    #[inline(always)]
    pub(super) fn strided(sizes: &[usize], strides: &[isize]) -> Result<Self, LayoutError> {
        one_each(sizes.len(), strides.len())?;
        Self::copied(sizes, |dimension| Ok(strides[dimension]))
    }

    #[inline(always)]
    pub(super) fn unsigned(sizes: &[usize], strides: &[usize]) -> Result<Self, LayoutError> {
        one_each(sizes.len(), strides.len())?;
        let moves = !sizes.contains(&0);
        Self::copied(sizes, |dimension| match isize::try_from(strides[dimension]) {
            Err(_) if moves && sizes[dimension] > 1 => {
                Err(LayoutError::LargeStride { dimension, stride: strides[dimension] })
            }
            // The stride of a dimension of size 1 has no meaning.
            stride => Ok(stride.unwrap_or(0)),
        })
    }

    #[inline(always)]
    pub(super) fn borrowed(sizes: &'a [usize], strides: &'a [isize]) -> Result<Self, LayoutError> {
        one_each(sizes.len(), strides.len())?;
        match sizes.len() {
            0..=MOST_DIMENSIONS => Ok(Self::Borrowed { sizes, strides }),
            dimensions => Err(LayoutError::TooManyDimensions { dimensions, most: MOST_DIMENSIONS }),
        }
    }
}

fn one_each(sizes: usize, strides: usize) -> Result<(), LayoutError> {
    if sizes == strides { Ok(()) } else { Err(LayoutError::StrideCount { sizes, strides }) }
}

/// A shape whose elements all exist, or a box of its coordinates: one coordinate of the dimensions
/// before `outer`, some of dimension `outer`, and all of the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'a> {
    shape: Shape<'a>,
    outer: usize,
    /// The coordinates of dimension `outer`.
    outer_size: usize,
    len: usize,
    /// Whether the elements are adjacent, in row-major order.
    dense: bool,
}

impl<'a> Layout<'a> {
    #[inline(always)]
    pub(super) const fn flat(len: usize) -> Self {
        Self { shape: Shape::Flat, outer: 0, outer_size: len, len, dense: true }
    }

    /// One dimension of `len` elements, `stride` apart.
    #[cfg(feature = "stats")]
    pub(super) fn line(len: usize, stride: isize) -> Self {
        let (mut sizes, mut strides) = ([0; INSIDE], [0; INSIDE]);
        (sizes[0], strides[0]) = (len, stride);
        let (shape, dense) = (Shape::Inside { rank: 1, sizes, strides }, len <= 1 || stride == 1);
        Self { shape, dense, ..Self::flat(len) }
    }

    /// The layout of a shape in a memory of `elements` elements, with coordinate 0 at element
    /// `offset`. A dimension of size 1 may have any stride, and a shape without elements any offset
    /// and strides.
    #[inline(always)]
    pub(super) fn new(
        shape: Shape<'a>,
        elements: usize,
        offset: usize,
    ) -> Result<Self, LayoutError> {
        let layout = Self::unchecked(shape)?;
        // A dense layout ends after its last element.
        let fits =
            layout.dense && offset.checked_add(layout.len).is_some_and(|end| end <= elements);
        if layout.len != 0 && !fits {
            layout.check_bounds(elements, offset)?;
        }
        Ok(layout)
    }

    /// The layout of a shape whose elements the caller knows to exist.
    #[inline(always)]
    pub(super) fn unchecked(shape: Shape<'a>) -> Result<Self, LayoutError> {
        let mut layout = Self { shape, ..Self::flat(0) };
        let (sizes, strides) = (layout.sizes(), layout.strides());
        let outer_size = sizes.first().copied().unwrap_or(1);
        if sizes.contains(&0) {
            return Ok(Self { outer_size, ..layout });
        }
        let (mut len, mut dense) = (1usize, true);
        for (dimension, (&size, &stride)) in sizes.iter().zip(strides).enumerate().rev() {
            dense &= size == 1 || stride == len as isize;
            len = len.checked_mul(size).ok_or(LayoutError::TooManyElements { dimension })?;
        }
        (layout.outer_size, layout.len, layout.dense) = (outer_size, len, dense);
        Ok(layout)
    }

    /// Checks that every element is among `elements`. There must be at least one.
    #[inline(never)]
    fn check_bounds(&self, elements: usize, offset: usize) -> Result<(), LayoutError> {
        if offset >= elements {
            return Err(LayoutError::OffsetOutOfBounds { offset, elements });
        }
        let (mut first, mut last) = (offset, offset);
        let dimensions = self.sizes().iter().zip(self.strides()).enumerate();
        for (dimension, (&size, &stride)) in dimensions {
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
        if self.len <= 1 {
            return Ok(());
        }
        let (sizes, strides) = (self.sizes(), self.strides());
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

    #[inline]
    pub(super) fn sizes(&self) -> &[usize] {
        match &self.shape {
            Shape::Flat => core::slice::from_ref(&self.outer_size),
            Shape::Inside { rank, sizes, .. } => &sizes[..*rank],
            Shape::Borrowed { sizes, .. } => sizes,
        }
    }

    #[inline]
    pub(super) fn strides(&self) -> &[isize] {
        match &self.shape {
            Shape::Flat => &[1],
            Shape::Inside { rank, strides, .. } => &strides[..*rank],
            Shape::Borrowed { strides, .. } => strides,
        }
    }

    /// The box of `len` elements from row-major index `first` on: some coordinates of dimension
    /// `outer`, one of each dimension before, and all of the dimensions after. Also returns the
    /// place of its first element, in elements from coordinate 0.
    ///
    /// # Panics
    /// If the box is not in the layout.
    pub(super) fn part(&self, first: usize, len: usize, outer: usize) -> (Self, isize) {
        assert!(first.checked_add(len).is_some_and(|end| end <= self.len), "a part of the tensor");
        if self.len == 0 {
            return (*self, 0);
        }
        let (mut rest, mut inner, mut at) = (first, 1, 0isize);
        let mut part = Self { len, outer, ..*self };
        let dimensions = self.sizes().iter().zip(self.strides()).enumerate();
        for (dimension, (&size, &stride)) in dimensions.rev() {
            if dimension == outer {
                part.outer_size = len / inner;
                assert!(
                    rest % size + part.outer_size <= size && part.outer_size * inner == len,
                    "some coordinates of dimension {outer}"
                );
            }
            at = at.wrapping_add(stride.wrapping_mul((rest % size) as isize));
            (rest, inner) = (rest / size, inner * size);
        }
        (part, at)
    }

    /// The dimensions larger than 1, innermost first. The output is the row-major index, and `row`
    /// is the number of the dimension.
    pub(super) fn dims(&self) -> Dims {
        let mut dims = Dims::new();
        let (sizes, strides, mut len) = (self.sizes(), self.strides(), 1usize);
        for axis in (self.outer..sizes.len()).rev() {
            let size = if axis == self.outer { self.outer_size } else { sizes[axis] };
            dims.push(Dim { size, input: strides[axis], output: len as isize, row: axis as isize });
            len = len.wrapping_mul(size);
        }
        dims
    }
}
