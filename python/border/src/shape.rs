//! Sizes and strides of an array.

use crate::{Error, layout};

/// The most dimensions that an array may have. numpy, torch and memoryview stop at 64.
pub(crate) const MOST_DIMENSIONS: usize = 64;

/// Arrays of at most this many dimensions need no allocation.
const FEW: usize = 8;

/// The sizes and strides of an array, outermost first. Strides are in elements, or in bytes: see
/// [`Shape::in_elements`].
#[derive(Clone, Debug)]
pub struct Shape(Dimensions);

#[derive(Clone, Debug)]
enum Dimensions {
    Few { rank: usize, sizes: [usize; FEW], strides: [isize; FEW] },
    Many { sizes: Vec<usize>, strides: Vec<isize> },
}

impl Shape {
    /// The shape of `rank` dimensions. `dimension` returns the size and the stride of each.
    ///
    /// # Errors
    /// [`Error::Layout`] for more than 64 dimensions, about which `dimension` is not asked, and for
    /// a negative size.
    #[inline]
    pub fn new(rank: usize, dimension: impl Fn(usize) -> (isize, isize)) -> Result<Self, Error> {
        if rank > MOST_DIMENSIONS {
            return Err(layout(format!("x has {rank} dimensions, more than {MOST_DIMENSIONS}")));
        }
        let size = |size| usize::try_from(size).map_err(|_| layout("a size of x is negative"));
        if rank <= FEW {
            let (mut sizes, mut strides) = ([0; FEW], [0; FEW]);
            for i in 0..rank {
                let (number, stride) = dimension(i);
                (sizes[i], strides[i]) = (size(number)?, stride);
            }
            return Ok(Self(Dimensions::Few { rank, sizes, strides }));
        }
        let (mut sizes, mut strides) = (Vec::new(), Vec::new());
        for i in 0..rank {
            let (number, stride) = dimension(i);
            sizes.push(size(number)?);
            strides.push(stride);
        }
        Ok(Self(Dimensions::Many { sizes, strides }))
    }

    /// No dimensions, and one element.
    #[must_use]
    pub fn scalar() -> Self {
        Self(Dimensions::Few { rank: 0, sizes: [0; FEW], strides: [0; FEW] })
    }

    /// One dimension of `len` elements, one after the other.
    #[must_use]
    pub fn flat(len: usize) -> Self {
        let (mut sizes, mut strides) = ([0; FEW], [0; FEW]);
        (sizes[0], strides[0]) = (len, 1);
        Self(Dimensions::Few { rank: 1, sizes, strides })
    }

    /// The same sizes, in row-major order without padding.
    #[must_use]
    pub fn row_major(&self) -> Self {
        let mut shape = self.clone();
        let mut reach = 1isize;
        for i in (0..self.sizes().len()).rev() {
            shape.strides_mut()[i] = reach;
            reach = reach.saturating_mul(self.sizes()[i].cast_signed());
        }
        shape
    }

    /// The sizes, outermost first.
    #[inline]
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        match &self.0 {
            Dimensions::Few { rank, sizes, .. } => &sizes[..*rank],
            Dimensions::Many { sizes, .. } => sizes,
        }
    }

    /// The strides, outermost first.
    #[inline]
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        match &self.0 {
            Dimensions::Few { rank, strides, .. } => &strides[..*rank],
            Dimensions::Many { strides, .. } => strides,
        }
    }

    fn strides_mut(&mut self) -> &mut [isize] {
        match &mut self.0 {
            Dimensions::Few { rank, strides, .. } => &mut strides[..*rank],
            Dimensions::Many { strides, .. } => strides,
        }
    }

    /// The number of elements, at most `usize::MAX`.
    #[inline]
    #[must_use]
    pub fn elements(&self) -> usize {
        if self.sizes().contains(&0) {
            return 0;
        }
        self.sizes().iter().fold(1, |len: usize, &size| len.saturating_mul(size))
    }

    /// Whether the elements lie one after the other in row-major order. Strides are in elements.
    #[must_use]
    pub fn is_row_major(&self) -> bool {
        let wanted = self.row_major();
        let strides = self.strides().iter().zip(wanted.strides());
        let mut dimensions = self.sizes().iter().zip(strides);
        self.elements() == 0 || dimensions.all(|(&size, (own, wanted))| size == 1 || own == wanted)
    }

    /// Whether the elements lie one after the other, in any order of dimensions and any direction.
    /// Strides are in elements.
    #[must_use]
    pub fn is_block(&self) -> bool {
        let dimensions = self.sizes().iter().zip(self.strides());
        let dimensions = dimensions.filter(|(size, _)| **size > 1);
        let mut dimensions: Vec<_> =
            dimensions.map(|(s, stride)| (stride.unsigned_abs(), *s)).collect();
        dimensions.sort_unstable();
        let mut reach = 1usize;
        self.elements() == 0
            || dimensions.into_iter().all(|(stride, size)| {
                let follows = stride == reach;
                reach = reach.saturating_mul(size);
                follows
            })
    }

    /// Whether every stride that is used is a multiple of `item` bytes. Divides the strides then.
    #[inline]
    pub fn in_elements(&mut self, item: usize) -> bool {
        let item = item.cast_signed();
        let dimensions = self.sizes().iter().zip(self.strides());
        if dimensions.clone().any(|(&size, stride)| size > 1 && stride % item != 0) {
            return false;
        }
        self.strides_mut().iter_mut().for_each(|stride| *stride /= item);
        true
    }

    /// Of elements of `item` bytes with strides in units of `unit` bytes: the bytes from the lowest
    /// element to the one at coordinate 0, and from the lowest to the end of the highest. No size
    /// may be 0. `None` if there is no such memory.
    #[inline]
    #[must_use]
    pub fn extent(&self, unit: usize, item: usize) -> Option<(usize, usize)> {
        let (mut below, mut above) = (0usize, 0usize);
        for (&size, &stride) in self.sizes().iter().zip(self.strides()) {
            let reach = size.checked_sub(1)?.checked_mul(stride.unsigned_abs())?;
            let side = if stride < 0 { &mut below } else { &mut above };
            *side = side.checked_add(reach)?;
        }
        let len = below.checked_add(above)?.checked_mul(unit)?.checked_add(item)?;
        (len <= isize::MAX.cast_unsigned()).then_some((below * unit, len))
    }
}
