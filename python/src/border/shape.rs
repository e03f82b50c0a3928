//! Sizes and strides of an array.

/// Arrays of at most this many dimensions need no allocation.
const FEW: usize = 8;

/// The sizes and strides of an array, outermost first. Strides are in elements, or in bytes: see
/// [`Shape::in_elements`].
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Few { rank: usize, sizes: [usize; FEW], strides: [isize; FEW] },
    Many { sizes: Vec<usize>, strides: Vec<isize> },
}

impl Shape {
    /// The shape of `rank` dimensions. `dimension` returns the size and the stride of each.
    /// Returns `None` if a size is negative.
    #[inline]
    pub(crate) fn new(rank: usize, dimension: impl Fn(usize) -> (isize, isize)) -> Option<Self> {
        if rank <= FEW {
            let (mut sizes, mut strides) = ([0; FEW], [0; FEW]);
            for i in 0..rank {
                let (size, stride) = dimension(i);
                (sizes[i], strides[i]) = (usize::try_from(size).ok()?, stride);
            }
            return Some(Self::Few { rank, sizes, strides });
        }
        let (mut sizes, mut strides) = (Vec::new(), Vec::new());
        for i in 0..rank {
            let (size, stride) = dimension(i);
            sizes.push(usize::try_from(size).ok()?);
            strides.push(stride);
        }
        Some(Self::Many { sizes, strides })
    }

    /// One dimension of `len` elements, one after the other.
    pub(crate) fn flat(len: usize) -> Self {
        let (mut sizes, mut strides) = ([0; FEW], [0; FEW]);
        (sizes[0], strides[0]) = (len, 1);
        Self::Few { rank: 1, sizes, strides }
    }

    /// The same sizes, in row-major order without padding.
    pub(crate) fn row_major(&self) -> Self {
        let mut shape = self.clone();
        let mut reach = 1isize;
        for i in (0..self.sizes().len()).rev() {
            shape.strides_mut()[i] = reach;
            reach = reach.saturating_mul(self.sizes()[i].cast_signed());
        }
        shape
    }

    #[inline]
    pub(crate) fn sizes(&self) -> &[usize] {
        match self {
            Self::Few { rank, sizes, .. } => &sizes[..*rank],
            Self::Many { sizes, .. } => sizes,
        }
    }

    #[inline]
    pub(crate) fn strides(&self) -> &[isize] {
        match self {
            Self::Few { rank, strides, .. } => &strides[..*rank],
            Self::Many { strides, .. } => strides,
        }
    }

    fn strides_mut(&mut self) -> &mut [isize] {
        match self {
            Self::Few { rank, strides, .. } => &mut strides[..*rank],
            Self::Many { strides, .. } => strides,
        }
    }

    /// The number of elements, at most `usize::MAX`.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        if self.sizes().contains(&0) {
            return 0;
        }
        self.sizes().iter().fold(1, |len: usize, &size| len.saturating_mul(size))
    }

    /// Whether the elements lie one after the other in row-major order. Strides are in elements.
    pub(crate) fn is_row_major(&self) -> bool {
        let wanted = self.row_major();
        let strides = self.strides().iter().zip(wanted.strides());
        let mut dimensions = self.sizes().iter().zip(strides);
        self.len() == 0 || dimensions.all(|(&size, (own, wanted))| size == 1 || own == wanted)
    }

    /// Whether the elements lie one after the other, in any order of dimensions and any direction.
    /// Strides are in elements.
    pub(crate) fn is_block(&self) -> bool {
        let dimensions = self.sizes().iter().zip(self.strides());
        let dimensions = dimensions.filter(|(size, _)| **size > 1);
        let mut dimensions: Vec<_> = dimensions.map(|(s, stride)| (stride.abs(), *s)).collect();
        dimensions.sort_unstable();
        let mut reach = 1isize;
        self.len() == 0
            || dimensions.into_iter().all(|(stride, size)| {
                let follows = stride == reach;
                reach = reach.saturating_mul(size.cast_signed());
                follows
            })
    }

    /// Whether every stride that is used is a multiple of `item` bytes. Divides the strides then.
    #[inline]
    pub(crate) fn in_elements(&mut self, item: usize) -> bool {
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
    pub(crate) fn extent(&self, unit: usize, item: usize) -> Option<(usize, usize)> {
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
