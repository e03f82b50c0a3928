//! Sizes, strides and an offset that were checked against the memory they name.

use super::ViewError;

/// Dimensions of more than one element that a tensor can have: each doubles the number of elements
/// at least.
const MOST: usize = usize::BITS as usize;

/// Which elements a view names. They all exist, unless there are none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout<'a> {
    sizes: &'a [usize],
    /// Row-major without padding if `None`.
    strides: Option<&'a [isize]>,
    offset: usize,
    len: usize,
}

impl<'a> Layout<'a> {
    /// Checks the layout against a memory of `elements`.
    pub(super) fn new(
        elements: usize,
        offset: usize,
        sizes: &'a [usize],
        strides: Option<&'a [isize]>,
    ) -> Result<Self, ViewError> {
        if let Some(strides) = strides
            && strides.len() != sizes.len()
        {
            return Err(ViewError::StrideCount { sizes: sizes.len(), strides: strides.len() });
        }
        if sizes.contains(&0) {
            return Ok(Self { sizes, strides, offset: 0, len: 0 });
        }
        let mut len = 1usize;
        for (dimension, &size) in sizes.iter().enumerate().rev() {
            len = len.checked_mul(size).ok_or(ViewError::TooManyElements { dimension })?;
        }
        let layout = Self { sizes, strides, offset, len };
        if strides.is_some() || len > elements {
            layout.check_bounds(elements)?;
        }
        Ok(layout)
    }

    /// Every element named must be among `elements`; there is at least one.
    fn check_bounds(&self, elements: usize) -> Result<(), ViewError> {
        let offset = self.offset;
        if offset >= elements {
            return Err(ViewError::OffsetOutOfBounds { offset, elements });
        }
        // 128 bits hold the product of a size and a stride beside a valid index.
        let (mut first, mut last) = (offset as i128, offset as i128);
        for (dimension, (&size, stride)) in self.sizes.iter().zip(self.strides()).enumerate() {
            let reach = (size as i128 - 1) * stride as i128;
            first += reach.min(0);
            last += reach.max(0);
            if first < 0 || last >= elements as i128 {
                return Err(ViewError::OutOfBounds { dimension, size, stride, elements });
            }
        }
        Ok(())
    }

    /// No two coordinates may name one element: see [`super::TensorViewMut::new`] for the test.
    pub(super) fn check_injective(&self) -> Result<(), ViewError> {
        if self.len <= 1 {
            return Ok(());
        }
        let mut dimensions = [(0, 0, 0isize, 0); MOST];
        let mut rank = 0;
        for (dimension, (&size, stride)) in self.sizes.iter().zip(self.strides()).enumerate() {
            if size > 1 {
                dimensions[rank] = (stride.unsigned_abs(), dimension, stride, size);
                rank += 1;
            }
        }
        let dimensions = &mut dimensions[..rank];
        dimensions.sort_unstable();
        // All named elements exist, so the distance between any two of them is no more than a
        // `usize` holds.
        let mut reach = 0;
        for &(step, dimension, stride, size) in &*dimensions {
            if step <= reach {
                return Err(ViewError::Overlap { dimension, stride, needed: reach + 1 });
            }
            reach += (size - 1) * step;
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    pub(super) fn sizes(&self) -> &'a [usize] {
        self.sizes
    }

    /// One stride a dimension, outermost first.
    pub(super) fn strides(&self) -> impl ExactSizeIterator<Item = isize> + use<'a> {
        let (sizes, strides) = (self.sizes, self.strides);
        (0..sizes.len()).map(move |i| match strides {
            Some(strides) => strides[i],
            // Where there are elements, no product of sizes is more than their number. Where there
            // are none, strides mean nothing, but must not overflow.
            None => {
                sizes[i + 1..].iter().fold(1, |all: isize, &size| all.wrapping_mul(size as isize))
            }
        })
    }

    /// Size and stride of each dimension, innermost first.
    pub(super) fn dimensions(&self) -> impl Iterator<Item = (usize, isize)> + Clone + use<'a> {
        let (sizes, strides) = (self.sizes, self.strides);
        // Where there are elements, no product of sizes is more than their number.
        let mut distance = 1isize;
        (0..sizes.len()).rev().map(move |i| {
            let (size, here) = (sizes[i], distance);
            distance = distance.wrapping_mul(size as isize);
            (size, strides.map_or(here, |strides| strides[i]))
        })
    }
}
