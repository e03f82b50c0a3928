//! Sizes, strides and an offset, checked against the memory.

use crate::Error;

/// The distance, in elements, from one coordinate of each dimension to the next.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(feature = "views"),
    expect(dead_code, reason = "without strided views all strides are row-major")
)]
enum Strides<'a> {
    /// Row-major without padding.
    RowMajor,
    Signed(&'a [isize]),
    Unsigned(&'a [usize]),
}

/// The elements of a view. All of them are in the memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout<'a> {
    /// One dimension of `len` elements if `None`.
    sizes: Option<&'a [usize]>,
    strides: Strides<'a>,
    offset: usize,
    len: usize,
    /// Whether the elements are adjacent, in row-major order.
    dense: bool,
}

impl<'a> Layout<'a> {
    /// One dimension of `len` elements, one after the other.
    pub(crate) const fn flat(len: usize) -> Self {
        Self { sizes: None, strides: Strides::RowMajor, offset: 0, len, dense: true }
    }

    /// Row-major without padding, from the first of `elements` on.
    pub(crate) fn row_major(elements: usize, sizes: &'a [usize]) -> Result<Self, Error> {
        Self::new(elements, 0, sizes, Strides::RowMajor)
    }

    /// A layout with these strides, in a memory of `elements` elements.
    #[cfg(feature = "views")]
    pub(crate) fn signed(
        elements: usize,
        offset: usize,
        sizes: &'a [usize],
        strides: &'a [isize],
    ) -> Result<Self, Error> {
        if strides.len() != sizes.len() {
            return Err(Error::StrideCount { sizes: sizes.len(), strides: strides.len() });
        }
        Self::new(elements, offset, sizes, Strides::Signed(strides))
    }

    /// A layout with these strides, in a memory of `elements` elements.
    #[cfg(feature = "views")]
    pub(crate) fn unsigned(
        elements: usize,
        offset: usize,
        sizes: &'a [usize],
        strides: &'a [usize],
    ) -> Result<Self, Error> {
        if strides.len() != sizes.len() {
            return Err(Error::StrideCount { sizes: sizes.len(), strides: strides.len() });
        }
        Self::new(elements, offset, sizes, Strides::Unsigned(strides))
    }

    /// A layout with sizes and strides that need no check, in a memory of unknown size.
    #[cfg(feature = "ndarray")]
    pub(crate) fn trusted(sizes: &'a [usize], strides: &'a [isize]) -> Self {
        let strides = Strides::Signed(strides);
        Self { sizes: Some(sizes), strides, offset: 0, len: sizes.iter().product(), dense: false }
    }

    fn new(
        elements: usize,
        offset: usize,
        sizes: &'a [usize],
        strides: Strides<'a>,
    ) -> Result<Self, Error> {
        let empty = Self { sizes: Some(sizes), strides, offset: 0, len: 0, dense: true };
        if sizes.contains(&0) {
            return Ok(empty);
        }
        let mut len = 1usize;
        for (dimension, &size) in sizes.iter().enumerate().rev() {
            len = len.checked_mul(size).ok_or(Error::TooManyElements { dimension })?;
        }
        let layout = Self { offset, len, ..empty };
        if !matches!(strides, Strides::RowMajor) || len > elements {
            layout.check_bounds(elements)?;
        }
        let mut reach = 1;
        let dense = layout.dimensions().all(|(size, stride)| {
            let follows = size == 1 || stride == reach;
            reach = reach.wrapping_mul(size as isize);
            follows
        });
        Ok(Self { dense, ..layout })
    }

    /// Checks that every named element is among `elements`. There must be at least one.
    fn check_bounds(&self, elements: usize) -> Result<(), Error> {
        let offset = self.offset;
        if offset >= elements {
            return Err(Error::OffsetOutOfBounds { offset, elements });
        }
        let (mut first, mut last) = (offset, offset);
        for (dimension, &size) in self.sizes().iter().enumerate() {
            if let Strides::Unsigned(strides) = self.strides
                && size > 1
                && strides[dimension] > isize::MAX as usize
            {
                return Err(Error::LargeStride { dimension, stride: strides[dimension] });
            }
            let stride = self.stride(dimension);
            // A number that overflows leads outside of any memory.
            let reach = (size - 1).checked_mul(stride.unsigned_abs());
            let moved = match reach {
                Some(reach) if stride < 0 => first.checked_sub(reach).map(|first| (first, last)),
                Some(reach) => last.checked_add(reach).map(|last| (first, last)),
                None => None,
            };
            (first, last) = moved
                .filter(|(_, last)| *last < elements)
                .ok_or(Error::OutOfBounds { dimension, size, stride, elements })?;
        }
        Ok(())
    }

    /// Checks that no two coordinates name the same element, by the rule of
    /// [`super::MaskView::strided`].
    #[cfg(feature = "views")]
    pub(crate) fn check_injective(&self) -> Result<(), Error> {
        if self.len <= 1 {
            return Ok(());
        }
        let sizes = self.sizes();
        let stepping = || (0..sizes.len()).filter(|&dimension| sizes[dimension] > 1);
        // The least stride first. All named elements exist, so a `usize` holds the distance between
        // any two of them.
        let (mut last, mut reach) = (None, 0);
        while let Some((step, dimension)) = stepping()
            .map(|dimension| (self.stride(dimension).unsigned_abs(), dimension))
            .filter(|&next| Some(next) > last)
            .min()
        {
            if step <= reach {
                let stride = self.stride(dimension);
                return Err(Error::Overlap { dimension, stride, needed: reach + 1 });
            }
            reach += (sizes[dimension] - 1) * step;
            last = Some((step, dimension));
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Whether the elements are adjacent, in row-major order, from `offset` on.
    #[inline]
    pub(crate) fn is_dense(&self) -> bool {
        self.dense
    }

    #[inline]
    pub(crate) fn sizes(&self) -> &[usize] {
        self.sizes.unwrap_or(core::slice::from_ref(&self.len))
    }

    /// The stride of a dimension. Meaningless if the dimension has one coordinate, or if there are
    /// no elements.
    pub(crate) fn stride(&self, dimension: usize) -> isize {
        match self.strides {
            Strides::Signed(strides) => strides[dimension],
            Strides::Unsigned(strides) => strides[dimension] as isize,
            // If there are elements, no product of sizes exceeds their number.
            Strides::RowMajor => {
                let inner = &self.sizes()[dimension + 1..];
                inner.iter().fold(1, |all: isize, &size| all.wrapping_mul(size as isize))
            }
        }
    }

    /// The strides of the dimensions, outermost first.
    pub(crate) fn strides(&self) -> impl ExactSizeIterator<Item = isize> + use<'_, 'a> {
        (0..self.sizes().len()).map(|dimension| self.stride(dimension))
    }

    /// Size and stride of each dimension, innermost first.
    pub(crate) fn dimensions(&self) -> impl Iterator<Item = (usize, isize)> + Clone + use<'_, 'a> {
        let sizes = self.sizes().iter().enumerate().rev();
        sizes.map(|(dimension, &size)| (size, self.stride(dimension)))
    }
}
